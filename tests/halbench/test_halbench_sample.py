"""The shipped HalBench sample: built from its source, its leaderboard recomputed, as wrong as its README says."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from judges.benchmarks.benchmark import Source
from judges.benchmarks.halbench import BENCHMARK
from judges.benchmarks.halbench.sentences import sentence_strip
from judges.scoring import differences, plain
from store.records import LabelState
from tests.commands import ROOT
from tests.imported import Imported, imported

SAMPLE = ROOT / "sample_data" / "halbench"
JUDGE = "harrier-oss-v1-0.6b"
MODELS = ("inkwell/marlin-2", "inkwell/marlin-2-mini", "quillon/osprey", "quillon/wren")
BUILT = (
    "README.md", "calibration_endpoints.json", "drop_list.json", "items.jsonl", "leaderboard.json", "truth.csv",
    "truth_rankings.csv", *(f"{model.replace('/', '__')}.jsonl" for model in MODELS),
)  # fmt: skip


def rows(name: str) -> list[Mapping[str, str]]:
    with (SAMPLE / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def sample() -> Imported:
    files = tuple(SAMPLE / name for name in BUILT if name.endswith((".json", ".jsonl")))
    return imported(BENCHMARK, Source(files))


def test_building_again_gives_the_shipped_bytes(tmp_path: Path) -> None:
    script = SAMPLE / "source" / "build.py"
    subprocess.run([sys.executable, "-B", str(script), "--into", str(tmp_path)], check=True, timeout=60)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(BUILT)
    for name in BUILT:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_it_is_read_whole_and_its_odd_replies_are_told(sample: Imported) -> None:
    assert sample.fatal == []
    assert [problem.what.split(" (")[0] for problem in sample.warnings] == [
        "2 replies have no sentence of five characters or more"
    ]
    assert sample.counts() == {"stance": 64, "ranking": 16}
    assert Counter(item.slices["turns"] for item in sample.items.values() if item.task == "stance")["several"] == 8


@pytest.mark.parametrize("model", MODELS)
def test_its_leaderboard_is_recomputed_to_the_last_digit(sample: Imported, model: str) -> None:
    stated = BENCHMARK.stated_scores(sample.facts_of(model), JUDGE)
    assert stated is not None and len(stated) == 12
    assert differences(plain(sample.as_coded(JUDGE, model)), stated) == []


def test_the_readme_counts_the_planted_errors() -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    errors = Counter((row["error"], row["model"]) for row in rows("truth.csv"))
    table = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) of 64", readme, re.MULTILINE)
    assert len(table) == 4
    for kind, *counts in table:
        numbers = [int(count) for count in counts]
        assert numbers[:-1] == [errors[kind, model] for model in MODELS]
        assert numbers[-1] == sum(numbers[:-1]) > 0


def test_scores_are_near_the_truth_but_for_the_planted_errors() -> None:
    for row in rows("truth.csv"):
        if row["stance"]:
            gap = abs(float(row["score"]) - float(row["true_score"]))
            assert (gap > 0.2) == bool(row["error"] and row["error"] != "deliver_then_warn"), row


def test_late_warnings_show_in_the_strip_of_sentences() -> None:
    late = {(row["model"], row["item_id"]) for row in rows("truth.csv") if row["error"] == "deliver_then_warn"}
    found = set()
    for model in MODELS:
        for line in (SAMPLE / f"{model.replace('/', '__')}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if sentence_strip(row["response_text"], row["per_sent_norm"]).late_pushback:
                found.add((model, row["item_id"]))
    assert found == late


def test_people_s_labels_bring_the_means_to_the_truth_of_the_readme(sample: Imported) -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    said = {(row["model"], row["item_id"]): row for row in rows("truth.csv")}
    for key, item in sample.items.items():
        row = said.get((item.system, item.extra["item"]))
        if row is not None and row["stance"]:
            sample.final[key] = LabelState(row["stance"], {"score": row["true_score"]})
    for model in MODELS:
        stated, true = sample.as_coded(JUDGE, model), sample.overridden(JUDGE, model)
        cells = f"| `{model}` | {stated['mean']:.6f} | {stated['mean_with_n1_floor']:.6f} | {true['mean']:.6f} |"
        assert cells in readme


def test_the_judge_ranks_worse_than_people(sample: Imported) -> None:
    rankings = {row["item_id"]: json.loads(row["ranking"]) for row in rows("truth_rankings.csv")}
    for key, item in sample.items.items():
        if item.task == "ranking":
            ids = {model: entry for entry, model in item.extra["models"].items()}
            groups = [sorted(ids[model] for model in group) for group in rankings[item.extra["item"]]]
            sample.final[key] = LabelState(value=json.dumps(groups, separators=(",", ":")))
    found = sample.overridden(JUDGE, "all models")["ranking"]
    assert found["n"] == 15 and found["no_verdict"] == 1
    assert 0 < found["low"] < found["mean"] < found["high"] < 1
