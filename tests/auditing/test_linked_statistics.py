"""One act that labels identical items of several systems is one observation, and widens no served part."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from annotate.cli.confidence import confidence_lines
from annotate.exchange.own_exports import import_labels
from judges.audit_columns import labelled_tasks
from judges.calibration.audit import audit
from judges.calibration.audit_result import Settings
from judges.calibration.tied_clusters import join_codes
from judges.collect import audit_records, blind_labels, task_definitions
from judges.draw_weights import draw_weights, weighed
from judges.gate.evidence import evidence_of, pick_judge
from judges.label_acts import read_acts
from judges.linked_labels import joined_names
from judges.selecting import study_confidence
from judges.served_part import ServedParts
from judges.trust import trust_of
from store.items import get_items
from store.study import Study
from tests.desk.linked_studies import TWINS, drawn, give, ids_of, row, sat
from tests.judging.chat_server import always, serving
from tests.judging.judge_runs import judge as run_judge
from tests.store.store_makers import overread


def read_to_the_end(study: Study) -> None:
    desk = sat(study)
    while desk.phase != "done":
        give(desk, "CORRECT" if desk.place % 3 else "INCORRECT")


def many() -> list[dict[str, object]]:
    """Two systems with the same response to ten of thirteen questions."""
    return [
        row(f"q{number:02}", system, f"Dog {number}" if number < 10 else f"Dog {number} of {system}")
        for system in "ab"
        for number in range(13)
    ]


def test_labels_of_one_act_are_one_cluster_in_both_ways_to_audit(tmp_path: Path) -> None:
    with drawn(tmp_path, many()) as study:
        read_to_the_end(study)
        tasks, settings = task_definitions(study), Settings(resamples=50, all_statistics=True)
        columns = labelled_tasks(study, tasks)["qa"].columns
        assert columns.clusters is not None
        assert (len(columns.clusters), len(np.unique(columns.clusters))) == (26, 16)
        weights = draw_weights(study, "qa")
        records = [weighed(one, weights) for one in audit_records(study, tasks)]
        assert len({item.cluster or item.item_id for item in records[0].items}) == 16
        assert audit([columns], "s", settings).as_json() == audit(records, "s", settings).as_json()
        assert len(read_acts(study, "qa")) == 16, "what followed an act is none of its own"


def test_an_exact_bound_counts_what_acts_are_worth(tmp_path: Path) -> None:
    with drawn(tmp_path, many()) as study:
        read_to_the_end(study)
        tasks = task_definitions(study)
        labelled = labelled_tasks(study, tasks)["qa"]
        found = audit([labelled.columns], "s", Settings(resamples=50)).tasks["qa"].judges["j"]
        alone = audit([replace(labelled.columns, drawn=None)], "s", Settings(resamples=50)).tasks["qa"].judges["j"]
        for label in ("CORRECT", "INCORRECT"):
            once, twice = found.per_label[label].recall, alone.per_label[label].recall
            assert (once.value, once.n) == (twice.value, twice.n), "the share itself is that of all items"
            assert once.low is not None and once.high is not None and twice.low is not None and twice.high is not None
            assert once.high - once.low > twice.high - twice.low, "its bounds are wider"
        evidence = evidence_of(study, "qa", pick_judge(study, "qa"))
        assert len(evidence.told_twice) == 10 and set(evidence.linked) == evidence.told_twice


def test_a_threshold_and_a_parse_rate_rest_on_what_was_said_once(tmp_path: Path) -> None:
    judge = [{"judge": "j", "label": "CORRECT", "confidence": 0.9}]
    with drawn(tmp_path, [{**one, "judge": judge} for one in many()]) as study:
        read_to_the_end(study)
        [found] = study_confidence(study, "j", task="qa")
        assert (found.labelled, found.linked, found.without) == (16, 10, 0)
        assert found.selection is not None and found.selection.n == 16
        assert "10 copies" in "\n".join(str(line) for line in confidence_lines(found))
        with serving(always("CORRECT")) as server:
            run_judge(study, server, name="asked")
        evidence = evidence_of(study, "qa", pick_judge(study, "qa", "asked"))
        assert (server.count, evidence.judged, evidence.read) == (16, 16, 16)


def test_a_dangerous_answer_of_two_systems_is_one(tmp_path: Path) -> None:
    judge = [{"judge": "j", "label": "CORRECT"}]
    rows = [row("q", system, "Labrador", judge=judge) for system in "abc"]
    with drawn(tmp_path, rows) as study:
        desk = sat(study)
        desk.set_harm("2")
        give(desk, "INCORRECT")
        assert desk.phase == "done"
        definition = task_definitions(study)["qa"]
        labelled = labelled_tasks(study, {"qa": definition})["qa"]
        danger = trust_of(study, definition, labelled, Settings(), None, 0.2, complete=False).judges["j"].danger
        assert danger is not None and (danger.count, danger.passed.n) == (1, 1)


def test_a_served_part_holds_what_the_queue_has_reached(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        ids, desk = ids_of(study), sat(study)
        give(desk, "CORRECT")
        give(desk, "INCORRECT")
        parts = ServedParts(study, blind_labels(study))
        served = {}
        for system in "abc":
            items = get_items(study, [item for key, item in ids.items() if key.endswith(system)])
            served[system] = parts.part("qa", list(items.values())).items
        assert served == {"a": {ids["same-a"], ids["own-a"]}, "b": {ids["same-b"]}, "c": frozenset()}


def test_ties_join_clusters_over_several_steps() -> None:
    assert joined_names([("b", "c"), ("a", "b"), ("x", "y")]) == {"a": "a", "b": "a", "c": "a", "x": "x", "y": "x"}
    hashes = np.array([3, 5, 7, 9], dtype=np.uint64)
    tied = np.array([[3, 7], [9, 7], [5, 1]], dtype=np.uint64)
    codes = join_codes(np.array([0, 1, 2, 3, 0], dtype=np.int32), hashes, tied)
    assert len(set(codes[[0, 2, 3, 4]])) == 1 and codes[1] not in codes[[0, 2, 3, 4]]


@pytest.mark.slow
def test_export_and_report_say_which_labels_were_given_once(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        read_to_the_end(study)
        path, ids = study.path, ids_of(study)
    out = tmp_path / "labels.jsonl"
    assert overread("--study", path, "export", out, "--format", "jsonl", cwd=tmp_path).returncode == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    linked = {line["item_id"]: entry.get("linked_to", "") for line in lines for entry in line["human"]}
    assert linked == {ids[one["item_id"]]: "" for one in TWINS} | {
        ids["same-b"]: ids["same-a"], ids["same-c"]: ids["same-a"]
    }  # fmt: skip
    (tmp_path / "fresh").mkdir()
    with drawn(tmp_path / "fresh") as study:
        assert import_labels(study, [out]).new == 5
        columns = labelled_tasks(study, task_definitions(study))["qa"].columns
        assert len(np.unique(columns.clusters)) == 3
    report = tmp_path / "report.md"
    assert overread("--study", path, "report", report, "--as", "lead", cwd=tmp_path).returncode == 0
    assert "2 labels of these were given at an item of another system" in report.read_text(encoding="utf-8")
