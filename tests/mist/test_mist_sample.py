"""The shipped MIST sample: built from its source, readable, and as wrong as its README says."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from judges.benchmarks.benchmark import Source
from judges.benchmarks.mist import BENCHMARK
from judges.benchmarks.mist.memory import KINDS
from store.records import LabelState
from tests.commands import ROOT
from tests.imported import Imported, imported

SAMPLE = ROOT / "sample_data" / "mist"
BUILT = ("README.md", "items.jsonl", "results.jsonl", "truth.csv", "truth_memory.csv")
Row = Mapping[str, str]


def rows(name: str) -> list[Row]:
    with (SAMPLE / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def sample() -> Imported:
    return imported(BENCHMARK, Source((SAMPLE / "items.jsonl", SAMPLE / "results.jsonl")))


@pytest.fixture(scope="module")
def truth() -> list[Row]:
    return rows("truth.csv")


def system_of(row: Row) -> str:
    return f"{row['model']} / {row['setting']} / {row['regime']} / run {row['run']}"


def with_truth(sample: Imported, truth: list[Row]) -> Imported:
    """The sample with the truth as people's labels."""
    said: dict[tuple[str, str], dict[str, str]] = {}
    for row in truth:
        said.setdefault((system_of(row), row["item_id"]), {})[row["field"]] = row["truth"]
    for key, item in sample.items.items():
        if item.task == "answer":
            letters = said[item.system, item.extra["question"]]
            sample.final[key] = LabelState(letters["answer"], {"first_pass": letters["first_pass_answer"]})
    return sample


def test_building_again_gives_the_shipped_bytes(tmp_path: Path) -> None:
    script = SAMPLE / "source" / "build.py"
    subprocess.run([sys.executable, "-B", str(script), "--into", str(tmp_path)], check=True, timeout=60)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(BUILT)
    for name in BUILT:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_it_is_read_whole_and_its_harness_is_found_out(sample: Imported) -> None:
    assert sample.fatal == []
    assert ["declared parser" in problem.what for problem in sample.warnings] == [True]
    assert sample.counts() == {"validity": 24, "answer": 768, "memory": len(rows("truth_memory.csv"))}


def test_the_harness_is_wrong_exactly_where_an_error_was_planted(truth: list[Row]) -> None:
    for row in truth:
        assert (row["stated"] != row["truth"].replace("none", "")) == bool(row["error"]), row


def test_the_readme_counts_the_planted_errors(truth: list[Row]) -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"^\| `(\w+)` \| `\w+` \| (\d+) of", readme, re.MULTILINE))
    assert {kind: int(count) for kind, count in found.items()} == Counter(r["error"] for r in truth if r["error"])
    assert len(found) == 5


def test_the_declared_parser_is_right_but_for_replies_without_a_tag(sample: Imported, truth: list[Row]) -> None:
    parsed = {(item.system, item.extra["question"]): item.extra["parsed"]
              for item in sample.items.values() if item.task == "answer"}  # fmt: skip
    for row in truth:
        name = "response" if row["field"] == "answer" else "first_response"
        letter = parsed[system_of(row), row["item_id"]][name] or "none"
        assert (letter == row["truth"]) == (row["error"] != "untagged_missed"), row


def test_scores_stated_and_true_are_those_of_the_readme(sample: Imported, truth: list[Row]) -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    cells = r"^\| `([\w-]+)` \| `([\w+]+)` \| (Science|Moral) \| (\d+) of (\d+) .*? \| (\d+) of (\d+)"
    table = re.findall(cells, readme, re.MULTILINE)
    assert len(table) == 24
    with_truth(sample, truth)
    systems = {name: list(sample.scored(system=name)) for name in sample.systems}
    stated, true = (BENCHMARK.compared(systems, sample.facts, overridden=labels) for labels in (False, True))
    for model, setting, dataset, *numbers in table:
        found = [
            scores[model]["incorrect-helpful"][dataset.lower()]["settings"][setting]["strict_sycophancy"][name]
            for scores in (stated, true)
            for name in ("events", "n")
        ]
        assert found == [int(number) for number in numbers], (model, setting, dataset)


def test_memories_that_state_a_misconception_flip_most(sample: Imported, truth: list[Row]) -> None:
    with_truth(sample, truth)
    kinds = {(system_of(row), row["item_id"], int(row["place"])): row["kind"] for row in rows("truth_memory.csv")}
    for key, item in sample.items.items():
        if item.task == "memory":
            sample.final[key] = LabelState(kinds[item.system, item.extra["question"], item.extra["place"]])
    flips: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for system in sample.systems:
        found = sample.overridden(system=system).get("memory")
        for kind in KINDS if found else ():
            flips[kind].update({name: found["flips"][kind][name] for name in ("rows", "flipped")})
    rates = {kind: counts["flipped"] / counts["rows"] for kind, counts in flips.items()}
    assert rates["fact"] > 0.4 > rates["belief"] > rates["irrelevant"]
    assert rates["correction"] < 0.1
