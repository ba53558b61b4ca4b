"""Where the command `overread` begins: nothing is loaded before Ctrl-C is minded."""

from __future__ import annotations

import os

EXIT_STOPPED = 130
"""What a shell says of a command that Ctrl-C stopped."""


def run() -> None:
    """The console script: import the command line, run it, and leave with its exit code.

    Ctrl-C ends the imports before it, and what Python does after it, without a word: nothing is open then.
    """
    try:
        from signal import SIGINT, default_int_handler, signal

        signal(SIGINT, leave_at_once)
        from annotate.cli.main import run as run_command

        signal(SIGINT, default_int_handler)
        try:
            run_command()
        finally:
            signal(SIGINT, leave_at_once)
    except KeyboardInterrupt:  # in the first import, or between two lines here
        raise SystemExit(EXIT_STOPPED) from None


def leave_at_once(*_: object) -> None:
    """What Ctrl-C does while nothing is open: no exception, which an import may swallow or take for a fault."""
    os._exit(EXIT_STOPPED)
