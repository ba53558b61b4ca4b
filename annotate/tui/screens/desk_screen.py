"""What the screens over a desk share: every key in its order, second keys, prompts, and no act lost unsaved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual import events
from textual.screen import Screen

from annotate.desk.actions import (
    ACTIONS,
    INPUT_METHOD_HINT,
    PART_SCOPES,
    Action,
    Choice,
    KeyMap,
    is_input_method,
    normalise_key,
)
from annotate.desk.desk import Desk
from annotate.desk.ledger import Reading
from annotate.desk.part_keys import part_act
from annotate.desk.reading import entry_sections, sections_for
from annotate.desk.verdict_view import VerdictView
from annotate.tui.base_app import OverreadApp
from annotate.tui.screens.label.pane import Expecting, label_keys
from annotate.tui.screens.label.state import key_sign
from annotate.tui.screens.text_over import TextOver
from annotate.tui.widgets.prompt import Answer, Prompt, Purpose
from annotate.tui.widgets.spans import Line, Role
from store.errors import SaveError, UsageError

_MODIFIERS = ("alt+", "ctrl+", "super+", "meta+", "hyper+")
"""A letter pressed with one of these is not that letter."""
GUARDED = frozenset({"answer", "fill", "place", "type", "done"})
"""What a part's keys give is guarded as label keys are, but for the same key pressed often."""
CAPS_LOCK_AFTER = 3
"""So many labels in a row given with shift look like Caps Lock."""


