"""How fast and how flat a judge's run is: many items at a server with a fixed latency, in a process of its own.

    python -m tests.performance.judging --items 20000 --concurrency 64 --latency 0.5
    python -m tests.performance.judging --halumem-long --items 118000 --latency 0.05

The first judges a table in this process: throughput against concurrency / latency, memory at each fifth of the run, and
calls. The second imports a run of the shape of HaluMem-Long with the real command, has the real command
judge all of it, and looks at it from outside: verdicts a second and memory at each fifth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from judges.collect import task_definitions
from judges.run import JudgeRun, Scope
from judges.setup import JudgeOptions, chat_backend, make_askers, make_budget
from store.heaps import share_heaps
from store.items import count_items
from store.study import Study
from tests.commands import ROOT, overread_command, overread_environment
from tests.judging.conftest import make_study, rows
from tests.judging.test_going_on import server_process, stats


def resident_kb(process: int | str = "self") -> int:
    """Memory of a process that is in RAM, in KB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


async def measured(study: Study, address: str, concurrency: int) -> tuple[float, list[int]]:
    """Seconds of the run, and memory at each twentieth of it."""
    options = JudgeOptions("m", f"{address}/v1", concurrency=concurrency)
    backend = chat_backend(options)
    asker = make_askers(study, [task_definitions(study)["qa"]], options, backend, make_budget(options))[0]
    run = JudgeRun(study, asker, Scope("qa", concurrency=concurrency))
    memory: list[int] = []

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.2)
            if run.state.slots and run.state.done >= len(memory) * run.state.slots / 20:
                memory.append(resident_kb())

    watcher = asyncio.create_task(watch())
    started = time.monotonic()
    result = await run.run()
    seconds = time.monotonic() - started
    watcher.cancel()
    await backend.close()
    assert (result.outcome, result.state.judged) == ("done", result.state.slots), result
    return seconds, [*memory, resident_kb()]


def make_long_study(folder: Path, records: int) -> Path:
    """A study of a run of the shape of HaluMem-Long; everything in processes of their own."""
    writer = [sys.executable, "-m", "tests.tools.write_halumem_long", str(folder), "--records", str(records)]
    written = subprocess.run(writer, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    verdicts, answers = written.stdout.split()
    study = folder / "long.duckdb"
    for command in (["init", str(study), "--benchmark", "halumem"],
                    ["--study", str(study), "import", verdicts, "--answers", answers]):  # fmt: skip
        subprocess.run(overread_command(*command), env=overread_environment(), check=True, stdout=sys.stderr)
    return study


def watch_command(study: Path, address: str, concurrency: int) -> None:
    """Have the command judge all, and print rate and memory at each fifth of what there is to judge."""
    command = overread_command(
        "--study", str(study), "judge", "--model", "m", "--base-url", f"{address}/v1", "--items", "all", "--json",
        "--concurrency", str(concurrency),
    )  # fmt: skip
    with Study.open(study) as opened:
        calls = sum(count_items(opened).values())  # each of its inputs is its own
    environment = overread_environment()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as process:
        fifths = [(time.monotonic(), stats(address)["count"])]
        while process.poll() is None and len(fifths) < 6:
            time.sleep(0.2)
            count = stats(address)["count"]
            if count >= len(fifths) * calls / 5:
                fifths.append((time.monotonic(), count))
                rate = (count - fifths[-2][1]) / (fifths[-1][0] - fifths[-2][0])
                print(f"{count:,} calls, {rate:.1f}/s, {resident_kb(process.pid) / 1024:.0f} MB", flush=True)
        assert process.stdout is not None
        runs = json.loads(process.stdout.read())["runs"]
    seconds, asked = time.monotonic() - fifths[0][0], stats(address)["count"]
    assert process.returncode == 0 and all(run["outcome"] == "done" for run in runs), runs
    judged = sum(run["judged"] for run in runs)
    print(f"{judged:,} verdicts in {seconds:.0f} s: {judged / seconds:.1f}/s; calls: {asked:,} of {calls:,} needed")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--halumem-long", action="store_true")
    given, _ = parser.parse_known_args()
    share_heaps()  # as the command does
    if given.halumem_long:
        with tempfile.TemporaryDirectory() as folder, server_process(given.latency) as address:
            watch_command(make_long_study(Path(folder), given.items), address, given.concurrency)
        return
    with tempfile.TemporaryDirectory() as folder, server_process(given.latency) as address:
        with Study.open(make_study(Path(folder), rows(given.items))) as study:
            seconds, memory = asyncio.run(measured(study, address, given.concurrency))
        calls = stats(address)["count"]
    rate, ideal = given.items / seconds, given.concurrency / given.latency
    print(f"{given.items:,} items in {seconds:.1f} s: {rate:.1f}/s, {100 * rate / ideal:.1f} % of {ideal:.0f}/s")
    fifths = [memory[len(memory) * fifth // 5] for fifth in range(1, 5)]
    print(f"memory at fifths: {'/'.join(f'{size / 1024:.0f}' for size in [*fifths, memory[-1]])} MB")
    print(f"calls: {calls:,}")


if __name__ == "__main__":
    main()
