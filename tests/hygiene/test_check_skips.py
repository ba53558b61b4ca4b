"""CI's check of skipped tests, on reports that pytest itself wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT, Outcome

TESTS = """
import pytest
def test_runs(): pass
class TestHouse:
    @pytest.mark.skip(reason="no cellar")
    def test_cellar(self): pass
    @pytest.mark.xfail(reason="roof leaks")
    def test_roof(self): assert False
"""


def report(folder: Path, code: str) -> Path:
    (folder / "test_sample.py").write_text(code, encoding="utf-8")
    file = folder / "report.xml"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", f"--junitxml={file}", "."],
        cwd=folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return file


@pytest.fixture(scope="module")
def two_skips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run with one skip and one expected failure."""
    return report(tmp_path_factory.mktemp("report"), TESTS)


def check(file: Path, expected: str) -> Outcome:
    allowed = file.with_name("expected.txt")
    allowed.write_text(expected, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "check_skips.py"), "--expected", str(allowed), str(file)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_an_unexpected_skip_fails_and_is_named(two_skips: Path) -> None:
    outcome = check(two_skips, "*::test_roof | roof | the roofer comes on Monday\n")
    assert outcome.exit_code == 1
    assert "UNEXPECTED skip: test_sample.TestHouse::test_cellar: no cellar" in outcome.stdout
    assert "\nexpected skip: test_sample.TestHouse::test_roof: roof leaks" in outcome.stdout


def test_expected_skips_pass_for_their_reason_only(two_skips: Path) -> None:
    both = "*test_cellar | no cellar | there is none\n# a comment\n\n*test_roof | roof leaks | known\n"
    assert check(two_skips, both).exit_code == 0
    assert check(two_skips, both.replace("no cellar", "flooded")).exit_code == 1


def test_a_report_without_a_test_that_ran_fails(tmp_path: Path) -> None:
    module_skip = "import pytest\npytest.skip('no fonts', allow_module_level=True)\n"
    outcome = check(report(tmp_path, module_skip), "* | no fonts | none here\n")
    assert (outcome.exit_code, "no test ran" in outcome.stdout) == (1, True)
    assert "unexpected: 0" in outcome.stdout


def test_a_line_without_a_why_is_refused(two_skips: Path) -> None:
    outcome = check(two_skips, "* | no cellar\n")
    assert (outcome.exit_code, "line 1" in outcome.stderr) == (2, True)


def test_the_list_in_use_can_be_read(tmp_path: Path) -> None:
    in_use = (ROOT / ".ci" / "expected_skips.txt").read_text(encoding="utf-8")
    assert check(report(tmp_path, "def test_runs(): pass\n"), in_use).exit_code == 0
