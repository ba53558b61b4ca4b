"""The real `overread label` in a real terminal, on a study on disk; what it stored is read after it has ended."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from store.study import Study
from tests.commands import overread_command, overread_environment
from tests.desk.desk_studies import events, make_study, qa
from tests.terminal.harness import Terminal

ANNOTATOR = "dr.li"
UNGUARDED = 0.85
"""Seconds after which a label key counts for certain: the item is painted, and the same key is not a held one."""


def questions(path: Path, count: int = 12) -> Path:
    """A study of questions, closed."""
    with make_study(path, [qa() for _ in range(count)]):
        return path


def label_command(study: Path, *arguments: str, mode: str = "never", annotator: str = ANNOTATOR) -> list[str]:
    """The command line of the desk on a study."""
    return overread_command("--study", str(study), "label", "--annotator", annotator, "--mode", mode, *arguments)


def desk_environment(study: Path) -> dict[str, str]:
    """Variables with which the command finds the source tree, and nothing of the person who runs the tests."""
    return {"PYTHONPATH": overread_environment()["PYTHONPATH"], "HOME": str(study.parent)}


class DeskTerminal(Terminal):
    """A terminal with the desk in it, its first item on the screen."""

    def __init__(
        self,
        study: Path,
        *arguments: str,
        mode: str = "never",
        annotator: str = ANNOTATOR,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        shows: str = r"\d+ / \d+",
    ) -> None:
        self.study = study
        super().__init__(
            label_command(study, *arguments, mode=mode, annotator=annotator),
            columns=columns,
            rows=rows,
            env={**desk_environment(study), **(env or {})},
            cwd=study.parent,
        )
        self.wait_for(shows, timeout=60)

    def label(self, *keys: str) -> None:
        """Label keys, each when it counts, each answered before the next."""
        for key in keys:
            place = int(self.wait_for(r"(\d+) / \d+")[1])
            time.sleep(UNGUARDED)
            self.send(key)
            self.wait_for(rf"\b{place + 1} / \d+|Everything in this queue")


def stored(study: Path, annotator: str = ANNOTATOR) -> Sequence[dict[str, Any]]:
    """The events of a person, read by opening the study anew."""
    with Study.open(study) as opened:
        return events(opened, annotator)


def labels(study: Path) -> list[str]:
    """The values of all label events."""
    return [event["state"]["value"] for event in stored(study) if event["kind"] == "label"]
