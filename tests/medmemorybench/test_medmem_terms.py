"""Metrics as functions of totals: they add up to the scores, and say what must be labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from medmem_records import (
    TYPES,
    Imported,
    chain_query,
    grid,
    query_of,
    read,
    record_of,
    run_of,
    whole_shape,
    write,
    write_queries,
)

from judges.benchmarks.benchmark import ScoredItem, Undefined
from judges.benchmarks.medmemorybench import BENCHMARK
from store.records import LabelState

MCD = "multi_hop_clinical_deduction"
States = Callable[[ScoredItem], LabelState | None]


def totals(imported: Imported, state_of: States) -> Mapping[str, float]:
    found: Counter[str] = Counter()
    for item in imported.scored():
        for name, value in BENCHMARK.terms(item, state_of(item)).items():
            found[name] += value  # type: ignore[assignment]
    return found


def of_verdict(item: ScoredItem) -> LabelState | None:
    verdict = item.verdict
    return LabelState(value=verdict.label, parts=verdict.parts) if verdict and verdict.label else None


def at(scores: Mapping[str, object], path: str) -> object:
    value: object = scores
    for name in path.split(" / "):
        assert isinstance(value, Mapping)
        value = value[name]
    return value


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    queries = [chain_query(at) for at in (10, 20)]
    queries += [query_of(task, at) for task in TYPES if task != "mcd" for at in (10, 20)]
    files = [write_queries(tmp_path, queries, persona) for persona in "12"]
    return read(write(tmp_path, whole_shape()), answers=files)


def test_combined_totals_of_the_verdicts_are_as_coded(imported: Imported) -> None:
    """Failed verdicts count as coded: the text "false" as correct, a failed judge as incorrect."""
    combined = BENCHMARK.combine(totals(imported, of_verdict))
    coded, described = imported.as_coded(), imported.as_described()
    for path, value in combined.items():
        if path in ("mean_of_six", "hallucination / rate"):
            assert value == pytest.approx(at(described, path))
        elif path.startswith("checkpoints"):
            session = path.split(" / ")[1]
            if session in described["checkpoints"]:
                assert value == at(described, path)
            else:
                assert isinstance(value, Undefined)
        else:
            assert value == pytest.approx(at(coded, path)), path


def test_a_rule_nobody_judged_again_counts_as_the_rule_has_it(imported: Imported) -> None:
    (item,) = [i for i in imported.scored(judge="judge") if i.task == "mq" and i.cluster == "2"]
    assert item.verdict is None
    assert BENCHMARK.terms(item, None)["correct/multiple_choice"] == 1.0


def test_what_each_metric_needs_is_a_task_or_part_that_exists() -> None:
    tasks = {task.task: {part.id for part in task.parts} for task in BENCHMARK.tasks()}
    needs = BENCHMARK.needs()
    assert set(needs) == set(BENCHMARK.combine({}))
    for needed in needs.values():
        for name in needed:
            task, _, part = name.partition("/")
            assert task in tasks and (not part or part in tasks[task])
    assert needs["summary / by_type / state_update / accuracy"] == {"sua"}
    assert needs[f"summary / by_type / {MCD} / avg_cc"] == {"mcd", "mcd/cc"}
    assert needs["summary / overall_accuracy"] == {"eem", "tla", "sua", "mq", "ig", "mcd"}


def test_no_totals_give_no_numbers() -> None:
    assert all(isinstance(value, Undefined) for value in BENCHMARK.combine({}).values())


@given(st.data())
def test_terms_of_labels_combine_to_overridden(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """With every item labelled, the totals give the same metrics as the official sums over the labels."""
    folder = tmp_path_factory.mktemp("terms")
    queries = [chain_query(20)] + [query_of(task, 20) for task in TYPES if task != "mcd"]
    records = [("1", record_of(task, 20)) for task in TYPES]
    imported = read(write(folder, run_of(records)), answers=[write_queries(folder, queries)])
    for item in imported.items.values():
        parts: dict[str, str] = {}
        if item.task == "mcd":
            row = st.text(alphabet="yn", min_size=3, max_size=3)
            nodes = grid(*(data.draw(row) for _ in range(4)))
            parts = {"conclusion": "agrees", "nodes": nodes, "cc": data.draw(st.sampled_from(["1.0", "0.5", "0.0"]))}
        elif data.draw(st.booleans()):
            parts = {"abstained": data.draw(st.sampled_from(["yes", "no"]))}
        imported.label(item, data.draw(st.sampled_from(["correct", "incorrect"])), parts=parts)
    combined = BENCHMARK.combine(totals(imported, lambda item: item.label))
    overridden = imported.overridden()
    for path, value in combined.items():
        if path.startswith("checkpoints"):
            continue
        expected = at(overridden, path)
        if isinstance(expected, Undefined):
            assert isinstance(value, Undefined), path
        else:
            assert value == pytest.approx(expected), path
    accuracy = combined["checkpoints / 20 / accuracy"]
    assert accuracy == pytest.approx(overridden["summary"]["overall_accuracy"])
