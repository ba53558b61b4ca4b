"""Runs judges in this process, as the command does, and looks at what the study has afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from judges.collect import task_definitions
from judges.run import ASK_AGAIN, JudgeRun, RunResult, Scope
from judges.setup import JudgeOptions, chat_backend, make_askers, make_budget
from store.study import Study
from tests.judging.chat_server import ChatServer


def options(server: ChatServer, **more: Any) -> JudgeOptions:
    """A judge at the server that loses no time."""
    return JudgeOptions(**{"model": "gpt-4o", "base_url": server.url, "backoff_s": 0.002, "timeout_s": 5.0, **more})


def judge(
    study: Study, server: ChatServer, *, task: str = "qa", which: Any = "all", repeats: int = 1,
    again: tuple[str, ...] = ASK_AGAIN, **more: Any,
) -> RunResult:  # fmt: skip
    """Run the judge over a task."""
    given = options(server, **more)

    async def whole() -> RunResult:
        backend = chat_backend(given)
        try:
            asker = make_askers(study, [task_definitions(study)[task]], given, backend, make_budget(given))[0]
            scope = Scope(task, which, repeats, again, given.concurrency, given.split_by)
            return await JudgeRun(study, asker, scope).run()
        finally:
            await backend.close()

    return asyncio.run(whole())


def verdicts(study: Study, columns: str = "label, failure") -> list[tuple[Any, ...]]:
    """Columns of all verdicts, in the order of their items."""
    return study.rows(f"SELECT {columns} FROM verdicts ORDER BY position, item_id, repetition, judge_id")


def fates(study: Study) -> dict[str, int]:
    """Label or (failure) → how many."""
    return dict(Counter(label or f"({failure})" for label, failure in verdicts(study)))
