"""The `overread` command run as a user runs it, in a process of its own, from the source tree or installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds `annotate`, `judges`, `store` and `tests`."""

LAUNCH = "import sys; sys.argv[0] = 'overread'; from annotate.entry import run; sys.exit(run())"
"""What the installed `overread` script does."""

LEAKY = re.compile(
    r"OVERREAD_\w+|OPENAI_\w+|XDG_\w+_HOME|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|\w*_PROXY|TEXTUAL_(?!ANIMATIONS)\w+", re.I
)


def leaky_variables(environment: Iterable[str]) -> list[str]:
    """The names of variables that would change what overread does."""
    return [name for name in environment if LEAKY.fullmatch(name)]


def overread_command(*arguments: str) -> list[str]:
    """The command line of overread; start it with `overread_environment()`. The current folder is not on its path."""
    return [sys.executable, "-P", "-c", LAUNCH, *arguments]


def overread_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, cleaned, with the source tree first on the path."""
    leaky = set(leaky_variables(os.environ))
    kept = {name: value for name, value in os.environ.items() if name not in leaky}
    path = os.pathsep.join(part for part in (str(ROOT), kept.get("PYTHONPATH", "")) if part)
    return {**kept, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", **(extra or {})}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended, and what it said."""

    exit_code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """The whole of stdout as JSON.

        Raises:
            AssertionError: stdout is not JSON alone; shows what the command said.
        """
        try:
            return json.loads(self.stdout)
        except json.JSONDecodeError as error:
            raise AssertionError(f"stdout is not JSON alone ({error}):\n{self}") from None

    def __str__(self) -> str:
        return f"exit code {self.exit_code}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


class Overread:
    """Calls the real command and waits for it."""

    def __call__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        timeout: float = 120.0,
    ) -> Outcome:
        """Run `overread ARGUMENTS` to its end.

        Args:
            cwd: the folder it runs in; the current one if not given.
            env: variables on top of a clean environment.
            stdin: what it can read; it has no terminal.
            timeout: seconds.

        Raises:
            subprocess.TimeoutExpired: it did not end in time.
        """
        done = subprocess.run(
            overread_command(*map(str, arguments)),
            cwd=cwd,
            env=overread_environment(env),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)
