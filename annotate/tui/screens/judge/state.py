"""What the judge screen says, as lines: of the run that goes on, of those that ended, and of the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from annotate.tui.widgets.spans import Line, Span
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
        """Everything, from the top."""
        lines: list[Line] = [[Span("overread judge", "title")], []]
        for result in self.results:
            lines += [*result_lines(result), []]
        if self.run is not None and not self.over:
            lines += [*run_lines(self.run.scope.task, self.run.asker.judge.name, self.run.state), []]
        if self.fault:
            lines += [[Span(safe_line(text, 300), "warning")] for text in self.fault.splitlines()] + [[]]
        return [*lines, self._keys()]

    def _keys(self) -> Line:
        if self.over:
            return [Span("q", "key"), Span(" leave")]
        if self.stopping:
            return [Span("stopping: the calls on their way are waited for   "), Span("s", "key"), Span(" drop them")]
        return [Span("s", "key"), Span(" stop   "), Span("q", "key"), Span(" stop and leave")]


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
        [Span(f"verdicts  {state.judged:,} judged   {state.linked:,} same input   {state.given:,} without a call")],
        [Span(f"calls     {state.requests:,}   tokens {state.tokens_in:,} in, {state.tokens_out:,} out")],
        [Span(f"cost      {money(state)}")],
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
        [Span(f"calls     {state.requests:,}   cost {money(state)}")],
        failure_line(state),
        *([Span(safe_line(f"the server changed; from then on: {name}: {drift.words}", 400), "warning")]
          for name, drift in result.changes),
    ]  # fmt: skip


def money(state: RunState) -> str:
    """What was spent, and the cap."""
    if state.spent is None:
        return "unknown: no price for this model"
    cap = f" of ${state.cap:.2f}" if state.cap is not None else ", no cap"
    return f"${state.spent:.4f}{cap}"


def clock(seconds: float) -> str:
    """A time to wait, in the largest unit that says something."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def ended(results: Sequence[RunResult]) -> bool:
    """Whether all that was asked for is done."""
    return all(result.outcome == "done" for result in results)
