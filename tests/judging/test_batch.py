"""Batch files: the same calls in a file, their answers back in any order, twice or in part; half the price."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from judges import batch
from judges.estimate import estimate
from judges.setup import JudgeOptions
from store.study import Study
from tests.commands import Overread
from tests.judging.chat_server import always, completion, serving, verdict
from tests.judging.conftest import import_rows, make_study, rows
from tests.judging.judge_runs import fates, judge, options


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answers(path: Path, calls: list[dict[str, Any]], label: str = "CORRECT") -> Path:
    """The output file that a batch of these calls would have, in another order."""
    out = [
        {"id": "b", "custom_id": call["custom_id"], "error": None,
         "response": {"status_code": 200, "request_id": "r", "body": completion(verdict(label), model="gpt-4o-2024")}}
        for call in calls
    ]  # fmt: skip
    random.Random(1).shuffle(out)
    path.write_text("".join(json.dumps(line) + "\n" for line in out), encoding="utf-8")
    return path


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two systems with the same six inputs."""
    values = [{**row, "system": system, "item_id": f"{system}{row['item_id']}"} for system in "ab" for row in rows(6)]
    return make_study(tmp_path, values)


@pytest.mark.slow
def test_out_and_in_again_at_half_the_price(study: Path, tmp_path: Path, overread_cli: Overread) -> None:
    out = tmp_path / "calls.jsonl"
    base = ("--study", study, "judge")
    written = overread_cli(*base, "--model", "gpt-4o", "--batch-out", out, "--json").json()["batch"]
    assert (written["calls"], written["linked"], written["files"]) == (6, 6, [str(out)])
    calls = lines_of(out)
    assert {(call["method"], call["url"]) for call in calls} == {("POST", "/v1/chat/completions")}
    assert len({call["custom_id"] for call in calls}) == 6 and all(len(call["custom_id"]) <= 64 for call in calls)
    assert calls[0]["body"]["response_format"]["type"] == "json_schema" and calls[0]["body"]["model"] == "gpt-4o"

    half = answers(tmp_path / "half.jsonl", calls[:3])
    [first] = overread_cli(*base, "--batch-in", half, "--json").json()["batches"]
    assert (first["judged"], first["linked"], first["same"]) == (3, 3, 0)
    assert first["cost"] == pytest.approx(3 * 0.0035 / 2)
    whole = answers(tmp_path / "whole.jsonl", calls)
    lines = whole.read_text(encoding="utf-8").splitlines()
    new = next(number for number, line in enumerate(lines) if json.loads(line)["custom_id"] == calls[5]["custom_id"])
    other = tmp_path / "other.jsonl"
    other.write_text(lines.pop(new).replace("fp_1", "fp_2"), encoding="utf-8")
    whole.write_text("\n".join(lines), encoding="utf-8")
    told = " ".join(overread_cli(*base, "--batch-in", other).stdout.split())
    assert "gpt-4o → gpt-4o-2024 (fp_2) is another server than before" in told
    assert f"overread --study {study} judge --model gpt-4o, with the options of --batch-out" in told
    [second] = overread_cli(*base, "--batch-in", whole, "--json").json()["batches"]
    assert (second["judged"], second["linked"], second["same"]) == (2, 2, 6)
    assert second["other_servers"] == ["gpt-4o → gpt-4o-2024 (fp_2)"], "told until its anchors are judged"
    with Study.open(study) as opened:
        assert fates(opened) == {"CORRECT": 12}
        assert opened.rows("SELECT count(*), count(DISTINCT verdict_id) FROM verdicts") == [(12, 12)]
        assert opened.rows("SELECT DISTINCT model_returned FROM verdicts") == [("gpt-4o-2024",)]
    capped = overread_cli(*base, "--model", "gpt-4o", "--batch-out", tmp_path / "more.jsonl", "--max-cost", "1")
    assert capped.exit_code == 2 and "No cap can be kept" in capped.stderr
    done = overread_cli(*base, "--model", "gpt-4o", "--batch-out", tmp_path / "more.jsonl", "--json").json()["batch"]
    assert (done["calls"], done["files"]) == (0, [])


