"""The label screen: keys to desk, desk to panes. Every rule is the desk's; here is only what shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size

from annotate.desk.actions import KeyMap
from annotate.desk.desk import Desk
from annotate.desk.document import Document
from annotate.desk.ledger import Reading
from annotate.desk.part_keys import taken_actions
from annotate.desk.sections import text_section
from annotate.desk.verdict_view import VerdictView
from annotate.tui.screens.desk_screen import DeskScreen
from annotate.tui.screens.label.pane import Room, decision
from annotate.tui.screens.label.reader import Reader
from annotate.tui.screens.label.state import end_words, footer, header, hints
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.prompt import Answer
from annotate.tui.widgets.spans import Line, Role, Span, cut_line
from judges.benchmarks.decisions import is_long
from store.safe_text import safe_line

WIDE = 110
"""From this width on, item and decision stand side by side."""
PANE_WIDTH = 48
PANE_HEIGHT, TALL_PANE_HEIGHT, TALL = 9, 15, 36
"""Rows of the decision below the item, its rule included; more of them in a window of `TALL` rows."""
PARTS_MORE = 3
"""Rows more for a task with a grid, a ranking or a number."""
SMALLEST = (60, 20)
READ_AHEAD_AFTER = 0.05
"""Seconds after an item's paint when the next one is prepared: well inside the time in which no label key counts."""
LONGEST_MESSAGE = 300

NOW_OPEN = (
    ("audit", "audit"), ("disagreements", "disagreements"), ("judge_runs", "runs"), ("retunes", "searches"),
)  # fmt: skip
"""What a queue that is done opens, for the last page."""
WHEN_DONE = frozenset(
    {
        "quit",
        "undo",
        "redo",
        "previous_item",
        "next_item",
        "first_open",
        "go_to",
        "help",
        "pace",
        "audit",
        "disagreements",
        "judge_runs",
        "retunes",
    }
)
"""Actions that still mean something when nothing is left to label."""


