"""May the judge stand in for an annotator? The alternative annotator test (Calderon, Reichart & Dror, ACL 2025).

Each annotator in turn is held out and compared with the judge: who of the two is closer to the remaining annotators,
item by item? The judge wins over an annotator when it is as close or closer, less a margin ε that stands for what a
person costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.holm import benjamini_yekutieli
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.statistic import Statistic

Closeness = Literal["match", "distance"]
"""match: share of the others who gave the same label. distance: minus the root mean square difference from them."""

EPSILON = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
"""Margins by who annotated; smaller ones where they agree little."""
DISCOVERY_RATE = 0.05
T_TEST_ITEMS = 30
"""Below so many items Wilcoxon's signed-rank test takes the place of Student's."""
LEAST_ITEMS = 5
LEAST_ANNOTATORS = 3


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One annotator against the judge.

    Attributes:
        n: items both labelled that another annotator labelled too.
        judge: share of items on which the judge is as close to the others or closer; annotator: the same of the person.
        p_value: that the annotator beats the judge by ε or more. judge_wins: after Benjamini–Yekutieli.
    """

    n: int
    judge: float
    annotator: float
    p_value: float
    judge_wins: bool


@dataclass(frozen=True, slots=True)
class AnnotatorTest:
    """The outcome.

    Attributes:
        winning_rate: ω, share of annotators the judge wins over. advantage_probability: ρ, mean of `HeldOut.judge`.
        passed: ω ≥ 0.5; None when the test cannot be made.
        annotators: by name; those with too few items are not in it.
        notes: what to read the outcome with.
    """

    winning_rate: Statistic
    advantage_probability: Statistic
    epsilon: float
    passed: bool | None
    annotators: Mapping[str, HeldOut]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "winning_rate": self.winning_rate.as_json(),
            "advantage_probability": self.advantage_probability.as_json(),
            "epsilon": self.epsilon,
            "passed": self.passed,
            "annotators": {
                name: {
                    "n": one.n,
                    "judge": one.judge,
                    "annotator": one.annotator,
                    "p_value": one.p_value,
                    "judge_wins": one.judge_wins,
                }
                for name, one in self.annotators.items()
            },
            "notes": list(self.notes),
        }


def annotator_test(
    annotators: Mapping[str, FloatArray],
    judge: FloatArray,
    epsilon: float = EPSILON["experts"],
    closeness: Closeness = "match",
    expert: FloatArray | None = None,
    blind: bool = True,
) -> AnnotatorTest:
    """Test whether the judge may take an annotator's place.

    Args:
        annotators: labels of each as numbers (codes for `match`, values for `distance`), shape (items,), nan for none.
        judge: the same of the judge.
        expert: labels of one expert. Everybody is then compared with the expert instead of with each other, and one
            annotator is enough.
        blind: False when a label may have been given after a verdict was seen: such people agree with the judge by
            themselves, and the test is refused.
    """
    if not blind:
        why = "annotators who saw the judge's verdict pass any judge: the test needs blind labels"
        return _refused("labels_not_blind", why, len(judge), epsilon)
    names = list(annotators)
    table = np.array([annotators[name] for name in names], dtype=np.float64).reshape(len(names), len(judge))
    rows: dict[str, _Gains] = {}
    left_out: dict[str, _Gains] = {}
    for place, name in enumerate(names):
        others = np.delete(table, place, axis=0) if expert is None else expert[np.newaxis, :]
        gains = _compare(table[place], np.asarray(judge, np.float64), others, closeness)
        (rows if len(gains.judge) >= LEAST_ITEMS else left_out)[name] = gains
    needed = 1 if expert is not None else LEAST_ANNOTATORS
    dropped = {"annotators_with_few_items": len(left_out)} if left_out else {}
    if len(rows) < needed:
        why = (
            f"{len(rows)} annotators share at least {LEAST_ITEMS} items with the judge and with others; {needed} are "
            "needed" + ("" if expert is not None else ", or one expert to compare with")
        )
        return _refused("too_few_annotators", why, len(rows), epsilon, dropped)
    return _tested(rows, epsilon, dropped)


