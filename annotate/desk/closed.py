"""What shows verdicts of many items at once is closed to an annotator in mid-queue, and never shows what stays hidden.

A command knows who asks by `--annotator`, `$OVERREAD_ANNOTATOR`, else the name of the system's user; somebody who
labels under one name and asks under another it cannot know. The lead says so, and the journal keeps it.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from judges.calibration.sampling import is_never_shown
from judges.settled import is_explained, practised_items
from store.draws import Draw, list_draws
from store.errors import UsageError
from store.events import DECIDED
from store.study import Study, now

LEAD = "lead"
LOOK = "look"
"""Type of the journal's record of a lead's look: `what`, `by`, `at`, and the queue that was open, if one was."""


class OpenQueue(NamedTuple):
    """A draw somebody has begun and not finished: how many of its items they have decided."""

    draw_id: str
    labelled: int
    items: int

    @property
    def words(self) -> str:
        return f"{self.labelled:,} of {self.items:,} labelled"


def open_queue(study: Study, annotator: str) -> OpenQueue | None:
    """The draw, not assisted and not for practice, that a person is in the middle of."""
    if not study.rows("SELECT 1 FROM label_events WHERE annotator = ? AND draw_id <> '' LIMIT 1", [annotator]):
        return None
    from annotate.desk.opening import task_definitions

    rows = study.rows(
        f"""WITH mine AS (
            SELECT item_id, content_hash, draw_id FROM current_labels
            WHERE annotator = ? AND round = 0 AND {DECIDED})
        SELECT d.draw_id, count(m.item_id), count(*) FROM draws d JOIN draw_items USING (draw_id)
        JOIN current_items i USING (item_id)
        LEFT JOIN mine m ON m.item_id = i.item_id AND m.content_hash = i.content_hash
        WHERE d.reveal <> 'assisted' AND d.stream <> 'practice' AND i.task IN (SELECT unnest(?::VARCHAR[]))
            AND d.draw_id IN (SELECT draw_id FROM label_events WHERE annotator = ?)
            AND i.item_id NOT IN (SELECT unnest(?::VARCHAR[]))
        GROUP BY d.draw_id HAVING count(m.item_id) < count(*) ORDER BY d.draw_id LIMIT 1""",
        [annotator, list(task_definitions(study)), annotator, list(practised_items(study, annotator))],
    )
    return OpenQueue(*rows[0]) if rows else None


def closed_words(study: Study, annotator: str, draw: Draw | None = None) -> str:
    """Why what shows verdicts of many items is closed to a person now, at the desk over a draw; "" when it is open."""
    if draw is not None and is_explained(draw):
        return "closed in practice: what the judge got wrong would colour your first labels"
    queue = open_queue(study, annotator)
    if queue is None:
        return ""
    return f"closed until your queue is done ({queue.words}): what the judge got wrong would colour what is to come"


def require_open(study: Study, annotator: str, role: str, what: str) -> bool:
    """Let somebody look at verdicts of many items; True when they look as the lead, which is journaled.

    Args:
        role: "" or "lead". what: the command, for the journal and the remedy ("audit").

    Raises:
        UsageError: an unknown role, or the person is in the middle of a queue; says how to go on.
    """
    if role not in ("", LEAD):
        raise UsageError(f"There is no role {role!r}.", "", f"overread {what} --as {LEAD}")
    who = unicodedata.normalize("NFC", annotator).strip()
    queue = open_queue(study, who)
    if role == LEAD:
        open_one = {"draw_id": queue.draw_id, "labelled": queue.labelled, "items": queue.items} if queue else None
        at = now().isoformat(timespec="seconds")
        study.record([{"type": LOOK, "what": what, "as": LEAD, "by": who, "at": at, "open_queue": open_one}])
        return True
    if queue is not None:
        raise UsageError(
            f"{who} is in the middle of a queue: {queue.words}.",
            "What the judge got wrong would colour the labels that are still to come.",
            f"Finish it: overread label   or, for the lead of the study: overread {what} --as {LEAD}  (it is recorded)",
        )
    return False


def hidden_from(study: Study, annotator: str) -> frozenset[str]:
    """Items whose verdict this person is not to see: by the coin of a draw they labelled in, by its policy, or because
    they have still to label them in some draw. Of somebody who has never labelled nothing is known."""
    rows = study.rows(
        """SELECT DISTINCT d.draw_id, d.seed, d.reveal, i.item_id FROM draws d JOIN draw_items i USING (draw_id)
        WHERE d.reveal <> 'assisted' AND d.draw_id IN (SELECT draw_id FROM label_events WHERE annotator = ?)""",
        [annotator],
    )
    never = {
        item_id for _, seed, reveal, item_id in rows if reveal == "never" or is_never_shown(item_id, annotator, seed)
    }
    return frozenset(never | _to_label(study, annotator))


def _to_label(study: Study, annotator: str) -> set[str]:
    from annotate.desk.opening import items_for, labelled_items
    from annotate.desk.past import round_of

    if not study.rows("SELECT 1 FROM label_events WHERE annotator = ? LIMIT 1", [annotator]):
        return set()
    draws = [draw for draw in list_draws(study) if draw.reveal != "assisted"]
    done = {number: labelled_items(study, annotator, number) for number in {round_of(draw) for draw in draws}}
    found: set[str] = set()
    for draw in draws:
        served = {item.item_id for item in items_for(study, draw, "", annotator)}
        found |= served - done[round_of(draw)]
    return found
