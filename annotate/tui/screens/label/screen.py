"""The label screen: keys to desk, desk to panes. Every rule is the desk's; here is only what shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.screen import Screen

from annotate.desk.actions import Action, Choice, KeyMap
from annotate.desk.aids import Aids
from annotate.desk.desk import Desk
from annotate.desk.document import Document
from annotate.desk.reading import sections_for
from annotate.tui.screens.label.state import Expecting, Line, Span, decision, footer, header
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.prompt import Prompt, Purpose
from store.errors import SaveError

WIDE = 110
"""From this width on, item and decision stand side by side."""
SMALLEST = (60, 20)
CAPS_LOCK_AFTER = 3
"""So many labels in a row given with shift look like Caps Lock."""


class LabelScreen(Screen[None]):
    """One item at a time. Nothing has the focus except the prompt, so that every key means a label or an action."""

    AUTO_FOCUS = ""
    CSS_PATH: ClassVar[str] = "label.tcss"

    def __init__(self, desk: Desk, benchmark: str, remapped: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._desk = desk
        self._benchmark = benchmark
        self._keymaps = {name: KeyMap(task, remapped) for name, (task, _) in desk.ledger.tasks.items()}
        self._expecting: Expecting = ""
        self._shown_item = ""
        self._aids: Aids | None = None
        self._message = ""
        self._shifted = 0

    def compose(self) -> ComposeResult:
        yield Lines(id="header")
        with Container(id="body"):
            yield DocumentView(id="item")
            with VerticalScroll(id="pane", can_focus=False):
                yield Lines(id="decision")
        yield Lines(id="message")
        yield Prompt()
        yield Lines(id="footer")
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        self.show_desk()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width >= WIDE, "-wide")
        too_small = width < SMALLEST[0] or height < SMALLEST[1]
        self.set_class(too_small, "-too-small")
        if too_small:
            words = f"This window is too small: {width}×{height}. The desk needs {SMALLEST[0]}×{SMALLEST[1]}."
            self.query_one("#too-small", Lines).show([[Span(words, "title")]])
        if self._shown_item:
            self.show_desk()

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Labels and actions; while the prompt is open its letters never get here."""
        event.stop()
        prompt = self.query_one(Prompt)
        if prompt.purpose is not None:
            if event.key == "escape":
                prompt.close(kept=False)
            return
        event.prevent_default()
        self._desk.active.tick(self._desk.clock())
        self.take(key_name(event))

    def take(self, key: str) -> None:
        """One key, by name."""
        self._message = self._desk.message = ""
        if self.has_class("-too-small") and key != "q":
            return
        if self._expecting:
            self._take_second(key)
            return
        if self._desk.phase == "done":
            meaning = next(iter(self._keymaps.values())).resolve(key)
        else:
            meaning = self._keymap.resolve(key)
        if isinstance(meaning, Choice):
            self._take_label(key, meaning)
        elif isinstance(meaning, Action):
            self.perform(meaning.id)
        elif meaning.hint:
            self.say(meaning.hint)

    def perform(self, action: str) -> None:
        """Carry out an action of the registry."""
        desk = self._desk
        stores: dict[str, Callable[[], None]] = {
            "confirm": desk.confirm, "skip": desk.skip, "flag": desk.flag, "clear": desk.clear, "undo": desk.undo,
            "redo": desk.redo, "next_item": lambda: desk.move(1), "previous_item": lambda: desk.move(-1),
            "first_open": desk.first_open, "mark_evidence": self._mark_evidence,
        }  # fmt: skip
        shows: dict[str, Callable[[], None]] = {
            "note": lambda: self._ask("note", desk.state.note), "find": lambda: self._ask("find"),
            "go_to": lambda: self._ask("go_to"), "reference_wrong": self._reference_wrong,
            "tag": lambda: self._expect("tag"), "harm": lambda: self._expect("harm"),
            "cannot_judge": lambda: self._expect("reason"), "differences": self._differences,
            "find_next": lambda: self._step_find(1), "find_previous": lambda: self._step_find(-1),
            "next_similar": lambda: self._step_similar(1), "previous_similar": lambda: self._step_similar(-1),
            "fold": self._fold, "dialogue": self._toggle_dialogue, "rubric": self._rubric, "help": self._help,
            "pace": lambda: self.say(desk.pace_words()), "quit": self.leave,
            "scroll_down": lambda: self._view.scroll_rows(1), "scroll_up": lambda: self._view.scroll_rows(-1),
            "page_down": lambda: self._view.scroll_pages(1), "page_up": lambda: self._view.scroll_pages(-1),
        }  # fmt: skip
        if desk.phase == "done" and action not in _WHEN_DONE:
            return
        if action in stores:
            self.save(stores[action])
        else:
            shows[action]()

    def _take_label(self, key: str, choice: Choice) -> None:
        if self._desk.phase == "done":
            return
        if refusal := self._desk.guard.refusal(key, self._desk.clock()):
            self.say(refusal)
            return
        self._shifted = self._shifted + 1 if choice.unsure else 0
        self.save(lambda: self._desk.choose(choice))
        if self._shifted >= CAPS_LOCK_AFTER:
            self.say(f"{self._message} · {self._shifted} unsure in a row: is Caps Lock on?".removeprefix(" · "))

    def _take_second(self, key: str) -> None:
        expecting, self._expecting = self._expecting, ""
        if key == "escape":
            self.show_desk()
            return
        second = {"tag": self._desk.toggle_tag, "harm": self._desk.set_harm, "reason": self._desk.cannot_judge}
        self.save(lambda: second[expecting](_plain(key)))

    # Saving

    def save(self, act: Callable[[], None]) -> None:
        """Do what stores; when it cannot be made safe, stay, say so, and offer to try again."""
        try:
            act()
        except SaveError as error:
            from annotate.tui.screens.notice.screen import SaveFailed

            self.app.push_screen(SaveFailed(error), lambda again: self.save(act) if again else self.leave())
            return
        self._message = self._desk.message or self._message
        self.show_desk()

    def on_prompt_answered(self, answer: Prompt.Answered) -> None:
        """What was written in the prompt."""
        text = answer.text.strip()
        if answer.purpose == "note":
            self.save(lambda: self._desk.set_note(text))
        elif answer.kept and answer.purpose == "reference_wrong":
            self.save(lambda: self._desk.set_reference_wrong(text))
        elif answer.kept and answer.purpose == "go_to":
            self.save(lambda: self._desk.go_to(int(text)) if text.isdecimal() else None)
        elif answer.kept and answer.purpose == "find" and self._aids is not None:
            count = self._view.find(text)
            self.say(f"{count} found: . next, , previous" if count else "not found")
            self._step_find(1)

    def keep_open_note(self) -> None:
        """Store a note that is still being written; called before the desk is left for whatever reason."""
        prompt = self.query_one(Prompt)
        if prompt.purpose == "note":
            prompt.purpose = None
            self._desk.set_note(prompt.text.strip())

    def leave(self) -> None:
        """End the sitting."""
        self.app.exit()

    # Showing

    def show_desk(self) -> None:
        """Bring everything on the screen in line with the desk."""
        desk = self._desk
        if desk.review is not None:
            self._open_review()
            return
        width = self.size.width
        wide = width >= WIDE
        self.query_one("#header", Lines).show([header(desk, self._benchmark, width)])
        if desk.phase == "done":
            self._show_end()
        else:
            self._show_item()
            self.query_one("#decision", Lines).show(decision(desk, self._expecting, wide=wide))
            self.query_one("#footer", Lines).show([footer(self._keymap, width)])
        self.say(self._message)

    def say(self, message: str) -> None:
        """The line above the keys."""
        self._message = message
        self.query_one("#message", Lines).show([[Span(f" {message}", "chosen")]] if message else [[]])

    def _show_item(self) -> None:
        desk = self._desk
        reading = desk.current
        if reading.item.item_id != self._shown_item:
            self._shown_item = reading.item.item_id
            document = Document(sections_for(reading, desk.ledger.study))
            self._aids = Aids(document, reading.task)
            self._view.show(document)
        if self._aids is not None:
            self._aids.mark_evidence(reading.state.evidence)
            self._view.refresh()
        if desk.guard.painted_at is None:
            self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self._desk.guard.painted(self._desk.clock())

    def _show_end(self) -> None:
        desk = self._desk
        title = "The time of this sitting is over." if desk.time_is_up else "Everything in this queue is labelled."
        lines: list[Line] = [[Span(title, "title")], [], *([Span(sentence)] for sentence in desk.summary())]
        if not len(desk.queue):
            lines = [[Span("There is nothing to label in this draw.", "title")]]
        self._shown_item = ""
        self._view.show(Document([]))
        self.query_one("#decision", Lines).show(
            [*lines, [], [Span("q", "key"), Span(" leave   "), Span("←", "key"), Span(" back")]]
        )
        self.query_one("#footer", Lines).show(
            [[Span(" q", "key"), Span(" quit   ", "muted"), Span("u", "key"), Span(" undo", "muted")]]
        )

    def _open_review(self) -> None:
        from annotate.tui.screens.review.screen import ReviewScreen

        self._shown_item = ""
        self.app.push_screen(ReviewScreen(self._desk, self._benchmark, self._keymaps), lambda _: self.show_desk())

    @property
    def _view(self) -> DocumentView:
        return self.query_one(DocumentView)

    @property
    def _keymap(self) -> KeyMap:
        return self._keymaps[self._desk.current.task.task]

    # Helps for the eye

    def _differences(self) -> None:
        if self._aids is not None:
            self.say(self._aids.toggle_differences())
            self._view.refresh()

    def _step_find(self, step: int) -> None:
        hit = self._view.find_step(step)
        if hit is None:
            self.say(self._message or "nothing found yet: / finds")
            return
        self._note_panel(hit.section)
        current = self._view.current_hit
        self.say(f"hit {(current or 0) + 1} of {len(self._view.hits)}")

    def _step_similar(self, step: int) -> None:
        if self._aids is None:
            return
        self.say(self._aids.step_similar(step))
        if self._aids.turn is not None:
            self._note_panel(self._aids.dialogue)
            self._view.jump_to(self._aids.dialogue, self._aids.turn)
        self._view.refresh()

    def _mark_evidence(self) -> None:
        if self._aids is None or not self._aids.dialogue:
            self._desk.message = "this item has no dialogue"
            return
        turn = self._aids.turn
        if turn is None:
            self._desk.message = "no turn chosen: ] goes to the most similar one"
            return
        self._desk.toggle_evidence(turn)

    def _fold(self) -> None:
        document = self._view.document
        if document.rows:
            section = document.position(self._view.top_row).section
            self._view.toggle_section(section)
            self._note_panel(section)

    def _toggle_dialogue(self) -> None:
        if self._aids is None or not self._aids.dialogue:
            self.say("this item has no dialogue")
            return
        self._view.toggle_section(self._aids.dialogue)
        self._note_panel(self._aids.dialogue)

    def _note_panel(self, section: str) -> None:
        """Opening a panel that the judge did not see is recorded with the label."""
        unseen = {panel.field for panel in self._desk.current.task.panels if not panel.judge_saw}
        if section in unseen:
            self._desk.ledger.open_panel(section)

    # Asking

    def _ask(self, purpose: Purpose, text: str = "") -> None:
        self.query_one(Prompt).ask(purpose, text)

    def _expect(self, expecting: Expecting) -> None:
        if expecting == "tag" and not self._desk.current.task.tags:
            self.say("this task has no tags")
            return
        self._expecting = expecting
        self.show_desk()

    def _reference_wrong(self) -> None:
        if self._desk.state.reference_wrong:
            self.save(self._desk.withdraw_reference_wrong)
        else:
            self._ask("reference_wrong", self._desk.state.right_answer)

    def _rubric(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen

        task = self._desk.current.task
        self.app.push_screen(TextScreen(f"Rubric: {task.title}", task.rubric))

    def _help(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen, help_text

        if self._desk.phase == "done":
            keymap = next(iter(self._keymaps.values()))
            self.app.push_screen(TextScreen("Keys", help_text(keymap, None)))
        else:
            self.app.push_screen(TextScreen("Keys", help_text(self._keymap, self._desk.current.task)))


_WHEN_DONE = {"quit", "undo", "redo", "previous_item", "next_item", "first_open", "go_to", "help", "pace"}


def key_name(event: events.Key) -> str:
    """A key as the registry names it: the character it gives, or its name."""
    if event.character == " ":
        return "space"
    if event.character is not None and event.is_printable:
        return event.character
    return event.key


def _plain(key: str) -> str:
    from annotate.desk.actions import normalise_key

    return normalise_key(key).lower()
