"""The full run: refused through a closed gate, forced only when said, and every output says so afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from gate_studies import RIGHT, WRONG, pairs_of, rows_of, study_of

from annotate.cli.score import gate_line
from judges.correcting import correct_study
from judges.gate.bindings import gate_state, judges_of
from judges.gate.full_run import pass_gate, passages_of
from judges.gate.gate import look
from judges.gate.thresholds import Thresholds
from store.judge_rubrics import add_rubric, current_rubric
from store.judging import judges_of_task
from store.study import Study
from tests.commands import Outcome, Overread
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
        told = current_rubric(study, "check")
        assert told is not None
        byte = {language: f"{text}." for language, text in told.texts.items()}
        add_rubric(study, "check", byte, "edited", "2027-01-01T00:00:00+00:00")
        state = gate_state(study, "check", judge.judge_id)
        assert not state.open and "prompt of check changed" in state.why, "one byte of what the judge is told"
        add_rubric(study, "check", told.texts, "edited", "2027-01-02T00:00:00+00:00")
        assert gate_state(study, "check", judge.judge_id).open, "taken back"
        study.writer.do(lambda c: c.execute("UPDATE file_labels SET value = 'wrong' WHERE rowid = 1"))
        assert not gate_state(study, "check", judge.judge_id).open


@pytest.mark.slow
def test_a_closed_gate_refuses_it_and_force_is_said_ever_after(tmp_path: Path, overread_cli: Overread) -> None:
    path = make(tmp_path)
    with serving(lenient) as server:
        judged(overread_cli, path, server, "labelled")
        assert overread_cli("gate", "--judge", "mine", cwd=tmp_path).exit_code == 1
        code, said = judged(overread_cli, path, server, "all")
        assert code == 1 and "The gate is not open for mine" in said and "--force" in said
        assert len(server.requests) == 120, "nothing was called"
        renamed = overread_cli(
            "judge", "--model", "m", "--base-url", server.url, "--name", "fresh", "--items", "all", cwd=tmp_path
        )
        assert renamed.exit_code == 1 and "it is mine under another name" in renamed.stderr, renamed
        other = run_all(overread_cli, path, server)
        assert other.exit_code == 1 and "is closed for mine, and nobody has looked at this judge" in other.stderr, other
        assert "Judge the labelled items (--items labelled), then look: overread" in other.stderr
        assert len(server.requests) == 120, "nothing was called"
        assert run_all(overread_cli, path, server, "--force").exit_code == 0
        code, said = judged(overread_cli, path, server, "all", "--force")
        assert code == 0 and "FORCED: mine judged all of check" in said
    score = overread_cli("score", "--judge", "mine", "--json", cwd=tmp_path).json()
    assert [(one["task"], one["state"]) for one in score["gate"]] == [("check", "forced")]
    another = overread_cli("score", "--judge", "other", "--json", cwd=tmp_path).json()
    assert [one["state"] for one in another["gate"]] == ["forced"]
    assert "FORCED" in overread_cli("score", "--judge", "mine", cwd=tmp_path).stdout
    assert b'"type":"forced_run"' in (tmp_path / "s.journal.jsonl").read_bytes()
    for kind in ("verdicts", "scores", "inspect", "mlflow", "jsonl", "csv", "native"):
        done = overread_cli("export", f"out.{kind}", "--format", kind, "--judge", "mine", cwd=tmp_path)
        assert done.exit_code == 0 and "FORCED" in done.stderr, (kind, done)
        if kind != "native":  # the benchmark's own file, which is as the benchmark wants it
            assert "forced" in (tmp_path / f"out.{kind}").read_text(encoding="utf-8"), kind


def test_what_was_forced_and_is_open_by_a_later_look_is_open_and_the_force_stays_said(tmp_path: Path) -> None:
    with study_of(tmp_path / "s.duckdb", rows_of(pairs_of(60, 1, 60, 1))) as study:
        [judge] = judges_of(study, "check")
        [record] = judges_of_task(study, "check").values()
        strict, at = {"check": Thresholds(recall=0.99)}, "2026-04-0{}T09:00:00+00:00"
        assert look(study, [judge], strict, at=at.format(1)).outcome == "undecided"
        pass_gate(study, [record], force=True, at=at.format(2))
        [before] = passages_of(study, "gpt")
        assert look(study, [judge], {"check": Thresholds()}, at=at.format(3)).outcome == "open"
        [after] = passages_of(study, "gpt")
        assert (before["state"], after["state"]) == ("forced", "open") and after["forced"] == at.format(2)
        assert gate_line(before).startswith("FORCED") and "by force on 2026-04-02" in gate_line(after)


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


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study whose gate was opened for the judge `mine`."""
    folder, overread = tmp_path_factory.mktemp("opened"), Overread()
    path = make(folder)
    with serving(honest) as server:
        assert judged(overread, path, server, "labelled")[0] == 0
    assert overread("gate", "--judge", "mine", cwd=folder).exit_code == 0
    return folder


