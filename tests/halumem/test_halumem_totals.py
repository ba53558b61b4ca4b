"""The correctable metrics are the official ones: what items add up to combines to `overall_score`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from halumem_records import MARTIN, SHEET, VERDICTS, read

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.halumem import BENCHMARK, totals


def flat(scores: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in scores.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name} / ")
        else:
            found[f"{prefix}{name}"] = value
    return found


def sums(path: Path, answers: list[Path]) -> dict[str, float | Undefined]:
    imported = read(path, answers=answers)
    counted: Counter[str] = Counter()
    for item in imported.scored():
        for name, value in BENCHMARK.terms(item, None).items():
            counted[name] += value  # type: ignore[assignment]
    return dict(BENCHMARK.combine(counted))


BOOLEAN_FLAG = {"memory_accuracy / target_accuracy(all)", "memory_extraction_f1"}
"""The synthetic file has a JSON `true` as flag, which the official script counts as not true."""


@pytest.mark.parametrize(("path", "answers", "apart"), [(MARTIN, [], set()), (VERDICTS, [SHEET], BOOLEAN_FLAG)])
def test_totals_over_the_verdicts_combine_to_the_official_all_variants(
    path: Path, answers: list[Path], apart: set[str]
) -> None:
    combined = sums(path, answers)
    stated = flat(json.loads(path.read_text(encoding="utf-8"))["overall_score"])
    compared = [name for name in combined if name in stated and "(valid)" not in name and name not in apart]
    assert len(compared) >= 20
    for name in compared:
        assert combined[name] == pytest.approx(stated[name], abs=1e-12), name


def test_every_metric_says_which_labels_it_needs() -> None:
    assert totals.needs().keys() == totals.combine({}).keys()
    assert totals.needs()["memory_extraction_f1"] == {"integrity", "accuracy", "accuracy/included"}


def test_nothing_to_count_is_undefined_with_the_reason() -> None:
    recall = totals.combine({})["memory_integrity / recall(all)"]
    assert isinstance(recall, Undefined) and "gold" in recall.why
