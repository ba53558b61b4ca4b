"""The runs of judges that a study holds, as lines: a list, and how the one in hand went. Nothing runs here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotate.report.words import count
from annotate.tui.screens.judge.state import OUTCOMES, money, verdict_words
from annotate.tui.widgets.spans import Line, Span, cut_line, keys_line, push_right
from store.judging import StoredRun
from store.safe_text import safe_line

SIGNS: Final[Mapping[str, str]] = {"done": "✓", "stopped": "■", "cap": "$", "unusable": "✗", "": "?"}
KILLED: Final = "did not end: it was killed, or goes on elsewhere; the same command goes on"
KEYS: Final = (
    ("↑ ↓", "Another run"),
    ("q Esc", "Back"),
    ("? F1", "These keys"),
)  # fmt: skip
EXPLAINED: Final = ("Nothing is judged from here: overread judge --screen runs a judge, shows it live and stops it.",)


@dataclass
class RunsState:
    """Runs, the newest first, and which is in hand."""

    runs: Sequence[StoredRun]
    place: int = 0

    @property
    def run(self) -> StoredRun:
        return self.runs[self.place]

    def move(self, by: int) -> None:
        self.place = min(max(self.place + by, 0), len(self.runs) - 1)


def header(state: RunsState, width: int) -> Line:
    """Which run of how many."""
    place = f"{state.place + 1} / {len(state.runs)} · read only "
    left: Line = [Span(f" overread judge   {count(len(state.runs), 'run')} of this study", "title")]
    return push_right(cut_line(left, max(width - len(place) - 1, 1)), [Span(place, "title")], width)


def footer(width: int) -> Line:
    """The keys."""
    return keys_line([("↑ ↓", "choose"), ("?", "keys"), ("q", "back")], width)


def list_rows(state: RunsState, rows: int, width: int) -> list[Line]:
    """The runs around the one in hand, in that many rows."""
    shown = max(rows, 1)
    first = min(max(state.place - shown // 2, 0), max(len(state.runs) - shown, 0))
    return [
        _row(state.runs[place], place == state.place, width)
        for place in range(first, min(first + shown, len(state.runs)))
    ]


def _row(run: StoredRun, here: bool, width: int) -> Line:
    line: Line = [
        Span("▶ " if here else "  ", "key"), Span(f"{SIGNS.get(run.outcome, '?')} ", "chosen"),
        Span(run.started[:16], "title" if here else "plain"), Span(f"  {safe_line(run.task, 30)}"),
        Span("  judged by ", "muted"), Span(safe_line(run.judge, 60), "judge"),
        Span(f"  {OUTCOMES.get(run.outcome, 'not ended').split(';')[0].split(':')[0]}", "muted"),
    ]  # fmt: skip
    return cut_line(line, width)


def run_lines(run: StoredRun) -> list[Line]:
    """How a run went: verdicts, rate, failures, calls, cost against its cap."""
    counts = run.counts
    lines: list[Line] = [
        [Span(safe_line(f"{run.task}, judged by {run.judge}", 200), "title")],
        [Span(f"begun     {run.started[:19]}" + (f", ended {run.ended[:19]}" if run.ended else ""))],
        [Span(f"outcome   {OUTCOMES.get(run.outcome, KILLED)}", "chosen" if run.outcome == "done" else "warning")],
    ]
    settings = ", ".join(f"{name} {run.settings[name]}" for name in ("model", "which", "repeats", "concurrency")
                         if name in run.settings)  # fmt: skip
    lines.append([Span(safe_line(f"settings  {settings}", 300), "muted")])
    if not counts:
        return [*lines, [Span(f"stored    {count(run.stored, 'answer')}")]]
    ways = [counts.get(way, 0) for way in ("judged", "kept", "linked", "given")]
    lines += [
        [Span(f"verdicts  {sum(ways):,} of {counts['slots']:,}, {counts['before']:,} before, {counts['left']:,} left")],
        [Span(f"          {verdict_words(*ways)}")],
        [Span(f"calls     {counts['requests']:,}   tokens {counts['tokens_in']:,} in, {counts['tokens_out']:,} out")],
        [Span(f"cost      {money(counts['cost'], counts['cap'], counts.get('may_have_cost', 0.0))}")],
        _failures(counts["failures"]),
    ]  # fmt: skip
    if counts["flagged"]:
        words = f"flagged   {count(counts['flagged'], 'item')} that may have tried to steer the judge"
        lines.append([Span(words, "warning")])
    return lines + [_change(one) for one in counts["changes"]]


def _failures(failures: Mapping[str, int]) -> Line:
    if not failures:
        return [Span("failures  none")]
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(failures.items()))
    return [Span(safe_line(f"failures  {kinds}", 300), "differs")]


def _change(change: Mapping[str, Any]) -> Line:
    return [Span(safe_line(f"the server changed; from then on: {change['judge']}", 300), "warning")]
