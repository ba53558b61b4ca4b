"""The decision pane as data: the labels always at the same place, what is given, the judge once it may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from annotate.desk.actions import HARMS, REASONS, KeyMap
from annotate.desk.decision_words import decision_words
from annotate.desk.desk import Desk
from annotate.desk.ledger import Reading
from annotate.desk.lessons import Lesson
from annotate.desk.verdict_view import VerdictView, label_words
from annotate.tui.screens.label.parts import Area, entry_lines
from annotate.tui.screens.label.state import hints, key_sign
from annotate.tui.widgets.spans import Line, Role, Span, cut_rows, glued, line_width, push_right, wrap_lines
from judges.benchmarks.benchmark import DecisionKind, Label, TaskDefinition
from judges.benchmarks.decisions import VALUE, Decision, decisions_of, is_long, is_whole
from store.records import LabelState
from store.safe_text import safe_line

Expecting = Literal["", "tag", "harm", "reason"]
"""The second key that is awaited."""

LONGEST_RATIONALE = 4000
"""Characters of a rationale that are considered for the pane; the verdict screen has all of it."""

MARK_ROWS = 2
"""Rows at most for cautions and marks below the item."""

MIN_ENTRY_ROWS = 9
"""Rows that an open part has beside the item at least."""
OPTIONAL = "(optional)"
_VERBS: dict[DecisionKind, str] = {
    "number": "number", "checklist": "grid", "ranking": "ranking", "choice": "",
}  # fmt: skip

_REASON_WORDS = dict(REASONS.values())
_HARM_WORDS = dict(HARMS.values())
_JUDGE_WILL = {
    "item": "shown after your label",
    "block": "shown at the end of the block",
    "never": "not shown in this draw",
    "assisted": "no verdict on this item",
}


class Room(NamedTuple):
    """Cells of the pane; `wide` when it stands beside the item."""

    width: int
    height: int
    wide: bool


def decision(desk: Desk, keymap: KeyMap, expecting: Expecting, room: Room, cautions: Sequence[str] = ()) -> list[Line]:
    """The rows of the pane; `cautions` say what to know of the item's text, as that it may tell whose answer it is."""
    if expecting:
        return wrap_lines(menu(desk.current, expecting, wide=room.wide), room.width)
    top = _top_rows(desk, keymap, room)
    below = _mark_lines(desk.state, room, cautions)
    return [*top, *_judge_rows(desk, keymap, room, room.height - len(top) - len(below)), *below]


# Labels


def _top_rows(desk: Desk, keymap: KeyMap, room: Room) -> list[Line]:
    """The labels with what is given; where a part is open in a small pane, that part alone."""
    if desk.entry is None:
        return wrap_lines(_label_lines(desk, keymap, room), room.width)
    judge = 1 if not desk.shown_verdicts() else 2
    if not room.wide:
        area = Area(room.width, room.height - judge)
        return entry_lines(desk.entry, keymap, area, unsure=desk.part_is_unsure)
    rows = wrap_lines(_label_lines(desk, keymap, room), room.width)
    area = Area(room.width, max(room.height - len(rows) - judge - 3, MIN_ENTRY_ROWS))
    entry = [[], *entry_lines(desk.entry, keymap, area, unsure=desk.part_is_unsure), []]
    return [*rows[: max(room.height - judge - len(entry), 0)], *entry]


def _label_lines(desk: Desk, keymap: KeyMap, room: Room) -> list[Line]:
    task, state, wide = desk.current.task, desk.state, room.wide
    given = desk.pending or ({"": state.value, **state.parts} if state.value is not None else {})
    lines: list[Line] = []
    dense = is_long(task)
    for decision in decisions_of(task):
        head = [Span(task.question if wide and decision.id == VALUE else decision.title, "title")]
        if not decision.is_long and not decision.required:
            told = f"  {_optional_words(desk)}"
            fits = line_width([*head, Span(told)]) <= room.width
            head.append(Span(glued(told if fits else f"  {OPTIONAL}"), "muted"))
        options = [_option(label, chosen=given.get(decision.id) == label.value) for label in decision.labels]
        if decision.is_long:
            options = [_long_option(decision, given.get(decision.id, ""), desk, keymap)]
        if wide:
            lines += [head, *([] if dense else [[]]), *options, []]
        elif dense:
            lines.append([*head, Span("  "), *(span for option in options for span in option)])
        else:
            lines += [head, [span for option in options for span in option]]
    keys = _key_lines(desk, keymap, wide=wide)
    if dense and not wide and state.decided and not desk.pending:
        lines = [[Span("● ", "chosen"), Span(safe_line(label_words(task, state), 200), "chosen")]]
    if wide:
        lines += [_given(desk), []]
    elif dense:
        keys[-1] = push_right(keys[-1], _given(desk), room.width)
    else:
        lines[0] = push_right(lines[0], _given(desk), room.width)
    return lines + keys


def _optional_words(desk: Desk) -> str:
    """The label alone brings the verdict where it comes at once: a part given after that is not given blind."""
    if desk.policy == "item" and desk.mode == "blind" and not desk.state.decided:
        return "(optional, before the label)"
    return OPTIONAL


