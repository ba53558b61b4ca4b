"""The full run: refused through a closed gate, forced only when said, and every output says so afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_studies import RIGHT, WRONG, pairs_of, rows_of, study_of

from judges.correcting import correct_study
from judges.gate.bindings import gate_state, judges_of
from store.study import Study
from tests.commands import Overread
from tests.judging.chat_server import ChatServer, Reply, Request, completion, serving, verdict


def honest(request: Request) -> Reply:
    """Right, but for every tenth answer."""
    number = int(request.text.split("Answer number ")[1].split(".")[0])
    wrong = number >= 60
    said = WRONG if wrong != (number % 20 == 0) else RIGHT
    return Reply(completion(verdict(said)))


def lenient(request: Request) -> Reply:
    return Reply(completion(verdict(RIGHT)))


def make(folder: Path) -> Path:
    """A study of 120 labelled items and 30 without a label."""
    unlabelled: list[tuple[str, str | None]] = [("", RIGHT)] * 30
    rows = rows_of([*pairs_of(60, 0, 60, 0), *unlabelled])
    study_of(folder / "s.duckdb", rows).close()
    return folder / "s.duckdb"


def judged(overread: Overread, path: Path, server: ChatServer, items: str, *more: str) -> tuple[int, str]:
    model = ("--model", "m", "--base-url", server.url, "--name", "mine", "--items", items)
    found = overread("--study", path, "judge", *model, *more, cwd=path.parent)
    return found.exit_code, found.stdout + found.stderr


@pytest.mark.slow
def test_an_open_gate_lets_the_full_run_through_and_a_label_more_closes_it(
    tmp_path: Path, overread_cli: Overread
) -> None:
    path = make(tmp_path)
    with serving(honest) as server:
        assert judged(overread_cli, path, server, "labelled")[0] == 0
        assert overread_cli("gate", "--judge", "mine", cwd=tmp_path).exit_code == 0
        code, said = judged(overread_cli, path, server, "all")
        assert code == 0 and "FORCED" not in said, said
        assert len(server.requests) == 150
    with Study.open(path) as study:
        judge = next(one for one in judges_of(study, "check") if one.name == "mine")
        assert gate_state(study, "check", judge.judge_id).open, "the full run itself closes nothing"
        study.writer.do(lambda c: c.execute("UPDATE file_labels SET value = 'wrong' WHERE rowid = 1"))
        assert not gate_state(study, "check", judge.judge_id).open


def test_a_closed_gate_refuses_it_and_force_is_said_ever_after(tmp_path: Path, overread_cli: Overread) -> None:
    path = make(tmp_path)
    with serving(lenient) as server:
        judged(overread_cli, path, server, "labelled")
        assert overread_cli("gate", "--judge", "mine", cwd=tmp_path).exit_code == 1
        code, said = judged(overread_cli, path, server, "all")
        assert code == 1 and "The gate is not open for mine" in said and "--force" in said
        assert len(server.requests) == 120, "nothing was called"
        code, said = judged(overread_cli, path, server, "all", "--force")
        assert code == 0 and "FORCED: mine judged all of check" in said
    score = overread_cli("score", "--judge", "mine", "--json", cwd=tmp_path).json()
    assert [(one["task"], one["state"]) for one in score["gate"]] == [("check", "forced")]
    assert "FORCED" in overread_cli("score", "--judge", "mine", cwd=tmp_path).stdout
    assert b'"type":"forced_run"' in (tmp_path / "s.journal.jsonl").read_bytes()


@pytest.mark.slow
def test_nobody_looked_yet_is_said_and_refuses_nothing(tmp_path: Path, overread_cli: Overread) -> None:
    path = make(tmp_path)
    with serving(honest) as server:
        code, said = judged(overread_cli, path, server, "all")
    assert code == 0 and "nobody has looked through the gate" in said
    with Study.open(path) as study:
        system = study.rows("SELECT DISTINCT system FROM items")[0][0]
        found = correct_study(study, system, "mine")
    assert found is not None and found.labels == {"check": 120}
