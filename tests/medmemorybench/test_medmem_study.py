"""The sample through a real study and the real command: import, score, export native, import again."""

from __future__ import annotations

import json
from pathlib import Path

from medmem_sample_files import SAMPLE, query_files, run_files, runs

from judges.benchmarks.benchmark import Source, get_benchmark
from judges.collect import final_labels, provenance, scored_items
from judges.scoring import plain, score_study
from store.events import EventDraft
from store.importing import ImportedFile, import_records
from store.items import facts_of, judges
from store.records import LabelState
from store.study import Study, now
from store.tasks import add_tasks
from tests.commands import Overread

BENCHMARK = get_benchmark("medmemorybench")
JUDGE = "sample-judge"


def made(path: Path) -> Study:
    study = Study.create(path, "medmemorybench")
    add_tasks(study, [task.as_json() for task in BENCHMARK.tasks()], now().isoformat())
    return study


def fill(study: Study, files: list[Path]) -> None:
    source = Source(tuple(files), tuple(query_files()), judge=JUDGE)
    described = [ImportedFile(path, "results", "", JUDGE) for path in files]
    import_records(study, BENCHMARK.read(source), described, at=now().isoformat())


def label(study: Study, system: str) -> int:
    """One person's labels on every other item of a system: what the judge says turned round."""
    rows = study.rows(
        "SELECT item_id, content_hash, task FROM current_items WHERE system = ? ORDER BY item_id", [system]
    )
    verdicts = dict(study.rows("SELECT item_id, label FROM verdicts"))
    drafts = [
        EventDraft(
            kind="label",
            annotator="dr.li",
            item_id=item_id,
            content_hash=content,
            state=LabelState("incorrect" if verdicts[item_id] == "correct" else "correct", note="为什么"),
            mode="blind",
        )
        for item_id, content, task in rows[::2]
        if task != "mcd"
    ]
    study.append(drafts)
    return len(drafts)


def test_scores_of_a_study_equal_the_files_own_in_every_number(tmp_path: Path) -> None:
    with made(tmp_path / "s.duckdb") as study:
        fill(study, run_files())
        found = score_study(study, JUDGE)
        assert judges(study) == [JUDGE, "rule"], "the judge that a command takes first is the named one"
    assert len(found.systems) == 8
    assert all(scores.equals_file for scores in found.systems.values())
    by_id = {run.id: run for run in runs()}
    for name, scores in found.systems.items():
        assert plain(scores.as_coded)["summary"] == by_id[name].result["summary"]


def test_export_native_then_import_gives_the_same_verdicts_labels_and_scores(tmp_path: Path) -> None:
    run = runs()[0]
    with made(tmp_path / "one.duckdb") as study:
        fill(study, run_files())
        given = label(study, run.id)
        labels = final_labels(study)
        items = scored_items(study, run.id, JUDGE, labels)
        files = BENCHMARK.write_native(items, facts_of(study, run.id), provenance(labels))
        exported = []
        for file in files:
            path = tmp_path / file.name
            path.write_text("".join(file.chunks), encoding="utf-8")
            exported.append(path)
        before = score_study(study, JUDGE, run.id).systems[run.id]
        verdicts = study.rows("SELECT item_id, verdict_hash FROM verdicts ORDER BY item_id")
    with made(tmp_path / "two.duckdb") as again:
        fill(again, [path for path in exported if path.suffix == ".json"])
        after = score_study(again, JUDGE, run.id).systems[run.id]
        kept = {row[0] for row in again.rows("SELECT item_id FROM current_items")}
        assert again.rows("SELECT item_id, verdict_hash FROM verdicts ORDER BY item_id") == [
            row for row in verdicts if row[0] in kept
        ]
        assert {i: (found.state, found.annotators) for i, found in final_labels(again).items()} == {
            i: (found.state, found.annotators) for i, found in labels.items()
        }
    assert given == len(labels) == before.overridden_items == after.overridden_items > 3
    assert plain(after.as_coded) == plain(before.as_coded)
    assert plain(after.overridden) == plain(before.overridden)
    assert plain(before.overridden) != plain(before.as_coded)


def test_the_command_imports_and_scores_the_sample(study_folder: Path, overread_cli: Overread) -> None:
    overread_cli("init", "s.duckdb", "--benchmark", "medmemorybench")
    answers = [argument for path in query_files() for argument in ("--answers", str(path))]
    files = [str(path) for path in run_files() if "heron" in path.name]
    overread_cli("--study", "s.duckdb", "import", *files, *answers, "--judge", JUDGE)
    scores = overread_cli("--study", "s.duckdb", "score", "--judge", JUDGE, "--json").json()
    assert scores["benchmark"] == "medmemorybench"
    assert all(system["equals_file"] for system in scores["systems"].values())
    efficient = scores["systems"]["heron_notes_sample-model/Efficient/zh"]
    assert efficient["as_described"]["mean_of_six"] == 0.8333333333333334
    assert json.dumps(efficient, allow_nan=False)
    assert (SAMPLE / "README.md").is_file()