def _long_option(decision: Decision, text: str, desk: Desk, keymap: KeyMap) -> Line:
    """What is given of a part of more than one key, and how to get at it."""
    order = desk.current.orders.get(decision.id, ())
    key = [Span(key_sign(keymap.keys_of["part"][0]), "key"), Span(glued(f" {_VERBS[decision.kind]}"), "muted")]
    if not text:
        return [Span("  "), *key, Span("" if decision.required else glued(f"  {_optional_words(desk)}"), "muted")]
    words = safe_line(decision_words(decision, text, order), 120)
    whole = is_whole(decision, desk.current.item.payload, text)
    return [Span("● " if whole else "◌ ", "chosen"), Span(words, "chosen" if whole else "plain"), Span("   "), *key]


def _option(label: Label, *, chosen: bool) -> Line:
    role: Role = "chosen" if chosen else "plain"
    return [
        Span(glued("● " if chosen else "  "), role),
        Span(glued(f"{label.key} {label.digit}"), "key"),
        Span(glued(f"  {label.title}"), role),
        Span("   "),
    ]


def _given(desk: Desk) -> Line:
    """What stands now, in words beside the mark of the chosen label."""
    state = desk.state
    if desk.pending:
        return [Span("not complete yet", "warning")]
    if state.cannot_judge:
        return [Span(f"✓ saved: {safe_line(label_words(desk.current.task, state), 60)}", "chosen")]
    if state.value is not None:
        return [Span("✓ saved, unsure" if state.unsure else "✓ saved", "chosen")]
    return [Span("↷ skipped earlier", "muted")] if state.skipped else [Span("no label yet", "muted")]


def _key_lines(desk: Desk, keymap: KeyMap, *, wide: bool) -> list[Line]:
    """What can be pressed now besides a label."""
    keys = "\u00a0".join(label_keys(desk.current.task)) or key_sign(keymap.keys_of["part"][0])
    enter = key_sign(keymap.keys_of["confirm"][0])
    if desk.phase == "revealed" or desk.state.decided:
        first: Line = [Span(enter, "key"), Span(" keep and next  ", "muted")]
        second: Line = [Span(keys, "key"), Span(" revise", "muted")]
    elif desk.mode == "assisted":
        first = [Span(enter, "key"), Span(" confirm the judge  ", "muted")]
        second = [Span(keys, "key"), Span(" override", "muted")]
    else:
        first = hints(keymap, [("cannot_judge", "cannot judge"), ("reference_wrong", "reference wrong")])
        second = [Span("shift", "key"), Span(" unsure  ", "muted"), *hints(keymap, [("harm", "harm")])]
    return [[Span("  "), *first], [Span("  "), *second], []] if wide else [[Span("  "), *first, *second]]


def label_keys(task: TaskDefinition) -> list[str]:
    """The keys of all labels, parts after the value; not those that only count in an open grid."""
    return [label.key for decision in decisions_of(task) if not decision.is_long for label in decision.labels]


# The judge


def _judge_rows(desk: Desk, keymap: KeyMap, room: Room, height: int) -> list[Line]:
    """The verdicts that may be shown, or in practice what people settled, cut to `height` rows; what was cut can be
    asked for."""
    more: Line = [Span(f" {key_sign(keymap.keys_of['verdict'][0])}", "key"), Span(" all of it", "muted")]
    if desk.lessons.explained:
        return cut_rows(wrap_lines(_lesson_rows(desk, room), room.width), height, room.width, more)
    views = desk.shown_verdicts()
    if not views:
        will: Line = [Span("Judge  ", "title"), Span(judge_will(desk), "muted")]
        own = _own_derived(desk, room)
        return [*cut_rows(wrap_lines(own, room.width), max(height - 1, 0), room.width, [])[: max(height - 1, 0)],
                *wrap_lines([will], room.width)]  # fmt: skip
    system = [Span("System ", "muted"), Span(safe_line(desk.current.item.system, 60))]
    lines = [line for view in views for line in verdict_lines(view)]
    if room.wide:
        lines.append(system)
    else:
        lines[0] = [*lines[0], Span("   "), *system]
    lines = [*_own_derived(desk, room), *lines]
    return cut_rows(wrap_lines(lines, room.width), height, room.width, more)


def _lesson_rows(desk: Desk, room: Room) -> list[Line]:
    lesson = desk.lesson()
    if lesson is None:
        return [[Span("Settled  ", "title"), Span("shown after your label", "muted")]]
    return [*_own_derived(desk, room), *lesson_lines(lesson)]


def lesson_lines(lesson: Lesson, longest: int = LONGEST_RATIONALE) -> list[Line]:
    """What people settled on an item, whether the own label agrees, by whom, why."""
    head: Line = [Span("Settled  ", "title")]
    if not lesson.label:
        return [[*head, Span("no longer: people differ on it now, or it was imported anew", "muted")]]
    sign = [Span("   = agrees", "muted") if lesson.agrees else Span("   ≠ differs", "differs")]
    if lesson.apart:
        sign.append(Span(f"   ≠ {safe_line(', '.join(lesson.apart), 80)}", "differs"))
    notes: list[Line] = [[Span(f"  “{safe_line(note, longest)}”")] for note in lesson.notes]
    return [
        [*head, Span(safe_line(lesson.label, 80), "judge"), *sign, Span(f"   {lesson.by}", "muted")],
        *(notes or [[Span("  nobody wrote why", "muted")]]),
    ]


