"""CPU time and peak memory of `audit`, run by run beside another command.

    python -m tests.performance.auditing [--table FILE.jsonl] [--study FILE.duckdb] [--against "judgegate verify …"]

The whole process counts, reading included. Runs of both take turns, so that a busy machine slows both; the least CPU
time of each is compared. A table's rows are imported first, unmeasured; without a file the sample's are.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.commands import ROOT, overread_command, overread_environment

SAMPLE = ROOT / "sample_data" / "table" / "items.jsonl"


@dataclass(slots=True)
class Runs:
    """Seconds of CPU of each run, and the most memory of any, in MB."""

    command: Sequence[str]
    seconds: list[float] = field(default_factory=list)
    peak: float = 0.0

    def once(self) -> None:
        """Run it to its end.

        Raises:
            SystemExit: it failed; its exit code 1, a verdict of "no", is none.
        """
        with subprocess.Popen(self.command, env=overread_environment(), stdout=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{shlex.join(self.command)} ended with {process.returncode}")
        self.seconds.append(used.ru_utime + used.ru_stime)
        self.peak = max(self.peak, used.ru_maxrss / 1024)

    def line(self, name: str) -> str:
        least, middle = min(self.seconds), statistics.median(self.seconds)
        return f"{name:<12} least {least:.2f} s, median {middle:.2f} s of CPU, peak {self.peak:.0f} MB"


def imported(file: Path, folder: Path) -> Path:
    """A study of a table's rows."""
    study = folder / "measured.duckdb"
    for arguments in (["init", str(study), "--benchmark", "table"], ["--study", str(study), "import", str(file)]):
        subprocess.run(overread_command(*arguments), env=overread_environment(), check=True, capture_output=True)
    return study


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=SAMPLE, help="a table to import")
    parser.add_argument("--study", type=Path, help="a study that has been imported, instead of a table")
    parser.add_argument("--judge", default="", help="audit this judge alone")
    parser.add_argument("--against", default="", help="the other command")
    parser.add_argument("--times", type=int, default=7)
    asked, _ = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        study = asked.study or imported(asked.table, Path(folder))
        only = ["--judge", asked.judge] if asked.judge else []
        runs = {"overread": Runs(overread_command("--study", str(study), "audit", *only))}
        if asked.against:
            runs["the other"] = Runs(shlex.split(asked.against))
        for one in runs.values():
            one.once()
            one.seconds.clear()
        for _ in range(asked.times):
            for one in runs.values():
                one.once()
    for name, one in runs.items():
        print(one.line(name))
    if asked.against:
        ours, theirs = runs.values()
        cpu = min(ours.seconds) / min(theirs.seconds)
        print(f"overread / the other: {cpu:.2f} of the CPU, {ours.peak / theirs.peak:.2f} of the memory")


if __name__ == "__main__":
    main()
