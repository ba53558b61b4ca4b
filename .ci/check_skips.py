"""Print every skipped test of JUnit reports with its reason; fail on a skip that is not expected, or when no test ran.

    python .ci/check_skips.py --expected .ci/expected_skips.txt REPORT.xml…

Standard library only. Exit code 0: all skips are expected and some test ran; 1: not so; 2: a file cannot be read.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Skip:
    """A test that did not run, or that failed as marked."""

    test: str
    reason: str


@dataclass(frozen=True, slots=True)
class Expected:
    """A line of the list of expected skips. `pattern` is a shell pattern over the whole id of the test."""

    pattern: str
    reason: str

    def covers(self, skip: Skip) -> bool:
        return fnmatchcase(skip.test, self.pattern) and self.reason in skip.reason


def read_expected(text: str) -> list[Expected]:
    """The lines of an expected-skips file.

    Raises:
        ValueError: a line does not have its three parts, all filled.
    """
    expected = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or not all(parts):
            raise ValueError(f"line {number}: not `pattern | reason | why`")
        expected.append(Expected(parts[0], parts[1]))
    return expected


def read_report(file: Path) -> tuple[int, list[Skip]]:
    """How many tests of a report ran to a result, and those that did not."""
    cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    skips = [skip for case in cases for skip in _skips(case)]
    return len(cases) - len(skips), skips


def _skips(case: ElementTree.Element) -> Iterator[Skip]:
    for skipped in case.iter("skipped"):
        test = "::".join(part for part in (case.get("classname"), case.get("name")) if part)
        yield Skip(test, f"{skipped.get('message', '')} {(skipped.text or '').strip()}".strip())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--expected", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        expected = read_expected(given.expected.read_text(encoding="utf-8"))
        reports = [read_report(file) for file in given.reports]
    except (OSError, ValueError, ElementTree.ParseError) as error:
        print(f"check_skips: {error}", file=sys.stderr)
        return 2
    ran = sum(count for count, _ in reports)
    skips = [skip for _, found in reports for skip in found]
    unexpected = [skip for skip in skips if not any(line.covers(skip) for line in expected)]
    for skip in skips:
        print(f"{'UNEXPECTED' if skip in unexpected else 'expected'} skip: {skip.test}: {skip.reason}")
    if ran == 0:
        print("no test ran")
    print(f"skips: {len(skips)}, unexpected: {len(unexpected)}")
    return int(bool(unexpected) or ran == 0)


if __name__ == "__main__":
    sys.exit(main())
