"""Shards: verdicts as files beside the study, each taken in exactly once, whatever was lost in between."""

from __future__ import annotations

import asyncio
import pickle
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from annotate.cli.judge import require_engine, take_in_lost_shards
from annotate.report.status import status_lines, study_status
from judges.backends.answer import Question
from judges.backends.ray_cluster import (
    Cluster,
    Reply,
    Worker,
    _private_folder,
    ray_cluster,
    remove_left_behind,
    shard_size,
)
from judges.collect import task_definitions
from judges.run import JudgeRun, RunResult, Scope, Store
from judges.setup import chat_backend, cluster_backend, make_askers, make_budget
from store.call_log import calls_path
from store.errors import InputError, UsageError
from store.judging import Judged
from store.repair import rebuild
from store.shards import ShardStore, TakenIn, shard_folder, take_in_shards, write_shard
from store.study import Study
from tests.commands import ROOT, Overread
from tests.judging.chat_server import ChatServer, Request, always, completion, serving, verdict
from tests.judging.chat_server import Reply as HttpReply
from tests.judging.conftest import make_study, rows
from tests.judging.judge_runs import fates, judge, options, verdicts

KEY = "sk-very-secret-indeed"
STORED = """SELECT v.* EXCLUDE (import_id), c.* EXCLUDE (run_id, latency_ms, called_at) FROM verdicts v
    JOIN calls c USING (verdict_id, content_hash) ORDER BY v.item_id"""


def judge_by(store: Store, study: Study, server: ChatServer, **more: Any) -> RunResult:
    """Run the judge over all items; its verdicts are stored by `store`."""
    given = options(server, **more)

    async def whole() -> RunResult:
        backend = chat_backend(given)
        asker = make_askers(study, [task_definitions(study)["qa"]], given, backend, make_budget(given))[0]
        result = await JudgeRun(study, asker, Scope("qa", concurrency=given.concurrency), store=store).run()
        await backend.close()
        return result

    return asyncio.run(whole())


class CrashBeforeTakingIn:
    """Writes shards and is lost before it takes them in."""

    def __init__(self) -> None:
        self.written = 0

    def __call__(self, study: Study, run_id: str, judged: Sequence[Judged]) -> Future[Any]:
        self.written += 1
        write_shard(study, run_id, self.written, judged)
        done: Future[Any] = Future()
        done.set_result(set())
        return done


def test_what_comes_by_shards_is_what_comes_without_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    path, store = make_study(tmp_path, rows(20)), ShardStore()
    shutil.copytree(tmp_path, other := tmp_path / "plain")
    with serving(always("CORRECT")) as server:
        with Study.open(other / path.name) as study:
            judge(study, server)
            expected = study.rows(STORED)
        with Study.open(path) as study:
            assert judge_by(store, study, server).state.judged == 20
            assert study.rows(STORED) == expected
            folder = shard_folder(study)
            names = [row[0] for row in study.rows("SELECT name FROM verdict_shards WHERE verdicts > 0 ORDER BY name")]
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == names and len(files) == store.written > 0
    assert {stat.S_IMODE(place.stat().st_mode) for place in files} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not any(KEY.encode() in file.read_bytes() for file in files)


