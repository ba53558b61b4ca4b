"""What people have settled, how a beginner's practice compares with it, and which items are practice for whom.

Settled is what people said, never a judge: an adjudication, or a label on which at least two are of one mind, all of it
given blind. A note is shown only if it was written before its writer saw a verdict, for it could quote one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from judges.calibration.statistical_label import Adjudication, statistical_label
from store.draws import Draw, drawn_items
from store.events import DECIDED, NOT_PRACTICE, PRACTICE, STATE_COLUMNS, state_of_row
from store.records import LabelState
from store.study import Study

EXPLAINED = "explained"
"""The setting that marks a draw whose settled labels are shown."""
FEWEST = 2
"""People that have to be of one mind where nobody adjudicated: one person's label is an opinion."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What people settled on an item.

    Attributes:
        value, parts: the label; a part on which people differ is left out.
        agreeing, votes: people who gave the value and people who labelled, adjudication apart.
        adjudicated: whether an adjudicator decided.
        notes: why, in the words of those who gave the value; the adjudicator's first.
    """

    value: str
    parts: Mapping[str, str]
    agreeing: int
    votes: int
    adjudicated: bool
    notes: tuple[str, ...] = ()

    @property
    def hard(self) -> bool:
        """Whether people differed at first."""
        return self.agreeing < self.votes


class Tally(NamedTuple):
    """How many of a beginner's first labels are as settled, of those on items that are settled still."""

    as_settled: int
    of: int

    @property
    def words(self) -> str:
        return f"{self.as_settled:,} of {self.of:,} as settled"


@dataclass(slots=True)
class _Said:
    """What was said of one item."""

    people: dict[str, LabelState] = field(default_factory=dict)
    adjudicated: LabelState | None = None
    notes: dict[str, str] = field(default_factory=dict)


def settled_labels(study: Study, item_ids: Sequence[str] | None = None) -> dict[str, Settled]:
    """Item → what people settled on its current content; without the items on which they did not, or cannot judge."""
    rows = study.rows(
        f"""SELECT l.item_id, l.annotator, l.adjudicated, l.mode = 'blind',
            {", ".join(f"l.{name.strip()}" for name in STATE_COLUMNS.split(","))}
        FROM all_blind_labels l JOIN (SELECT item_id, content_hash FROM current_items) USING (item_id, content_hash)
        WHERE l.round = 0 AND {DECIDED} AND l.draw_id NOT IN (SELECT draw_id FROM draws WHERE stream = 'practice')
            AND (? OR l.item_id IN (SELECT unnest(?::VARCHAR[]))) ORDER BY l.item_id, l.annotator""",
        [item_ids is None, list(item_ids or ())],
    )
    items: dict[str, _Said] = defaultdict(_Said)
    for item_id, annotator, adjudicated, is_blind, *columns in rows:
        said, state = items[item_id], state_of_row(columns)
        if adjudicated:
            said.adjudicated = state
        else:
            said.people[annotator] = state
        if is_blind and state.note.strip():  # a file that names no mode may hold notes written beside the verdict
            said.notes["" if adjudicated else annotator] = state.note.strip()
    found = {item_id: _settled(said) for item_id, said in items.items()}
    return {item_id: one for item_id, one in found.items() if one is not None}


def is_practice(draw: Draw) -> bool:
    """Whether labels under a draw are for practice and of no round that a number rests on."""
    return draw.settings.get("round") == PRACTICE


def is_explained(draw: Draw) -> bool:
    """Whether a draw is for practice on settled items."""
    return is_practice(draw) and bool(draw.settings.get(EXPLAINED))


def not_to_practise(study: Study, annotator: str, draw: Draw) -> set[str]:
    """Items that are no practice for a person: labelled or seen before, practised in another draw, or in a queue that
    they have begun and so still to be labelled without knowing the answer. What reads the same counts with them."""
    return _alike(
        study,
        f"""SELECT content_hash FROM label_events WHERE annotator = ? AND {NOT_PRACTICE}
            AND ({DECIDED} OR kind = 'reveal')
        UNION SELECT content_hash FROM file_labels WHERE annotator = ?
        UNION SELECT content_hash FROM label_events
            WHERE annotator = ? AND NOT {NOT_PRACTICE} AND draw_id <> ? AND {DECIDED}
        UNION SELECT content_hash FROM current_items JOIN draw_items USING (item_id) WHERE draw_id IN (
            SELECT draw_id FROM label_events WHERE annotator = ? AND {NOT_PRACTICE})""",
        [annotator, annotator, annotator, draw.draw_id, annotator],
    )


