"""Errors a user can act on: what happened, where, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

EXIT_DONE = 0
EXIT_NO = 1
"""The answer is no: a closed gate, bad lines in an input."""
EXIT_USAGE = 2
EXIT_NOT_ENOUGH = 3
"""Not enough evidence for the number asked for."""
EXIT_STUDY = 4
"""The study is locked or damaged."""


class OverreadError(Exception):
    """An expected failure, told to the user as a title, a detail and a remedy.

    Attributes:
        title: what went wrong, one line.
        detail: where and how; names files, lines and process ids, never item text.
        hint: what to do about it.
        exit_code: the process exit code of DESIGN's rule 6.
    """

    exit_code = EXIT_NO

    def __init__(self, title: str, detail: str = "", hint: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        return "\n".join(part for part in (self.title, self.detail, self.hint) if part)


class UsageError(OverreadError):
    """The command was called in a way that cannot work."""

    exit_code = EXIT_USAGE


class InputError(OverreadError):
    """A file that was read is not what it should be."""

    exit_code = EXIT_NO


class NotEnoughError(OverreadError):
    """The labels do not carry the answer asked for."""

    exit_code = EXIT_NOT_ENOUGH


class StudyLockedError(OverreadError):
    """Another process holds the study."""

    exit_code = EXIT_STUDY


class StudyDamagedError(OverreadError):
    """The study file or its journal is damaged; the detail says what is lost."""

    exit_code = EXIT_STUDY


class NotWrittenError(OverreadError):
    """A file could not be written: no space, no rights. What was there before is as it was."""

    exit_code = EXIT_STUDY


class SaveError(OverreadError):
    """A label could not be made safe on disk; nothing was acknowledged.

    Attributes:
        journaled: True when the journal has it and only the database refused: `Study.flush()` completes it.
        events: the events the journal has (empty otherwise).
    """

    exit_code = EXIT_STUDY

    def __init__(
        self, title: str, detail: str = "", hint: str = "", *, journaled: bool = False, events: Sequence[Any] = ()
    ) -> None:
        super().__init__(title, detail, hint)
        self.journaled = journaled
        self.events = events
