"""A study of 100,000 items against one of 60: opening it, sitting down, a key with its label safe on disk.

Both are measured in turn in one run. Prints figures and ratios, asserts nothing.

    python -m tests.performance.long_studies [--items 100000] [--runs 3] [--keys 60]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

from store.study import Study

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.desk.desk_studies import make_study, press, qa, sit_down  # noqa: E402

Result = TypeVar("Result")
FEW = 60


def main(arguments: Sequence[str] | None = None) -> None:
    """The script."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance.long_studies", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keys", type=int, default=FEW - 5, help="keys in each run, of at most 55")
    asked = parser.parse_args(arguments)
    took: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory(prefix="overread-performance-") as folder:
        paths = {count: Path(folder) / f"{count}.duckdb" for count in (FEW, asked.items)}
        for count, path in paths.items():
            make_study(path, [qa() for _ in range(count)]).close()
        for run in range(asked.runs):
            for count, path in paths.items():
                _measure(path, f"person {run}", min(asked.keys, FEW - 5), took, count)
    print(f"{'ms, median':24}{f'{FEW:,} items':>16}{f'{asked.items:,} items':>16}{'ratio':>10}")
    for name, of in took.items():
        few, many = median(of[FEW]) * 1000, median(of[asked.items]) * 1000
        print(f"{name:24}{few:16.1f}{many:16.1f}{many / few:10.2f}")


def _measure(path: Path, who: str, keys: int, took: dict[str, dict[int, list[float]]], count: int) -> None:
    def timed(name: str, work: Callable[[], Result]) -> Result:
        started = time.perf_counter()
        result = work()
        took[name][count].append(time.perf_counter() - started)
        return result

    with timed("open", lambda: Study.open(path)) as study:
        desk = timed("sit down", lambda: sit_down(study, who, seed=1, mode="never"))
        for _ in range(keys):
            timed("key to the next item", lambda: (press(desk, "c"), desk.summary()))


if __name__ == "__main__":
    main()
