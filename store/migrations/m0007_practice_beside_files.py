"""What somebody said for practice takes nothing away of what a file says of them: practice enters no number.

Otherwise the views are as they were: a person's own act outweighs what a file says of that person.
"""

_STATE = (
    "value, parts, tags, note, unsure, harm, cannot_judge, reference_wrong, right_answer, evidence, skipped, flagged"
)
_UNSAID = """NOT EXISTS (
            SELECT 1 FROM label_events e WHERE e.item_id = f.item_id AND e.annotator = f.annotator AND e.round <> -1)"""

STATEMENTS = (
    f"""CREATE OR REPLACE VIEW all_current_labels AS
        SELECT item_id, content_hash, annotator, round, {_STATE}, mode, body->>'at' AS happened_at, draw_id,
            kind = 'adjudicate' AS adjudicated, '' AS sampled FROM current_labels
        UNION ALL
        SELECT item_id, content_hash, annotator, 0, {_STATE}, mode, happened_at, '', adjudicated, sampled
        FROM file_labels f WHERE {_UNSAID}""",
    f"""CREATE OR REPLACE VIEW all_blind_labels AS
        SELECT item_id, content_hash, annotator, round, {_STATE}, mode, body->>'at' AS happened_at, draw_id,
            kind = 'adjudicate' AS adjudicated, '' AS sampled FROM blind_labels
        UNION ALL
        SELECT item_id, content_hash, annotator, 0, {_STATE}, mode, happened_at, '', adjudicated, sampled
        FROM file_labels f WHERE mode IN ('', 'blind') AND {_UNSAID}""",
)
