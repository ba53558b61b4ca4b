"""The retune screen as lines: how the search stands, the tree of candidates, the diff, the items, the decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from annotate.desk.ledger import Reading
from annotate.desk.reading import headline
from annotate.tui.screens.judge.state import money
from annotate.tui.screens.retune.search import Change, Counts
from annotate.tui.screens.retune.state import RetuneState
from annotate.tui.widgets.spans import Line, Role, Span, cut_line, keys_line, push_right
from annotate.tui.widgets.text_diff import texts_diff
from judges.benchmarks.benchmark import TaskDefinition
from judges.retune.adapter import Candidate
from judges.retune.items import TuneItem
from store.records import LabelState
from store.safe_text import safe_line

ORIGINS: Final = {
    "base": "present prompt",
    "reflection": "reflection",
    "examples": "with examples",
    "hand": "by hand",
}
SIGNS: Final[Mapping[str, tuple[str, Role]]] = {
    "broke": ("✗ broke", "differs"), "fixed": ("✓ fixed", "chosen"), "wrong": ("≠ wrong", "warning"),
}  # fmt: skip
LONGEST_NAME: Final = 60


def header(state: RetuneState, width: int) -> Line:
    """Which search of which task."""
    settings = state.search.settings
    models = f"{settings.get('model', '')}" + (
        f" ← {settings['reflect_model']}" if settings.get("reflect_model") else " ← by hand"
    )
    words = f" overread retune   {state.task.title} · {models}"
    place = ""
    if not state.is_live:
        at = safe_line(state.search.at[:16].replace("T", " "))
        place = f"search {state.place + 1} / {len(state.past)} · {at} · read only "
    left = cut_line([Span(safe_line(words, 200), "title")], max(width - len(place) - 1, 1))
    return push_right(left, [Span(place, "title")], width)


def footer(state: RetuneState, width: int) -> Line:
    """The keys that mean something now."""
    chosen = "choose candidate" if state.focus == "candidates" else "choose item"
    keys = [("↑ ↓", chosen), ("tab", "items" if state.focus == "candidates" else "candidates")]
    keys += [("⏎", "open item")] if state.focus == "items" else []
    if state.is_live and not state.over:
        keys += [("s", "drop the calls" if state.stopping else "stop")]
    if len(state.past) > 1 and not state.is_live:
        keys += [("← →", "other search")]
    keys += [("?", "keys"), ("q", "leave"), ("PgUp PgDn", "scroll")]
    return keys_line(keys, width)


KEYS: Final = (
    ("↑ ↓ Home End", "Choose a candidate, or an item where the keys are there"),
    ("Tab", "The keys go to the items, and back to the candidates"),
    ("Enter", "Go to the candidate's items; on an item, show its text, people's label and both verdicts"),
    ("PgUp PgDn", "Scroll what changed in the prompt, or the list of items"),
    ("b", "Back to the best candidate on val, and follow it"),
    ("← →", "Another search of the study, where none goes on"),
    ("s", "Stop the search: calls on their way are waited for; once more drops them. Every answer is kept"),
    ("q Esc", "Leave; a search that goes on is stopped first"),
    ("? F1", "These keys"),
)  # fmt: skip
EXPLAINED: Final = (
    "val is the balanced accuracy on the items that prompts are chosen on. ✓ fixed: wrong under the prompt it came"
    " from, right under this one. ✗ broke: the other way. ≠ wrong: wrong under both.",
    "Items of the sealed test are never shown here: they decide, and whoever reads them cannot be decided by them.",
)  # fmt: skip


# How it stands


def status_lines(state: RetuneState) -> list[Line]:
    """Phase, proposals, calls and money against their caps; what ended it; the decision."""
    search = state.search
    lines: list[Line] = []
    if state.fault:
        lines += [[Span(safe_line(text, 300), "warning")] for text in state.fault.splitlines()]
    elif search.end:
        lines += decision_lines(search.end)
    elif not state.is_live:
        lines.append([Span("It has not ended; the same command goes on where it stopped.", "muted")])
    if search.counts is not None:
        lines += _counts(search.counts, state)
    if state.hidden_on_val:
        lines.append([Span(f"{state.hidden_on_val:,} items of val stay hidden from you.", "muted")])
    if state.changed_labels:
        words = f"{state.changed_labels:,} items of this search have no label that counts any more."
        lines.append([Span(words, "muted")])
    return lines


def _counts(counts: Counts, state: RetuneState) -> Iterator[Line]:
    if state.is_live and not state.over:
        words = "stopping: the calls on their way are waited for" if state.stopping else counts.phase
        yield [Span(f"{words} …", "warning" if state.stopping else "title")]
    if counts == Counts(counts.phase):  # nothing was asked for yet
        return
    of = f" of {counts.most_proposals:,}" if counts.most_proposals else ""
    thrown = f", {counts.thrown_away:,} thrown away" if counts.thrown_away else ""
    if counts.most_proposals or thrown:
        asked = f"{counts.proposals:,}{of}{thrown}" if counts.most_proposals else thrown[2:]
        yield [Span("proposals ", "muted"), Span(asked)]
    most = f" of at most {counts.most:,}" if counts.most is not None else ""
    failed = f", {counts.failures:,} failed" if counts.failures else ""
    yield [
        Span("calls     ", "muted"),
        Span(f"{counts.asked:,}{most}, {counts.kept:,} kept{failed}; reflections {counts.reflections:,}"),
    ]
    yield [Span("cost      ", "muted"), Span(money(counts.spent, counts.cap) if state.is_live else _paid(counts.spent))]


def _paid(spent: float | None) -> str:
    return "unknown" if spent is None else f"${spent:.4f}"


def decision_lines(end: Mapping[str, Any]) -> list[Line]:
    """How a search ended, from its outcome."""
    words = str(end.get("words", ""))
    lines: list[Line] = [[Span(safe_line(words, 200), "chosen" if end.get("promoted") else "warning")]]
    found = end.get("promotion")
    if not found:
        return lines
    reasons: list[Line] = [[Span(safe_line(reason, 300), "muted")] for reason in found["reasons"]]
    if found["outcome"] == "refused":
        return lines + reasons
    before, after, gain = (found[name] for name in ("before", "after", "difference"))
    interval = "no interval"
    if gain["low"] is not None and gain["high"] is not None:
        interval = f"{gain['low']:+.3f} to {gain['high']:+.3f}"
    lines.append([
        Span("test      ", "muted"),
        Span(f"{before['value']:.3f} → {after['value']:.3f}, {gain['value']:+.3f} ({interval}), "
             f"fixed {sum(found['fixed'].values())}, broke {sum(found['broken'].values())}"),
    ])  # fmt: skip
    return lines + reasons


# The candidates


def candidate_rows(state: RetuneState, rows: int, width: int) -> list[Line]:
    """The tree around the candidate in hand, in that many rows, its heading among them."""
    every, here = state.rows, state.candidate
    if not every:
        return [[Span("Candidates", "title")], [Span("none yet: the present prompt is judged on val", "muted")]]
    place = next((n for n, (one, _) in enumerate(every) if here is not None and one.number == here.number), 0)
    shown = max(rows - 1, 1)
    first = min(max(place - shown // 2, 0), max(len(every) - shown, 0))
    lines: list[Line] = [[Span("Candidates", "title"), Span(f"  {len(every)}, by what they came from", "muted")]]
    return lines + [_candidate_row(state, one, depth, width) for one, depth in every[first : first + shown]]


def _candidate_row(state: RetuneState, one: Candidate, depth: int, width: int) -> Line:
    here = state.candidate is not None and one.number == state.candidate.number
    sign = ("▶ " if state.focus == "candidates" else "▷ ") if here else "  "
    branch = "  " * (depth - 1) + "└ " if depth else ""
    name = ORIGINS.get(one.origin, one.origin)
    parent = state.parent_of(one)
    gain = f" {one.val_score - parent.val_score:+.3f}" if parent is not None else ""
    line: Line = [
        Span(sign, "key"), Span(branch, "muted"), Span(f"{one.number} ", "title"), Span(name),
        Span(f"  val {one.val_score:.3f}{gain}", "title" if here else "plain"),
    ]  # fmt: skip
    line += _marks(state, one)
    if parent is not None:
        kinds = [change.kind for change in state.changes_of(one)]
        line += [Span(f"  fixed {kinds.count('fixed')}, broke {kinds.count('broke')}", "muted")]
    return cut_line(line, width)


def _marks(state: RetuneState, one: Candidate) -> Line:
    """What stands out: the best on val, the one that was taken."""
    best = state.best
    marks: Line = []
    if best is not None and one.number == best.number:
        marks.append(Span("  best", "chosen"))
    if state.search.end.get("promoted") and state.search.end.get("chosen") == one.number:
        marks.append(Span("  promoted", "chosen"))
    return marks


def diff_rows(state: RetuneState) -> list[Line]:
    """What the candidate in hand changed in the prompt; of the first one the prompt itself."""
    one = state.candidate
    if one is None:
        return []
    parent = state.parent_of(one)
    if parent is None:
        title = f"Prompt {one.number}: {ORIGINS.get(one.origin, one.origin)}"
        return [[Span(title, "title")], [], *_whole(one.texts)]
    lines: list[Line] = [[Span(f"Prompt {one.number} against {parent.number}", "title"),
                          Span("   - went, + came", "muted")], []]  # fmt: skip
    return lines + texts_diff(parent.texts, one.texts)


def _whole(texts: Mapping[str, str]) -> Iterator[Line]:
    for language, text in texts.items():
        if len(texts) > 1:
            yield [Span(language, "title")]
        yield from ([Span(safe_line(line, 2000))] for line in text.splitlines())
        yield []


# The items


def item_rows(state: RetuneState, rows: int, width: int) -> list[Line]:
    """What the candidate in hand broke, fixed and left wrong on val, around the item in hand."""
    if state.candidate is None:
        return []
    found = state.items
    counts = ", ".join(f"{kind} {sum(one.kind == kind for one in found)}" for kind in SIGNS)
    lines: list[Line] = [[Span("On val", "title"), Span(f"  {counts}", "muted")]]
    if not found:
        return [*lines, [Span("nothing: every item that is shown is judged as people do", "muted")]]
    shown = max(rows - 1, 1)
    first = min(max(state.item_place - shown // 2, 0), max(len(found) - shown, 0))
    return lines + [
        _item_row(state, place, found[place], width) for place in range(first, min(first + shown, len(found)))
    ]


def _item_row(state: RetuneState, place: int, one: Change, width: int) -> Line:
    here = place == state.item_place and state.focus == "items"
    sign, role = SIGNS[one.kind]
    line: Line = [
        Span("▶ " if here else "  ", "key"), Span(f"{sign}  ", role),
        Span(label_words(state.task, one.item.label), "chosen"), Span("  judge ", "muted"),
        *_verdicts(state, one), Span("  "),
        Span(headline(reading_of(state.task, one.item), 200), "title" if here else "plain"),
    ]  # fmt: skip
    return cut_line(line, width)


def _verdicts(state: RetuneState, one: Change) -> Line:
    parent = state.candidate is not None and state.parent_of(state.candidate)
    after = Span(label_words(state.task, one.after), "judge")
    if not parent or one.before == one.after:
        return [after]
    return [Span(label_words(state.task, one.before), "judge"), Span(" → ", "muted"), after]


def item_head(state: RetuneState, one: Change) -> list[Line]:
    """What people and both prompts say of an item."""
    candidate = state.candidate
    assert candidate is not None
    parent = state.parent_of(candidate)
    lines: list[Line] = [[Span("people    ", "muted"), Span(label_words(state.task, one.item.label), "chosen")]]
    if parent is not None:
        before = f"prompt {parent.number}".ljust(10)
        lines.append([Span(before, "muted"), Span(label_words(state.task, one.before), "judge")])
    sign, role = SIGNS[one.kind]
    now = f"prompt {candidate.number}".ljust(10)
    lines.append([Span(now, "muted"), Span(label_words(state.task, one.after), "judge"), Span(f"   {sign}", role)])
    return lines


def reading_of(task: TaskDefinition, item: TuneItem) -> Reading:
    """The item as what reads items wants it; nothing of a label is in it."""
    return Reading(item.item, task, LabelState(), ())


def label_words(task: TaskDefinition, value: str | None) -> str:
    """A label as the task calls it."""
    if value is None:
        return "unreadable"
    title = next((label.title for label in task.labels if label.value == value), value)
    return safe_line(title, LONGEST_NAME)
