"""Helps for the eye on one item: differences, similar turns, evidence marks. State only; a view shows it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from annotate.desk.document import Document, Highlight, Mark
from judges.benchmarks.benchmark import Panel, TaskDefinition

if TYPE_CHECKING:
    from annotate.desk.differences import Difference
    from annotate.desk.evidence import SimilarTurn

SIMILAR_TURNS = 5
"""How many turns `]` walks through."""
NOTHING_TO_COMPARE = "this item has no two texts to compare"


class Side(NamedTuple):
    """One side of a comparison.

    Attributes:
        section: id of the section. title: its title.
        marks: what it has and the other side has not; of a list nothing is marked, it is long and only looked up in.
        text: the text that the marks count in.
    """

    section: str
    title: str
    marks: tuple[Difference, ...]
    text: str


class Aids:
    """Marks and places in one document.

    Attributes:
        dialogue: id of the section that is a dialogue, or "" when the item has none.
    """

    def __init__(self, document: Document, task: TaskDefinition) -> None:
        self._document = document
        self._panels: dict[str, Panel] = {panel.field: panel for panel in task.panels}
        dialogues = [section.id for section in document.sections if section.kind == "dialogue"]
        self.dialogue = dialogues[0] if dialogues else ""
        self.differences_shown = False
        self._ranked: list[SimilarTurn] | None = None
        self._turn: int | None = None

    def toggle_differences(self) -> str:
        """Mark what differs between reference and response, or take the marks off; returns what to say."""
        if self.differences_shown:
            self._document.set_highlights("differences", [])
            self.differences_shown = False
            return "marks off"
        sides = self.compare()
        if not sides:
            return NOTHING_TO_COMPARE
        marks = [Highlight(side.section, 0, mark.start, mark.end, mark.kind) for side in sides for mark in side.marks]
        self._document.set_highlights("differences", marks)
        self.differences_shown = True
        return "what differs is marked ≠" if marks else "no differing number, unit, date, negation or word found"

    def compare(self) -> list[Side]:
        """What differs between reference and response, or between one of them and the gold text; [] for neither.

        A list is compared as a whole: what the other side says is looked for in any of its entries.
        """
        from annotate.desk.differences import differences  # its patterns take a tenth of a first paint to compile

        sides = self._two_sides()
        if sides is None:
            return []
        (reference, one), (response, other) = sides
        found = differences(one, other)
        return [_side(reference, one, found.reference), _side(response, other, found.response)]

    @cached_property
    def can_compare(self) -> bool:
        """Whether there are two texts whose differences can be marked."""
        return self._two_sides() is not None

    def _two_sides(self) -> tuple[tuple[Panel, str], tuple[Panel, str]] | None:
        reference = self._panel("reference", "gold")
        response = self._panel("response", "gold")
        if reference is None or response is None or reference == response:
            return None
        one, other = ("\n".join(self._document.texts(panel.field)) for panel in (reference, response))
        return ((reference, one), (response, other)) if one.strip() and other.strip() else None

    def step_similar(self, step: int) -> str:
        """To the next turn most like the gold text; returns what to say."""
        from annotate.desk.evidence import rank_turns, similar_spans, step_rank

        if not self.dialogue:
            return "this item has no dialogue"
        gold = "\n".join(self._gold_texts())
        units = self._document.distinct_units(self.dialogue)
        if self._ranked is None:
            self._ranked = rank_turns(gold, [self._document.text(self.dialogue, unit) for unit in units], SIMILAR_TURNS)
        current = units.index(self._turn) if self._turn in units else None
        place = step_rank(self._ranked, current, step)
        if place is None:
            return "no turn shares words with the gold text"
        self._turn = units[place]
        self._document.cursor = (self.dialogue, self._turn)
        spans = similar_spans(gold, self._document.text(self.dialogue, self._turn))
        self._document.set_highlights(
            "similar", [Highlight(self.dialogue, self._turn, span.start, span.end, "similar") for span in spans]
        )
        rank = [similar.turn for similar in self._ranked].index(place) + 1
        return f"turn {self._turn + 1}, {rank} of {len(self._ranked)} most alike: similar words, not proof"

    @property
    def turn(self) -> int | None:
        """The turn last jumped to."""
        return self._turn

    def point_at(self, turn: int) -> None:
        """Put the arrow on a turn."""
        self._turn = turn
        self._document.cursor = (self.dialogue, turn)

    def mark_evidence(self, turns: Iterable[int]) -> None:
        """Show these turns as marked evidence."""
        if self.dialogue:
            self._document.set_marks("evidence", [Mark(self.dialogue, turn, "◆", "evidence") for turn in turns])

    def _panel(self, *roles: str) -> Panel | None:
        """The panel that plays the first of these roles that any plays."""
        for role in roles:
            for panel in self._panels.values():
                if panel.role == role and panel.kind != "compare":
                    return panel
        return None

    def _gold_texts(self) -> list[str]:
        """What to look for: the gold panels, else reference and question."""
        for roles in (("gold",), ("reference", "question")):
            fields = [field for field, panel in self._panels.items() if panel.role in roles]
            if fields:
                return [text for field in fields for text in self._document.texts(field)]
        return []


def _side(panel: Panel, text: str, marks: tuple[Difference, ...]) -> Side:
    return Side(panel.field, panel.title, marks if panel.kind == "text" else (), text)
