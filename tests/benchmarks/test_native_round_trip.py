"""Native files of every benchmark: exported, imported into a fresh study, nothing is lost, and each says what it is."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotate.cli.export import export_native
from annotate.sample import sample_folder, sample_of
from store.items import systems
from store.study import Study
from tests.benchmarks.sample_studies import (
    BENCHMARKS,
    beside,
    labels_of,
    make_demo,
    mark_references,
    scores_of,
    task_file,
    verdicts_of,
)
from tests.commands import Overread

pytestmark = pytest.mark.slow


def exported(benchmark: str, study: Path, folder: Path) -> dict[str, tuple[list[Path], list[str]]]:
    """System → the files of its native export, and what the command said of each."""
    with Study.open(study) as opened:
        names = systems(opened)
    found = {}
    for number, name in enumerate(names):
        into = folder / f"system{number}"
        into.mkdir(parents=True)
        target = into / (
            "patched.jsonl"
            if study.name.endswith(("mist.duckdb", "table.duckdb", "halbench.duckdb"))
            else "patched.json"
        )
        with Study.open(study) as opened:
            told = export_native(opened, target, name, "")
        found[name] = (sorted(into.iterdir()), told)
    return found


def is_side_file(path: Path) -> bool:
    return path.name.endswith((".changes.jsonl", ".reference_wrong.jsonl"))


def imported(benchmark: str, files: dict[str, tuple[list[Path], list[str]]], folder: Path) -> Path:
    """A fresh study with the exported files, as their owner would import them."""
    overread, study = Overread(), folder / f"again-{benchmark}.duckdb"
    more = ["--tasks", task_file()] if benchmark == "table" else []
    assert overread("init", study, "--benchmark", benchmark, *more, cwd=folder).exit_code == 0
    judge = sample_of(benchmark).sources[0].judge
    sampled = sample_of(benchmark).sources[0].options.get("sampled", "unknown")
    arguments = ["--judge", judge] if judge else []
    if benchmark == "halumem":
        batches = [
            ([*paths, sample_folder(benchmark) / f"{system}_eval_results.jsonl"], ["--system", system])
            for system, (paths, _) in files.items()
        ]
    else:
        batches = [([path for paths, _ in files.values() for path in paths] + beside(benchmark), [])]
    for paths, named in batches:
        patched = [path for path in paths if not is_side_file(path)]
        outcome = overread("--study", study, "import", *patched, *arguments, *named, "--sampled", sampled, cwd=folder)
        assert outcome.exit_code == 0, outcome
    return study


@dataclass(frozen=True)
class Trip:
    """A study, its native exports by system, and the study made of them; `marked` items have a wrong reference."""

    benchmark: str
    before: Path
    files: dict[str, tuple[list[Path], list[str]]]
    after: Path
    marked: int


def travel(benchmark: str, folder: Path) -> Trip:
    if benchmark == "table":
        shutil.copy(sample_folder("table") / "contexts.jsonl", folder)
    study = make_demo(folder, benchmark)
    marked = mark_references(study)
    files = exported(benchmark, study, folder / "out")
    if benchmark == "table":
        for paths, _ in files.values():
            shutil.copy(sample_folder("table") / "contexts.jsonl", paths[0].parent)
    return Trip(benchmark, study, files, imported(benchmark, files, folder), marked)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_native_files_there_and_back(benchmark: str, tmp_path: Path) -> None:
    trip = travel(benchmark, tmp_path)
    labels_verdicts_and_scores_are_the_same_after_the_trip(trip)
    every_file_says_what_it_is(trip)
    what_was_changed_names_item_person_time_and_why(trip)
    wrong_references_stand_in_a_list_of_their_own(trip)
    the_list_for_the_authors_has_them_all_with_what_the_benchmark_says(trip)


def lines_of(trip: Trip, ending: str) -> list[dict[str, Any]]:
    """The lines of all side files of that kind."""
    paths = [path for files, _ in trip.files.values() for path in files if path.name.endswith(ending)]
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def labels_verdicts_and_scores_are_the_same_after_the_trip(trip: Trip) -> None:
    verdicts, labels = verdicts_of(trip.before), labels_of(trip.before)
    assert len(verdicts) >= 80 and len(labels) >= 79
    assert verdicts_of(trip.after) == verdicts
    assert labels_of(trip.after) == labels
    assert scores_of(trip.after) == scores_of(trip.before)


def every_file_says_what_it_is(trip: Trip) -> None:
    for paths, told in trip.files.values():
        words = dict(line.rsplit(": ", 1) for line in told)
        assert len(words) == len(paths) == len({*words})
        for path in paths:
            (said,) = [words[name] for name in words if name.endswith(path.name)]
            if path.name.endswith(".changes.jsonl"):
                assert said == "what was changed, by whom, when and why"
            elif path.name.endswith(".reference_wrong.jsonl"):
                assert said == "references that people marked wrong, for the benchmark's authors"
            else:
                assert said not in ("what was changed, by whom, when and why", "")


def what_was_changed_names_item_person_time_and_why(trip: Trip) -> None:
    changes = [line for line in lines_of(trip, ".changes.jsonl") if "item" in line]
    labels, verdicts = labels_of(trip.before), verdicts_of(trip.before)
    judged = {item: said[0] for (item, _), said in verdicts.items()}
    changed = {item for item, (state, _, _) in labels.items() if item in judged and judged[item] != state.value}
    assert changed and changed <= {line["item"] for line in changes}
    for line in changes:
        state, people, _ = labels[line["item"]]
        assert line["annotator"] == ", ".join(people)
        # Labels that came in the table itself have no time unless it gives one.
        assert line["at"] or trip.benchmark == "table"
        assert line.get("note", "") == state.note


def wrong_references_stand_in_a_list_of_their_own(trip: Trip) -> None:
    wrong = lines_of(trip, ".reference_wrong.jsonl")
    assert len(wrong) == trip.marked > 0
    assert {line["right_answer"] for line in wrong} == {"what stands there"}


def the_list_for_the_authors_has_them_all_with_what_the_benchmark_says(trip: Trip) -> None:
    here = trip.before.parent
    for name in ("bugs.jsonl", "bugs.md"):
        outcome = Overread()("--study", trip.before, "export", name, "--format", "bugs", cwd=here)
        assert outcome.exit_code == 0, outcome
    bugs = [json.loads(line) for line in (here / "bugs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sum(len({person["item"] for person in bug["people"]}) for bug in bugs) == trip.marked
    for bug in bugs:
        assert bug["benchmark"] == trip.benchmark and bug["systems"] and bug["key"]
        assert all(person["annotator"] and person["at"] for person in bug["people"])
        assert bug["people"][0]["right_answer"] == "what stands there"
    text = (here / "bugs.md").read_text(encoding="utf-8")
    assert text.count("right would be: what stands there") == sum(len(bug["people"]) for bug in bugs)
