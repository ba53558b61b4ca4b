"""`label --plain`: the desk line by line, for screen readers and terminals that cannot draw.

The same state as the full-screen desk; a line is a key (or a word), with what it needs after it: `n too vague`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from annotate.desk.actions import ACTIONS, HARMS, REASONS, Action, Choice, KeyMap, Unknown
from annotate.desk.desk import Desk
from annotate.desk.reading import headline, sections_for
from annotate.desk.sections import Section, fold_repeats
from annotate.desk.verdict_view import titles
from judges.benchmarks.benchmark import TaskDefinition
from store.errors import SaveError
from store.safe_text import safe_text

_WITHOUT_SCREEN = {
    "find_next", "find_previous", "next_similar", "previous_similar", "fold", "scroll_up", "scroll_down", "page_up",
    "page_down", "differences",
}  # fmt: skip
"""Actions that only move or mark a screen."""


class PlainDesk:
    """Reads lines from `source`, writes to `out`, until the queue or the input ends."""

    def __init__(
        self, desk: Desk, source: TextIO, out: TextIO, remapped: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._desk, self._source, self._out = desk, source, out
        self._remapped = remapped
        self._keymaps: dict[str, KeyMap] = {}
        self._shown_place = -1
        self._leaving = False

    def run(self) -> None:
        """Label until `q`, the end of the input, or of the queue."""
        desk = self._desk
        while not self._leaving and desk.phase != "done":
            self._show()
            self._say(self._prompt(), end="")
            line = self._source.readline()
            if not line:
                self._say()
                break
            desk.active.tick(desk.clock())
            self._take(line.rstrip("\r\n"))
        for sentence in desk.summary():
            self._say(sentence)

    # Showing

    def _show(self) -> None:
        desk = self._desk
        if desk.message:
            self._say(desk.message)
            desk.message = ""
        if desk.review is not None:
            self._show_review()
            return
        if desk.place != self._shown_place:
            self._shown_place = desk.place
            self._show_item()
        if desk.phase == "revealed" or desk.shown_verdicts():
            self._show_verdicts()

    def _show_item(self) -> None:
        desk, task = self._desk, self._desk.current.task
        self._say()
        self._say(f"Item {desk.place + 1} of {len(desk.queue)}. {task.title}. {_MODES[desk.mode]}.")
        for section in sections_for(desk.current, desk.ledger.study):
            self._show_section(section)
        self._say(task.question)
        for part, labels in [("", task.labels), *((p.title, p.labels) for p in task.parts)]:
            keys = ", ".join(f"{label.key} or {label.digit} {label.title}" for label in labels)
            self._say(f"{part + ': ' if part else 'Labels: '}{keys}.")
        if desk.state.decided:
            self._say(f"Your label: {self._own_label()}.")

    def _show_section(self, section: Section, *, unfold: bool = False) -> None:
        remark = f" ({section.badge})" if section.badge else ""
        if section.kind == "dialogue":
            turns = fold_repeats(section.units)
            if section.folded and not unfold:
                self._say(f"{section.title}{remark}: {len(section.units)} turns, closed; v reads it.")
                return
            self._say(f"{section.title}{remark}:")
            for entry in turns.entries:
                turn = section.units[entry.first]
                if entry.original != entry.first:
                    self._say(f"  {entry.first + 1}. {turn.head}: repeats turn {entry.original + 1}.")
                else:
                    self._say(f"  {entry.first + 1}. {turn.head}: {turn.text or turn.note}")
            return
        if section.folded and not unfold:
            self._say(f"{section.title}{remark}: {len(section.units)} texts, closed; open {section.id} reads it.")
            return
        if section.kind == "text":
            self._say(f"{section.title}{remark}: {section.units[0].text or section.units[0].note}")
            return
        self._say(f"{section.title}{remark}:")
        for number, unit in enumerate(section.units, start=1):
            self._say(f"  {unit.head or number}: {unit.text or unit.note}")

    def _show_verdicts(self) -> None:
        for view in self._desk.shown_verdicts():
            differs = {True: "differs from yours", False: "agrees with yours", None: ""}[view.differs]
            facts = ", ".join(fact for fact in (view.headline, view.detail, differs) if fact)
            self._say(f"Judge {view.judge}: {facts}.")
            self._say(f"  Because: {view.rationale}" if view.rationale else "  No rationale kept.")

    def _show_review(self) -> None:
        review = self._desk.review
        if review is None:
            return
        if review.place == 0:
            self._say(f"Review: {review.labelled} labelled, {review.differing} differ, {review.hidden} stay hidden.")
        line = review.line
        own = titles(line.reading.task, line.reading.state.value, dict(line.reading.state.parts))
        self._say(f"{review.place + 1} of {len(review.lines)}. {headline(line.reading)}. You: {own or 'cannot judge'}.")
        for view in line.views:
            sign = "differs" if view.differs else "same"
            self._say(f"  Judge {view.judge}: {view.headline} ({sign}). {view.rationale or 'No rationale kept.'}")

    def _prompt(self) -> str:
        if self._desk.review is not None:
            return "Enter keeps, a label key revises> "
        return "Enter keeps, a label key revises> " if self._desk.phase == "revealed" else "label> "

    def _own_label(self) -> str:
        state = self._desk.state
        if state.cannot_judge:
            return "cannot judge"
        return titles(self._desk.current.task, state.value, dict(state.parts)) + (" (unsure)" if state.unsure else "")

    def _say(self, text: str = "", end: str = "\n") -> None:
        self._out.write(safe_text(text) + end)
        self._out.flush()

    # Taking a line

    def _take(self, line: str) -> None:
        while True:
            try:
                self._act(line)
            except SaveError as error:
                self._say(f"NOT SAVED. {error.title} {error.detail} Press Enter to try again, or q to leave.")
                answer = self._source.readline()
                if not answer or answer.strip().lower() == "q":
                    raise
            else:
                return

    def _act(self, line: str) -> None:
        word, _, rest = line.strip().partition(" ")
        if not word:
            self._desk.confirm()
            return
        meaning = self._meaning(word)
        if isinstance(meaning, Choice):
            self._choose(meaning, rest)
        elif isinstance(meaning, Action):
            self._do(meaning, rest.strip())
        else:
            self._desk.message = meaning.hint or f"{word!r} means nothing here; ? lists the keys"

    def _meaning(self, word: str) -> Choice | Action | Unknown:
        if len(word) > 1:
            action = next((a for a in ACTIONS if word.lower() in (a.id, *a.keys)), None)
            return action or _label_by_name(self._task(), word) or Unknown()
        return self._keymap().resolve(word)

    def _choose(self, choice: Choice, rest: str) -> None:
        self._desk.choose(choice)
        for key in rest.split():
            following = self._keymap().resolve(key)
            if isinstance(following, Choice) and self._desk.pending:
                self._desk.choose(following)

    def _do(self, action: Action, rest: str) -> None:
        desk = self._desk
        with_text: dict[str, Callable[[str], None]] = {
            "note": desk.set_note,
            "tag": self._tag,
            "cannot_judge": self._cannot_judge,
            "harm": self._harm,
            "reference_wrong": self._reference_wrong,
            "mark_evidence": lambda text: desk.toggle_evidence(int(text) - 1) if text.isdecimal() else self._ask_turn(),
            "go_to": lambda text: desk.go_to(int(text)) if text.isdecimal() else None,
            "find": self._find,
        }
        without: dict[str, Callable[[], None]] = {
            "confirm": desk.confirm, "skip": desk.skip, "flag": desk.flag, "clear": desk.clear, "undo": desk.undo,
            "redo": desk.redo, "next_item": lambda: desk.move(1), "previous_item": lambda: desk.move(-1),
            "first_open": desk.first_open, "dialogue": lambda: self._open("dialogue"), "rubric": self._rubric,
            "pace": lambda: self._say(desk.pace_words()), "help": self._help, "quit": self._leave,
        }  # fmt: skip
        if action.id in with_text:
            with_text[action.id](rest)
        elif action.id in without:
            without[action.id]()
        else:
            desk.message = "only on the full screen"

    def _tag(self, rest: str) -> None:
        if not rest:
            tags = self._desk.current.task.tags
            self._say("Tags: " + ", ".join(f"t {number} {tag}" for number, tag in enumerate(tags, start=1)))
            return
        self._desk.toggle_tag(rest)

    def _cannot_judge(self, rest: str) -> None:
        if not rest:
            self._say("Cannot judge: " + ", ".join(f"x {key} {words}" for key, (_, words) in REASONS.items()))
            return
        self._desk.cannot_judge(rest[0])

    def _harm(self, rest: str) -> None:
        if not rest:
            self._say("Harm if believed: " + ", ".join(f"! {key} {words}" for key, (_, words) in HARMS.items()))
            return
        self._desk.set_harm(rest)

    def _reference_wrong(self, rest: str) -> None:
        if self._desk.state.reference_wrong and not rest:
            self._desk.withdraw_reference_wrong()
        else:
            self._desk.set_reference_wrong(rest)

    def _ask_turn(self) -> None:
        self._desk.message = "which turn? e and its number, as in: e 3"

    def _find(self, rest: str) -> None:
        wanted = rest.casefold()
        for section in sections_for(self._desk.current, self._desk.ledger.study):
            for number, unit in enumerate(section.units, start=1):
                if wanted and wanted in unit.text.casefold():
                    self._say(f"{section.title}, {number}: {unit.text}")

    def _open(self, kind: str) -> None:
        for section in sections_for(self._desk.current, self._desk.ledger.study):
            if kind in (section.kind, section.id):
                if section.badge:
                    self._desk.ledger.open_panel(section.id)
                self._show_section(section, unfold=True)

    def _rubric(self) -> None:
        self._say(self._task().rubric)

    def _help(self) -> None:
        keys = self._keymap().keys_of
        for action in ACTIONS:
            if action.id not in _WITHOUT_SCREEN:
                self._say(f"{' or '.join(keys[action.id])}: {action.description}")

    def _leave(self) -> None:
        self._leaving = True

    def _task(self) -> TaskDefinition:
        review = self._desk.review
        return review.line.reading.task if review is not None else self._desk.current.task

    def _keymap(self) -> KeyMap:
        task = self._task()
        if task.task not in self._keymaps:
            self._keymaps[task.task] = KeyMap(task, self._remapped)
        return self._keymaps[task.task]


_MODES = {"blind": "Blind: no verdict is shown before your label", "revised": "The verdict has been shown",
          "assisted": "Assisted: the verdict stands beside the item"}  # fmt: skip


def _label_by_name(task: TaskDefinition, word: str) -> Choice | None:
    """A label typed by its title or value; the value's own labels come before those of parts."""
    for part, labels in [("", task.labels), *((part.id, part.labels) for part in task.parts)]:
        for label in labels:
            if word.casefold() in (label.title.casefold(), label.value.casefold()):
                return Choice(part, label.value)
    return None