@pytest.mark.slow
def test_what_a_batch_did_not_answer_stays_open_and_what_is_no_answer_is_told(
    study: Path, tmp_path: Path, overread_cli: Overread
) -> None:
    out = tmp_path / "calls.jsonl"
    base = ("--study", study, "judge")
    overread_cli(*base, "--model", "gpt-4o", "--batch-out", out)
    ids = [call["custom_id"] for call in lines_of(out)]

    def line(custom_id: str, status: int, body: Any, error: Any = None) -> str:
        response = {"status_code": status, "body": body} if error is None else None
        return json.dumps({"custom_id": custom_id, "response": response, "error": error})

    lines = [
        line(ids[0], 0, None, {"code": "batch_expired", "message": "late"}),
        line(ids[1], 500, {"error": {"message": "oops"}}),
        line(ids[2], 400, {"error": {"code": "context_length_exceeded"}}),
        line(ids[3], 200, completion("no verdict here")),
        line(ids[4], 200, completion(verdict("CORRECT"))),
        line("overread-unknown", 200, completion(verdict("CORRECT"))),
        '{"half": ',
    ]
    file = tmp_path / "errors.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    done = overread_cli(*base, "--batch-in", file, "--json")
    assert done.exit_code == 1
    assert "errors.jsonl:6: error: this study asked for no such call" in done.stderr
    assert "errors.jsonl:7: error: this is no line of a batch's output" in done.stderr
    [found] = done.json()["batches"]
    assert (found["judged"], found["unanswered"], found["bad_lines"]) == (1, 2, 2)
    assert found["failures"] == {"malformed": 2, "server_error": 2, "too_long": 2}
    again = overread_cli(*base, "--model", "gpt-4o", "--batch-out", tmp_path / "again.jsonl", "--json").json()["batch"]
    assert again["calls"] == 3, "the expired one, the one the server failed, and the one that was not in the file"


@pytest.mark.parametrize(("split_by", "judges"), [("fingerprint", 2), ("model", 1)])
def test_what_makes_the_server_another_one_is_heeded(study: Path, tmp_path: Path, split_by: Any, judges: int) -> None:
    from judges.backends.prices import Budget

    with Study.open(study) as opened:
        batch.write_batch(opened, [batch_run(opened)], tmp_path / "calls.jsonl")
        output = answers(tmp_path / "out.jsonl", lines_of(tmp_path / "calls.jsonl"))
        lines = output.read_text(encoding="utf-8").splitlines()
        lines[-1] = lines[-1].replace('"fp_1"', '"fp_2"')
        output.write_text("\n".join(lines), encoding="utf-8")
        assert batch.read_batch(opened, output, lambda _: Budget(None), split_by).judged == 6
        assert opened.rows("SELECT count(DISTINCT judge_id) FROM verdicts") == [(judges,)]
        others = {"gpt-4o → gpt-4o-2024 (fp_2)": "gpt-4o"} if judges == 2 else {}
        assert batch.read_batch(opened, output, lambda _: Budget(None), split_by).others == others
        with serving(always("CORRECT", model="gpt-4o-2024", fingerprint="fp_2")) as server:
            changes = judge(opened, server, split_by=split_by).changes
            assert [(name, drift.both) for name, drift in changes] == [(name, 10) for name in others]
            assert server.count == (5 if others else 0), "the inputs that the other server had judged"
        assert batch.read_batch(opened, output, lambda _: Budget(None), split_by).others == {}


def batch_run(study: Study, given: JudgeOptions = JudgeOptions("gpt-4o")) -> Any:  # noqa: B008
    """A run whose calls go into a batch."""
    from judges.collect import task_definitions
    from judges.run import JudgeRun, Scope
    from judges.setup import make_askers, make_budget

    asker = make_askers(study, [task_definitions(study)["qa"]], given, None, make_budget(given))[0]
    return JudgeRun(study, asker, Scope("qa"))


def test_no_line_is_written_for_an_input_that_has_a_verdict(tmp_path: Path) -> None:
    path = make_study(tmp_path, rows(3))
    with serving(always("CORRECT")) as server, Study.open(path) as opened:
        judge(opened, server)
        copies = [{**row, "item_id": f"b{row['item_id']}", "system": "b"} for row in rows(4)]
        (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in copies), encoding="utf-8")
        import_rows(opened, tmp_path)
        run = batch_run(opened, options(server))
        need = estimate(opened, run, 1)
        assert (need.calls, need.linked) == (1, 3)
        out = batch.write_batch(opened, [run], tmp_path / "calls.jsonl")
        assert (out.calls, out.linked, fates(opened)) == (1, 3, {"CORRECT": 6})


def test_long_batches_are_several_files(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MOST_LINES", 4)
    with Study.open(study) as opened:
        out = batch.write_batch(opened, [batch_run(opened)], tmp_path / "calls.jsonl")
    assert [file.name for file in out.files] == ["calls.jsonl", "calls-2.jsonl"]
    assert [len(lines_of(file)) for file in out.files] == [4, 2]
    assert list(tmp_path.glob("*.part")) == []
