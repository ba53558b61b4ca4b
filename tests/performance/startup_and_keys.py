"""First paint of `overread label`, and key to next item with the label safe on disk, against a bare Textual app.

The bare app shows the very texts that the desk showed, so both paint the same amount. Both are measured in turn in one
run, so that a busy machine slows both. Prints figures and ratios, asserts nothing.

    python -m tests.performance [--runs 5] [--keys 40]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tests.commands import overread_command
from tests.performance.measuring import COLUMNS, ROWS, Program, Timings, comparison, measure
from tests.sample_study import make_sample_study

POSITION = r"\b(\d+) ?/ ?\d+\b"
LABEL_KEYS = ("1", "2", "3")
TASK = "qa"


def desk(study: Path) -> Program:
    """`overread label` where each label key leads to the next item: no verdict is shown."""
    command = overread_command(
        "--study", str(study), "label", "--task", TASK, "--mode", "never", "--annotator", "measure"
    )
    return Program("overread label", command, study.parent, POSITION, LABEL_KEYS, ("ctrl+q",))


def bare(screens: Path) -> Program:
    """The bare app on the texts of a file."""
    command = [sys.executable, str(Path(__file__).with_name("bare_app.py")), str(screens)]
    return Program("bare app", command, screens.parent, POSITION, ("n",), ("ctrl+q",))


def compare(folder: Path, runs: int, keys: int) -> str:
    """The table. The first run of each is thrown away: it compiles, and gathers the texts for the bare app."""
    first = Timings()
    measure(desk(make_sample_study(folder, "first.duckdb")), first, keys)
    screens = folder / "screens.json"
    screens.write_text(json.dumps(first.screens), encoding="utf-8")
    measure(bare(screens), Timings(), 1)
    ours, theirs = Timings(), Timings()
    for run in range(runs):
        measure(desk(make_sample_study(folder, f"run{run}.duckdb")), ours, keys)
        measure(bare(screens), theirs, keys)
    return comparison("overread label", ours, "bare app", theirs)


def main(arguments: Sequence[str] | None = None) -> None:
    """The script."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="whole runs of each program")
    parser.add_argument("--keys", type=int, default=40, help="keys in each run")
    given, _ = parser.parse_known_args(arguments)
    engines = ", ".join(f"{name} {version(name)}" for name in ("textual", "duckdb"))
    print(f"{COLUMNS}x{ROWS}, python {sys.version.split()[0]}, {engines}")
    with tempfile.TemporaryDirectory(prefix="overread-performance-") as folder:
        print(compare(Path(folder), given.runs, given.keys))


if __name__ == "__main__":
    main()