@pytest.fixture
def certified(opened: Path, tmp_path: Path) -> Path:
    """A copy of that study, to work on."""
    shutil.copytree(opened, tmp_path / "copy")
    return tmp_path / "copy" / "s.duckdb"


def run_all(overread: Overread, path: Path, server: ChatServer, *more: str) -> Outcome:
    model = ("--model", "m2", "--base-url", server.url, "--name", "other", "--items", "all")
    return overread("--study", path, "judge", *model, *more, cwd=path.parent)


@pytest.mark.slow
def test_a_changed_judge_judges_its_anchors_first_and_is_refused_for_what_it_gets_wrong(
    certified: Path, overread_cli: Overread
) -> None:
    with serving(lenient) as server:
        refused = run_all(overread_cli, certified, server)
        assert refused.exit_code == 1 and len(server.requests) == 120, "the labelled items and nothing else"
        assert "differs from mine, which the gate was opened for, in model" in refused.stdout
        assert "57 got worse" in refused.stdout and "the gate is closed" in refused.stdout
        assert "The gate is not open for other" in refused.stderr and "recall of wrong" in refused.stderr
        again = run_all(overread_cli, certified, server)
        assert again.exit_code == 1 and len(server.requests) == 120, "asking again looks at nothing and calls nobody"
        batch = run_all(overread_cli, certified, server, "--batch-out", "calls.jsonl")
        assert batch.exit_code == 1 and not (certified.parent / "calls.jsonl").exists()
        forced = run_all(overread_cli, certified, server, "--force")
        assert forced.exit_code == 0 and len(server.requests) == 150 and "FORCED: other judged all" in forced.stdout
    score = overread_cli("score", "--judge", "other", "--json", cwd=certified.parent).json()
    assert [one["state"] for one in score["gate"]] == ["forced"]


@pytest.mark.slow
def test_a_changed_judge_for_which_the_gate_opens_goes_on_with_the_rest(
    certified: Path, overread_cli: Overread
) -> None:
    with serving(honest) as server:
        found = run_all(overread_cli, certified, server, "--json")
        assert found.exit_code == 0 and len(server.requests) == 150
    document = found.json()
    assert [(run["slots"], run["judged"]) for run in document["runs"]] == [(120, 120), (150, 30)]
    [check] = document["rechecks"]
    assert check["outcome"] == "open" and check["differs"] == ["model"] and check["drift"]["same"] == 120
    assert [one["state"] for one in document["gate"]] == ["open"]
    with Study.open(certified) as study:
        [record] = study.journal_records("recheck")
        assert record["before"] == "mine" and record["certificate"] == document["gate"][0]["certificate"]


@pytest.mark.slow
def test_force_on_a_changed_judge_still_compares_it_first(certified: Path, overread_cli: Overread) -> None:
    with serving(lenient) as server:
        found = run_all(overread_cli, certified, server, "--force", "--json")
        assert found.exit_code == 0 and len(server.requests) == 150
    assert found.json()["rechecks"][0]["outcome"] == "closed"
    assert [one["state"] for one in found.json()["gate"]] == ["forced"]


@pytest.mark.slow
def test_a_server_that_becomes_a_worse_model_midway_ends_the_full_run(certified: Path, overread_cli: Overread) -> None:
    """The judge's own name and prompt; the server calls itself another model from the tenth further answer on."""

    def worse(request: Request) -> Reply:
        changed = request.number >= 10
        return Reply(completion(verdict(RIGHT), model="worse" if changed else "test-model-1"))

    with serving(worse) as server:
        model = ("--model", "m", "--base-url", server.url, "--name", "mine", "--items", "all", "--concurrency", "2")
        ended = overread_cli("--study", certified, "judge", *model, cwd=certified.parent)
        assert ended.exit_code == 1 and "The gate is not open for mine → worse" in ended.stderr, ended
        assert "the gate is closed" in ended.stdout
        asked = len(server.requests)
        assert 130 <= asked < 145, "some of the rest, the 120 anchors, and no more"
        again = overread_cli("--study", certified, "judge", *model, cwd=certified.parent)
        assert again.exit_code == 1 and "its server became mine → worse" in again.stderr
        assert len(server.requests) == asked