def test_lost_between_shard_and_study_nothing_is_paid_for_again(ten: Study, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(always("CORRECT")) as server:
        judge_by(CrashBeforeTakingIn(), ten, server)
        assert (fates(ten), server.count) == ({}, 10)
        assert "of a lost run wait" in "\n".join(status_lines(study_status(ten)))
        (half := shard_folder(ten) / "0000-000001.parquet.part").write_bytes(b"PAR1")
        take_in_lost_shards(ten)
        assert "10 verdicts taken in from" in capsys.readouterr().err and not half.exists()
        assert judge(ten, server).state.before == 10 and server.count == 10
    assert fates(ten) == {"CORRECT": 10}
    assert take_in_shards(ten) == TakenIn() and study_status(ten)["waiting_shards"] == 0


def test_a_shard_that_comes_twice_adds_nothing_not_even_a_failure(ten: Study) -> None:
    with serving(always("MAYBE")) as server:
        judge_by(ShardStore(), ten, server)
    folder = shard_folder(ten)
    before = ten.rows(STORED)
    ten.close()
    ten.path.unlink()
    rebuild(ten.path)
    with Study.open(ten.path) as anew:  # it has the failures from the paid calls, and knows of no shard
        assert take_in_shards(anew) == TakenIn()
        assert anew.rows("SELECT count(*), count(superseded) FROM calls") == [(10, 0)]
        for file in sorted(folder.iterdir()):
            shutil.copy(file, folder / f"copy-of-{file.name}")
        assert take_in_shards(anew) == TakenIn()
        assert anew.rows(STORED) == before


@pytest.mark.slow
def test_without_study_and_paid_calls_the_shards_bring_all_back(tmp_path: Path, overread_cli: Overread) -> None:
    path = make_study(tmp_path, rows(5))
    with Study.open(path) as study, serving(always("CORRECT")) as server:
        judge_by(ShardStore(), study, server)
    path.unlink()
    calls_path(path).unlink()
    assert overread_cli("--study", path, "doctor", "--rebuild").exit_code == 0
    assert "shard" in overread_cli("--study", path, "doctor").stdout
    with Study.open(path) as study:
        assert study.rows("SELECT count(*) FROM judges") == [(0,)]
        assert take_in_shards(study).verdicts == 5
        assert study.rows("SELECT name, task FROM judges") == [("gpt-4o", "qa")]


def test_a_file_that_is_no_shard_of_this_study_is_refused_by_name(ten: Study, tmp_path: Path) -> None:
    (other := tmp_path / "other").mkdir()
    with Study.open(make_study(other, rows(3))) as foreign, serving(always("CORRECT")) as server:
        judge_by(ShardStore(), foreign, server)
        content = next(shard_folder(foreign).iterdir()).read_bytes()
    shard_folder(ten).mkdir()
    for wrong, words in (
        (content[:-20], "damaged, or no shard"),
        (b"", "damaged, or no shard"),
        (content, "another study"),
    ):
        (shard_folder(ten) / "x.parquet").write_bytes(wrong)
        with pytest.raises(InputError, match=words) as refused:
            take_in_shards(ten)
        assert "x.parquet" in str(refused.value) and "Move it" in refused.value.hint
    assert fates(ten) == {} and ten.rows("SELECT * FROM verdict_shards") == []


# The engine, as far as it needs no Ray


def test_a_dry_run_says_shards_and_without_ray_the_extra_is_named(
    tmp_path: Path, overread_cli: Overread, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(tmp_path, rows(20))
    base = ("--study", study, "judge", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--engine", "ray")
    [found] = overread_cli(*base, "--dry-run", "--json").json()["dry_run"]
    assert (found["calls"], found["shards"]) == (20, 3)
    assert (shard_size(1), shard_size(64)) == (1, 32)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="needs the extra `ray`") as refused, ray_cluster():
        pass
    assert "overread[ray]" in refused.value.hint


def test_options_that_do_not_go_with_the_engine_are_refused() -> None:
    for engine, address, workers, others, words in (
        ("ray", "", 0, ["--gguf"], "not for --gguf"),
        ("local", "10.0.0.1:6379", 0, [], "--ray-address is for --engine ray"),
        ("local", "", 4, [], "--workers is for --engine ray"),
    ):
        with pytest.raises(UsageError, match=words):
            require_engine(engine, address, workers, others)
    require_engine("ray", "10.0.0.1:6379", 4, [])


@pytest.mark.parametrize(
    ("address", "words"),
    [("10.0.0.1", "no address of a cluster"), ("127.0.0.1:0", "Nobody answers"), ("127.0.0.1:99999", "Nobody answers")],
)
def test_an_address_without_a_cluster_is_told_at_once(
    address: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    with pytest.raises(UsageError, match=words) as refused, ray_cluster(address):
        pass
    assert "ray start --head" in refused.value.hint


class LostError(Exception):
    """What Ray raises of a worker that is gone."""


class Method:
    """A method of a worker that is called from afar."""

    def __init__(self, call: Any) -> None:
        self.remote = call


class InThisProcess:
    """Stands for the library: real workers, but in this process. `lost` are the numbers of those that go away."""

    def __init__(self, lost: Sequence[int] = ()) -> None:
        self._lost, self.asked = lost, list[tuple[int, int]]()
        self.workers: list[Worker] = []
        self.exceptions = type("exceptions", (), {"RayError": LostError})

    def remote(self, kind: type[Worker]) -> Any:
        make = Method(lambda post: self._actor(kind(post)))
        return type("made", (), {"options": lambda _, **__: make})()

    def kill(self, actor: Any) -> None:
        actor.killed = True

    def _actor(self, worker: Worker) -> Any:
        number = len(self.workers)
        self.workers.append(worker)

        async def ask(questions: Sequence[Question]) -> Reply:
            self.asked.append((number, len(questions)))
            if number in self._lost:
                raise LostError
            reply: Reply = pickle.loads(pickle.dumps(await worker.ask(pickle.loads(pickle.dumps(questions)))))
            return reply

        return type("actor", (), {"start": Method(worker.start), "ask": Method(ask)})


@pytest.mark.slow
def test_only_the_folders_of_killed_runs_are_removed(tmp_path: Path) -> None:
    code = """if True:
        import os, signal
        from judges.backends.ray_cluster import _private_folder
        with _private_folder() as folder:
            print(folder, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)"""
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    killed = Path(said.stdout.decode().strip())
    assert killed.is_dir() and killed.name.startswith("or-")
    (foreign := tmp_path / "or-foreign").mkdir()
    with _private_folder() as alive:
        assert not killed.exists(), "the next run takes it away"
        for place in (tmp_path, alive.parent):
            remove_left_behind(place)
        assert foreign.is_dir() and alive.is_dir()
    assert not alive.exists()


def judge_on_workers(
    study: Study, server: ChatServer, library: InThisProcess, workers: int = 2, **more: Any
) -> RunResult:  # fmt: skip
    """Run the judge over all items by shards that workers ask about."""
    given = options(server, **{"concurrency": 4, **more})

    async def whole() -> RunResult:
        backend = cluster_backend(given, Cluster(library, workers))
        asker = make_askers(study, [task_definitions(study)["qa"]], given, backend, make_budget(given))[0]
        scope = Scope("qa", concurrency=given.concurrency * workers)
        result = await JudgeRun(study, asker, scope, store=ShardStore()).run()
        await backend.close()
        for worker in library.workers:
            await worker.close()
        return result

    return asyncio.run(whole())


def test_shards_go_to_the_idlest_worker_and_every_asker_gets_its_own_answer(tmp_path: Path) -> None:
    def script(request: Request) -> HttpReply:
        number = int(re.findall(r"Question (\d+)", request.text)[0])
        return HttpReply(completion(verdict("CORRECT" if number % 3 else "INCORRECT")))

    library = InThisProcess()
    with Study.open(make_study(tmp_path, rows(30))) as study, serving(script, latency=0.01) as server:
        result = judge_on_workers(study, server, library)
        assert (result.outcome, result.state.requests, server.count) == ("done", 30, 30)
        labels = [label for label, _ in verdicts(study)]
    assert labels == ["CORRECT" if number % 3 else "INCORRECT" for number in range(30)]
    assert {worker for worker, _ in library.asked} == {0, 1} and max(size for _, size in library.asked) == 4


def test_what_a_lost_worker_had_goes_to_another_and_counts_as_perhaps_paid(tmp_path: Path) -> None:
    with serving(always("CORRECT")) as server:
        with Study.open(make_study(tmp_path, rows(10), "free.duckdb")) as study:
            free = judge_on_workers(study, server, InThisProcess(lost=[0]))
            assert (free.outcome, free.state.judged, fates(study)) == ("done", 10, {"CORRECT": 10})
        most = free.state.unsure / 4
        assert most > 0, "its shard had four questions"
        with Study.open(make_study(tmp_path, rows(10), "capped.duckdb")) as study:
            cap = (free.state.spent or 0) / 10 * 6 + 4.5 * most
            capped = judge_on_workers(study, server, InThisProcess(lost=[0]), max_cost=cap)
            assert capped.outcome == "cap" and capped.state.failures["server_error"] > 0
            assert (capped.state.spent or 0) + capped.state.unsure <= cap
            more = judge_on_workers(study, server, InThisProcess())
            assert more.state.left == 0 and fates(study) == {"CORRECT": 10}, "the same command asks again"


def test_without_any_worker_left_the_run_ends_and_nothing_is_marked_failed(ten: Study) -> None:
    with serving(always("CORRECT")) as server:
        result = judge_on_workers(ten, server, InThisProcess(lost=[0, 1]))
    assert result.outcome == "unusable" and result.error is not None and "No worker" in result.error.title
    assert set(fates(ten)) <= {"(server_error)"} and len(verdicts(ten)) < 10


def test_a_changed_server_splits_the_judge_and_its_anchors_are_judged_again(tmp_path: Path) -> None:
    def script(request: Request) -> HttpReply:
        return HttpReply(completion(verdict("CORRECT"), model="test-model-1" if request.number < 8 else "test-model-2"))

    with Study.open(make_study(tmp_path, rows(20))) as study, serving(script) as server:
        result = judge_on_workers(study, server, InThisProcess(), workers=1)
        counts = dict(study.rows("SELECT name, count(*) FROM verdicts JOIN judges USING (judge_id) GROUP BY name"))
        [(name, drift)] = result.changes
        assert counts == {"gpt-4o": 8, name: 20} and (drift.both, drift.anchors) == (8, 8)
        assert server.count == 28


def test_a_cap_is_never_passed(tmp_path: Path) -> None:
    with Study.open(make_study(tmp_path, rows(40))) as study, serving(always("CORRECT")) as server:
        result = judge_on_workers(study, server, InThisProcess(), max_cost=0.1, max_tokens=200)
        spent = study.rows("SELECT sum(cost) FROM verdicts")[0][0]
    assert result.outcome == "cap" and 0 < result.state.judged < 40
    assert spent == pytest.approx(result.state.spent) and spent <= 0.1


def test_a_server_that_takes_no_part_is_told_with_its_remedy(ten: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: HttpReply({"error": {"message": "bad key"}}, 401)) as server:
        result = judge_on_workers(ten, server, InThisProcess())
        assert result.error is not None and "valid key" in result.error.title and fates(ten) == {}
        monkeypatch.setenv("OPENAI_API_KEY", "ключ")
        with_key = judge_on_workers(ten, server, InThisProcess())
        assert with_key.error is not None and "each machine takes its own key" in with_key.error.hint
