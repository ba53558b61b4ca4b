"""What a person did in a study before sitting down, as far as it decides what the desk may show now."""

from __future__ import annotations

from dataclasses import dataclass

from judges.calibration.sampling import is_never_shown
from store.draws import Draw
from store.events import STATE_COLUMNS, state_of_row
from store.records import LabelState
from store.study import Study

REVIEW = "review"
"""The journal's type name of a review that was gone through to its end."""


@dataclass(slots=True)
class Past:
    """One person's past under one draw.

    Attributes:
        states: item → label, on the item's current content. A label of an older content is stale: to be given again.
        block_labels: items whose label was given under this draw with policy `block`: a review may show their verdicts.
        unreviewed: items whose verdict a review has shown that did not come to its end.
        hidden: items whose verdict another draw promised never to show this person.
    """

    states: dict[str, LabelState]
    block_labels: set[str]
    unreviewed: set[str]
    hidden: set[str]


def load_past(study: Study, annotator: str, draw: Draw) -> Past:
    """Read it from the study; nothing of other people's."""
    return Past(
        states=_states(study, annotator, round_of(draw)),
        block_labels=_block_labels(study, annotator, draw),
        unreviewed=_unreviewed(study, annotator, draw),
        hidden=_hidden(study, annotator, draw),
    )


def round_of(draw: Draw) -> int:
    """The round labels under this draw are of: 0, or for repeats the number of the repeat."""
    return int(draw.settings.get("round", 0))


def _states(study: Study, annotator: str, round_number: int) -> dict[str, LabelState]:
    rows = study.rows(
        f"""SELECT item_id, {STATE_COLUMNS} FROM current_labels
        JOIN (SELECT item_id, content_hash FROM current_items) USING (item_id, content_hash)
        WHERE annotator = ? AND round = ?""",
        [annotator, round_number],
    )
    return {row[0]: state_of_row(row[1:]) for row in rows}


def _block_labels(study: Study, annotator: str, draw: Draw) -> set[str]:
    rows = study.rows(
        """SELECT item_id FROM (
            SELECT item_id, draw_id, policy FROM label_events
            WHERE annotator = ? AND kind IN ('label', 'revise') AND round = ?
            QUALIFY row_number() OVER (PARTITION BY item_id ORDER BY clock DESC, copy_id DESC, seq DESC) = 1)
        WHERE draw_id = ? AND policy = 'block'""",
        [annotator, round_of(draw), draw.draw_id],
    )
    return {row[0] for row in rows}


def _unreviewed(study: Study, annotator: str, draw: Draw) -> set[str]:
    shown = study.rows(
        """SELECT DISTINCT item_id FROM label_events
        WHERE annotator = ? AND draw_id = ? AND kind = 'reveal' AND policy = 'block'""",
        [annotator, draw.draw_id],
    )
    reviewed = {
        item_id
        for record in study.journal_records(REVIEW)
        if record["annotator"] == annotator and record["draw_id"] == draw.draw_id
        for item_id in record["items"]
    }
    return {row[0] for row in shown} - reviewed


def _hidden(study: Study, annotator: str, draw: Draw) -> set[str]:
    rows = study.rows(
        """SELECT DISTINCT item_id, seed FROM label_events JOIN draws USING (draw_id)
        WHERE annotator = ? AND draw_id <> ? AND policy IN ('item', 'block') AND kind IN ('label', 'revise')""",
        [annotator, draw.draw_id],
    )
    return {item_id for item_id, seed in rows if is_never_shown(item_id, annotator, seed)}
