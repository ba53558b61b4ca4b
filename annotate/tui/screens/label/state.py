"""What the desk's screen says around the item, as data made from the desk without a screen: header, footer, end."""

from __future__ import annotations

from collections.abc import Container, Sequence

from annotate.desk.actions import ACTIONS, Action, KeyMap
from annotate.desk.desk import Desk
from annotate.tui.widgets.spans import Line, Span, line_width, push_right
from store.safe_text import safe_line

MODES = {"blind": "BLIND", "revised": "VERDICT SHOWN", "assisted": "ASSISTED"}
PRACTICE = "PRACTICE"
"""The mode of practice on settled items, where no verdict is ever shown."""
LONGEST_NAME, SHORTEST_NAME = 24, 8
"""Characters of an annotator's name that are shown when there is room, and when there is little."""

MOST_KEYS = 3
"""Keys of one action that are written out."""

_KEY_SIGNS = {
    "enter": "⏎", "space": "space", "left": "←", "right": "→", "up": "↑", "down": "↓", "backspace": "⌫", "home": "Home",
    "pageup": "PgUp", "pagedown": "PgDn", "tab": "Tab",
}  # fmt: skip


def key_sign(key: str) -> str:
    """A key as the screen writes it: "ctrl+r" is "Ctrl-R"."""
    if key in _KEY_SIGNS or len(key) == 1:
        return _KEY_SIGNS.get(key, key)
    return "-".join(part.capitalize() for part in key.split("+"))


def key_signs(keys: Sequence[str]) -> str:
    """All keys of an action: "? or F1", and a run of many as "1 … 9"."""
    signs = [key_sign(key) for key in keys]
    return f"{signs[0]} … {signs[-1]}" if len(signs) > MOST_KEYS else " or ".join(signs)


def header(desk: Desk, benchmark: str, width: int) -> Line:
    """Where one is: benchmark and task, place, who, mode. Nothing that names a system or a verdict."""
    if desk.phase == "done":
        return [Span(f" overread  {benchmark}", "title")]
    task = desk.current.task.task
    flag = "⚑ flagged   " if desk.state.flagged else ""
    place = f"{flag}{desk.place + 1} / {len(desk.queue)}"
    mode = PRACTICE if desk.lessons.explained else MODES[desk.mode]
    for left, longest in (
        (f" overread  {benchmark} · {task}", LONGEST_NAME),
        (f" overread  {benchmark} · {task}", SHORTEST_NAME),
        (f" {benchmark} · {task}", SHORTEST_NAME),
        (f" {task}", SHORTEST_NAME),
    ):
        who = safe_line(desk.annotator, longest)
        line = push_right([Span(left, "title")], [Span(f"{place}   {who}   {mode} ", "title")], width)
        if line_width(line) <= width:
            return line
    return push_right([Span(f" {task}", "title")], [Span(f"{place}  {mode} ", "title")], width)


_FIRST_TO_GO = ("next_similar", "find", "skip", "tag", "rubric", "differences", "dialogue", "note", "undo")
"""Reminders that a narrow footer leaves out, in this order; help has them all."""


def footer(keymap: KeyMap, width: int, idle: Container[str] = ()) -> Line:
    """The keys worth a reminder, as many as there is room for; `idle` are actions whose keys would not do them now."""
    reminders = {action.id: _reminder(keymap, action) for action in ACTIONS if action.short and action.id not in idle}
    for action in _FIRST_TO_GO:
        if sum(map(line_width, reminders.values())) < width:
            break
        reminders.pop(action, None)
    return [Span(" "), *(span for line in reminders.values() for span in line)]


def _reminder(keymap: KeyMap, action: Action) -> Line:
    keys = key_sign(keymap.keys_of[action.id][0])
    if action.id == "next_similar":
        keys += f" {key_sign(keymap.keys_of['previous_similar'][0])}"
    return [Span(keys, "key"), Span(f" {action.short}   ", "muted")]


def hints(keymap: KeyMap, words: Sequence[tuple[str, str]]) -> Line:
    """Keys of actions with what they do here: [("confirm", "keep and next")]."""
    line: Line = []
    for action, what in words:
        if keymap.keys_of[action]:
            line += [Span(key_sign(keymap.keys_of[action][0]), "key"), Span(f" {what}  ", "muted")]
    return line


def end_words(desk: Desk) -> str:
    """What is said when there is nothing more to label: what was done, never what the judge thought."""
    if not len(desk.queue):
        return "There is nothing to label in this draw."
    title = "The time of this sitting is over." if desk.time_is_up else "Everything in this queue is labelled."
    return "\n\n".join([title, "\n".join(desk.summary()), "Every label is saved. You can leave now."])
