"""Shards: verdicts as files beside the study, each taken in exactly once, whatever was lost in between."""

from __future__ import annotations

import asyncio
import shutil
import stat
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from annotate.cli.judge import require_engine, take_in_lost_shards
from judges.backends.answer import Answer, ModelSettings, Question, ServerUnusableError
from judges.backends.chat import Transport
from judges.backends.ray_cluster import Cluster, Post, RayBackend, Reply, Unusable, ray_cluster, shard_size
from judges.collect import task_definitions
from judges.run import JudgeRun, RunResult, Scope, Store
from judges.setup import chat_backend, make_askers, make_budget
from judges.verdict_reader import SERVER_ERROR
from store.errors import InputError, UsageError
from store.judging import Judged
from store.shards import ShardStore, TakenIn, shard_folder, take_in_shards, write_shard
from store.study import Study
from tests.commands import Overread
from tests.judging.chat_server import ChatServer, always, serving
from tests.judging.conftest import make_study, rows
from tests.judging.judge_runs import fates, judge, options

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
        (half := shard_folder(ten) / "0000-000001.parquet.part").write_bytes(b"PAR1")
        take_in_lost_shards(ten)
        assert "10 verdicts taken in from" in capsys.readouterr().err and not half.exists()
        assert judge(ten, server).state.before == 10 and server.count == 10
    assert fates(ten) == {"CORRECT": 10}
    assert take_in_shards(ten) == TakenIn()


def test_a_shard_that_comes_twice_adds_nothing_not_even_a_failure(ten: Study) -> None:
    with serving(always("MAYBE")) as server:
        judge_by(ShardStore(), ten, server)
    folder = shard_folder(ten)
    before = ten.rows(STORED)
    assert fates(ten) == {"(off_menu)": 10}
    for file in sorted(folder.iterdir()):
        shutil.copy(file, folder / f"copy-of-{file.name}")
    assert take_in_shards(ten) == TakenIn()
    assert ten.rows(STORED) == before


@pytest.mark.slow
def test_after_a_rebuild_the_shards_bring_verdicts_and_judges_back(tmp_path: Path, overread_cli: Overread) -> None:
    path = make_study(tmp_path, rows(5))
    with Study.open(path) as study, serving(always("CORRECT")) as server:
        judge_by(ShardStore(), study, server)
    path.unlink()
    assert overread_cli("--study", path, "doctor", "--rebuild").exit_code == 0
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


class LostError(Exception):
    """What Ray raises of a worker that is gone."""


class Method:
    """A method of a worker that is called from afar."""

    def __init__(self, call: Any) -> None:
        self.remote = call


class Workers:
    """Stands for the library: its workers answer by `script(shard)` of their own number."""

    def __init__(self, *scripts: Any) -> None:
        self.scripts, self.made, self.asked = scripts, 0, list[tuple[int, int]]()
        self.exceptions = type("exceptions", (), {"RayError": LostError})

    def remote(self, kind: type) -> Workers:
        return Maker(self)  # type: ignore[return-value]

    def kill(self, actor: Any) -> None:
        actor.killed = True


class Maker:
    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def options(self, **_: Any) -> Maker:
        return self

    def remote(self, post: Post) -> Any:
        number = self._workers.made
        self._workers.made += 1

        async def start() -> str:
            from judges.backends.ray_cluster import _version

            return _version()

        async def ask(shard: Sequence[Question]) -> Reply:
            self._workers.asked.append((number, len(shard)))
            await asyncio.sleep(0)
            answers = [self._workers.scripts[number](question) for question in shard]
            return Reply(answers, sum(size for worker, size in self._workers.asked if worker == number))

        return type("actor", (), {"start": Method(start), "ask": Method(ask)})


def right(question: Question) -> Answer:
    return Answer(text=str(question.seed))


def lost(question: Question) -> Answer:
    raise LostError


def asked(workers: Workers, count: int, concurrency: int = 4) -> list[Answer | BaseException]:
    """What comes of so many questions, asked at once."""
    post = Post(ModelSettings("m"), "", "KEY", concurrency, Transport())

    async def whole() -> list[Answer | BaseException]:
        backend = RayBackend(Cluster(workers, len(workers.scripts)), post)
        questions = [Question([], {}, seed=number) for number in range(count)]
        found = await asyncio.gather(*(backend.ask(one) for one in questions), return_exceptions=True)
        assert backend.requests == sum(size for worker, size in workers.asked if workers.scripts[worker] is not lost)
        await backend.close()
        return list(found)

    return asyncio.run(whole())


def test_shards_go_to_the_idlest_worker_and_every_asker_gets_its_own_answer() -> None:
    workers = Workers(right, right)
    assert [one.text for one in asked(workers, 10) if isinstance(one, Answer)] == [str(n) for n in range(10)]
    assert sorted(workers.asked) == [(0, 2), (0, 4), (1, 4)], "the last one is not full and does not wait for more"


def test_a_lost_worker_leaves_failures_of_the_way_and_the_others_go_on() -> None:
    workers = Workers(lost, right)
    found = asked(workers, 8)
    assert [one.failure for one in found if isinstance(one, Answer)] == [SERVER_ERROR] * 4 + [""] * 4


def test_without_any_worker_left_the_run_ends_and_nothing_is_marked_failed() -> None:
    found = asked(Workers(lost), 4)
    assert all(isinstance(one, ServerUnusableError) and "No worker" in one.title for one in found)


def test_a_server_that_cannot_be_used_is_told_and_what_was_answered_is_kept() -> None:
    def script(question: Question) -> Answer | Unusable:
        return Unusable("No money.", "words", "Top it up.") if question.seed == 2 else right(question)

    found = asked(Workers(script), 4)
    assert [type(one) for one in found] == [Answer, Answer, ServerUnusableError, Answer]
    assert str(found[2]) == "No money.\nwords\nTop it up."