class DeskScreen(Screen[None]):
    """Nothing ever has the focus: every key comes here, and goes to the prompt while that is open.

    Attributes:
        expecting: the second key that is awaited.
        handlers: action id → what it does on this screen.
    """

    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.prompt = Prompt()
        self.expecting: Expecting = ""
        self.handlers: dict[str, Callable[[], None]] = {}
        self._shifted = 0

    # What a screen fills in

    @property
    def reading(self) -> Reading:
        """What a key is about: the item that is read, or the line at the review's cursor."""
        raise NotImplementedError

    @property
    def keymap(self) -> KeyMap:
        """What the keys mean now."""
        raise NotImplementedError

    def verdicts(self) -> Sequence[VerdictView]:
        """The verdicts that may be shown now."""
        raise NotImplementedError

    def perform(self, action: str) -> None:
        """Carry out an action of the registry."""
        raise NotImplementedError

    def show_desk(self) -> None:
        """Bring everything on the screen in line with the desk."""
        raise NotImplementedError

    def show_keys(self) -> None:
        """Bring the reminders of keys in line: none while every key is a letter of a text or a menu's choice."""
        raise NotImplementedError

    def say(self, message: str, role: Role = "chosen") -> None:
        """The line above the keys."""
        raise NotImplementedError

    @property
    def keys_are_asked(self) -> bool:
        """Whether the next key answers a question: then none does what it does otherwise, and none is named."""
        return self.prompt.is_open or bool(self.expecting)

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Every key. Those typed ahead of a text that has opened meanwhile are its own; other screens drop them."""
        event.stop()
        event.prevent_default()
        if not self.is_active:
            if isinstance(self.app.screen, TextOver):
                self.app.screen.post_message(events.Key(event.key, event.character))
            return
        self.desk.active.tick(self.desk.clock())
        if not self.prompt.is_open:
            self.take(key_name(event))
        elif (answer := self.prompt.take(event)) is not None:
            self.answered(answer)
            self.show_keys()

    def on_paste(self, event: events.Paste) -> None:
        """A paste is text for an open prompt, and nothing else: never keys."""
        event.stop()
        if self.prompt.is_open:
            self.prompt.paste(event.text)

    def take(self, key: str) -> None:
        """One key, by name, while no prompt is open."""
        self.desk.message = ""
        if self.expecting:
            self._take_second(key)
            return
        if self._take_part(key):
            return
        meaning = self.keymap.resolve(key)
        if isinstance(meaning, Choice):
            self._take_label(key, meaning)
        elif isinstance(meaning, Action):
            self.perform(meaning.id)
        else:
            self.say(meaning.hint or self._no_meaning(key), "warning")

    def _no_meaning(self, key: str) -> str:
        """A key that is none must not look like one that was taken; keys that give no character are let pass."""
        if len(key) != 1 or self.desk.phase == "done":
            return ""
        labels = " ".join(label_keys(self.reading.task)) or key_sign(self.keymap.keys_of["part"][0])
        return f"{key} means nothing here: {labels} label, {key_sign(self.keymap.keys_of['help'][0])} shows all keys"

    def _take_label(self, key: str, choice: Choice) -> None:
        if self.desk.phase == "done":
            return
        if refusal := self.desk.guard.refusal(key, self.desk.clock()):
            self.say(f"! {refusal}", "warning")
            return
        self._shifted = self._shifted + 1 if choice.unsure else 0
        self.save(lambda: self.desk.choose(choice), self._mind_caps_lock)

    def _take_part(self, key: str) -> bool:
        """A key for the grid, ranking or number that is open; False when it is not about it."""
        entry = self.desk.entry
        act = part_act(entry, self.keymap, key) if entry is not None else None
        if act is None:
            return False
        if act.kind == "show":
            self._show_entry(act.number)
        elif act.kind in GUARDED and (refusal := self.desk.guard.refusal_of_part(key, self.desk.clock())):
            self.say(f"! {refusal}", "warning")
        else:
            self.save(lambda: self.desk.act_on_part(act))
        return True

    def _perform_part(self, action: str) -> None:
        """An action of an open part, chosen in the palette."""
        entry = self.desk.entry
        key = self.keymap.keys_of[action][0]
        if entry is None or action not in self.keymap.part_keys(entry.decision.kind).values():  # type: ignore[arg-type]
            opens = key_sign(self.keymap.keys_of["part"][0])
            self.say(f"no such part is open: {opens} opens the next one", "warning")
        else:
            self._take_part(key)

    def _show_entry(self, number: int) -> None:
        from annotate.tui.screens.label.entry_screen import EntryScreen

        sections = entry_sections(self.reading)
        if 1 <= number <= len(sections):
            self.app.push_screen(EntryScreen(sections, number - 1))
        else:
            self.say(f"there are {len(sections)} to rank", "warning")

    def _mind_caps_lock(self) -> None:
        if self._shifted >= CAPS_LOCK_AFTER:
            self.say(f"{self.desk.message} · {self._shifted} unsure in a row: is Caps Lock on?", "warning")

    def perform_from_palette(self, action: str) -> None:
        """An action chosen in the palette; an open note is kept first."""
        self.expecting = ""
        self.keep_open_note(then=lambda: self.perform(action))

    def common_handlers(self) -> dict[str, Callable[[], None]]:
        """What actions do alike on every screen over a desk."""
        desk = self.desk
        stores: dict[str, Callable[[], None]] = {
            "confirm": desk.confirm, "flag": desk.flag, "undo": desk.undo, "redo": desk.redo,
            "next_item": lambda: desk.move(1), "previous_item": lambda: desk.move(-1), "part": desk.open_part,
        }  # fmt: skip
        shows: dict[str, Callable[[], None]] = {
            "note": self._ask_note, "reference_wrong": self._ask_right_answer, "tag": lambda: self._expect("tag"),
            "harm": lambda: self._expect("harm"), "cannot_judge": lambda: self._expect("reason"),
            "pager": self._show_in_pager, "verdict": self._show_verdict, "rubric": self._show_rubric,
            "help": self._show_help, "pace": lambda: self.say(desk.pace_words()), "quit": lambda: self.app.exit(),
        }  # fmt: skip
        parts = {action.id: partial(self._perform_part, action.id) for action in ACTIONS if action.scope in PART_SCOPES}
        return {**self.saving(stores), **shows, **parts}

    def saving(self, acts: dict[str, Callable[[], None]]) -> dict[str, Callable[[], None]]:
        """The acts, each saved and shown."""
        return {name: partial(self.save, act) for name, act in acts.items()}

    # Asking

    def _expect(self, expecting: Expecting) -> None:
        if expecting == "tag" and not self.reading.task.tags:
            self.say("this task has no tags")
            return
        self.expecting = expecting
        self.show_desk()

    def _take_second(self, key: str) -> None:
        expecting, self.expecting = self.expecting, ""
        second = {"tag": self.desk.toggle_tag, "harm": self.desk.set_harm, "reason": self.desk.cannot_judge}
        if key == "escape":
            self.show_desk()
        elif is_input_method(key):
            self.expecting = expecting
            self.say(INPUT_METHOD_HINT, "warning")
        else:
            self.save(lambda: second[expecting](normalise_key(key).lower()))

    def ask(self, purpose: Purpose, text: str = "") -> None:
        """Open the prompt."""
        self.prompt.ask(purpose, text)
        self.show_keys()

    def _ask_note(self) -> None:
        self.ask("note", self.reading.state.note)

    def _ask_right_answer(self) -> None:
        if self.reading.state.reference_wrong:
            self.save(self.desk.withdraw_reference_wrong)
        else:
            self.ask("reference_wrong", self.reading.state.right_answer)

    def answered(self, answer: Answer) -> None:
        """The person has closed the prompt."""
        if answer.purpose == "note" and answer.touched:
            self.save(lambda: self.desk.set_note(answer.text.strip()))
        elif answer.kept and answer.purpose == "reference_wrong":
            self.save(lambda: self.desk.set_reference_wrong(answer.text.strip()))

    # Texts over the screen

    def _show_in_pager(self) -> None:
        """Lend the terminal to a pager with the item's texts: what an annotator may read before a label, no more."""
        from textual.app import SuspendNotSupported

        from annotate.desk.whole_text import whole_text
        from annotate.editor import show_text

        assert isinstance(self.app, OverreadApp)
        reading, ledger = self.reading, self.desk.ledger
        sections = sections_for(reading, ledger.study)
        try:
            with self.app.lend_terminal():
                show_text(whole_text(sections), "item.txt")
            ledger.open_panels(reading.task, [section.id for section in sections])
        except SuspendNotSupported:
            self.say("this terminal cannot be lent to a pager", "warning")
        except UsageError as error:
            self.say(" ".join(part for part in (error.title, error.detail, error.hint) if part), "warning")

    def _show_verdict(self) -> None:
        from annotate.tui.screens.help.texts import lesson_text, verdict_text

        if lesson := self.desk.lesson():
            self._show_text("What people settled", lesson_text(lesson))
        elif views := self.verdicts():
            self._show_text("What the judge said", verdict_text(views, self.reading.item.system))
        else:
            self.say("there is no verdict to show now")

    def _show_rubric(self) -> None:
        from annotate.tui.screens.help.screen import RubricTextScreen
        from annotate.tui.screens.help.texts import rubric_changes, rubric_text

        task = self.reading.task
        changes = rubric_changes(self.desk.ledger.study, task)
        self.app.push_screen(RubricTextScreen(f"Rubric: {task.title}", rubric_text(task), changes))

    def _show_help(self) -> None:
        from annotate.tui.screens.help.texts import help_text

        task = None if self.desk.phase == "done" else self.reading.task
        self._show_text("Keys", help_text(self.keymap, task))

    def _show_text(self, title: str, lines: list[Line]) -> None:
        from annotate.tui.screens.help.screen import TextScreen

        self.app.push_screen(TextScreen(title, lines))

    # Saving

    def save(self, act: Callable[[], None], then: Callable[[], None] | None = None) -> None:
        """Do what stores, then show it and go on; when it cannot be made safe, stay, say so, offer to try again."""
        try:
            act()
        except SaveError as error:
            self._offer_again(error, act, then)
            return
        self.show_desk()
        if then is not None:
            then()

    def _offer_again(self, error: SaveError, act: Callable[[], None], then: Callable[[], None] | None) -> None:
        from annotate.tui.screens.notice.screen import SaveFailed

        def chosen(again: bool | None) -> None:
            if again:
                self.save(act, then)
            else:
                self.app.exit(error)

        self.app.push_screen(SaveFailed(error), chosen)

    def keep_open_note(self, then: Callable[[], None] | None = None) -> None:
        """Store a note that is still being written, then go on; other questions are dropped."""
        answer = self.prompt.close(kept=True)
        self.show_keys()
        if answer is not None and answer.purpose == "note" and answer.touched:
            self.save(lambda: self.desk.set_note(answer.text.strip()), then)
        elif then is not None:
            then()

    def save_open_note_now(self) -> None:
        """Store a note that is still being written, without a word: the program is being ended.

        Raises:
            SaveError: it could not be made safe.
        """
        answer = self.prompt.close(kept=True)
        if answer is not None and answer.purpose == "note" and answer.touched:
            self.desk.set_note(answer.text.strip())


def key_name(event: events.Key) -> str:
    """A key as the registry names it: the character it gives, or its name."""
    if event.character == " ":
        return "space"
    if event.character is not None and event.is_printable and not event.key.startswith(_MODIFIERS):
        return event.character
    return event.key
