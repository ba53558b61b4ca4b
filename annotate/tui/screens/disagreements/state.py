"""Disagreements as lines: the list around the cursor, and what people and the judge say of the one in hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from annotate.desk.actions import HARMS
from annotate.desk.document import Document
from annotate.desk.ledger import Reading
from annotate.desk.reading import headline, sections_for
from annotate.desk.verdict_view import titles
from annotate.report.disagreements import Disagreement, disagreements, hidden_disagreements
from annotate.report.facts import Facts
from annotate.report.words import count
from annotate.tui.widgets.spans import Line, Span, cut_line, keys_line, push_right, wrap_lines
from judges.benchmarks.benchmark import TaskDefinition
from store.items import get_items, verdicts_by_item
from store.records import LabelState
from store.safe_text import safe_line

KEYS: Final = (
    ("↑ ↓ Home End", "Another disagreement"),
    ("PgUp PgDn", "Scroll the item"),
    ("space", "Open or fold the panel at the top of the view"),
    ("q Esc", "Back"),
    ("? F1", "These keys"),
)
EXPLAINED: Final = ("≠ people and judge differ, ! dangerous if believed, ‼ and the judge passed it.",)
READ_AT_ONCE = 32
REASON_ROWS = 5
_HARM = dict(HARMS.values())


@dataclass
class DisagreementsState:
    """The disagreements of one judge on one task, the most urgent first, and which is in hand."""

    facts: Facts
    task: str
    judge: str
    place: int = 0
    _read: dict[str, tuple[Reading, str]] = field(default_factory=dict)

    @cached_property
    def found(self) -> list[Disagreement]:
        return disagreements(self.facts, self.task, self.judge)

    @cached_property
    def hidden(self) -> int:
        """How many are not in it because their verdict stays hidden from whoever looks."""
        return hidden_disagreements(self.facts, self.task, self.judge)

    @property
    def definition(self) -> TaskDefinition:
        return self.facts.tasks[self.task]

    @property
    def current(self) -> Disagreement | None:
        return self.found[self.place] if self.found else None

    def move(self, by: int) -> None:
        self.place = min(max(self.place + by, 0), max(len(self.found) - 1, 0))

    def read(self, place: int) -> tuple[Reading, str] | None:
        """The item at a place, and the judge's reason; None when the study has it no more."""
        item_id = self.found[place].item_id
        if item_id not in self._read:
            wanted = [one.item_id for one in self.found[place : place + READ_AT_ONCE]]
            items = get_items(self.facts.study, wanted)
            verdicts = verdicts_by_item(self.facts.study, items.values())
            for key, item in items.items():
                reasons = [v.record.rationale for v in verdicts[key] if v.judge == self.judge and v.record.rationale]
                self._read[key] = (Reading(item, self.definition, LabelState(), ()), next(iter(reasons), ""))
        return self._read.get(item_id)

    def document(self) -> Document:
        """The texts of the item in hand."""
        known = self.read(self.place) if self.found else None
        return Document(sections_for(known[0], self.facts.study) if known else [])


def list_rows(state: DisagreementsState, rows: int, width: int) -> list[Line]:
    """The list around the cursor, in that many rows."""
    if not state.found:
        words = "The judge and people agree on all items that count."
        if state.hidden:
            words = f"All {count(state.hidden, 'disagreement')} are on items whose verdict stays hidden from you."
        return [[Span(words)]]
    first = min(max(state.place - rows // 2, 0), max(len(state.found) - rows, 0))
    places = range(first, min(first + rows, len(state.found)))
    return [_row(state, place, width) for place in places]


def _row(state: DisagreementsState, place: int, width: int) -> Line:
    one, known = state.found[place], state.read(place)
    people, judge = (_words(state.definition, said, one.differs) for said in (one.people, one.judge))
    here = place == state.place
    title = headline(known[0], 200) if known else "item"
    sign = "‼" if one.dangerous and one.passed else "!" if one.dangerous else "≠"
    line: Line = [
        Span("▶ " if here else "  ", "key"), Span(f"{sign} ", "differs"), Span(people, "chosen"), Span(" → ", "muted"),
        Span(judge, "judge"), Span("  "), Span(title, "title" if here else "plain"),
    ]  # fmt: skip
    return cut_line(line, width)


def said_rows(state: DisagreementsState, width: int) -> list[Line]:
    """What people and the judge say of the item in hand."""
    one = state.current
    if one is None:
        return []
    known = state.read(state.place)
    by = f"  ({safe_line(', '.join(one.by), 60)})" if one.by else ""
    lines: list[Line] = [
        [Span("people  ", "muted"), Span(_words(state.definition, one.people), "chosen"), Span(by, "muted")],
        [Span("judge   ", "muted"), Span(_words(state.definition, one.judge), "judge"),
         Span(f"  {safe_line(state.judge, 40)}", "muted")],
    ]  # fmt: skip
    if one.harm:
        passed = ", and the judge passed it" if one.passed else ""
        lines.append([Span(f"harm    {_HARM.get(one.harm, one.harm)}{passed}", "differs")])
    rows = wrap_lines(lines, width)
    reason = known[1] if known else ""
    told = [[Span("reason  ", "muted"), Span(f"“{safe_line(reason, 1500)}”" if reason else "none kept")]]
    return [*rows, *wrap_lines(told, width)[:REASON_ROWS]]


def _words(task: TaskDefinition, said: object, only: Sequence[str] | None = None) -> str:
    labels = {part: label for part, label in dict(said).items() if only is None or part in only}  # type: ignore[call-overload]
    return safe_line(titles(task, labels.get(""), {part: label for part, label in labels.items() if part}), 120)


def disagreements_header(state: DisagreementsState, width: int) -> Line:
    """How many there are, and how many stay hidden."""
    hidden = f", {state.hidden:,} more stay hidden" if state.hidden else ""
    words = f" {count(len(state.found), 'disagreement')}{hidden}: {state.definition.title} · {state.judge}"
    place = f"{state.place + 1:,} / {len(state.found):,} " if state.found else ""
    left = cut_line([Span(safe_line(words, 200), "title")], max(width - len(place) - 1, 1))
    return push_right(left, [Span(place, "title")], width)


def disagreements_footer(width: int) -> Line:
    """The keys."""
    keys = (("↑ ↓", "choose"), ("PgUp PgDn", "scroll the item"), ("space", "open, fold"), ("?", "keys"), ("q", "back"))
    return keys_line(keys, width)
