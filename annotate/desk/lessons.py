"""Practice: what people settled on an item, shown once the beginner's own label is safe, and how the beginner does."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.desk.decision_words import differs
from annotate.desk.ledger import Reading
from annotate.desk.verdict_view import titles
from judges.benchmarks.decisions import VALUE, decisions_of
from judges.settled import Settled, Tally, first_labels, is_explained, settled_labels, tally_of
from store.draws import Draw, drawn_items
from store.records import LabelState
from store.study import Study


@dataclass(frozen=True, slots=True)
class Lesson:
    """What people settled on one item, in words.

    Attributes:
        label: with its parts; "" where people have come to differ since the draw was made, or the item has
            another content.
        by: how it was settled. notes: why. agrees: whether the own value is the settled one.
        apart: titles of the parts that both gave and that differ.
    """

    label: str
    by: str = ""
    notes: tuple[str, ...] = ()
    agrees: bool = False
    apart: tuple[str, ...] = ()


class Lessons:
    """What is settled on the items of one practice draw, and the first labels of one beginner; empty for other draws.

    Attributes:
        explained: whether the draw is for practice on settled items.
    """

    def __init__(self, study: Study, annotator: str, draw: Draw) -> None:
        self.explained = is_explained(draw)
        self._settled: dict[str, Settled] = {}
        self._first: dict[str, str | None] = {}
        if self.explained:
            self._settled = settled_labels(study, [item.item_id for item in drawn_items(study, draw.draw_id)])
            self._first = first_labels(study, draw.draw_id, annotator).get(annotator, {})

    def of(self, reading: Reading) -> Lesson | None:
        """The lesson of an item; None before it has this person's label."""
        if not (self.explained and reading.state.decided):
            return None
        found = self._settled.get(reading.item.item_id)
        if found is None:
            return Lesson("")
        label = titles(reading.task, found.value, found.parts, reading.state.parts)
        return Lesson(label, _by(found), found.notes, reading.state.value == found.value, _apart(reading, found))

    def take(self, item_id: str, state: LabelState) -> None:
        """A label was stored: the first one counts, it was given without the answer."""
        self._first.setdefault(item_id, state.value)

    @property
    def tally(self) -> Tally:
        return tally_of(self._first, self._settled)


def _by(found: Settled) -> str:
    people = f"{found.agreeing} of {found.votes} people" if found.votes else ""
    if found.adjudicated:
        return "adjudicated" + (f", as {people} had said" if people else "")
    return f"by {people}"


def _apart(reading: Reading, found: Settled) -> tuple[str, ...]:
    own, parts = reading.state.parts, (one for one in decisions_of(reading.task) if one.id != VALUE)
    both = (one for one in parts if one.id in own and one.id in found.parts)
    return tuple(one.title for one in both if differs(one, own[one.id], found.parts[one.id]))
