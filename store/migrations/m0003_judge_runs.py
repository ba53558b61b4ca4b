"""Judging live: every version of a judge's rubric, runs, and one row for each verdict about the call that gave it.

A verdict's own row stays as it is for imported ones; what only a call has (prompt, server, attempts) is in `calls`.
`batch_requests` says which verdict a line of a batch file is for.
"""

STATEMENTS = (
    """CREATE TABLE judge_rubrics (
        task VARCHAR, version VARCHAR, texts VARCHAR, origin VARCHAR, added_at TIMESTAMPTZ)""",
    """CREATE TABLE runs (
        run_id VARCHAR, kind VARCHAR, task VARCHAR, judge_id VARCHAR, settings VARCHAR, started_at TIMESTAMPTZ,
        ended_at TIMESTAMPTZ, outcome VARCHAR, counts VARCHAR)""",
    """CREATE TABLE calls (
        verdict_id VARCHAR, content_hash VARCHAR, run_id VARCHAR, item_id VARCHAR, judge_id VARCHAR,
        repetition INTEGER, prompt_hash VARCHAR, same_as VARCHAR, served_model VARCHAR, fingerprint VARCHAR,
        finish_reason VARCHAR, answer_format VARCHAR, language VARCHAR, attempts INTEGER, latency_ms BIGINT,
        failure VARCHAR, why VARCHAR, signs VARCHAR, remarks VARCHAR, samples VARCHAR, superseded VARCHAR,
        called_at TIMESTAMPTZ)""",
    """CREATE TABLE batch_requests (
        custom_id VARCHAR, run_id VARCHAR, task VARCHAR, item_id VARCHAR, content_hash VARCHAR, judge_id VARCHAR,
        repetition INTEGER, prompt_hash VARCHAR)""",
)
