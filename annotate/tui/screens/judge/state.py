"""What the judge screen says, as lines: of the run that goes on, of those that ended, and of the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from annotate.tui.widgets.spans import Line, Span, cut_line, keys_line, push_right
from judges.run import JudgeRun, RunResult, RunState
from store.safe_text import safe_line

BAR = 40
"""Cells of the bar."""

OUTCOMES = {
    "done": "done",
    "stopped": "stopped; the same command goes on",
    "cap": "stopped: the next call could pass the cost cap",
    "unusable": "ended: the server cannot be used",
    "refused": "ended: the gate is not open for what the server became",
}


@dataclass
class JudgeView:
    """What the screen shows.

    Attributes:
        run: the one that goes on. results: of those that ended. stopping: the person asked for it.
        over: nothing goes on any more. fault: why it ended early, as an error says it.
    """

    run: JudgeRun | None = None
    results: list[RunResult] = field(default_factory=list)
    stopping: bool = False
    over: bool = False
    fault: str = ""

    def lines(self) -> list[Line]:
        """Everything between header and keys."""
        lines: list[Line] = []
        for result in self.results:
            lines += [*result_lines(result), []]
        if self.run is not None and not self.over:
            lines += [*run_lines(self.run.scope.task, self.run.asker.judge.name, self.run.state), []]
        if self.fault:
            lines += [[Span(safe_line(text, 300), "warning")] for text in self.fault.splitlines()] + [[]]
        if self.stopping and not self.over:
            lines.append([Span("stopping: the calls on their way are waited for", "warning")])
        return lines

    def header(self, width: int) -> Line:
        """Which judge, and whether anything goes on."""
        name = f" · {self.run.asker.judge.name}" if self.run is not None else ""
        place = "over " if self.over else "running "
        left = cut_line([Span(safe_line(f" overread judge{name}", 200), "title")], max(width - len(place) - 1, 1))
        return push_right(left, [Span(place, "title")], width)

    def footer(self, width: int) -> Line:
        """The keys that mean something now."""
        keys = [("q", "leave")] if self.over else [("s", "drop the calls" if self.stopping else "stop")]
        keys += [] if self.over else [("q", "stop and leave")]
        return keys_line([*keys, ("?", "keys")], width)


KEYS: Final = (
    ("s", "Stop: calls on their way are waited for and stored; once more drops them"),
    ("q Esc", "Leave; a run that goes on is stopped first"),
    ("? F1", "These keys"),
)
EXPLAINED: Final = (
    "Every verdict is stored as it comes. The same command goes on where a run was stopped, and pays nothing twice.",
    "The rate is that of the whole run so far; the cost is that of every call; --max-cost is never passed.",
)


def verdict_words(judged: int, kept: int, linked: int, given: int) -> str:
    """How a run came by its verdicts."""
    searched = f"{kept:,} kept from a search   " if kept else ""
    return f"{judged:,} judged   {searched}{linked:,} same input   {given:,} without a call"


def run_lines(task: str, judge: str, state: RunState) -> list[Line]:
    """A run as it goes on: bar, rate and time left, failures, calls and money against the cap."""
    settled = state.before + state.done + state.skipped
    share = settled / state.slots if state.slots else 1.0
    filled = min(BAR, int(share * BAR))
    left = "" if state.seconds_left is None or not state.left else f"   {clock(state.seconds_left)} left"
    lines: list[Line] = [
        [Span(safe_line(f"{task}, judged by {judge}"), "judge")],
        [Span("█" * filled + "░" * (BAR - filled)), Span(f"  {settled:,} of {state.slots:,}  {100 * share:.0f} %")],
        [Span(f"rate      {state.rate:.1f}/s   {state.running} calls on their way{left}")],
        [Span(f"verdicts  {verdict_words(state.judged, state.kept, state.linked, state.given)}")],
        [Span(f"calls     {state.requests:,}   tokens {state.tokens_in:,} in, {state.tokens_out:,} out")],
        [Span(f"cost      {money(state.spent, state.cap, state.unsure)}")],
        failure_line(state),
    ]
    if state.flagged:
        lines.append([Span(f"flagged   {state.flagged:,} items look as if they tried to steer the judge", "warning")])
    if state.note:
        lines.append([Span(safe_line(state.note), "warning")])
    return lines


def failure_line(state: RunState) -> Line:
    """Failures by kind."""
    if not state.failures:
        return [Span("failures  none")]
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(state.failures.items()))
    return [Span(f"failures  {kinds}", "differs")]


def result_lines(result: RunResult) -> list[Line]:
    """A run that ended."""
    state = result.state
    return [
        [Span(safe_line(f"{result.task}, judged by {result.judge}"), "judge"), Span(f"   {OUTCOMES[result.outcome]}")],
        [Span(f"verdicts  {state.read:,} of {state.slots:,}, {state.before:,} before")],
        [Span(f"calls     {state.requests:,}   cost {money(state.spent, state.cap, state.unsure)}")],
        failure_line(state),
        *([Span(safe_line(f"the server changed; from then on: {name}: {drift.words}", 400), "warning")]
          for name, drift in result.changes),
    ]  # fmt: skip


def money(spent: float | None, cap: float | None, unsure: float = 0.0) -> str:
    """What was spent in dollars, what calls without an answer may have cost beside it, and the cap."""
    if spent is None:
        return "unknown: no price for this model"
    perhaps = f" (perhaps ${unsure:.4f} more)" if unsure else ""
    return f"${spent:.4f}{perhaps}" + (f" of ${cap:.2f}" if cap is not None else ", no cap")


def clock(seconds: float) -> str:
    """A time to wait, in the largest unit that says something."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def ended(results: Sequence[RunResult]) -> bool:
    """Whether all that was asked for is done."""
    return all(result.outcome == "done" for result in results)
