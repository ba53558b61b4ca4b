"""The first schema. Plain tables: no foreign keys, no secondary indexes, no function defaults; ids are VARCHAR.

Columns that hold JSON are VARCHAR: they are written and read whole. `cluster_key` and `group_key` avoid reserved words.
"""

STATEMENTS = (
    "CREATE TABLE study (key VARCHAR, value VARCHAR)",
    """CREATE TABLE systems (
        system VARCHAR, name VARCHAR, run VARCHAR, condition VARCHAR, regime VARCHAR, metadata VARCHAR)""",
    "CREATE TABLE tasks (task VARCHAR, version VARCHAR, position INTEGER, definition VARCHAR, added_at TIMESTAMPTZ)",
    """CREATE TABLE imports (
        import_id VARCHAR, path VARCHAR, role VARCHAR, sha256 VARCHAR, bytes BIGINT, system VARCHAR, judge VARCHAR,
        counts VARCHAR, imported_at TIMESTAMPTZ)""",
    """CREATE TABLE items (
        item_id VARCHAR, version INTEGER, content_hash VARCHAR, meta_hash VARCHAR, task VARCHAR, system VARCHAR,
        natural_key VARCHAR, pair_key VARCHAR, cluster_key VARCHAR, group_key VARCHAR, slices VARCHAR, weight DOUBLE,
        payload VARCHAR, texts VARCHAR, extra VARCHAR, position BIGINT, import_id VARCHAR)""",
    "CREATE TABLE texts (text_hash VARCHAR, body VARCHAR)",
    """CREATE TABLE judges (
        judge_id VARCHAR, task VARCHAR, name VARCHAR, model VARCHAR, prompt_version VARCHAR, parameters VARCHAR)""",
    """CREATE TABLE verdicts (
        verdict_id VARCHAR, verdict_hash VARCHAR, item_id VARCHAR, content_hash VARCHAR, judge_id VARCHAR,
        repetition INTEGER, label VARCHAR, parts VARCHAR, failure VARCHAR, raw VARCHAR, route VARCHAR, score DOUBLE,
        confidence DOUBLE, confidence_source VARCHAR, rationale VARCHAR, position BIGINT, model_returned VARCHAR,
        tokens_in BIGINT, tokens_out BIGINT, cost DOUBLE, import_id VARCHAR)""",
    """CREATE TABLE facts (
        system VARCHAR, kind VARCHAR, key VARCHAR, position BIGINT, payload VARCHAR, import_id VARCHAR)""",
    """CREATE TABLE label_events (
        event_id VARCHAR, study_id VARCHAR, copy_id VARCHAR, annotator VARCHAR, seq BIGINT, clock BIGINT,
        prev_hash VARCHAR, kind VARCHAR, undoes VARCHAR, round INTEGER, item_id VARCHAR, content_hash VARCHAR,
        value VARCHAR, parts VARCHAR, tags VARCHAR, note VARCHAR, unsure BOOLEAN, harm VARCHAR, cannot_judge VARCHAR,
        reference_wrong BOOLEAN, right_answer VARCHAR, evidence VARCHAR, skipped BOOLEAN, flagged BOOLEAN,
        mode VARCHAR, policy VARCHAR, verdicts_shown VARCHAR, draw_id VARCHAR, rubric_version VARCHAR,
        active_ms BIGINT, panels VARCHAR, happened_at TIMESTAMPTZ, utc_offset_minutes INTEGER, body VARCHAR)""",
    """CREATE TABLE draws (
        draw_id VARCHAR, task VARCHAR, stream VARCHAR, design VARCHAR, reveal VARCHAR, seed BIGINT, settings VARCHAR,
        created_by VARCHAR, created_at TIMESTAMPTZ)""",
    """CREATE TABLE draw_items (
        draw_id VARCHAR, item_id VARCHAR, ordinal BIGINT, group_number BIGINT, stratum VARCHAR, probability DOUBLE)""",
    "CREATE TABLE journal_records (event_id VARCHAR, type VARCHAR, body VARCHAR)",
    """CREATE VIEW current_items AS
        SELECT i.* FROM items i ANTI JOIN (SELECT item_id, version FROM items WHERE version > 0) newer
        ON newer.item_id = i.item_id AND newer.version > i.version""",
    """CREATE VIEW current_labels AS
        SELECT * FROM label_events
        QUALIFY row_number() OVER (
            PARTITION BY item_id, annotator, round ORDER BY clock DESC, copy_id DESC, seq DESC) = 1""",
    """CREATE VIEW first_exposures AS
        SELECT item_id, annotator, min_by(policy, (clock, copy_id, seq)) AS policy,
            min((clock, copy_id, seq)) AS first_reveal
        FROM label_events WHERE kind = 'reveal' OR (kind = 'import' AND mode <> 'blind')
        GROUP BY item_id, annotator""",
    """CREATE VIEW blind_labels AS
        SELECT e.* FROM label_events e LEFT JOIN first_exposures x USING (item_id, annotator)
        WHERE e.mode = 'blind' AND (x.first_reveal IS NULL OR (e.clock, e.copy_id, e.seq) < x.first_reveal)
        QUALIFY row_number() OVER (
            PARTITION BY item_id, annotator, round ORDER BY clock DESC, copy_id DESC, seq DESC) = 1""",
)