def _own_derived(desk: Desk, room: Room) -> list[Line]:
    """What is derived from the person's label: a line each where there is room, one after the other where not."""
    lines = [derived_line(title, words) for title, words in desk.derived()]
    if room.wide or not lines:
        return [*lines, []] if lines else []
    joined: Line = []
    for line in lines:
        pieces = [span._replace(text=f"{span.text.rstrip()} ") for span in line]
        joined += [*([Span("· ", "muted")] if joined else []), *pieces]
    return [joined]


def judge_will(desk: Desk) -> str:
    """When the verdict will be seen; says the same of every item until it is labelled."""
    if desk.state.decided and not desk.current.verdicts:
        return "no verdict on this item"
    if desk.state.decided and desk.ledger.stays_hidden(desk.current.item.item_id):
        return "stays hidden for this item"
    return _JUDGE_WILL[desk.policy]


def verdict_lines(view: VerdictView, longest: int = LONGEST_RATIONALE) -> list[Line]:
    """One judge's verdict: its label, whether it differs, who it is, why."""
    sign: Line = []
    if view.differs is not None:
        sign = [Span("   ≠ differs", "differs")] if view.differs else [Span("   = agrees", "muted")]
    who = safe_line(view.judge, 40) + (f" · {view.detail}" if view.detail else "")
    reason = f"“{safe_line(view.rationale, longest)}”" if view.rationale else "no rationale kept"
    apart = [derived_line(f"  {title}", words) for title, words in view.compared]
    return [
        [Span("Judge  ", "title"), Span(safe_line(view.headline, 80), "judge"), *sign, Span(f"   {who}", "muted")],
        *apart,
        *(derived_line(f"  {title}", words) for title, words in view.derived),
        [Span(f"  {reason}", "plain" if view.rationale else "muted")],
    ]


def derived_line(title: str, words: str) -> Line:
    """What a benchmark derives, by its title."""
    return [Span(f"{safe_line(title, 60)}  ", "muted"), Span(safe_line(words, 600))]


# Marks


def _mark_lines(state: LabelState, room: Room, cautions: Sequence[str]) -> list[Line]:
    """Tags, harm, note and the rest: one line each where there is room, one after the other where there is not."""
    given = [
        *(Span(f"⚠ {words}", "warning") for words in cautions),
        *(Span(f"{name}: {words}", "muted") for name, words in marks(state)),
    ]
    if not given:
        return []
    if room.wide:
        return [[], *(row for mark in given for row in cut_rows(wrap_lines([[mark]], room.width), 4, room.width, []))]
    joined: Line = []
    for mark in given:
        joined += [*([Span(" · ", "muted")] if joined else []), mark]
    return cut_rows(wrap_lines([joined], room.width), MARK_ROWS, room.width, [])


def marks(state: LabelState) -> list[tuple[str, str]]:
    """What stands beside a label, by name and in words."""
    every = [
        ("reference wrong", (safe_line(state.right_answer, 200) or "yes") if state.reference_wrong else ""),
        ("harm", _HARM_WORDS.get(state.harm, safe_line(state.harm, 40)) if state.harm else ""),
        ("tags", ", ".join(tag_words(tag) for tag in state.tags)),
        ("evidence", ", ".join(f"turn {turn + 1}" for turn in state.evidence)),
        ("flag", "flagged for the lead" if state.flagged else ""),
        ("note", safe_line(state.note, 400) if state.note else ""),
    ]
    return [(name, words) for name, words in every if words]


def tag_words(tag: str) -> str:
    """A tag as words."""
    return safe_line(tag, 60).replace("_", " ")


# Second keys


def menu(reading: Reading, expecting: Expecting, *, wide: bool) -> list[Line]:
    """The second keys there are, those that are set marked."""
    state = reading.state
    if expecting == "tag":
        title = "Tag: press its digit"
        options = [(str(number), tag_words(tag)) for number, tag in enumerate(reading.task.tags, start=1)]
    elif expecting == "harm":
        title, options = "Harm if it were believed: press", [(key, words) for key, (_, words) in HARMS.items()]
    else:
        title, options = "Cannot judge, because: press", [(key, words) for key, (_, words) in REASONS.items()]
    chosen = {*map(tag_words, state.tags), _HARM_WORDS.get(state.harm, ""), _REASON_WORDS.get(state.cannot_judge, "")}
    rows: list[Line] = [
        [
            Span(glued("● " if words in chosen else "  "), "chosen"),
            Span(key, "key"),
            Span(glued(f"  {words}")),
            Span("   "),
        ]
        for key, words in options
    ]
    shown = rows if wide else [[span for row in rows for span in row]]
    return [
        [Span(title, "title")],
        *([[]] if wide else []),
        *shown,
        [],
        [Span("  Esc", "key"), Span(" leaves it as it is", "muted")],
    ]
