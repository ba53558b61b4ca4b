"""Long reading shows its count, rate and time left on a terminal, from what is read anyway."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotate.cli import output
from annotate.cli.output import Progress, time_left
from annotate.cli.study import create_study, read_into
from judges.benchmarks.json_stream import iter_members, iter_objects
from judges.benchmarks.meter import Meter, watched_by
from judges.benchmarks.table.rows import read_rows
from tests.sample_study import SAMPLE


class TerminalOut(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> TerminalOut:
    """What is written to the terminal, while every look at the clock takes a quarter of a second."""
    out, seconds = TerminalOut(), iter(range(10**9))
    monkeypatch.setattr(output, "sys", SimpleNamespace(stderr=out, stdout=io.StringIO()))
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: next(seconds) / 4))
    return out


def test_count_rate_and_time_left(shown: TerminalOut) -> None:
    done = iter([0.0, 0.25, 0.5, 0.75, 1.0, 1.0])
    assert list(Progress("reading", then="storing", share=lambda: next(done)).over(range(8))) == list(range(8))
    lines = [line.strip() for line in shown.getvalue().split("\r")[1:]]
    assert lines == [
        "reading: 2 (4/s)",
        "reading: 4 (4/s, about 3 s left)",
        "reading: 6 (4/s, about 2 s left)",
        "reading: 8 (4/s, about 1 s left)",
        "reading: 8, done; storing …",
    ]
    assert shown.getvalue().endswith("\n")


def test_a_known_number_of_items_tells_the_time_left(shown: TerminalOut) -> None:
    list(Progress("writing labels", total=8).over(range(8)))
    assert "writing labels: 4 (4/s, about 1 s left)" in shown.getvalue()


def test_a_line_covers_the_longer_one_before_it(shown: TerminalOut) -> None:
    list(Progress("reading", share=lambda: 0.5).over(range(9)))
    lines = shown.getvalue().rstrip("\n").split("\r")[1:]
    assert all(len(after) >= len(before.rstrip()) for before, after in itertools.pairwise(lines))


def test_what_is_stopped_says_so_on_a_line_of_its_own(shown: TerminalOut) -> None:
    def broken() -> object:
        yield from range(5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Progress("reading").over(broken()))  # type: ignore[arg-type]
    assert shown.getvalue().endswith("\n") and "reading: 5, stopped" in shown.getvalue()


def test_nothing_is_shown_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setattr(output, "_SHOWN_EVERY", 0.0)
    assert len(list(Progress("reading").over(range(1000)))) == 1000
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("elapsed", "share", "words"),
    [(0.5, 0.5, ""), (10, 0.0, ""), (10, 0.009, ""), (10, 0.5, "about 10 s left"), (100, 0.5, "about 2 min left"),
     (10, 1.0, ""), (10, 0.999, "about 1 s left"), (60, 0.01, "about 99 min left")],
)  # fmt: skip
def test_time_left_in_words(elapsed: float, share: float, words: str) -> None:
    assert time_left(elapsed, share) == words


def shares_while_reading(path: Path, reader: object) -> list[float]:
    """What is read of a file after each element."""
    meter = Meter([path])
    with watched_by(meter):
        shares = [meter.share for _ in reader(path)]  # type: ignore[operator]
        first = meter.share
        for _ in reader(path):  # type: ignore[operator]
            assert meter.share == first, "what is read twice counts once"
    return shares


@pytest.mark.parametrize("kind", ["jsonl", "object", "csv"])
def test_readers_tell_how_far_they_are(tmp_path: Path, kind: str) -> None:
    rows = [{"item_id": f"i{number}", "text": "a line of some length " * 40} for number in range(1500)]
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, ["item_id", "text"])
            writer.writeheader()
            writer.writerows(rows)
        shares = shares_while_reading(path, read_rows)
    elif kind == "object":
        path.write_text(json.dumps({"records": rows}), encoding="utf-8")
        shares = shares_while_reading(path, iter_members)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        shares = shares_while_reading(path, iter_objects)
    assert shares == sorted(shares) and len(set(shares)) >= 4
    assert 0 < shares[0] < 0.5 and shares[-1] == 1.0


def test_nobody_is_told_when_nobody_watches(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n', encoding="utf-8")
    meter = Meter([path, tmp_path / "not there"])
    assert len(list(iter_objects(path))) == 1
    assert meter.share == 0.0


def test_an_import_shows_the_time_that_is_left(tmp_path: Path, shown: TerminalOut) -> None:
    files = [SAMPLE / "tidepool_eval_stat_result.json"]
    answers = [SAMPLE / "tidepool_eval_results.jsonl"]
    with create_study(tmp_path / "s.duckdb", "halumem") as study:
        read_into(study, files, answers, system="tidepool", judge="", skip_bad=False)
    assert re.search(r"reading: [\d,]+ \([\d,]+/s, about \d+ s left\)", shown.getvalue())
    assert re.search(r"reading: [\d,]+, done; storing …\s*\n", shown.getvalue())
