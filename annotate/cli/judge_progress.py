"""The line on standard error that tells how a judge's run goes, and what Ctrl-C does to it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from annotate.cli.output import note

if TYPE_CHECKING:
    from judges.run import JudgeRun, RunResult, RunState

EVERY_S = 0.5
EVERY_WITHOUT_TERMINAL_S = 15.0


async def watched(run: JudgeRun) -> RunResult:
    """Run it and tell how far it is. The first Ctrl-C waits for the calls on their way, the second does not."""
    teller = asyncio.create_task(_tell(run))
    try:
        with stops(run):
            return await run.run()
    finally:
        teller.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await teller


@contextlib.contextmanager
def stops(run: JudgeRun) -> Iterator[None]:
    """While inside, Ctrl-C stops the run instead of the program."""
    times = 0

    def interrupted(*_: object) -> None:
        nonlocal times
        times += 1
        if times == 1:
            note("\noverread: stopping; the calls on their way are waited for. Ctrl-C again drops them.")
            run.stop()
        else:
            run.drop()

    loop = asyncio.get_running_loop()
    old = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(interrupted))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


async def _tell(run: JudgeRun) -> None:
    terminal = sys.stderr.isatty()
    try:
        while True:
            await asyncio.sleep(EVERY_S if terminal else EVERY_WITHOUT_TERMINAL_S)
            line = progress_line(run.scope.task, run.state)
            if terminal:
                sys.stderr.write(f"\r\x1b[K{line}")
                sys.stderr.flush()
            else:
                note(line)
    finally:
        if terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def progress_line(task: str, state: RunState) -> str:
    """Count, rate, failures, money against its cap, and the time left, in one line."""
    done = state.before + state.done
    said = [f"{task}: {done:,} of {state.slots:,}", f"{state.rate:.1f}/s", f"{state.running} on their way"]
    if failed := sum(state.failures.values()):
        said.append(f"{failed:,} failed")
    if state.spent is not None:
        cap = f" of ${state.cap:.2f}" if state.cap is not None else ""
        perhaps = f" (perhaps ${state.unsure:.4f} more)" if state.unsure else ""
        spent = f"${state.spent:.4f}" if state.spent < 1 else f"${state.spent:.2f}"
        said.append(f"{spent}{perhaps}{cap}")
    if state.seconds_left is not None and state.left:
        said.append(f"{_time(state.seconds_left)} left")
    return " · ".join(said + ([state.note] if state.note else []))


def _time(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