def practised_items(study: Study, annotator: str) -> set[str]:
    """Items that a person has labelled for practice, or that read the same: they know what was settled there."""
    if not study.rows(f"SELECT 1 FROM label_events WHERE annotator = ? AND NOT {NOT_PRACTICE} LIMIT 1", [annotator]):
        return set()  # mostly: spares a walk over all items
    return _alike(
        study,
        f"SELECT content_hash FROM label_events WHERE annotator = ? AND NOT {NOT_PRACTICE} AND {DECIDED}",
        [annotator],
    )


def first_labels(study: Study, draw_id: str, annotator: str = "") -> dict[str, dict[str, str | None]]:
    """Annotator → item → the first label given in a practice draw, None for "cannot judge": what came after the answer
    was seen shows nothing."""
    rows = study.rows(
        f"""SELECT annotator, item_id, min_by(coalesce(value, ''), (clock, copy_id, seq)) FROM label_events
        JOIN (SELECT item_id, content_hash FROM current_items) USING (item_id, content_hash)
        WHERE draw_id = ? AND NOT {NOT_PRACTICE} AND {DECIDED} AND (? = '' OR annotator = ?)
        GROUP BY annotator, item_id ORDER BY annotator, item_id""",
        [draw_id, annotator, annotator],
    )
    found: dict[str, dict[str, str | None]] = {}
    for who, item_id, value in rows:
        found.setdefault(who, {})[item_id] = value or None
    return found


def tally_of(first: Mapping[str, str | None], settled: Mapping[str, Settled]) -> Tally:
    """How a beginner did."""
    known = [(value, settled[item_id].value) for item_id, value in first.items() if item_id in settled]
    return Tally(sum(own == theirs for own, theirs in known), len(known))


def tallies(study: Study, draw: Draw) -> dict[str, Tally]:
    """How each beginner did in a practice draw, by name; {} for a draw without settled labels."""
    if not is_explained(draw):
        return {}
    settled = settled_labels(study, [item.item_id for item in drawn_items(study, draw.draw_id)])
    return {who: tally_of(first, settled) for who, first in first_labels(study, draw.draw_id).items()}


# Inside


def _settled(said: _Said) -> Settled | None:
    decision = None if said.adjudicated is None else Adjudication(said.adjudicated.value)
    votes = {who: state.value for who, state in said.people.items()}
    found = statistical_label(votes, decision)
    agreeing = [who for who, value in votes.items() if value == found.label]
    if found.label is None or (decision is None and len(agreeing) < FEWEST):
        return None
    notes = [said.notes[who] for who in ("", *agreeing) if who in said.notes]
    return Settled(
        found.label, _parts(said), len(agreeing), len(votes), decision is not None, tuple(dict.fromkeys(notes))
    )


def _parts(said: _Said) -> dict[str, str]:
    """Each part resolved on its own, among those who gave it."""
    given = [*said.people.values(), *([said.adjudicated] if said.adjudicated is not None else [])]
    found = {}
    for part in sorted({part for state in given for part in state.parts}):
        votes = {who: state.parts[part] for who, state in said.people.items() if part in state.parts}
        decided = said.adjudicated.parts.get(part) if said.adjudicated is not None else None
        label = statistical_label(votes, Adjudication(decided) if decided is not None else None).label
        if label is not None:
            found[part] = label
    return found


def _alike(study: Study, contents: str, parameters: Sequence[str]) -> set[str]:
    """Items whose content a query names; the content holds the task."""
    rows = study.rows(f"SELECT item_id FROM current_items WHERE content_hash IN ({contents})", parameters)
    return {row[0] for row in rows}
