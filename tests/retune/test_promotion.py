"""Promotion: on the sealed test, paired, by groups; noise is not promoted, a real gain is, and what broke is said."""

from __future__ import annotations

import numpy as np
import pytest

from judges.calibration.agreement.binomial import mcnemar_exact
from judges.retune.promotion import Paired, Promotion, Prompts, balanced_accuracy, promotion

LABELS = ("right", "wrong")


def made(seed: int, before: float, after: float, *, n: int = 120, wrong: float = 0.3, size: int = 2) -> Paired:
    """Items in groups of `size`; each prompt is right with its own probability, half of it shared within groups."""
    rng = np.random.default_rng(seed)
    people = (rng.random(n) < wrong).astype(np.int64)
    groups = np.arange(n) // size

    def verdicts(accuracy: float) -> np.ndarray:
        luck = np.where(rng.random(n) < 0.5, rng.random(n), rng.random(n)[groups])
        return np.where(luck < accuracy, people, 1 - people)

    return Paired(LABELS, people, verdicts(before), verdicts(after), groups.tolist())


def decided(test: Paired, **prompts: object) -> Promotion:
    return promotion(test, Prompts(**prompts))  # type: ignore[arg-type]


def test_a_real_gain_is_promoted_and_its_numbers_are_those_of_the_items() -> None:
    test = made(1, 0.6, 0.95)
    found = decided(test, val_before=0.6, val_after=0.97)
    assert found.outcome == "better" and found.difference.low is not None and found.difference.low > 0
    y, a, b = test.people, test.before, test.after
    gain = balanced_accuracy(y, b, 2) - balanced_accuracy(y, a, 2)
    assert found.difference.value == pytest.approx(gain)
    fixed, broken = int(((a != y) & (b == y)).sum()), int(((a == y) & (b != y)).sum())
    assert sum(found.fixed.values()) == fixed and sum(found.broken.values()) == broken
    assert found.p_value == mcnemar_exact(broken, fixed)
    assert found.curse == pytest.approx(0.37 - gain)
    assert "on val, where it was chosen" in found.reasons[-1]


def test_accuracy_alone_is_not_balanced_accuracy() -> None:
    people = np.array([0] * 90 + [1] * 10)
    before, after = people.copy(), np.zeros(100, dtype=np.int64)
    before[:9] = 1
    found = decided(Paired(LABELS, people, before, after, list(range(100))))
    assert (before == people).mean() == 0.91 and (after == people).mean() == 0.90
    assert found.difference.value == pytest.approx(0.5 - 0.95)
    assert found.outcome == "not_better" and found.broken == {"wrong": 10} and found.fixed == {"right": 9}


def test_a_leak_refuses_whatever_the_numbers_are() -> None:
    found = decided(made(1, 0.6, 0.95), leaked=("item-1",))
    assert found.outcome == "refused" and "quotes 1 item" in found.reasons[0]


def test_fewer_readable_verdicts_are_no_promotion() -> None:
    test = made(1, 0.6, 1.0)
    test.after[:5] = -1
    found = decided(test)
    assert found.difference.low is not None and found.difference.low > 0
    assert found.outcome == "not_better" and "115 of 120" in found.reasons[0]


def test_as_good_and_cheaper_is_promoted_but_only_when_that_is_shown() -> None:
    people = made(1, 0.6, 0.6, n=400).people
    same = Paired(LABELS, people, people.copy(), people.copy(), list(range(400)))
    assert decided(same, cost_before=2.0, cost_after=1.0).outcome == "cheaper"
    assert decided(same, cost_before=1.0, cost_after=1.0).outcome == "not_better"
    assert decided(made(4, 0.8, 0.8), cost_before=2.0, cost_after=1.0).outcome == "not_better"


def test_with_few_groups_there_is_no_claim() -> None:
    base = made(3, 0.6, 0.9)
    found = decided(Paired(LABELS, base.people, base.before, base.after, [n % 4 for n in range(120)]))
    assert found.outcome == "not_better" and "4 groups" in found.reasons[0]


def test_too_few_items_of_a_label_are_no_claim() -> None:
    people = np.array([0] * 100 + [1] * 4)
    found = decided(Paired(LABELS, people, np.zeros(104, dtype=np.int64), people.copy(), list(range(104))))
    assert found.outcome == "not_better" and "4 items that people call wrong" in found.reasons[0]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 20])
def test_no_gain_is_rarely_promoted(size: int) -> None:
    promoted = sum(decided(made(seed, 0.75, 0.75, size=size)).promoted for seed in range(120))
    assert promoted <= 6, f"{promoted} of 120"
