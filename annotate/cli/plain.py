"""`label --plain`: the desk line by line, for screen readers and terminals that cannot draw.

The same state and rules as the full-screen desk; a line is a label or a command, with what it needs after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TextIO

from annotate.cli import plain_words as words
from annotate.cli.output import writing_output
from annotate.cli.plain_line import OPEN, Command, Labels, NotUnderstood, read_line
from annotate.cli.plain_parts import part_lines, part_prompt, read_part_line
from annotate.cli.plain_reader import NO_DIALOGUE, PlainReader
from annotate.desk.actions import BY_ID, HARMS, PART_ACTS, REASONS, KeyMap, PartAct
from annotate.desk.desk import Desk
from annotate.desk.entries import Entry
from annotate.desk.ledger import Reading
from annotate.desk.reading import entry_sections
from annotate.desk.review import BlockReview
from annotate.desk.verdict_view import label_words
from store.errors import SaveError
from store.safe_text import safe_text

_INDENT = "    "
"""Before every line after the first of a text: what an item says is never at the place of what the desk says."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the person heard last: the review or None, the place in it or in the queue, and whether with a verdict, or
    in practice with what people settled."""

    review: BlockReview | None
    place: int
    verdict: bool = False
    decided: bool = False


class PlainDesk:
    """Reads lines from `source`, writes to `out`, until the queue, the sitting or the input ends."""

    def __init__(
        self, desk: Desk, source: TextIO, out: TextIO, remapped: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._desk, self._source, self._out = desk, source, out
        self._keymaps = {name: KeyMap(task, remapped) for name, (task, _) in desk.ledger.tasks.items()}
        self._reader = PlainReader(desk, self._subject, self._say_all)
        self._heard: _Shown | None = None
        self._part_before: tuple[Entry | None, str] = (None, "")
        self._leaving = False
        self._unsaved: SaveError | None = None

    def run(self) -> None:
        """Label until `q`, the end of the input, or of the queue.

        Raises:
            SaveError: the person left although the last act could not be saved.
        """
        desk = self._desk
        self._say(words.welcome(desk))
        while not self._leaving and desk.phase != "done":
            self._show()
            line = self._ask(self._prompt())
            if line is None:
                break
            desk.active.tick(desk.clock())
            self._take(line)
        self._say_message()
        self._say_all(words.ending(desk))
        if self._unsaved is not None:
            raise self._unsaved

    # Saying

    def _say(self, text: str = "", end: str = "\n") -> None:
        with writing_output():
            self._out.write(safe_text(text).replace("\n", f"\n{_INDENT}") + end)
            self._out.flush()

    def _say_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._say(line)

    def _say_message(self) -> None:
        message, self._desk.message = self._desk.message, ""
        if message:
            self._say(words.sentence(message))

    def _show(self) -> None:
        """What is new since the last line: a message, another item or line, a verdict."""
        self._say_message()
        desk, heard = self._desk, self._heard
        if (review := desk.review) is not None:
            self._heard = _Shown(review, review.place)
            if heard is None or heard.review is not review:
                self._say_all(words.review_head(review))
            if heard != self._heard:
                self._say_all(words.review_lines(review))
            self._show_part()
            return
        answered = bool(desk.shown_verdicts()) or desk.lesson() is not None
        self._heard = _Shown(None, desk.place, answered, desk.state.decided)
        if heard is None or heard.review is not None or heard.place != desk.place:
            self._say_all(words.item_lines(desk, self._reader.sections()))
        if self._heard.verdict and heard != self._heard:
            self._say_verdict()
        self._show_part()

    def _show_part(self) -> None:
        """What is new of the grid, ranking or number that is open."""
        entry, here = self._desk.entry, self._subject().item.item_id
        before, item_id = self._part_before
        self._part_before = entry, here
        if entry is not None:
            self._say_all(part_lines(entry, before if item_id == here else None))

    def _say_verdict(self) -> None:
        self._say_all(f"{title}: {told}." for title, told in self._desk.derived())
        if lesson := self._desk.lesson():
            self._say_all(words.lesson_lines(lesson))
        self._say_all(words.verdict_lines(self._desk.shown_verdicts(), self._desk.current.item.system))

    def _prompt(self) -> str:
        desk = self._desk
        if desk.entry is not None:
            return part_prompt(desk.entry)
        if desk.pending:
            return "The rest of the label: "
        if desk.review is not None or desk.state.decided:
            return "Enter keeps your label, a label changes it: "
        if desk.shown_verdicts() and desk.mode == "assisted":
            return "Enter confirms the verdict, a label overrides it: "
        return "Your label: "

    def _ask(self, prompt: str) -> str | None:
        """A line of the person, without its end; None at the end of the input."""
        self._say(prompt, end="")
        line = self._source.readline()
        if not line:
            self._say()
            return None
        return line.rstrip("\r\n")

    # Taking a line

    def _take(self, line: str) -> None:
        task = self._subject().task
        entry = self._desk.entry
        if entry is not None and (acts := read_part_line(line, entry, self._keymaps[task.task])) is not None:
            for act in acts:
                self._save(partial(self._act_on_part, act))
            return
        meaning = read_line(line, task, self._keymaps[task.task])
        if isinstance(meaning, NotUnderstood):
            self._desk.message = f"nothing was done: {meaning.why}"
        elif isinstance(meaning, Labels):
            self._save(lambda: self._desk.choose(*meaning.choices))
        else:
            self._save(lambda: self._do(meaning))

    def _act_on_part(self, act: PartAct) -> None:
        if act.kind == "show":
            sections = entry_sections(self._subject())
            if 1 <= act.number <= len(sections):
                self._say_all(words.section_lines(sections[act.number - 1], unfold=True))
            else:
                self._desk.message = f"there are {len(sections)} to rank"
        else:
            self._desk.act_on_part(act)

    def _save(self, act: Callable[[], None]) -> None:
        """Do what stores; when it cannot be made safe, say so and try again as long as the person wants."""
        while True:
            try:
                act()
            except SaveError as error:
                self._say(f"NOT SAVED. {error.title} {error.detail} {error.hint}")
                answer = self._ask("Enter tries again, q leaves: ")
                if answer is None or answer.strip().casefold() in ("q", "quit"):
                    self._leaving, self._unsaved = True, error
                    return
            else:
                return

    def _do(self, command: Command) -> None:
        desk = self._desk
        if desk.review is not None and command.action != OPEN and BY_ID[command.action].scope == "item":
            desk.message = f"nothing was done: {_spoken(command.action)} is not for the review"
        elif command.action in PART_ACTS:
            desk.message = "nothing was done: no grid, ranking or number is open; part opens the next one"
        elif command.action in self._with_text:
            self._with_text[command.action](command.text)
        elif command.action in self._alone:
            self._alone[command.action]()
        else:
            desk.message = f"{_spoken(command.action)}: only on the full screen"

    @property
    def _with_text(self) -> dict[str, Callable[[str], None]]:
        return {
            "note": self._note, "tag": self._tag, "cannot_judge": self._cannot_judge, "harm": self._harm,
            "reference_wrong": self._reference_wrong, "mark_evidence": self._evidence, "go_to": self._go_to,
            "find": self._find, OPEN: self._open,
        }  # fmt: skip

    @property
    def _alone(self) -> dict[str, Callable[[], None]]:
        desk, reader = self._desk, self._reader
        return {
            "confirm": desk.confirm, "skip": desk.skip, "flag": desk.flag, "clear": desk.clear,
            "undo": partial(self._restore, desk.undo), "redo": partial(self._restore, desk.redo),
            "next_item": partial(desk.move, 1), "previous_item": partial(desk.move, -1),
            "first_open": desk.first_open, "part": desk.open_part, "dialogue": self._dialogue, "verdict": self._verdict,
            "next_turn": partial(self._tell, partial(reader.step_turn, 1)),
            "previous_turn": partial(self._tell, partial(reader.step_turn, -1)),
            "next_similar": partial(self._tell, partial(reader.step_similar, 1)),
            "previous_similar": partial(self._tell, partial(reader.step_similar, -1)),
            "differences": partial(self._tell, reader.differences), "rubric": self._rubric, "help": self._help,
            "pace": self._pace, "quit": self._leave,
        }  # fmt: skip

    def _tell(self, read: Callable[[], str]) -> None:
        self._desk.message = read()

    def _subject(self) -> Reading:
        """The item in hand."""
        review = self._desk.review
        return review.line.reading if review is not None else self._desk.current

    def _key(self, action: str) -> str:
        return self._keymaps[self._subject().task.task].keys_of[action][0]

    # Commands with text

    def _note(self, text: str) -> None:
        key, note = self._key("note"), self._subject().state.note
        if text == "-":
            self._desk.set_note("")
        elif text:
            self._desk.set_note(text)
        elif note:
            self._say(f"The note is: {note}")
            self._say(f"{key} and other words replaces it, {key} and a minus sign takes it off.")
        else:
            self._say(f"There is no note. {key} and words writes one.")

    def _tag(self, text: str) -> None:
        tags = self._subject().task.tags
        if not text:
            options = [(str(number), name) for number, name in enumerate(tags, start=1)]
            self._say(words.menu_line("Tags", self._key("tag"), options) if tags else "This task has no tags.")
            return
        named = [str(number) for number, name in enumerate(tags, start=1) if _spoken(name) == _spoken(text)]
        self._desk.toggle_tag(named[0] if named else text)

    def _cannot_judge(self, text: str) -> None:
        if text:
            self._desk.cannot_judge(_second_key(text, REASONS))
        else:
            self._say(words.menu_line("Cannot judge", self._key("cannot_judge"), words.second_keys(REASONS)))

    def _harm(self, text: str) -> None:
        if text:
            self._desk.set_harm(_second_key(text, HARMS))
        else:
            self._say(words.menu_line("Harm if it were believed", self._key("harm"), words.second_keys(HARMS)))

    def _reference_wrong(self, text: str) -> None:
        desk, key = self._desk, self._key("reference_wrong")
        if self._subject().state.reference_wrong and not text:
            desk.withdraw_reference_wrong()
            return
        desk.set_reference_wrong(text)
        if not text and desk.message:
            desk.message += f"; {key} and the right answer adds it, {key} alone takes the mark off again"

    def _evidence(self, text: str) -> None:
        section = self._reader.dialogue()
        turn = self._reader.turn if not text else int(text) - 1 if text.isdecimal() else None
        if section is None:
            self._desk.message = NO_DIALOGUE
        elif turn is None:
            self._desk.message = f"which turn? {self._key('mark_evidence')} and its number"
        elif not 0 <= turn < len(section.units):
            self._desk.message = f"there are turns 1 to {len(section.units)}"
        else:
            self._desk.toggle_evidence(turn)

    def _go_to(self, text: str) -> None:
        if text.isdecimal():
            self._desk.go_to(int(text))
        else:
            self._desk.message = f"which item? {self._key('go_to')} and its number, 1 to {len(self._desk.queue)}"

    def _find(self, text: str) -> None:
        if text:
            self._reader.find(text)
        else:
            self._desk.message = f"find what? {self._key('find')} and a word"

    def _open(self, text: str) -> None:
        self._desk.message = self._reader.read_named(text)

    # Commands alone

    def _restore(self, act: Callable[[], None]) -> None:
        """Undo or redo, and what the item's label is now."""
        before = self._desk.pending
        act()
        reading = self._subject() if self._desk.phase != "done" else None
        if reading is not None and not before and not self._desk.message.startswith("nothing"):
            now = label_words(reading.task, reading.state)
            self._desk.message += f". The item {f'has the label {now}' if now else 'has no label'} now"

    def _dialogue(self) -> None:
        if self._desk.review is not None:
            self._say_all(line for section in self._reader.sections() for line in words.section_lines(section))
        else:
            self._desk.message = self._reader.read_dialogue()

    def _verdict(self) -> None:
        if self._desk.review is not None:
            self._say_all(words.review_lines(self._desk.review))
        elif self._desk.shown_verdicts() or self._desk.lesson():
            self._say_verdict()
        else:
            self._desk.message = "no verdict is shown on this item now"

    def _pace(self) -> None:
        self._say(words.sentence(self._desk.pace_words()))

    def _rubric(self) -> None:
        from annotate.tui.screens.help.markdown import markdown_lines
        from annotate.tui.widgets.spans import text_of

        lines = markdown_lines(self._subject().task.rubric)
        self._say_all(map(text_of, lines) if lines else ["This task has no rubric."])

    def _help(self) -> None:
        task = self._subject().task
        self._say_all(words.help_lines(task, self._keymaps[task.task]))

    def _leave(self) -> None:
        self._leaving = True


def _spoken(name: str) -> str:
    return name.replace("_", " ").casefold()


def _second_key(text: str, menu: Mapping[str, tuple[str, str]]) -> str:
    """The key of a menu that was typed as key, id or words."""
    spoken = _spoken(text).strip(" .")
    for key, (stored, title) in menu.items():
        if spoken in (key, _spoken(stored), title.casefold()):
            return key
    return text
