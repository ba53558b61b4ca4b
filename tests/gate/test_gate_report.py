"""The report says what the gate says: outcome, what keeps it shut, what to do, looks spent, certificate, and force."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from gate_studies import AT, pairs_of, rows_of, study_of

from annotate.cli.report import rendered
from annotate.report.document import build_document
from annotate.report.facts import gather
from annotate.report.gates import gates_of
from annotate.report.options import ReportOptions
from annotate.tui.screens.audit.state import audit_pages
from judges.calibration.audit_result import Settings
from judges.gate.evidence import pick_judge
from judges.gate.full_run import FORCED, pass_gate
from judges.gate.gate import Gate, look
from judges.gate.recheck import certified_of, recheck
from judges.gate.thresholds import Thresholds
from store.judging import judges_of_task
from store.study import Study
from tests.commands import Overread

ONE_LOOK = Thresholds(looks=1)


def looked(study: Study) -> Gate:
    return look(study, [pick_judge(study, "check", "gpt")], {"check": ONE_LOOK}, at=AT)


def texts(study: Study) -> Sequence[str]:
    """The report as HTML and as Markdown."""
    options = ReportOptions(made_at=dt.datetime.fromisoformat(AT), settings=Settings(all_statistics=True, resamples=50))
    document = build_document(study, options)
    return ["".join(rendered(document, kind)) for kind in ("html", "markdown")]


@pytest.mark.slow
def test_a_closed_gate_and_a_forced_run_are_in_the_report(tmp_path: Path) -> None:
    with study_of(tmp_path / "s.duckdb", rows_of(pairs_of(60, 0, 60, 40))) as study:
        for text in texts(study):
            assert "The gate before the full run" not in text, "nobody has looked"
        gate = looked(study).tasks[0]
        assert gate.outcome == "closed"
        [(judge_id, record)] = judges_of_task(study, "check").items()
        for text in texts(study):
            assert "The gate is closed: gpt may not score all of Check" in text and "FORCED" not in text
            assert "recall of wrong" in text and "at least 0.7" in text
            assert "recall of right" not in text.split("What keeps it shut")[1], "what passes keeps nothing shut"
            assert gate.next[0] in text.replace("\\", "")
            assert "Look 1 of 1" in text
            first = text.split("How much it matters")[0]
            assert "misses 40 of 60" in first and "people agree on 60 of 100" in first, "both kinds of error"
        pass_gate(study, [record], force=True, at="2026-03-02T10:00:00+01:00")
        [newest] = study.rows("SELECT gate_id FROM gates WHERE judge_id = ?", [judge_id])
        for text in texts(study):
            assert text.count("FORCED: gpt judged all of Check through a gate that was not open") == 2
            assert "forced on 2026-03-02" in text and newest[0] in text


def test_a_slice_that_keeps_the_gate_shut_is_on_the_first_page_and_the_answer_is_no(tmp_path: Path) -> None:
    pairs = [*pairs_of(100, 0, 150, 0), *pairs_of(20, 0, 30, 20)]
    rows = rows_of(pairs, group=["en"] * 250 + ["zh"] * 50)
    with study_of(tmp_path / "s.duckdb", rows) as study:
        before, _ = texts(study)
        assert looked(study).outcome == "closed"
        after, _ = texts(study)
    for text in (before, after):
        first = text.split("How much it matters")[0]
        assert "Worse than elsewhere in group zh: recall of wrong −66.7 points" in first
    assert "should not score" not in before and "should not score" in after


def test_the_audit_says_a_closed_gate_and_that_a_run_was_forced(tmp_path: Path, overread_cli: Overread) -> None:
    path = tmp_path / "s.duckdb"
    with study_of(path, rows_of(pairs_of(60, 0, 60, 40))) as study:
        assert not gates_of(study, {"check": "check"}) and "gate" not in gate_in_audit(study)
        assert looked(study).outcome == "closed"
        assert "The gate is closed: gpt may not score all of Check." in gate_in_audit(study)
        pass_gate(study, list(judges_of_task(study, "check").values()), force=True, at="2026-03-02T10:00:00+01:00")
        assert "FORCED: gpt judged all of Check" in gate_in_audit(study)
        [gate] = gates_of(study, {"check": "check"})
        assert gate.is_shut, "force opens nothing"
        assert "should not score" in texts(study)[0].split("How much it matters")[0]
    said = overread_cli("--study", str(path), "audit", "--as", "lead")
    assert "  FORCED: gpt judged all of check through a gate that was not open." in said.stdout, said.stderr
    told = json.loads(overread_cli("--study", str(path), "audit", "--json", "--as", "lead").stdout)
    assert [(one["task"], one["judge"], one["state"]) for one in told["gate"]] == [("check", "gpt", "forced")]


def test_a_run_that_was_forced_before_any_label_is_said_too(tmp_path: Path, overread_cli: Overread) -> None:
    path = tmp_path / "s.duckdb"
    rows = rows_of(pairs_of(3, 0, 3, 0))
    for row in rows:
        del row["human"]
        row["judge"].append({"judge": "other", "label": row["judge"][0]["label"]})
    with study_of(path, rows) as study:
        judges = {one.name: one for one in judges_of_task(study, "check").values()}
        at = "2026-03-02T10:00:00+01:00"
        study.record([{"type": FORCED, "task": "check", "judge": name, "judge_id": one.judge_id, "at": at, "why": "x"}
                      for name, one in judges.items()])  # fmt: skip
        options = ReportOptions(made_at=dt.datetime.fromisoformat(AT), settings=Settings(resamples=50))
        [page] = audit_pages(gather(study, options))
        assert "FORCED: gpt judged" in "\n".join("".join(span.text for span in line) for line in page.answer)
    said = overread_cli("--study", str(path), "audit", "--as", "lead").stdout
    assert "nothing labelled yet" in said and "FORCED: gpt judged all of check" in said and "FORCED: other" in said
    one = json.loads(overread_cli("--study", str(path), "audit", "--judge", "gpt", "--json", "--as", "lead").stdout)
    assert [gate["judge"] for gate in one["gate"]] == ["gpt"]


def gate_in_audit(study: Study) -> str:
    """What the audit's screen says of the gate, as text."""
    options = ReportOptions(made_at=dt.datetime.fromisoformat(AT), settings=Settings(resamples=50))
    [page] = audit_pages(gather(study, options))
    return "\n".join("".join(span.text for span in line) for line in page.answer)


@pytest.mark.parametrize("wrong", [0, 40])
def test_an_open_gate_and_a_changed_judge_are_in_the_report(tmp_path: Path, wrong: int) -> None:
    rows = rows_of(pairs_of(60, 0, 60, 0))
    for row, (_, verdict) in zip(rows, pairs_of(60, 0, 60, wrong), strict=True):
        row["judge"].append({"judge": "other", "label": verdict})
    with study_of(tmp_path / "s.duckdb", rows) as study:
        assert looked(study).outcome == "open"
        certified = certified_of(study, "check")
        other = next(one for one in judges_of_task(study, "check").values() if one.name == "other")
        assert certified is not None and certified.judge.name == "gpt"
        found = recheck(study, other, certified, at="2026-03-03T10:00:00+01:00")
        assert found.outcome == ("closed" if wrong else "open") and found.drift.only_before == wrong
        for text in texts(study):
            assert "The gate is open: gpt may score all of Check" in text
            assert ("The gate is closed: other" if wrong else "The gate is open: other") in text
            assert "It was judged anew on 2026-03-03, since it differs from gpt in" in text
