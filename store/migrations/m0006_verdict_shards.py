"""Shards of verdicts that were taken in from Parquet files beside the study: each counts once, under whatever name."""

STATEMENTS = (
    """CREATE TABLE verdict_shards (
        sha256 VARCHAR, name VARCHAR, verdicts BIGINT, imported_at TIMESTAMPTZ)""",
)
