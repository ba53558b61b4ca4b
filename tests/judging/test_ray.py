"""A judge's run on a real Ray of this machine: the same verdicts, nothing paid twice, no word to anybody else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from store.shards import shard_folder, take_in_shards
from store.study import Study
from tests.commands import ROOT, Overread, overread_command, overread_environment
from tests.judging.conftest import make_study, rows
from tests.judging.judge_runs import fates
from tests.judging.test_going_on import server_process, stats, wait_for
from tests.offline import NoNetwork

pytestmark = [pytest.mark.ray, pytest.mark.timeout(300)]

KEY = "sk-very-secret-indeed"
HEAD = """
import os, sys
from judges.backends.ray_cluster import ray_cluster
with ray_cluster("", 2) as cluster:
    print(cluster.ray.get_runtime_context().gcs_address, os.environ["RAY_AUTH_TOKEN"], file=sys.__stdout__, flush=True)
    sys.stdin.read()
"""
CONCURRENCY, WORKERS = 4, 2


@pytest.fixture(scope="module", autouse=True)
def _ray() -> None:
    pytest.importorskip("ray", reason="ray is not installed")


@pytest.fixture(scope="module")
def cluster(_ray: None) -> Iterator[dict[str, str]]:
    """The environment of a command that uses a running cluster; its address is under ADDRESS."""
    environment = overread_environment({"OPENAI_API_KEY": KEY})
    with subprocess.Popen(
        [sys.executable, "-c", HEAD], cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as head:  # fmt: skip
        assert head.stdout is not None and head.stdin is not None
        address, token = head.stdout.readline().split()
        yield {"ADDRESS": address, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token,
               "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # fmt: skip
        head.stdin.close()
        head.wait(60)


def start(study: Path, address: str, cluster: dict[str, str]) -> subprocess.Popen[str]:
    """A run on the cluster, in a process of its own; it has no key, which is the workers' own."""
    command = overread_command(
        "--study", str(study), "judge", "--model", "m", "--base-url", f"{address}/v1", "--items", "all", "--json",
        "--concurrency", str(CONCURRENCY), "--engine", "ray", "--ray-address", cluster["ADDRESS"],
        "--workers", str(WORKERS),
    )  # fmt: skip
    return subprocess.Popen(
        command, env=overread_environment(cluster), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )


def test_a_run_on_a_ray_of_its_own_reaches_nobody_else_and_leaves_no_key(
    tmp_path: Path, overread_cli: Overread, no_network: NoNetwork
) -> None:
    study = make_study(tmp_path, rows(40))
    before = set(Path("/tmp").glob("or-*"))
    with server_process(latency=0.05) as address:
        done = overread_cli(
            "--study", study, "judge", "--model", "m", "--base-url", f"{address}/v1", "--items", "all", "--json",
            "--engine", "ray", "--workers", "2", env={**no_network.env, "OPENAI_API_KEY": KEY},
        )  # fmt: skip
        assert done.exit_code == 0, done
        [run] = done.json()["runs"]
        assert (run["judged"], run["requests"], stats(address)["count"]) == (40, 40, 40)
        assert stats(address)["most_active"] > 8, "both workers asked"
    assert no_network.attempts() == []
    assert set(Path("/tmp").glob("or-*")) <= before, "Ray's own files are gone"
    with Study.open(study) as opened:
        assert fates(opened) == {"CORRECT": 40}
        files = list(shard_folder(opened).iterdir())
        assert opened.rows("SELECT count(*), sum(verdicts) FROM verdict_shards") == [(len(files), 40)]
    for file in [*tmp_path.rglob("*")]:
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_killed_in_the_middle_only_what_was_on_its_way_is_paid_again(tmp_path: Path, cluster: dict[str, str]) -> None:
    study, on_the_way = make_study(tmp_path, rows(120)), 2 * CONCURRENCY * WORKERS
    with server_process(latency=0.2) as address:
        process = start(study, address, cluster)
        wait_for(60, address)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        with Study.open(study) as opened:
            take_in_shards(opened)
            stored = fates(opened)["CORRECT"]
        asked = settled(address)  # the workers end with their driver, some time after it
        assert stored >= asked - on_the_way
        said, told = start(study, address, cluster).communicate(timeout=120)
        [run] = json.loads(said)["runs"]
        assert (run["before"], run["outcome"]) == (stored, "done"), told
        assert stats(address)["count"] == asked + 120 - stored
    with Study.open(study) as opened:
        assert fates(opened) == {"CORRECT": 120}
        assert opened.rows("SELECT count(*), count(DISTINCT verdict_id) FROM verdicts") == [(120, 120)]


def test_ctrl_c_waits_for_what_is_on_its_way(tmp_path: Path, cluster: dict[str, str]) -> None:
    study = make_study(tmp_path, rows(200))
    with server_process(latency=0.2) as address:
        process = start(study, address, cluster)
        wait_for(30, address)
        process.send_signal(signal.SIGINT)
        said, told = process.communicate(timeout=60)
        asked = stats(address)["count"]
    assert process.returncode == 130 and "Traceback" not in told, told
    assert json.loads(said)["runs"][0]["outcome"] == "stopped"
    with Study.open(study) as opened:
        assert fates(opened) == {"CORRECT": asked} and asked < 200


def test_what_a_lost_worker_had_goes_to_another(tmp_path: Path, cluster: dict[str, str]) -> None:
    study = make_study(tmp_path, rows(60))
    with server_process(latency=0.2) as address:
        process = start(study, address, cluster)
        wait_for(20, address)
        os.kill(worker_processes(lambda name: name.startswith("ray::Worker"))[0], signal.SIGKILL)
        said, told = process.communicate(timeout=120)
        [run] = json.loads(said)["runs"]
        assert (run["outcome"], run["judged"], run["failures"]) == ("done", 60, {}), told
        assert 60 < stats(address)["count"] <= 60 + 2 * CONCURRENCY, "what the lost one had was asked again"
    with Study.open(study) as opened:
        assert fates(opened) == {"CORRECT": 60}


def settled(address: str) -> int:
    """The calls that the server has had when no more come."""
    count = -1
    while count < (count := stats(address)["count"]):
        time.sleep(1.5)
    return count


def worker_processes(chosen: Callable[[str], bool]) -> list[int]:
    """Processes whose command line is such."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            name = place.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            continue
        if chosen(name):
            found.append(int(place.parent.name))
    return found