class _Gains(NamedTuple):
    """By item: the judge is as close to the others as the person or closer; the same of the person."""

    judge: NDArray[np.bool_]
    person: NDArray[np.bool_]


def _compare(person: FloatArray, judge: FloatArray, others: FloatArray, closeness: Closeness) -> _Gains:
    """Whether the judge, and whether the person, is as close to the others or closer, by item."""
    known = np.isfinite(others)
    both = np.isfinite(person) & np.isfinite(judge) & known.any(axis=0)
    mine, its = (_closeness(one, others, known, closeness)[both] for one in (person, judge))
    tie = np.isclose(mine, its, rtol=0, atol=1e-12)
    return _Gains((its > mine) | tie, (mine > its) | tie)


def _closeness(one: FloatArray, others: FloatArray, known: NDArray[np.bool_], closeness: Closeness) -> FloatArray:
    count = np.maximum(known.sum(axis=0), 1)
    if closeness == "match":
        return np.asarray(((others == one) & known).sum(axis=0) / count)
    return np.asarray(-np.sqrt(np.where(known, (others - one) ** 2, 0.0).sum(axis=0) / count))


def _tested(rows: Mapping[str, _Gains], epsilon: float, dropped: dict[str, int]) -> AnnotatorTest:
    p_values = [p_value(person.astype(float) - judge, epsilon) for judge, person in rows.values()]
    wins = benjamini_yekutieli(p_values, DISCOVERY_RATE)
    found = {
        name: HeldOut(len(judge), float(judge.mean()), float(person.mean()), p, win)
        for (name, (judge, person)), p, win in zip(rows.items(), p_values, wins, strict=True)
    }
    n = len(found)
    rate = sum(one.judge_wins for one in found.values()) / n
    advantage = sum(one.judge for one in found.values()) / n
    test = f"ε = {epsilon:g}, Benjamini-Yekutieli at {DISCOVERY_RATE:g}"
    return AnnotatorTest(
        Statistic(rate, n, f"winning rate of the alternative annotator test; {test}", dropped=dropped),
        Statistic(advantage, n, "advantage probability of the alternative annotator test", dropped=dropped),
        epsilon,
        rate >= 0.5,
        found,
        tuple(_notes(found, rows)),
    )


def p_value(differences: FloatArray, epsilon: float) -> float:
    """One-sided p of mean(differences) ≥ ε, shape (n,), each −1, 0 or 1.

    Without variance nothing can be tested: 0 when the common difference is below ε, else 1.
    """
    if float(np.ptp(differences)) == 0:
        return 0.0 if float(differences[0]) < epsilon else 1.0
    if len(differences) < T_TEST_ITEMS:
        from scipy.stats import wilcoxon

        return float(wilcoxon(differences - epsilon, alternative="less").pvalue)
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(differences, epsilon, alternative="less").pvalue)


def _notes(found: Mapping[str, HeldOut], rows: Mapping[str, _Gains]) -> list[str]:
    notes = [
        f"the judge ties with {name} on all {len(judge)} items: nothing varies, and the margin alone decides; make "
        f"sure that {name} did not see the verdicts"
        for name, (judge, person) in rows.items()
        if bool((judge & person).all())
    ]
    few = [name for name, one in found.items() if one.n < T_TEST_ITEMS]
    if few:
        notes.append(f"fewer than {T_TEST_ITEMS} items of {', '.join(few)}: tested by Wilcoxon's signed ranks")
    return notes


def _refused(status: str, why: str, n: int, epsilon: float, dropped: dict[str, int] | None = None) -> AnnotatorTest:
    rate = Statistic.undefined(status, why, n, dropped, "winning rate of the alternative annotator test")
    advantage = Statistic.undefined(status, why, n, dropped, "advantage probability of the alternative annotator test")
    return AnnotatorTest(rate, advantage, epsilon, None, {})
