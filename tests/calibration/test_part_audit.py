"""The audit of a study whose labels have a grid, a ranking or a number, through the real desk and the real command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.cli.audit import has_labels
from annotate.exchange.exporting import export_csv, export_jsonl
from annotate.exchange.own_exports import import_labels
from annotate.report.audit_text import audit_lines
from annotate.report.status import study_status
from judges.auditing import audit_study
from judges.calibration.measured_result import GridAudit, MeasuredAudit
from store.study import Study
from tests.commands import Overread
from tests.desk.desk_studies import sit
from tests.desk.part_studies import JUDGE, keys_of, make_part_study, type_keys


@pytest.fixture
def mcd(tmp_path: Path) -> Iterator[Study]:
    with make_part_study(tmp_path / "mcd.duckdb", "mcd", 4) as study:
        yield study


def label_all(study: Study, keys: str, annotator: str = "dr.li") -> None:
    desk = sit(study, "never", annotator=annotator)
    while desk.phase != "done":
        type_keys(desk, keys_of(keys))


def test_cells_are_units_clustered_by_item(mcd: Study) -> None:
    label_all(mcd, "c a Y N Y ⏎ k")
    found = audit_study(mcd).declared["mcd"]["nodes"]
    assert isinstance(found, GridAudit)
    judge = found.cells.judges[JUDGE]
    assert (found.items, found.labelled, found.cells.labelled) == (4, 4, 36)
    assert (judge.n, judge.no_verdict) == (24, 12), "the judge says nothing of the third column"
    # people: rows 1 and 3 yes, row 2 no; judge: yes but for the link of row 3
    assert judge.confusion == {"y": {"y": 12, "n": 4}, "n": {"y": 8, "n": 0}}
    assert judge.raw_agreement.value == 0.5 and judge.raw_agreement.low is None
    assert "stand or fall together" in judge.raw_agreement.why
    by_column = {column: one.raw_agreement.value for column, one in judge.slices["column"].items()}
    assert by_column == {"stated": pytest.approx(2 / 3), "causal link": pytest.approx(1 / 3)}


def test_the_json_has_every_decision_under_its_task(mcd: Study) -> None:
    label_all(mcd, "c a Y N Y ⏎ k")
    task = audit_study(mcd).as_json()["tasks"]["mcd"]
    assert set(task["parts"]) == {"conclusion", "cc", "nodes"}
    grid = task["parts"]["nodes"]
    assert (grid["kind"], grid["unit"], grid["cells"], grid["labelled"]) == ("checklist", "cell", 36, 4)
    json.dumps(task, allow_nan=False)


def test_half_given_grids_and_those_given_after_the_verdict_do_not_count(tmp_path: Path) -> None:
    with make_part_study(tmp_path / "h.duckdb", "mcd", 2) as study:
        type_keys(sit(study, "never"), keys_of("c a Y N"))
        found = audit_study(study)
        assert not has_labels(found) and found.declared["mcd"]["nodes"].labelled == 0
    with make_part_study(tmp_path / "a.duckdb", "ranking", 2) as study:
        type_keys(sit(study, "assisted"), keys_of("⏎ ⏎"))
        assert audit_study(study).declared["ranking"][""].labelled == 0


def test_status_counts_what_is_half_given_apart(mcd: Study) -> None:
    type_keys(sit(mcd, "never"), keys_of("c a Y N Y ⏎ k i b y"))
    counts = study_status(mcd)["annotators"]["dr.li"]
    assert (counts["labelled"], counts["half_given"]) == (1, 1)


def test_rankings_of_two_people(tmp_path: Path) -> None:
    with make_part_study(tmp_path / "r.duckdb", "ranking", 4) as study:
        for who in ("a", "b"):
            desk = sit(study, "never", annotator=who)
            while desk.phase != "done":
                letters = {entry: letter for letter, entry in desk.entry.letters.items()}  # type: ignore[union-attr]
                order = ["r1", "r2", "r3", "r4"] if who == "a" else ["r2", "r1", "r3", "r4"]
                type_keys(desk, [*(letters[entry] for entry in order), "enter"])
        found = audit_study(study).declared["ranking"][""]
        assert isinstance(found, MeasuredAudit) and found.rules == {"each_of_several": 4}
        assert found.judges[JUDGE].statistics["kendall_tau"].value == pytest.approx((1 + 2 / 3) / 2)
        assert found.humans.pairs["a|b"]["kendall_tau"].value == pytest.approx(2 / 3)
        text = "\n".join(line if isinstance(line, str) else str(line) for line in audit_lines(audit_study(study)))
        assert "ranking, a ranking: 4 of 4 items labelled (several people, each compared 4)." in text
        assert audit_study(study).as_json()["tasks"]["ranking"]["kind"] == "ranking"


def test_scores_given_as_numbers(tmp_path: Path) -> None:
    with make_part_study(tmp_path / "s.duckdb", "stance", 12) as study:
        desk = sit(study, "never")
        while desk.phase != "done":
            number = desk.current.item.position
            type_keys(desk, ["tab", *f"{0.2 + number / 100:.2f}", "enter", "y"])
        found = audit_study(study).declared["stance"]["score"]
        assert isinstance(found, MeasuredAudit)
        statistics = found.judges[JUDGE].statistics
        assert statistics["pearson"].value == pytest.approx(1.0) and statistics["rmse"].value == pytest.approx(0.1)
        assert statistics["mean_difference"].value == pytest.approx(-0.1) and statistics["rmse"].n == 12


@pytest.mark.slow
def test_the_commands_say_it(tmp_path: Path, overread_cli: Overread) -> None:
    path = tmp_path / "r.duckdb"
    with make_part_study(path, "ranking", 2) as study:
        label_all(study, "a b = c d ⏎")
    said = overread_cli("--study", path, "audit")
    assert said.exit_code == 0 and "Kendall's tau-b" in said.stdout and "ties: in 2 items" in said.stdout
    told = json.loads(overread_cli("--study", path, "audit", "--json").stdout)
    assert told["tasks"]["ranking"]["judges"][JUDGE]["n"] == 2
    report = overread_cli("--study", path, "report", tmp_path / "r.md")
    assert report.exit_code in (0, 3), report


ROUND_TRIPS = [("mcd", "c a Y N Y ⏎ k", "i b y"), ("ranking", "a b = c d ⏎", "c a"), ("stance", "tab 7 h", "")]


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
@pytest.mark.parametrize(("task", "keys", "half"), ROUND_TRIPS, ids=[row[0] for row in ROUND_TRIPS])
def test_labels_with_parts_leave_and_come_back_the_same(
    tmp_path: Path, task: str, keys: str, half: str, kind: str
) -> None:
    query, exported = (
        "SELECT item_id, value, parts, unsure FROM current_labels ORDER BY item_id",
        tmp_path / f"x.{kind}",
    )
    with make_part_study(tmp_path / "one.duckdb", task, 2) as study:
        type_keys(sit(study, "never"), keys_of(f"{keys} {half}"))
        before = study.rows(query)
        (export_jsonl if kind == "jsonl" else export_csv)(study, exported)
    with make_part_study(tmp_path / "other.duckdb", task, 2) as again:
        outcome = import_labels(again, [exported])
        assert (outcome.new, outcome.problems) == (len(before), []) and again.rows(query) == before