class LabelScreen(DeskScreen):
    """One item at a time."""

    def __init__(self, desk: Desk, benchmark: str, remapped: Mapping[str, Sequence[str]]) -> None:
        super().__init__(desk)
        self._benchmark = benchmark
        self._keymaps = {name: KeyMap(task, remapped) for name, (task, _) in desk.ledger.tasks.items()}
        self._header, self._footer = Lines(id="header"), Lines(id="footer")
        self._pane, self._message = Lines(id="pane"), Lines(id="message")
        self._view = DocumentView(id="item")
        self._reader = Reader(desk, self._view)
        self._arranged_for = Size(0, 0)
        self.handlers = self._all_handlers()

    def compose(self) -> ComposeResult:
        """The window is known: every widget gets its styles once, for that one."""
        self._arranged_for = self.app.size
        self.update_classes(self._shape, update=False)
        yield from (self._header, self._footer, self._message, self._pane, self._view, self.prompt)

    def on_mount(self) -> None:
        """Everything is in place before the first paint."""
        self._arrange()

    def on_resize(self, event: events.Resize) -> None:
        if event.size != self._arranged_for:
            self._arrange()

    def _arrange(self) -> None:
        """Item and decision side by side or one above the other; a message when there is room for neither."""
        self._arranged_for = self.app.size
        self.update_classes(self._shape)
        self.show_desk()

    @property
    def _shape(self) -> dict[str, bool]:
        """Classes that say how the parts stand."""
        width, height = self._arranged_for
        return {
            "-wide": width >= WIDE, "-tall": height >= TALL, "-too-small": self._too_small, "-parts": self._has_parts,
        }  # fmt: skip

    @property
    def _too_small(self) -> bool:
        width, height = self._arranged_for
        return width < SMALLEST[0] or height < SMALLEST[1]

    @property
    def _room(self) -> Room:
        width, height = self._arranged_for
        if width >= WIDE:
            return Room(PANE_WIDTH - 3, height - 3, wide=True)
        more = PARTS_MORE if self._has_parts else 0
        return Room(width - 2, (TALL_PANE_HEIGHT if height >= TALL else PANE_HEIGHT) + more - 1, wide=False)

    @property
    def _has_parts(self) -> bool:
        return self.desk.phase != "done" and self.desk.review is None and is_long(self.desk.current.task)

    # What keys are about

    @property
    def reading(self) -> Reading:
        return self.desk.current

    @property
    def keymap(self) -> KeyMap:
        """The keys of the current item's task; where there is none, any task's: the actions are the same."""
        if self.desk.phase == "done":
            return next(iter(self._keymaps.values()))
        return self._keymaps[self.desk.current.task.task]

    def verdicts(self) -> Sequence[VerdictView]:
        return self.desk.shown_verdicts()

    def take(self, key: str) -> None:
        if not self._too_small or key in self.keymap.keys_of["quit"]:
            super().take(key)

    def perform(self, action: str) -> None:
        if self.desk.phase != "done" or action in WHEN_DONE:
            self.handlers[action]()

    def _all_handlers(self) -> dict[str, Callable[[], None]]:
        """What each action of the registry does here."""
        desk, reader, view = self.desk, self._reader, self._view
        stores: dict[str, Callable[[], None]] = {
            "skip": desk.skip, "clear": desk.clear, "first_open": desk.first_open, "mark_evidence": self._mark_evidence,
        }  # fmt: skip
        says: dict[str, Callable[[], str]] = {
            "find_next": lambda: reader.step_find(1), "find_previous": lambda: reader.step_find(-1),
            "differences": reader.differences, "next_similar": lambda: reader.step_similar(1),
            "previous_similar": lambda: reader.step_similar(-1), "next_turn": lambda: reader.step_turn(1),
            "previous_turn": lambda: reader.step_turn(-1), "fold": reader.fold, "dialogue": reader.toggle_dialogue,
        }  # fmt: skip
        shows: dict[str, Callable[[], None]] = {
            "find": lambda: self.ask("find"), "go_to": lambda: self.ask("go_to"),
            "scroll_down": lambda: view.scroll_rows(1), "scroll_up": lambda: view.scroll_rows(-1),
            "page_down": lambda: view.scroll_pages(1), "page_up": lambda: view.scroll_pages(-1),
            "audit": self._show_audit, "disagreements": lambda: self._show_audit(disagreements=True),
            "judge_runs": self._show_judge_runs, "retunes": self._show_retunes,
        }  # fmt: skip
        saying = {name: lambda words=words: self.say(words()) for name, words in says.items()}
        return {**self.common_handlers(), **self.saving(stores), **saying, **shows}

    def answered(self, answer: Answer) -> None:
        text = answer.text.strip()
        if answer.kept and answer.purpose == "go_to":
            self.save(lambda: self.desk.go_to(_number(text)))
        elif answer.kept and answer.purpose == "find":
            self.say(self._reader.find(text))
        else:
            super().answered(answer)

    def _mark_evidence(self) -> None:
        turn = self._reader.turn
        if not self._reader.has_dialogue:
            self.desk.message = "this item has no dialogue"
        elif turn is None:
            self.desk.message = "no turn chosen: } goes through the turns, ] to the most similar one"
        else:
            self.desk.toggle_evidence(turn)

    def _show_judge_runs(self) -> None:
        from annotate.tui.screens.judge.opening import open_judge_runs

        open_judge_runs(self.app, self.desk, self.say)

    def _show_retunes(self) -> None:
        from annotate.tui.screens.retune.opening import open_retunes

        open_retunes(self.app, self.desk, self.say)

    def _show_audit(self, *, disagreements: bool = False) -> None:
        from annotate.tui.screens.audit.opening import open_audit

        open_audit(self.app, self.desk, self.say, disagreements=disagreements)

    def _open_review(self) -> None:
        from annotate.tui.screens.review.screen import ReviewScreen

        screen = ReviewScreen(self.desk, self._benchmark, self._keymaps)
        self.app.push_screen(screen, lambda _: self.show_desk())

    # Showing

    def show_desk(self) -> None:
        if self._too_small:
            width, height = self._arranged_for
            words = f"This window is too small: {width}×{height}. The desk needs {SMALLEST[0]}×{SMALLEST[1]}."
            self._message.show([[Span(words, "title")]])
        elif self.desk.review is not None:
            self._open_review()
        else:
            self._header.show([header(self.desk, self._benchmark, self._arranged_for.width)])
            self._show_end() if self.desk.phase == "done" else self._show_item()
            self.say(self.desk.message)

    def say(self, message: str, role: Role = "chosen") -> None:
        line: Line = [Span(f" {safe_line(message, LONGEST_MESSAGE)}", role)] if message else []
        self._message.show([cut_line(line, self._arranged_for.width)])

    def _show_item(self) -> None:
        self.set_class(self._has_parts, "-parts")
        self._reader.show(self.desk.current)
        cautions = self._reader.cautions
        self._pane.show(decision(self.desk, self.keymap, self.expecting, self._room, cautions))
        self.show_keys()
        if self.desk.guard.painted_at is None:
            self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self.desk.guard.painted(self.desk.clock())
        self.set_timer(READ_AHEAD_AFTER, self._reader.look_ahead)

    def _show_end(self) -> None:
        self._reader.show_text(Document([text_section("end", "", end_words(self.desk))]))
        keys = hints(self.keymap, [("quit", "leave"), ("previous_item", "back to the last item"), ("undo", "undo")])
        stays_closed = self.desk.time_is_up or self.desk.lessons.explained
        opened = [] if stays_closed else [hints(self.keymap, NOW_OPEN)]
        self._pane.show([keys, *opened])
        self.show_keys()

    def show_keys(self) -> None:
        if self.keys_are_asked:
            self._footer.show([[]])
        elif self.desk.phase == "done":
            self._footer.show([[Span(" "), *hints(self.keymap, [("help", "keys")])]])
        else:
            self._footer.show([footer(self.keymap, self._arranged_for.width, self._idle())])

    def _idle(self) -> set[str]:
        """Actions whose keys do nothing on this item, or something else while a part is open."""
        entry, idle = self.desk.entry, self._reader.idle
        if not self.desk.current.task.tags:
            idle.add("tag")
        if self.desk.state.decided:
            idle.add("skip")
        return idle | (taken_actions(entry, self.keymap) if entry is not None else set())

    def on_document_view_sections_opened(self, message: DocumentView.SectionsOpened) -> None:
        """Also a click opens a panel."""
        if message.view.document is self._view.document:
            self._reader.note_opened(message.sections)


def _number(text: str) -> int:
    """What was asked for; 0, which is no item's number, when it is none."""
    return int(text) if text.isdecimal() else 0
