"""What the desk's screen says, as data: lines of (text, role), made from the desk without a screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from annotate.desk.actions import ACTIONS, HARMS, REASONS, Action, KeyMap
from annotate.desk.desk import Desk
from annotate.desk.verdict_view import VerdictView, titles
from judges.benchmarks.benchmark import Label, TaskDefinition
from store.model_names import model_names_in
from store.records import LabelState
from store.safe_text import safe_line

Role = Literal["plain", "title", "key", "chosen", "muted", "judge", "differs", "warning"]
Expecting = Literal["", "tag", "harm", "reason"]
"""The second key that is awaited."""


class Span(NamedTuple):
    """A piece of a line; the role gives style, never meaning alone."""

    text: str
    role: Role = "plain"


Line = list[Span]

_MODES = {"blind": "BLIND", "revised": "VERDICT SHOWN", "assisted": "ASSISTED"}
_REASON_WORDS = dict(REASONS.values())
_HARM_WORDS = dict(HARMS.values())
_JUDGE_WILL = {
    "item": "shown after your label",
    "block": "shown at the end of the block",
    "never": "not shown in this draw",
    "assisted": "no verdict on this item",
}


def header(desk: Desk, benchmark: str, width: int) -> Line:
    """Where one is: benchmark and task, place, who, mode. Nothing that names a system or a verdict."""
    left = f" overread  {benchmark}"
    if desk.phase == "done":
        return [Span(left, "title")]
    left += f" · {desk.current.task.task}"
    flag = "  ⚑" if desk.state.flagged else ""
    right = f"{desk.place + 1} / {len(desk.queue)}{flag}   {safe_line(desk.annotator, 20)}   {_MODES[desk.mode]} "
    return [Span(left, "title"), Span(" " * max(1, width - len(left) - len(right))), Span(right, "title")]


def decision(desk: Desk, expecting: Expecting, *, wide: bool) -> list[Line]:
    """The decision pane: the label so far, the second key awaited, and the judge once it may be shown."""
    if expecting:
        return _menu(desk, expecting, wide=wide)
    shown = bool(desk.shown_verdicts())
    if shown and desk.state.decided and not wide:
        return [_own_line(desk), *_judge_lines(desk), *_mark_lines(desk)]
    lines = _label_lines(desk, wide=wide)
    lines += _mark_lines(desk)
    lines += [[]] if wide else []
    return lines + _judge_lines(desk)


_FIRST_TO_GO = ("dialogue", "differences", "next_similar", "rubric", "skip", "find", "tag")
"""Reminders that a narrow footer leaves out, in this order; help has them all."""


def footer(keymap: KeyMap, width: int) -> Line:
    """The keys worth a reminder, as many as there is room for."""
    reminders = {action.id: _reminder(keymap, action) for action in ACTIONS if action.short}
    for action in _FIRST_TO_GO:
        if sum(len(span.text) for line in reminders.values() for span in line) < width:
            break
        reminders.pop(action, None)
    return [Span(" "), *(span for line in reminders.values() for span in line)]


def _reminder(keymap: KeyMap, action: Action) -> Line:
    keys = keymap.keys_of[action.id][0]
    if action.id == "next_similar":
        keys += f" {keymap.keys_of['previous_similar'][0]}"
    return [Span(keys, "key"), Span(f" {action.short}   ", "muted")]


def _own_line(desk: Desk) -> Line:
    """The own label in one line, for narrow windows."""
    state = desk.state
    words = titles(desk.current.task, state.value, dict(state.parts))
    words = f"cannot judge, {_REASON_WORDS[state.cannot_judge]}" if state.cannot_judge else words
    return [Span("You    ", "title"), Span(f"● {words}", "chosen"), Span(", unsure" if state.unsure else "", "chosen"),
            Span("   ✓ saved", "muted")]  # fmt: skip


def _label_lines(desk: Desk, *, wide: bool) -> list[Line]:
    task, state = desk.current.task, desk.state
    given = desk.pending or ({"": state.value, **state.parts} if state.value is not None else {})
    lines: list[Line] = [[Span(task.question, "title")]] if wide else []
    for part, title, labels in [("", task.title, task.labels), *((p.id, p.title, p.labels) for p in task.parts)]:
        if task.parts or not wide:
            lines.append([Span(title, "title")])
        options = [_option(label, given.get(part) == label.value) for label in labels]
        lines += options if wide else [[span for option in options for span in option]]
    lines.append(
        [Span("  x", "key"), Span(" cannot judge  ", "muted"), Span("r", "key"), Span(" reference wrong", "muted")]
    )
    more: Line = [Span("  shift", "key"), Span(" = unsure   ", "muted"), Span("!", "key"), Span(" harm", "muted")]
    lines = [*lines, more] if wide else [*lines[:-1], [*lines[-1], *more]]
    return [*lines, *_saved(state)]


def _option(label: Label, chosen: bool) -> Line:
    sign = "● " if chosen else "  "
    role: Role = "chosen" if chosen else "plain"
    return [Span(sign, role), Span(f"{label.key} {label.digit}", "key"), Span(f"  {label.title}   ", role)]


def _saved(state: LabelState) -> list[Line]:
    if state.cannot_judge:
        return [[Span(f"✓ saved: cannot judge, {_REASON_WORDS[state.cannot_judge]}", "chosen")]]
    if state.value is not None:
        return [[Span("✓ saved" + (", unsure" if state.unsure else ""), "chosen")]]
    return [[Span("↷ skipped earlier", "muted")]] if state.skipped else []


def _mark_lines(desk: Desk) -> list[Line]:
    state = desk.state
    marks = [
        ("tags", ", ".join(state.tags)),
        ("harm", _HARM_WORDS.get(state.harm, "")),
        ("note", safe_line(state.note, 200)),
        ("reference wrong", (safe_line(state.right_answer, 200) or "yes") if state.reference_wrong else ""),
        ("evidence", ", ".join(str(turn + 1) for turn in state.evidence)),
    ]
    lines: list[Line] = [[Span(f"{name}: ", "muted"), Span(words)] for name, words in marks if words]
    if names_a_model(desk):
        lines.append([Span("⚠ a text here names a model or a system", "warning")])
    return lines


def names_a_model(desk: Desk) -> bool:
    """Whether a short text of the item names a model: it may tell whose answer this is."""
    texts = (value for value in desk.current.item.payload.values() if isinstance(value, str))
    return any(model_names_in(text) for text in texts)


def _judge_lines(desk: Desk) -> list[Line]:
    views = desk.shown_verdicts()
    if not views:
        return [[Span("Judge  ", "title"), Span(_judge_will(desk), "muted")]]
    lines = [line for view in views for line in _view_lines(view)]
    lines.append([Span("System ", "muted"), Span(safe_line(desk.current.item.system, 60))])
    keys = " ".join(label_keys(desk.current.task))
    if desk.state.decided:
        lines.append(
            [Span("⏎", "key"), Span(" keep and next   ", "muted"), Span(keys, "key"), Span(" revise", "muted")]
        )
    elif desk.mode == "assisted":
        lines.append([Span("⏎", "key"), Span(" confirm   ", "muted"), Span(keys, "key"), Span(" override", "muted")])
    return lines


def label_keys(task: TaskDefinition) -> list[str]:
    """The keys of all labels, parts after the value."""
    return [label.key for labels in (task.labels, *(part.labels for part in task.parts)) for label in labels]


def _judge_will(desk: Desk) -> str:
    if not desk.current.verdicts:
        return "no verdict on this item" if desk.state.decided else _JUDGE_WILL[desk.policy]
    if desk.state.decided and desk.ledger.stays_hidden(desk.current.item.item_id):
        return "stays hidden for this item"
    return _JUDGE_WILL[desk.policy]


def _view_lines(view: VerdictView) -> list[Line]:
    sign: Line = []
    if view.differs is not None:
        sign = [Span("  ≠ differs", "differs")] if view.differs else [Span("  = agrees", "muted")]
    lines: list[Line] = [
        [Span("Judge  ", "title"), Span(view.headline, "judge"), *sign],
        [Span(f"  {safe_line(view.judge, 40)}" + (f" · {view.detail}" if view.detail else ""), "muted")],
    ]
    reason = f"“{safe_line(view.rationale, 600)}”" if view.rationale else "no rationale kept"
    return [*lines, [Span(f"  {reason}")]]


def _menu(desk: Desk, expecting: Expecting, *, wide: bool) -> list[Line]:
    if expecting == "tag":
        title = "Tag: press its digit"
        options = [(str(number), tag) for number, tag in enumerate(desk.current.task.tags, start=1)]
    elif expecting == "harm":
        title, options = "Harm if it were believed", [(key, words) for key, (_, words) in HARMS.items()]
    else:
        title, options = "Cannot judge, because", [(key, words) for key, (_, words) in REASONS.items()]
    chosen = {*desk.state.tags, _HARM_WORDS.get(desk.state.harm, "")}
    rows: Sequence[Line] = [
        [Span("● " if words in chosen else "  "), Span(key, "key"), Span(f"  {words}   ")] for key, words in options
    ]
    shown = list(rows) if wide else [[span for row in rows for span in row]]
    return [[Span(title, "title")], *shown, [], [Span("esc", "key"), Span(" leaves it as it is", "muted")]]
