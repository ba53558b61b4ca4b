"""Labels that came with a benchmark's or table's file: no acts at this desk, so neither chained nor journaled; the file
and its hash are in `imports`, and importing it again brings them back.

The views join them to what people said at the desk: a person's own act outweighs what a file says of that person.
"""

_STATE = (
    "value, parts, tags, note, unsure, harm, cannot_judge, reference_wrong, right_answer, evidence, skipped, flagged"
)

STATEMENTS = (
    """CREATE TABLE file_labels (
        item_id VARCHAR, content_hash VARCHAR, annotator VARCHAR, value VARCHAR, parts VARCHAR, tags VARCHAR,
        note VARCHAR, unsure BOOLEAN, harm VARCHAR, cannot_judge VARCHAR, reference_wrong BOOLEAN,
        right_answer VARCHAR, evidence VARCHAR, skipped BOOLEAN, flagged BOOLEAN, mode VARCHAR, adjudicated BOOLEAN,
        happened_at VARCHAR, sampled VARCHAR, import_id VARCHAR)""",
    f"""CREATE VIEW all_current_labels AS
        SELECT item_id, content_hash, annotator, round, {_STATE}, mode, body->>'at' AS happened_at, draw_id,
            kind = 'adjudicate' AS adjudicated, '' AS sampled FROM current_labels
        UNION ALL
        SELECT item_id, content_hash, annotator, 0, {_STATE}, mode, happened_at, '', adjudicated, sampled
        FROM file_labels f WHERE NOT EXISTS (
            SELECT 1 FROM label_events e WHERE e.item_id = f.item_id AND e.annotator = f.annotator)""",
    f"""CREATE VIEW all_blind_labels AS
        SELECT item_id, content_hash, annotator, round, {_STATE}, mode, body->>'at' AS happened_at, draw_id,
            kind = 'adjudicate' AS adjudicated, '' AS sampled FROM blind_labels
        UNION ALL
        SELECT item_id, content_hash, annotator, 0, {_STATE}, mode, happened_at, '', adjudicated, sampled
        FROM file_labels f WHERE mode IN ('', 'blind') AND NOT EXISTS (
            SELECT 1 FROM label_events e WHERE e.item_id = f.item_id AND e.annotator = f.annotator)""",
)
