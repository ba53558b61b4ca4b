"""Inputs the tests of corrected scores share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judges.calibration.correction.records import Block, Draw, Share, Totals

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "correction_published.json").read_text(encoding="utf-8")
)

Floats = NDArray[np.float64]


def published(name: str) -> tuple[dict[str, Floats], dict[str, Any]]:
    """Input arrays and expected values of one published case."""
    case = PUBLISHED["cases"][name]
    return {key: np.array(value) for key, value in case["input"].items() if key != "kind"}, case["expected"]


def rate_block(judge: Floats, people: Floats, draw: Draw, name: str = "qa", **more: Any) -> Block:
    """A block with the terms `passed` and `items`; people's labels of all N items are cut to the drawn ones."""
    ones = np.ones(len(judge))
    both = np.stack([people, np.where(np.isnan(people), np.nan, 1.0)], axis=1)
    fixed = frozenset({"items"})
    return Block(name, ("passed", "items"), np.stack([judge, ones], 1), both[draw.drawn], draw, fixed=fixed, **more)


def rate(totals: Totals) -> dict[str, float | None]:
    return {"rate": totals["passed"] / totals["items"]}


RATE = {"rate": Share("passed", "items")}


def simulated(
    items: int, seed: int, passing: float = 0.7, tpr: float = 0.95, tnr: float = 0.9
) -> tuple[Floats, Floats]:
    """People's and the judge's yes/no labels of all items."""
    rng = np.random.default_rng(seed)
    people = (rng.random(items) < passing).astype(float)
    judge = np.where(people == 1, rng.random(items) < tpr, rng.random(items) >= tnr).astype(float)
    return people, judge


def simple(items: int, n: int, seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    return Draw(rng.choice(items, n, replace=False), items)
