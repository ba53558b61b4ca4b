"""Slices that follow from a verdict: of the verdict, never of the item; told by the audit and the draw on request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from annotate.sample import label_sample, sample_of
from judges.audit_columns import labelled_tasks
from judges.benchmarks.benchmark import get_benchmark
from judges.benchmarks.medmemorybench import BENCHMARK
from judges.calibration.audit import audit
from judges.calibration.audit_result import Settings
from judges.collect import audit_records, scored_items, slices_of_verdicts, task_definitions
from judges.draw_frame import frame_of
from judges.frozen_plan import FrozenPlan, excluded_items
from store.errors import UsageError
from store.importing import ImportReport, import_records
from store.items import systems
from store.study import Study, now
from store.tasks import add_tasks
from tests.desk.desk_studies import copy_study

NAMES = ("self_contradicting", "rule_doubt")
SAMPLE = "sample-judge"


def take(study: Study) -> ImportReport:
    (source,) = sample_of("medmemorybench").sources
    return import_records(study, BENCHMARK.read(source), [])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "s.duckdb"
    with Study.create(path, "medmemorybench") as study:
        add_tasks(study, [task.as_json() for task in BENCHMARK.tasks()], now().isoformat())
        take(study)
        label_sample(study)
    return path


@pytest.fixture
def study(template: Path, tmp_path: Path) -> Iterator[Study]:
    with Study.open(copy_study(template, tmp_path / "s.duckdb")) as opened:
        yield opened


def all_slices(study: Study) -> list[dict[str, str]]:
    return [json.loads(row[0]) for row in study.rows("SELECT slices FROM items")]


def every_item(study: Study) -> list[str]:
    return [row[0] for row in study.rows("SELECT item_id FROM current_items")]


def test_no_item_says_anything_of_its_verdict(study: Study) -> None:
    assert all_slices(study)
    assert not any(name in slices for slices in all_slices(study) for name in NAMES)


def test_each_verdict_falls_into_the_slices_of_its_own_judge(study: Study) -> None:
    found = slices_of_verdicts(study, every_item(study))
    assert {(judge, name) for (_, judge), slices in found.items() for name in slices} == {
        (SAMPLE, "self_contradicting"), ("rule", "rule_doubt"),
    }  # fmt: skip
    contradicting = {item for (item, _), slices in found.items() if slices.get("self_contradicting") == "yes"}
    assert contradicting == {
        item.item_id
        for system in systems(study)
        for item in scored_items(study, system, SAMPLE)
        if BENCHMARK.contradicts(item)
    }
    assert slices_of_verdicts(study, every_item(study), "rule").keys() == {key for key in found if key[1] == "rule"}


def test_an_audit_tells_agreement_by_them_and_tests_none(study: Study) -> None:
    tasks = task_definitions(study)
    columns = {name: one.columns for name, one in labelled_tasks(study, tasks).items()}
    found: dict[str, Any] = audit(list(columns.values()), "s", Settings(resamples=20)).as_json()["tasks"]
    by_doubt = found["eem"]["judges"]["rule"]["slices"]["rule_doubt"]
    assert by_doubt["none"]["n"] + by_doubt["number_cut"]["n"] <= found["eem"]["judges"]["rule"]["n"]
    by_contradiction = found["mcd"]["judges"][SAMPLE]["slices"]["self_contradicting"]
    assert by_contradiction["yes"]["n"] > 0 < by_contradiction["no"]["n"]
    assert not any(name in column.slices for column in columns.values() for name in NAMES)
    again = audit(audit_records(study, tasks), "s", Settings(resamples=20)).as_json()["tasks"]
    assert json.dumps(found, sort_keys=True) == json.dumps(again, sort_keys=True), "item by item as by columns"


def test_a_draw_may_be_by_them_and_says_whose_they_are(study: Study) -> None:
    frame = frame_of(study, ["mcd"], by=["self_contradicting"], judge=SAMPLE)
    assert {one.stratum for one in frame} == {"yes", "no", "none"}, "a failed verdict falls into none"
    assert {one.stratum for one in frame_of(study, ["eem"], by=["rule_doubt"], judge="rule")} > {"none"}
    with pytest.raises(UsageError, match="There is no judge"):
        frame_of(study, ["mcd"], by=["self_contradicting"])
    with pytest.raises(UsageError) as refused:
        frame_of(study, ["mcd"], by=["nothing"])
    assert "self_contradicting" in refused.value.detail


# Studies of a time when they stood on items


@pytest.fixture
def older(template: Path, tmp_path: Path) -> Path:
    """The same study as an older overread left it."""
    path = copy_study(template, tmp_path / "older.duckdb")
    with Study.open(path) as study:
        said = slices_of_verdicts(study, every_item(study))
    connection = duckdb.connect(str(path))
    connection.execute("DELETE FROM migrations WHERE name LIKE 'm0005%'")
    for (item_id, _), slices in said.items():
        (own,) = connection.execute("SELECT slices FROM items WHERE item_id = ?", [item_id]).fetchone() or ("",)
        text = json.dumps(json.loads(own) | dict(slices), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        connection.execute("UPDATE items SET slices = ?, meta_hash = 'older' WHERE item_id = ?", [text, item_id])
    connection.close()
    return path


def test_an_older_study_loses_them_and_nothing_else(older: Path, study: Study) -> None:
    labels = study.rows("SELECT item_id, value, mode FROM current_labels ORDER BY ALL")
    with Study.open(older) as opened:
        key = "SELECT item_id, content_hash, slices, extra FROM items ORDER BY item_id"
        assert opened.rows(key) == study.rows(key)
        assert opened.rows("SELECT item_id, value, mode FROM current_labels ORDER BY ALL") == labels
        report = take(opened)
        assert {(tally.new, tally.changed, tally.rejected) for tally in report.items.values()} == {(0, 0, 0)}
        assert opened.rows("SELECT count(*) FROM items WHERE version > 0") == [(0,)]


def test_a_plan_that_left_them_out_leaves_out_the_same(older: Path) -> None:
    plan = FrozenPlan("p", "", "lead", SAMPLE, (), {}, {}, exclusions=(("self_contradicting", "yes"),))
    connection = duckdb.connect(str(older))
    before = connection.execute("SELECT item_id FROM items WHERE slices->>'self_contradicting' = 'yes'").fetchall()
    connection.close()
    with Study.open(older) as opened:
        assert before and excluded_items(opened, plan) == {row[0] for row in before}


def test_a_study_of_another_benchmark_keeps_its_own_slices(tmp_path: Path) -> None:
    path = tmp_path / "table.duckdb"
    with Study.create(path, "table") as study:
        (source,) = sample_of("table").sources
        import_records(study, get_benchmark("table").read(source), [])
    connection = duckdb.connect(str(path))
    connection.execute("DELETE FROM migrations WHERE name LIKE 'm0005%'")
    connection.execute("""UPDATE items SET slices = '{"rule_doubt":"mine"}'""")
    connection.close()
    with Study.open(path) as study:
        assert {slices["rule_doubt"] for slices in all_slices(study)} == {"mine"}
