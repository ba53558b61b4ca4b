"""Whatever a file holds, reading, scoring and writing never raise: faults are problems, crashes are said."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from halumem_records import read, stat, users, write_stat, write_users
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.halumem import BENCHMARK

REMOVED = object()

odd_values = st.sampled_from(
    [REMOVED, None, True, False, 0, 3, -1, 2.5, 10**400, "", "2", "judge_failed", [], ["x", 1, None], {}, {"judge": []}]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for name, part in inner for found in [(*path, name), *places(part, (*path, name))]]


def put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for name in path[:-1]:
        value = value[name]
    if new is REMOVED:
        del value[path[-1]]
    else:
        value[path[-1]] = deepcopy(new)


def leaves(scores: Any) -> list[Any]:
    return [leaf for part in scores.values() for leaf in leaves(part)] if isinstance(scores, dict) else [scores]


SHEET_PLACES = places(users())
VERDICT_PLACES = places(stat())


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    in_sheet=st.lists(st.tuples(st.sampled_from(SHEET_PLACES), odd_values), max_size=3),
    in_verdicts=st.lists(st.tuples(st.sampled_from(VERDICT_PLACES), odd_values), max_size=3),
    with_sheet=st.booleans(),
)
def test_no_content_raises(
    tmp_path_factory: pytest.TempPathFactory,
    in_sheet: list[tuple[Any, Any]],
    in_verdicts: list[tuple[Any, Any]],
    with_sheet: bool,
) -> None:
    folder: Path = tmp_path_factory.mktemp("odd")
    people, value = users(), stat()
    for whole, changes in ((people, in_sheet), (value, in_verdicts)):
        for path, new in changes:
            try:
                put(whole, path, new)
            except (KeyError, IndexError, TypeError):
                continue
    sheets = [write_users(folder, people)] if with_sheet else []
    imported = read(write_stat(folder, value), answers=sheets)
    for item in list(imported.items.values())[::3]:
        task_values = {"qa": "Correct", "update": "Other"}
        imported.label_item(item, task_values.get(item.task, "1"))
    scores = imported.as_coded()
    assert all(isinstance(leaf, int | float | Undefined) for leaf in leaves(scores["memory_integrity"]))
    imported.as_described()
    imported.overridden()
    BENCHMARK.breakdowns(imported.scored(), imported.facts)
    BENCHMARK.warnings(imported.scored(), imported.facts)
    json.dumps(BENCHMARK.tracing(imported.scored(), imported.facts).as_json(), allow_nan=False)
    for name, text in imported.written().items():
        for whole_text in text.splitlines() if name.endswith("jsonl") else [text]:
            json.loads(whole_text)


@settings(deadline=None, max_examples=60)
@given(changes=st.lists(st.tuples(st.sampled_from(VERDICT_PLACES), odd_values), min_size=1, max_size=4))
def test_a_verdict_file_read_alone_and_written_without_labels_keeps_every_record_it_could_read(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[Any, Any]]
) -> None:
    value = stat()
    for path, new in changes:
        if path[0] != "overall_score" and len(path) > 2 and path[2] not in ("uuid", "ssession_id"):
            try:
                put(value, path, new)
            except (KeyError, IndexError, TypeError):
                continue
    imported = read(write_stat(tmp_path_factory.mktemp("kept"), value))
    again = json.loads(imported.written()["run_eval_stat_result.json"])
    lost = len(imported.fatal)
    for member in list(value)[1:]:
        kept = [record for record in value[member] if record in again[member]]
        assert kept == again[member]
        lost -= len(value[member]) - len(kept)
    assert lost == 0
