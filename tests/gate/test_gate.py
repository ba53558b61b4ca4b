"""The gate: open, closed, undecided with the next act; looks counted; the certificate bound to everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from gate_studies import AT, RIGHT, TASKS, WRONG, add_rows, pairs_of, rows_of, study_of

from annotate.report.gate_text import gate_junit, gate_markdown
from judges.calibration.agreement.binomial import clopper_pearson
from judges.gate.bindings import gate_state
from judges.gate.certificate import certificate_text, verify
from judges.gate.checks import Check
from judges.gate.evidence import pick_judge
from judges.gate.gate import Gate, look
from judges.gate.thresholds import EXAMPLE, MOST_LOOKS, Thresholds, thresholds_of
from store.errors import UsageError
from store.gates import gate_looks
from store.study import Study
from tests.commands import Overread

GOOD, BAD = pairs_of(150, 8, 100, 6), pairs_of(150, 8, 100, 70)


def looked(study: Study, limits: Thresholds | None = None, at: str = AT, **more: Any) -> Gate:
    return look(study, [pick_judge(study, "check")], {"check": limits or Thresholds()}, at=at, **more)


def check_of(gate: Gate, name: str, label: str = "") -> Check:
    return next(check for check in gate.tasks[0].checks if (check.name, check.label) == (name, label))


def test_a_good_judge_opens_the_gate_and_a_bad_one_closes_it_for_the_right_reason(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(GOOD)) as study:
        good = looked(study)
    with study_of(tmp_path / "b.duckdb", rows_of(BAD)) as study:
        bad = looked(study)
    assert (good.outcome, good.exit_code) == ("open", 0), good.as_json()
    assert (bad.outcome, bad.exit_code) == ("closed", 1)
    assert check_of(bad, "recall", WRONG).status == "failed"
    assert check_of(bad, "recall", RIGHT).status == "passed"
    assert "misses wrong" in bad.tasks[0].next[0]


def test_the_bounds_are_exact_at_the_level_of_one_look_among_five(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(GOOD)) as study:
        found = check_of(looked(study), "recall", WRONG)
        single = check_of(looked(study, Thresholds(looks=1)), "recall", WRONG)
    low, high = clopper_pearson(94, 100, 0.99)
    assert (found.statistic.low, found.statistic.high) == pytest.approx((low, high))
    assert single.statistic.low == pytest.approx(clopper_pearson(94, 100, 0.95).low)


def test_undecided_names_the_labels_that_would_pass_it_and_those_labels_do(tmp_path: Path) -> None:
    pairs = pairs_of(60, 3, 25, 3)
    with study_of(tmp_path / "a.duckdb", rows_of(pairs)) as study:
        gate = looked(study)
        assert (gate.outcome, gate.exit_code) == ("undecided", 3)
        found = check_of(gate, "recall", WRONG)
        assert found.status == "undecided" and found.next.startswith("label ")
        of_label = int(found.next.split("about ")[1].split()[0])
        n = 25 + of_label
        assert clopper_pearson(round(22 / 25 * n), n, 0.99).low >= 0.695
        precise = check_of(gate, "precision", WRONG)
        assert precise.status == "undecided"
        assert "more items the judge calls wrong (overread sample --by verdict)" in precise.next


def test_too_few_labels_and_no_labels_are_undecided_with_a_number(tmp_path: Path) -> None:
    pairs: list[tuple[str, str | None]] = [(RIGHT, RIGHT)] * 7
    with study_of(tmp_path / "a.duckdb", rows_of(pairs)) as study:
        gate = looked(study)
    assert gate.outcome == "undecided" and gate.tasks[0].next == ("label 13 more items of check",)


def test_a_judge_that_never_finds_a_fail_does_not_pass_however_well_it_agrees(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(pairs_of(188, 0, 12, 12))) as study:
        gate = looked(study)
    assert check_of(gate, "ac1").status == "passed"
    assert check_of(gate, "recall", WRONG).status == "failed" and gate.outcome == "closed"
    assert check_of(gate, "effective_gain").status == "failed"


def test_unreadable_verdicts_close_it(tmp_path: Path) -> None:
    unread: list[tuple[str, str | None]] = [(RIGHT, None)] * 40
    with study_of(tmp_path / "a.duckdb", rows_of([*GOOD, *unread])) as study:
        gate = looked(study)
    assert check_of(gate, "parse_rate").status == "failed" and gate.outcome == "closed"


def test_a_slice_that_is_far_off_closes_it(tmp_path: Path) -> None:
    pairs = [*pairs_of(200, 4, 140, 4), *pairs_of(30, 15, 10, 5)]
    languages = ["en"] * 340 + ["zh"] * 40
    with study_of(tmp_path / "a.duckdb", rows_of(pairs, group=languages)) as study:
        gate = looked(study)
    found = check_of(gate, "slices")
    assert found.status == "failed" and "zh" in found.why and gate.outcome == "closed"


def test_dangerous_answers_that_pass_close_it(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(pairs_of(150, 6, 100, 30), group=["x"] * 250)) as study:
        assert check_of(looked(study), "dangerous").status == "skipped"
        study.writer.do(
            lambda c: c.execute('UPDATE items SET slices = \'{"trap_kind": "dose"}\' WHERE position >= 156')
        )
        found = check_of(looked(study), "dangerous")
    assert found.status == "failed"
    assert "30 of 94" in found.why


def test_what_seeing_verdicts_does_to_people_is_measured_and_enters_no_number(tmp_path: Path) -> None:
    rows = []
    for number in range(240):
        beside = number % 2 == 1
        differs = (
            number % 10 == 1 if beside else number % 10 in (0, 4)
        )  # of ten: one with the verdict in view, else two
        label = WRONG if differs else RIGHT
        person = {"annotator": "A1", "label": label, "mode": "assisted" if beside else "blind"}
        rows.append({**rows_of([(RIGHT, RIGHT)])[0], "item_id": f"i{number}", "response": f"R {number}.",
                     "human": [person]})  # fmt: skip
    with study_of(tmp_path / "a.duckdb", rows) as study:
        gate = looked(study)
    found = check_of(gate, "anchoring")
    assert found.statistic.value == pytest.approx(0.5) and "120 given after a verdict was seen" in found.why
    assert check_of(gate, "labels").statistic.n == 120


def test_which_label_says_right_is_not_the_order_they_are_listed_in(tmp_path: Path) -> None:
    head, right, wrong = TASKS.split("[[task.labels]]")
    listed_last = "[[task.labels]]".join([head, wrong + "\n", right])
    rows = rows_of(pairs_of(150, 6, 100, 30), group=["x"] * 250)
    with study_of(tmp_path / "a.duckdb", rows, listed_last) as study:
        study.writer.do(
            lambda c: c.execute('UPDATE items SET slices = \'{"trap_kind": "dose"}\' WHERE position >= 156')
        )
        found = check_of(looked(study), "dangerous")
    assert found.status == "failed"
    assert "30 of 94" in found.why


def test_the_newest_look_says_how_things_stand(tmp_path: Path) -> None:
    """Closed by a baseline, open without it: what was printed last is what a full run meets."""
    with study_of(tmp_path / "a.duckdb", rows_of(GOOD)) as study:
        first = looked(study)
        judge_id = first.tasks[0].judge.judge_id
        worse = json.loads(certificate_text(first))
        for check in worse["tasks"]["check"]["checks"]:
            check["low"] = None if check["low"] is None else 1.0
        assert looked(study, baseline=worse, at="2026-04-01T09:00:00+01:00").outcome == "closed"
        assert not gate_state(study, "check", judge_id).open
        again = looked(study, at="2026-04-02T09:00:00+01:00")
        assert again.outcome == "open" and gate_state(study, "check", judge_id).open
        assert {one.look for one in gate_looks(study, "check")} == {1}, "one look, however often it is repeated"
        file = tmp_path / "gate.json"
        file.write_text(certificate_text(again), encoding="utf-8")
        same = looked(study, at="2026-04-03T09:00:00+01:00")
        assert file.read_text(encoding="utf-8") == certificate_text(same), "the same look, the same certificate"
        assert gate_state(study, "check", judge_id).certificate == same.tasks[0].look_id


def test_a_look_planned_as_the_only_one_leaves_no_error_for_more(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(pairs_of(150, 8, 100, 18))) as study:
        strict = Thresholds(looks=1, recall=0.85)
        assert looked(study, strict).outcome != "open"
        more = looked(study, Thresholds(), at="2026-04-01T09:00:00+01:00")
        assert more.outcome == "undecided" and "have spent its error" in check_of(more, "looks").why
        assert "looks" not in {check.name for check in looked(study, strict).tasks[0].checks}


@pytest.mark.slow
def test_looks_are_counted_once_each_and_after_five_it_does_not_open(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(GOOD)) as study:
        assert looked(study).tasks[0].look == looked(study, at="2026-04-01T09:00:00+01:00").tasks[0].look == 1
        assert len(gate_looks(study, "check")) == 1
        for number in range(2, MOST_LOOKS + 2):
            row = rows_of([(RIGHT, RIGHT)])[0] | {"item_id": f"more-{number}"}
            add_rows(study, tmp_path / f"more-{number}.jsonl", [row])
            gate = looked(study)
            assert gate.tasks[0].look == number
        assert gate.outcome == "undecided" and "look 6" in check_of(gate, "looks").why
        assert not gate_state(study, "check", gate.tasks[0].judge.judge_id).open
    assert (tmp_path / "a.journal.jsonl").read_bytes().count(b'"type":"gate_look"') == 6


CHANGES = {
    "label": "UPDATE file_labels SET value = 'wrong' WHERE rowid = 3",
    "item": "UPDATE items SET content_hash = 'x' WHERE position = 3",
    "item of nobody": "DELETE FROM items WHERE position = 240",
    "prompt": "UPDATE judges SET prompt_version = 'v2'",
    "rubric": "UPDATE tasks SET version = version || 'x'",
    "verdict": "UPDATE verdicts SET verdict_hash = 'x' WHERE position = 5",
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_change_closes_the_gate_and_the_certificate_does_not_verify(tmp_path: Path, what: str) -> None:
    file = tmp_path / "gate.json"
    with study_of(tmp_path / "a.duckdb", rows_of(GOOD)) as study:
        gate = looked(study)
        judge_id = gate.tasks[0].judge.judge_id
        file.write_text(certificate_text(gate), encoding="utf-8")
        assert verify(file, study).valid and verify(file).valid and verify(file).exit_code == 0
        assert gate_state(study, "check", judge_id).open
        study.writer.do(lambda connection: connection.execute(CHANGES[what]))
        found = verify(file, study)
        assert not found.valid and found.exit_code == 1 and found.as_json()["outcome"] == "closed"
        state = gate_state(study, "check", judge_id)
        assert not state.open and "changed since" in state.why


def test_one_byte_of_the_certificate_and_it_is_void_and_it_holds_no_item_text(tmp_path: Path) -> None:
    file = tmp_path / "gate.json"
    with study_of(tmp_path / "a.duckdb", rows_of(BAD)) as study:
        file.write_text(certificate_text(looked(study)), encoding="utf-8")
    text = file.read_text(encoding="utf-8")
    assert "Answer number" not in text
    assert verify(file).exit_code == 1 and verify(file).valid
    file.write_text(text.replace('"outcome": "closed"', '"outcome": "open"'), encoding="utf-8")
    assert not verify(file).valid and "altered" in verify(file).problems[0]


def test_the_baseline_finds_what_got_worse(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(GOOD)) as study:
        before = json.loads(certificate_text(looked(study)))
    with study_of(tmp_path / "b.duckdb", rows_of(pairs_of(150, 8, 100, 18))) as study:
        assert looked(study).outcome == "open"
        gate = looked(study, baseline=before, at="2026-04-01T09:00:00+01:00")
        assert gate.outcome == "closed" and check_of(gate, "regression: recall", WRONG).status == "failed"
        before["tasks"]["check"]["checks"] = [
            check | {"passed": True} for check in before["tasks"]["check"]["checks"] if check["name"] == "dangerous"
        ]
        gone = check_of(looked(study, baseline=before), "regression: dangerous")
        assert gone.status == "failed" and "is not measured now" in gone.why


def test_thresholds_come_from_the_file_and_what_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    assert thresholds_of(file, "qa") == Thresholds()
    file.write_text("kappa = 0.5\n[labels.wrong]\nrecall = 0.9\n[tasks.qa]\nkappa = 0.6\n", encoding="utf-8")
    assert thresholds_of(file, "qa").kappa == 0.6 and thresholds_of(file, "other").kappa == 0.5
    assert thresholds_of(file, "qa").of_label("recall", "wrong") == 0.9
    for text in ("kapa = 0.5", "kappa = 2", "kappa = true", "looks = 9", "required = ['x']", "[labels.a]\nf1 = 1", "x",
                 "tasks = 3", "[tasks]\nqa = 3", "required = [['x']]", "max_cost = nan", "effective_gain = inf",
                 "kappa = " + "[" * 3000, "kappa = 1" + "0" * 5000):  # fmt: skip
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"gate\.toml"):
            thresholds_of(file, "qa")


def test_junit_and_markdown_hold_hostile_names(tmp_path: Path) -> None:
    with study_of(tmp_path / "a.duckdb", rows_of(BAD)) as study:
        study.writer.do(lambda c: c.execute("UPDATE judges SET name = 'g|<b>\x1b[31m&\"'"))
        gate = looked(study).as_json()
    gate["tasks"]["check"]["checks"][0]["why"] = "no character\uffff\ufffe\x00 of XML"
    suite = ElementTree.fromstring(gate_junit(gate)).find("testsuite")
    assert suite is not None and int(suite.get("failures", "0")) == len(suite.findall(".//failure")) >= 1
    assert "\x1b" not in gate_markdown(gate) and "g\\|\\<b\\>" in gate_markdown(gate)


@pytest.mark.slow
def test_the_command_tells_and_exits_and_its_json_is_that_of_the_design(tmp_path: Path, overread_cli: Overread) -> None:
    study_of(tmp_path / "a.duckdb", rows_of(GOOD)).close()
    found = overread_cli("gate", "--json", "--write", "c.json", "--junit", "c.xml", "--markdown", "c.md", cwd=tmp_path)
    document = found.json()
    assert found.exit_code == 0 and document["outcome"] == "open" and document["judge"] == "gpt"
    assert {"task", "name", "passed", "value", "bound", "why"} <= set(document["checks"][0])
    assert (
        document["next"]
        and (tmp_path / "c.xml").is_file()
        and "| recall of wrong |" in (tmp_path / "c.md").read_text(encoding="utf-8")
    )
    assert overread_cli("doctor", cwd=tmp_path).stdout.rstrip().endswith("healthy")
    valid = overread_cli("gate", "--certificate", "c.json", cwd=tmp_path)
    assert valid.exit_code == 0 and "valid, open" in valid.stdout
    (tmp_path / "ci").mkdir()
    (tmp_path / "c.json").rename(tmp_path / "ci" / "c.json")
    assert overread_cli("gate", "--certificate", "c.json", cwd=tmp_path / "ci").exit_code == 0


@pytest.mark.slow
def test_a_judge_just_below_a_threshold_rarely_opens_over_five_looks() -> None:
    """Recall just below 0.7, looked at after every 40 items: the bound of each look, over all five looks."""
    rng = np.random.default_rng(5)
    level, bound, trials, opened = Thresholds().level, 0.7, 20_000, 0
    passing = {
        n: min((k for k in range(n + 1) if clopper_pearson(k, n, level).low >= bound), default=n + 1)
        for n in range(40, 201, 40)
    }
    for hits in rng.random((trials, 200)) < bound - 1e-9:
        totals = hits.cumsum()
        opened += any(totals[n - 1] >= least for n, least in passing.items())
    assert opened / trials <= 0.025, opened / trials
