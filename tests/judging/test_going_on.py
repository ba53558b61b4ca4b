"""Stopped, killed, or served by another model: what was judged stays, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from judges import run as run_module
from judges.collect import task_definitions
from judges.drift import compare_judges, require_labels
from judges.run import JudgeRun, Scope
from judges.setup import chat_backend, make_askers, make_budget
from store.errors import NotEnoughError
from store.repair import rebuild
from store.study import Study
from tests.commands import ROOT, overread_command, overread_environment
from tests.judging.chat_server import Reply, Request, Script, always, completion, serving, verdict
from tests.judging.conftest import import_rows, make_study, rows
from tests.judging.judge_runs import fates, judge, options, verdicts


@contextmanager
def server_process(latency: float) -> Iterator[str]:
    """The chat server in a process of its own; gives its address."""
    command = [sys.executable, "-m", "tests.judging.chat_server", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def stats(address: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{address}/stats", timeout=10) as found:
        return dict(json.load(found))


def start_judge(study: Path, address: str, *more: str) -> subprocess.Popen[str]:
    arguments = ["--study", str(study), "judge", "--model", "m", "--base-url", f"{address}/v1", "--items", "all", *more]
    return subprocess.Popen(
        overread_command(*arguments),
        env=overread_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def wait_for(count: int, address: str) -> None:
    """Until the server has had that many calls."""
    end = time.monotonic() + 60
    while stats(address)["count"] < count:
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_killed_in_the_middle_a_run_pays_nothing_twice_but_what_was_on_its_way(tmp_path: Path) -> None:
    study, concurrency = make_study(tmp_path, rows(160)), 8
    with server_process(latency=0.05) as address:
        process = start_judge(study, address, "--concurrency", str(concurrency))
        wait_for(60, address)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        with Study.open(study) as opened:
            stored = fates(opened)["CORRECT"]
            assert opened.rows("SELECT outcome FROM runs") == [("",)]
        asked = stats(address)["count"]
        assert stored >= asked - 2 * concurrency, "every verdict is stored as it comes"
        process = start_judge(study, address, "--json")
        said = json.loads(process.communicate(timeout=60)[0])
        assert said["runs"][0]["before"] == stored
        assert stats(address)["count"] == asked + 160 - stored
    with Study.open(study) as opened:
        assert fates(opened) == {"CORRECT": 160}
        assert opened.rows("SELECT count(*), count(DISTINCT verdict_id) FROM verdicts") == [(160, 160)]


@pytest.mark.slow
def test_ctrl_c_waits_for_the_calls_on_their_way_and_keeps_all(tmp_path: Path) -> None:
    study = make_study(tmp_path, rows(160))
    with server_process(latency=0.3) as address:
        process = start_judge(study, address, "--concurrency", "8")
        wait_for(9, address)
        process.send_signal(signal.SIGINT)
        said, told = process.communicate(timeout=30)
        assert process.returncode == 130, told
        asked = stats(address)["count"]
    assert "calls on their way are waited for" in told and "Traceback" not in told
    assert re.search(r"\d+ judged", said)
    with Study.open(study) as opened:
        assert fates(opened) == {"CORRECT": asked}
        assert opened.rows("SELECT outcome FROM runs") == [("stopped",)]


def test_after_a_lost_study_is_made_anew_nothing_is_paid_twice(tmp_path: Path) -> None:
    twins = [{**row, "system": system} for system in ("a", "b") for row in rows(4)]
    path = make_study(tmp_path, twins)
    with serving(always("CORRECT")) as server:
        with Study.open(path) as study:
            assert (judge(study, server).state.linked, server.count) == (4, 4)
            columns = "item_id, label, raw, rationale, route, cost, verdict_hash"
            before = verdicts(study, columns)
        path.unlink()
        rebuild(path)
        with Study.open(path) as study:
            assert verdicts(study, columns) == before
            import_rows(study, tmp_path)
            result = judge(study, server)
            assert (result.state.before, result.state.requests, server.count) == (8, 0, 4)
            assert verdicts(study, columns) == before


# A server that becomes another one


def changing(after: int, then: Script, **other: Any) -> Script:
    """`then` for so many requests; from then on the server is another one."""

    def script(request: Request) -> Reply:
        reply = then(request)
        return reply if request.number < after else Reply({**reply.data, **other})

    return script


def test_another_model_splits_the_judge_and_the_labelled_anchors_are_judged_again(tmp_path: Path) -> None:
    stored: list[tuple[int, int]] = []

    def counting(request: Request) -> Reply:
        stored.append((request.number, study.rows("SELECT count(*) FROM verdicts")[0][0]))
        return always("CORRECT")(request)

    with (
        Study.open(make_study(tmp_path, rows(20))) as study,
        serving(changing(8, counting, model="test-model-2")) as server,
    ):
        result = judge(study, server, concurrency=1)
        assert all(kept >= asked - 2 for asked, kept in stored), "a kill loses no more than what is on its way"
        names = [row[0] for row in study.rows("SELECT name FROM judges ORDER BY name")]
        assert names == ["gpt-4o", "gpt-4o → test-model-2 (fp_1)"]
        counts = dict(study.rows("SELECT name, count(*) FROM verdicts JOIN judges USING (judge_id) GROUP BY name"))
        assert counts == {names[0]: 8, names[1]: 20}, "what came after, and the eight anchors again"
        assert server.count == 28
        [(name, drift)] = result.changes
        assert (name, drift.both, drift.anchors, drift.same) == (names[1], 8, 8, 8)
        assert (result.state.judged, result.state.anchors, result.state.left) == (20, 8, 0)
        judge(study, server, concurrency=1)
        assert server.count == 28
        served = study.rows(
            "SELECT DISTINCT model_returned, name FROM verdicts JOIN judges USING (judge_id) ORDER BY 1"
        )
        assert served == [("test-model-1", names[0]), ("test-model-2", names[1])]


def test_a_run_that_ends_amid_the_anchors_judges_the_rest_when_it_meets_that_server_again(tmp_path: Path) -> None:
    with (
        Study.open(make_study(tmp_path, rows(14))) as study,
        serving(changing(8, always("CORRECT"), model="test-model-2")) as server,
    ):
        capped = judge(study, server, concurrency=1, max_cost=0.06)
        assert (capped.outcome, capped.changes) == ("cap", ()) and 9 < server.count < 17
        result = judge(study, server, concurrency=1)
        [(_, drift)] = result.changes
        assert (drift.both, drift.anchors) == (8, 8)
        assert server.count == 8 + 14, "no anchor was paid for twice"
        assert judge(study, server).changes == () and server.count == 22


@pytest.mark.parametrize("killed", [False, True])
def test_anchors_are_judged_to_the_end_though_no_item_is_left(tmp_path: Path, killed: bool) -> None:
    """The run ends at the cap, or is lost when the anchors are judged and before that is written."""
    with (
        Study.open(make_study(tmp_path, rows(9))) as study,
        serving(changing(8, always("CORRECT"), model="test-model-2")) as server,
    ):
        if killed:
            judge(study, server, concurrency=1)
            study.writer.do(lambda connection: connection.execute("UPDATE runs SET counts = '{}', outcome = ''"))
        else:
            assert judge(study, server, concurrency=1, max_cost=0.06).outcome == "cap"
        asked = server.count
        server.script, usual = always("CORRECT"), server.script
        back = judge(study, server, concurrency=1)
        assert (server.count - asked, back.changes == ()) == ((0, False) if killed else (1, True)), "another answers"
        server.script = usual
        result = judge(study, server, concurrency=1)
        if not killed:
            [(_, drift)] = result.changes
            assert (drift.both, result.state.before, result.state.left) == (8, 9, 0)
            assert server.count == 9 + 8 + 1, "no anchor was paid for twice"
        asked = server.count
        assert judge(study, server).changes == () and server.count == asked


def test_a_server_that_changes_again_amid_the_anchors_is_taken_up_too(tmp_path: Path) -> None:
    models = ["m1"] * 6 + ["m2"] * 3

    def script(request: Request) -> Reply:
        model = models[request.number] if request.number < len(models) else "m3"
        return Reply(completion(verdict("CORRECT"), model=model))

    with Study.open(make_study(tmp_path, rows(12))) as study, serving(script) as server:
        result = judge(study, server, concurrency=1)
        counts = study.rows("SELECT name, count(*) FROM verdicts JOIN judges USING (judge_id) GROUP BY 1 ORDER BY 1")
        assert [count for _, count in counts] == [6, 3, 12], "m3 judged all that m1 and m2 had"
        assert (len(result.changes), result.state.left) == (2, 0)


def test_anchors_with_identical_inputs_are_asked_about_once(tmp_path: Path) -> None:
    other = [{**row, "item_id": f"c{row['item_id']}", "response": "Else.", "system": "c"} for row in rows(5)]
    twins = [{**row, "system": system} for system in ("a", "b") for row in rows(5)]
    with (
        Study.open(make_study(tmp_path, [*twins, *other])) as study,
        serving(changing(6, always("CORRECT"), model="test-model-2")) as server,
    ):
        result = judge(study, server, concurrency=1)
        assert (result.state.anchors, result.changes[0][1].both) == (11, 11), "five twins and one of the others"
        assert server.count == 10 + 6


@pytest.mark.slow
def test_a_new_fingerprint_is_a_change_unless_only_the_model_counts(tmp_path: Path) -> None:
    script = changing(5, always("CORRECT"), system_fingerprint="fp_2")
    for split_by, judges_found in (("fingerprint", 2), ("model", 1), ("never", 1)):
        (folder := tmp_path / split_by).mkdir()
        with Study.open(make_study(folder, rows(10))) as study, serving(script) as server:
            judge(study, server, concurrency=4, split_by=split_by)
            assert study.rows("SELECT count(*) FROM judges") == [(judges_found,)]
            assert study.rows("SELECT count(DISTINCT item_id) FROM verdicts WHERE label = 'CORRECT'") == [(10,)]


def test_a_server_that_goes_to_and_fro_is_two_judges_and_no_more(ten: Study) -> None:
    def script(request: Request) -> Reply:
        return Reply(completion(verdict("CORRECT"), model=f"m{request.number % 2}"))

    with serving(script) as server:
        result = judge(ten, server, concurrency=2)
        assert len(result.changes) == 1
        assert ten.rows("SELECT count(*) FROM judges") == [(2,)]
        assert result.outcome == "done"


def test_a_server_that_never_says_the_same_ends_the_run(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return Reply(completion(verdict("CORRECT"), fingerprint=f"fp_{request.number}"))

    with Study.open(make_study(tmp_path, rows(40))) as study, serving(script) as server:
        result = judge(study, server, concurrency=1)
        assert result.error is not None and "--split-by model" in str(result.error)


def test_drift_is_told_by_mcnemar_on_the_labelled_items(tmp_path: Path) -> None:
    def wrong(request: Request) -> Reply:
        number = int(re.findall(r"Question (\d+)", request.text)[0])
        return Reply(completion(verdict("INCORRECT" if number % 2 else "CORRECT")))

    def right(request: Request) -> Reply:
        number = int(re.findall(r"Question (\d+)", request.text)[0])
        return Reply(completion(verdict("CORRECT" if number % 2 else "INCORRECT")))

    with Study.open(make_study(tmp_path, rows(12))) as study:
        with serving(wrong) as server:
            judge(study, server, model="old")
            server.script = right
            judge(study, server, model="new")
        ids = dict(study.rows("SELECT name, judge_id FROM judges"))
        drift = compare_judges(study, "qa", [ids["old"]], [ids["new"]])
    assert (drift.anchors, drift.right_before, drift.right_after) == (12, 0, 12)
    assert drift.p == pytest.approx(2 * 0.5**12)
    assert "a change" in drift.words and "12 better" in drift.words


def test_what_failed_and_what_too_few_anchors_can_show_is_told(tmp_path: Path) -> None:
    with Study.open(make_study(tmp_path, [*rows(5), {**rows(6)[5], "human": []}])) as study:
        with pytest.raises(NotEnoughError):
            require_labels(study, ["other"])
        require_labels(study, ["qa"])
        with serving(always("CORRECT")) as server:
            judge(study, server, model="old")
            server.script = lambda request: Reply(
                completion(verdict("?" if "Question 0?" in request.text else "INCORRECT"))
            )
            judge(study, server, model="new")
        ids = dict(study.rows("SELECT name, judge_id FROM judges"))
        drift = compare_judges(study, "qa", [ids["old"]], [ids["new"]])
    assert (drift.both, drift.failed, drift.anchors, drift.same) == (5, 1, 4, 0)
    assert "not counted: 1 where one of them gave no label" in drift.words
    assert "too few to show a change: it takes 6" in drift.words and "could not be chance" not in drift.words


# Stopping from within, and memory


async def _stopped_after(study: Study, server: Any, count: int) -> JudgeRun:
    given = options(server, concurrency=4)
    backend = chat_backend(given)
    asker = make_askers(study, [task_definitions(study)["qa"]], given, backend, make_budget(given))[0]
    run = JudgeRun(study, asker, Scope("qa", concurrency=4))

    async def stopper() -> None:
        while run.state.done < count:
            await asyncio.sleep(0.001)
        run.stop()

    watcher = asyncio.create_task(stopper())
    result = await run.run()
    await watcher
    await backend.close()
    assert result.outcome == "stopped"
    return run


def test_a_run_that_is_stopped_has_stored_all_that_it_counted(tmp_path: Path) -> None:
    with Study.open(make_study(tmp_path, rows(60))) as study, serving(always("CORRECT"), latency=0.01) as server:
        run = asyncio.run(_stopped_after(study, server, 12))
        assert fates(study) == {"CORRECT": run.state.judged}
        assert server.count == run.state.judged < 60


def test_a_run_opens_the_study_anew_and_cuts_off_nobody_who_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "_PAGE", 4)
    monkeypatch.setattr(run_module, "_RENEW", 8)
    begun, go = threading.Event(), threading.Event()
    found: list[Any] = []
    answers: list[bool] = []

    def read_on() -> None:
        stream = study.stream("SELECT item_id FROM items", batch=7)
        found.append(next(stream))
        begun.set()
        go.wait(30)
        found.extend(stream)

    def renew() -> bool:
        answers.append(whole())
        if len(answers) == 2:
            go.set()
            reader.join(30)
        return answers[-1]

    with Study.open(make_study(tmp_path, rows(60))) as study, serving(always("CORRECT")) as server:
        whole = study.renew
        monkeypatch.setattr(study, "renew", renew)
        usual = study.rows(limit := "SELECT current_setting('wal_autocheckpoint')")
        reader = threading.Thread(target=read_on)
        reader.start()
        begun.wait(30)
        result = judge(study, server, concurrency=2)
        assert (result.outcome, fates(study), server.count) == ("done", {"CORRECT": 60}, 60)
        assert len(found) == 60, "the reader got all its rows"
        assert answers[:2] == [False, False], "while it was in the middle of them"
        assert len(answers) > 3 and all(answers[2:])
        assert study.rows(limit) != usual, "the log stays short"
