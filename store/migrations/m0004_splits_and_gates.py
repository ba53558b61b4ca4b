"""Splits for retuning, openings of their sealed tests, and looks through the gate: all journaled, all append-only.

`answers` keeps what was paid for while a prompt was searched for; it comes from servers, not from people.
"""

STATEMENTS = (
    """CREATE TABLE splits (
        split_id VARCHAR, task VARCHAR, unit VARCHAR, seed BIGINT, settings VARCHAR, created_at TIMESTAMPTZ)""",
    "CREATE TABLE split_items (split_id VARCHAR, item_id VARCHAR, group_key VARCHAR, part VARCHAR)",
    """CREATE TABLE test_openings (
        opening_id VARCHAR, split_id VARCHAR, task VARCHAR, purpose VARCHAR, subject VARCHAR, items VARCHAR,
        opened_at TIMESTAMPTZ)""",
    """CREATE TABLE gates (
        gate_id VARCHAR, task VARCHAR, judge VARCHAR, judge_id VARCHAR, look INTEGER, inputs VARCHAR, outcome VARCHAR,
        document VARCHAR, looked_at TIMESTAMPTZ)""",
    """CREATE TABLE answers (
        answer_key VARCHAR, kind VARCHAR, task VARCHAR, answer VARCHAR, cost DOUBLE, answered_at TIMESTAMPTZ)""",
)
