"""The shipped table sample: built from its source, readable, and as wrong as its README says."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from judges.benchmarks.benchmark import Source
from judges.benchmarks.table import BENCHMARK
from tests.commands import ROOT
from tests.imported import Imported, imported

SAMPLE = ROOT / "sample_data" / "table"
BUILT = ("README.md", "contexts.jsonl", "items.jsonl", "truth.csv")
SYSTEMS = ("scribe-a", "scribe-b")


@pytest.fixture(scope="module")
def sample() -> Imported:
    options = {"tasks": str(SAMPLE / "tasks.toml")}
    return imported(BENCHMARK, Source((SAMPLE / "items.jsonl",), options=options))


@pytest.fixture(scope="module")
def truth() -> dict[str, dict[str, str]]:
    with (SAMPLE / "truth.csv").open(encoding="utf-8", newline="") as stream:
        return {row["item_id"]: row for row in csv.DictReader(stream)}


def test_building_again_gives_the_shipped_bytes(tmp_path: Path) -> None:
    script = SAMPLE / "source" / "build.py"
    subprocess.run([sys.executable, "-B", str(script), "--into", str(tmp_path)], check=True, timeout=60)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(BUILT)
    for name in BUILT:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_there_is_enough_to_retune_on(sample: Imported) -> None:
    assert sample.problems == []
    assert len({label.item_id for label in sample.labels}) == len(sample.items) >= 300
    assert len({item.group for item in sample.items.values()}) == 64
    assert len({item.cluster for item in sample.items.values()}) == 64


def test_both_systems_are_there_for_every_claim(sample: Imported) -> None:
    assert sorted(sample.systems) == list(SYSTEMS)
    assert set(Counter(item.pair_key for item in sample.items.values()).values()) == {2}


def test_items_and_truth_name_the_same_verdicts(sample: Imported, truth: dict[str, dict[str, str]]) -> None:
    verdicts = sample.by_judge()
    by_id = {_item_id(item.extra["row"]): key for key, item in sample.items.items()}
    assert by_id.keys() == truth.keys()
    for name, key in by_id.items():
        assert (verdicts[key].label or "") == truth[name]["judge"], name


def test_the_judge_is_wrong_exactly_where_an_error_was_planted(truth: dict[str, dict[str, str]]) -> None:
    for name, row in truth.items():
        wrong = row["judge"] not in ("", row["truth"])
        assert wrong == bool(row["error"]), name


def test_the_readme_counts_what_is_there(truth: dict[str, dict[str, str]]) -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    errors = Counter((row["error"], row["system"]) for row in truth.values())
    rows = re.findall(r"^\| `(\w+)` \| `\w+` \| (\d+) of .* \| (\d+) of .* \| (\d+) of", readme, re.MULTILINE)
    assert len(rows) == 4
    for kind, *counts in rows:
        first, second, both = map(int, counts)
        assert [first, second] == [errors[kind, system] for system in SYSTEMS]
        assert both == first + second > 0


def test_people_s_labels_bring_the_scores_to_the_truth(sample: Imported, truth: dict[str, dict[str, str]]) -> None:
    sample.take_labels()
    for system in SYSTEMS:
        own = [row["truth"] for row in truth.values() if row["system"] == system]
        share = sample.overridden(system=system)["support"]["share"]
        assert share == {label: own.count(label) / len(own) for label in ("supported", "contradicted", "not_stated")}


def test_the_readme_states_the_judge_s_shares(sample: Imported) -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    for system in SYSTEMS:
        for label, share in sample.as_coded(system=system)["support"]["share"].items():
            assert f"| `{system}` | `{label}` | {share:.6f} |" in readme


def _item_id(row: str) -> str:
    found = re.search(r'"item_id": "([^"]+)"', row)
    assert found
    return found[1]
