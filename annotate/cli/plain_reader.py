"""Reading an item aloud: its closed panels, what is found in it, what differs, the turns that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from annotate.cli.plain_words import difference_lines, section_lines, turn_line
from annotate.desk.aids import NOTHING_TO_COMPARE, Aids
from annotate.desk.desk import Desk
from annotate.desk.document import Document
from annotate.desk.ledger import Reading
from annotate.desk.reading import sections_for
from annotate.desk.sections import Section
from judges.benchmarks.benchmark import TaskDefinition
from store.safe_text import safe_line

FOUND_AT_MOST = 20
"""Places that find reads out."""
NO_DIALOGUE = "this item has no dialogue"
_NO_TASK = TaskDefinition("", "", "", "nominal", (), ())


class PlainReader:
    """Reads out of the item in hand. Where a method returns words, they are to be told; "" for none."""

    def __init__(self, desk: Desk, subject: Callable[[], Reading], say: Callable[[Iterable[str]], None]) -> None:
        """`subject` is the item in hand, also in a review; `say` writes lines."""
        self._desk, self._subject, self._say = desk, subject, say
        self._item_id = ""
        self._sections: list[Section] = []
        self._aids = Aids(Document(()), _NO_TASK)

    def sections(self) -> list[Section]:
        """The panels of the item in hand, long texts loaded."""
        self._take_up()
        return self._sections

    def dialogue(self) -> Section | None:
        """The dialogue of the item in hand."""
        return next((section for section in self.sections() if section.kind == "dialogue"), None)

    @property
    def turn(self) -> int | None:
        """The turn that was read last by one of the steps below."""
        self._take_up()
        return self._aids.turn

    def read(self, section: Section) -> None:
        """A panel whole."""
        self._note_opened(section)
        self._say(section_lines(section, unfold=True))

    def read_named(self, name: str) -> str:
        """The panel of that id or title, whole."""
        wanted = name.casefold()
        for section in self.sections():
            if wanted in (section.id.casefold(), section.title.casefold()):
                self.read(section)
                return ""
        return f"open which panel? {', '.join(section.id for section in self.sections())}"

    def read_dialogue(self) -> str:
        """The dialogue, whole."""
        section = self.dialogue()
        if section is None:
            return NO_DIALOGUE
        self.read(section)
        return ""

    def find(self, text: str) -> None:
        """Every place of a text in the item, closed panels too, with what stands around it."""
        wanted = text.casefold()
        places = [
            (section, number, unit.text)
            for section in self.sections()
            for number, unit in enumerate(section.units, start=1)
            if wanted in unit.text.casefold()
        ]
        self._say([f"Found in {len(places)} places." if len(places) != 1 else "Found in 1 place."])
        for section, number, found in places[:FOUND_AT_MOST]:
            self._note_opened(section)
            where = section.title if section.kind == "text" else f"{section.title}, {number}"
            self._say([f"  {where}: {_around(found, wanted)}"])

    def differences(self) -> str:
        """What reference and response do not have in common, in words."""
        self._take_up()
        sides = self._aids.compare()
        if not sides:
            return NOTHING_TO_COMPARE
        self._say(list(difference_lines(sides)) or ["No differing number, unit, date, negation or word found."])
        return ""

    def step_similar(self, step: int) -> str:
        """The next turn most like the gold text; returns which it is."""
        self._take_up()
        message = self._aids.step_similar(step)
        if self._aids.turn is not None:
            self._read_turn(self._aids.turn)
        return message

    def step_turn(self, step: int) -> str:
        """The next turn of the dialogue, the first one to begin with."""
        section = self.dialogue()
        if section is None or not section.units:
            return NO_DIALOGUE
        turn = 0 if self._aids.turn is None else max(0, min(self._aids.turn + step, len(section.units) - 1))
        self._aids.point_at(turn)
        self._read_turn(turn)
        return ""

    def _read_turn(self, turn: int) -> None:
        section = self.dialogue()
        if section is not None:
            self._note_opened(section)
            self._say([turn_line(turn, section.units[turn])])

    def _take_up(self) -> None:
        """Load the item in hand, if it is another one than before."""
        reading = self._subject()
        if reading.item.item_id != self._item_id:
            self._item_id = reading.item.item_id
            self._sections = sections_for(reading, self._desk.ledger.study)
            self._aids = Aids(Document(self._sections), reading.task)

    def _note_opened(self, section: Section) -> None:
        """Reading a panel that the judge did not see is recorded with the label."""
        self._desk.ledger.open_panels(self._subject().task, [section.id])


def _around(text: str, wanted: str, width: int = 200) -> str:
    """Where something was found, with what stands around it."""
    place = max(text.casefold().find(wanted), 0)
    start = max(0, place - width // 2)
    return ("…" if start else "") + safe_line(text[start:], width)
