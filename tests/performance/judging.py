"""How fast and how flat a judge's run is: many items at a server with a fixed latency, in a process of its own.

    python -m tests.performance.judging --items 20000 --concurrency 64 --latency 0.5

Prints throughput against concurrency / latency, the most memory after a fifth of the run and at its end, and calls.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from judges.collect import task_definitions
from judges.run import JudgeRun, Scope
from judges.setup import JudgeOptions, chat_backend, make_askers, make_budget
from store.study import Study
from tests.judging.conftest import make_study, rows
from tests.judging.test_going_on import server_process, stats


def resident_kb() -> int:
    """Memory of this process that is in RAM, in KB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.5)
    given, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder, server_process(given.latency) as address:
        with Study.open(make_study(Path(folder), rows(given.items))) as study:
            seconds, memory = asyncio.run(measured(study, address, given.concurrency))
        calls = stats(address)["count"]
    rate, ideal = given.items / seconds, given.concurrency / given.latency
    print(f"{given.items:,} items in {seconds:.1f} s: {rate:.1f}/s, {100 * rate / ideal:.1f} % of {ideal:.0f}/s")
    print(f"memory: {memory[len(memory) // 5] / 1024:.0f} MB after a fifth, {memory[-1] / 1024:.0f} MB at the end")
    print(f"calls: {calls:,}")


if __name__ == "__main__":
    main()
