"""The item on the screen: its document, the helps for the eye, and which panels were opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.desk.aids import Aids
from annotate.desk.desk import Desk
from annotate.desk.document import Document
from annotate.desk.ledger import Reading
from annotate.desk.reading import sections_for
from annotate.tui.widgets.document_view import DocumentView
from judges.benchmarks.benchmark import TaskDefinition
from store.model_names import model_names_in


@dataclass(frozen=True, slots=True)
class Prepared:
    """An item ready to be shown.

    Attributes:
        cautions: what to know of its text before reading it.
    """

    item_id: str
    document: Document
    aids: Aids
    cautions: tuple[str, ...] = ()


_NO_TASK = TaskDefinition("", "", "", "nominal", (), ())
NOTHING = Prepared("", Document(()), Aids(Document(()), _NO_TASK))


class Reader:
    """Shows one item of the desk in a view. Methods that do something for the eye return what to say."""

    def __init__(self, desk: Desk, view: DocumentView) -> None:
        self._desk = desk
        self._view = view
        self._shown = NOTHING
        self._ahead = NOTHING
        self._evidence: tuple[int, ...] = ()

    @property
    def cautions(self) -> tuple[str, ...]:
        return self._shown.cautions

    def show(self, reading: Reading) -> None:
        """Show an item, prepared ahead or now; nothing moves when it is shown already."""
        if reading.item.item_id != self._shown.item_id:
            ahead = self._ahead.item_id == reading.item.item_id
            self._shown = self._ahead if ahead else self._prepare(reading)
            self._evidence = ()
            self._view.show(self._shown.document)
        if reading.state.evidence != self._evidence:
            self._evidence = tuple(reading.state.evidence)
            self._shown.aids.mark_evidence(self._evidence)
            self._view.refresh()

    def show_text(self, document: Document) -> None:
        """Show something that is no item."""
        self._shown = NOTHING
        self._view.show(document)

    def look_ahead(self) -> None:
        """Prepare the next item while this one is read."""
        reading = self._desk.look_ahead()
        if reading is not None and reading.item.item_id not in (self._shown.item_id, self._ahead.item_id):
            self._ahead = self._prepare(reading)
            self._view.render_ahead(self._ahead.document)

    def _prepare(self, reading: Reading) -> Prepared:
        document = Document(sections_for(reading, self._desk.ledger.study))
        return Prepared(
            reading.item.item_id, document, Aids(document, reading.task), tuple(_cautions(reading, document))
        )

    # Finding

    def find(self, text: str) -> str:
        """Mark what is found and go to the first hit."""
        if not self._view.find(text):
            return "" if not text else "not found"
        return self.step_find(1)

    def step_find(self, step: int) -> str:
        """To the next hit, or the previous one."""
        hit = self._view.find_step(step)
        if hit is None:
            return "nothing found yet: / finds"
        self.note_opened([hit.section])
        return f"hit {(self._view.current_hit or 0) + 1} of {len(self._view.hits)}"

    # Helps for the eye

    def differences(self) -> str:
        """Mark what differs between reference and response, or take the marks off."""
        words = self._shown.aids.toggle_differences()
        self._view.refresh()
        return words

    def step_similar(self, step: int) -> str:
        """To the next turn most like the gold text."""
        aids = self._shown.aids
        words = aids.step_similar(step)
        if aids.turn is not None:
            self._jump(aids.turn)
        return words

    def step_turn(self, step: int) -> str:
        """To the next turn of the dialogue."""
        aids = self._shown.aids
        if not aids.dialogue:
            return "this item has no dialogue"
        self._open(aids.dialogue)
        turn = self._view.move_cursor(aids.dialogue, step)
        if turn is None:
            return "this dialogue has no turns"
        aids.point_at(turn)
        return f"turn {turn + 1}: e marks it as evidence"

    @property
    def has_dialogue(self) -> bool:
        return bool(self._shown.aids.dialogue)

    @property
    def idle(self) -> set[str]:
        """Actions for which this item has nothing: a dialogue, two texts to compare."""
        of_dialogue = set() if self.has_dialogue else {"dialogue", "next_similar"}
        return of_dialogue | (set() if self._shown.aids.can_compare else {"differences"})

    @property
    def turn(self) -> int | None:
        """The turn the arrow is on."""
        return self._shown.aids.turn

    # Panels

    def fold(self) -> str:
        """Open or fold the panel at the top of the view."""
        document = self._view.document
        if document.rows:
            self._toggle(document.position(self._view.top_row).section)
        return ""

    def toggle_dialogue(self) -> str:
        """Open or fold the dialogue."""
        if not self.has_dialogue:
            return "this item has no dialogue"
        self._toggle(self._shown.aids.dialogue)
        return ""

    def note_opened(self, sections: Iterable[str]) -> None:
        """Opening a panel that the judge did not see is recorded with the label."""
        if self._shown.item_id:
            self._desk.ledger.open_panels(self._desk.current.task, sections)

    def _toggle(self, section: str) -> None:
        if self._view.toggle_section(section):
            self.note_opened([section])

    def _open(self, section: str) -> None:
        if not self._view.document.is_open(section):
            self._toggle(section)

    def _jump(self, turn: int) -> None:
        dialogue = self._shown.aids.dialogue
        self._open(dialogue)
        self._view.jump_to(dialogue, turn)


def _cautions(reading: Reading, document: Document) -> Iterator[str]:
    if any(map(model_names_in, _strings(reading.item.payload.values()))):
        yield "a text here names a model or a system"
    if document.is_right_to_left:
        yield "right-to-left text: your terminal orders it"


def _strings(values: Iterable[Any]) -> Iterable[str]:
    """The strings among values, lists taken apart."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from _strings(value)
        elif isinstance(value, Mapping):
            yield from _strings([value.get("text")])
