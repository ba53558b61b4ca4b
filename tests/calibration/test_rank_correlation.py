"""Correlation of people's values with a judge's scores, from counts of distinct pairs."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judges.calibration.agreement.kendall import kendall_tau_b, tau_values
from judges.calibration.agreement.pearson import pearson
from judges.calibration.agreement.scored_pairs import ScoredPairs, correlation
from judges.calibration.agreement.spearman import spearman, spearman_values

values = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=3, max_size=40)


@given(values)
def test_counts_equal_scipy(rows: list[tuple[int, int]]) -> None:
    x, y = [row[0] for row in rows], [row[1] / 4 for row in rows]
    pairs = ScoredPairs.of_values(x, y)
    weights = pairs.counts.astype(float)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert kendall_tau_b(pairs).status == spearman(pairs).status == pearson(pairs).status == "constant_rater"
        return
    assert float(tau_values(pairs, weights)) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert float(spearman_values(pairs, weights)) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    by_counts = correlation(weights, pairs.x[pairs.x_index], pairs.y[pairs.y_index])
    assert float(by_counts) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert kendall_tau_b(pairs).value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert pairs.n == len(rows)


def test_intervals_hold_the_value_and_missing_scores_are_counted() -> None:
    rng = np.random.default_rng(2)
    people = rng.integers(0, 3, 120).astype(float)
    scores = people + rng.normal(0, 1, 120)
    scores[:5], scores[5] = np.nan, np.inf
    pairs = ScoredPairs.of_values(people, scores)
    for coefficient in (kendall_tau_b, spearman, pearson):
        found = coefficient(pairs, pairs.bootstrap())
        assert (found.n, found.dropped) == (114, {"not_paired": 6})
        assert cast(float, found.low) < cast(float, found.value) < cast(float, found.high)


def test_pearson_interval_is_near_fishers() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=300)
    y = 0.6 * x + 0.8 * rng.normal(size=300)
    pairs = ScoredPairs.of_values(x, y)
    found, fisher = pearson(pairs, pairs.bootstrap()), stats.pearsonr(x, y).confidence_interval()
    assert (found.low, found.high) == pytest.approx((fisher.low, fisher.high), abs=0.03)


def test_too_little_to_say() -> None:
    assert pearson(ScoredPairs.of_values([], [])).status == "no_pairable_items"
    assert pearson(ScoredPairs.of_values([1.0], [2.0])).status == "too_few"
    pairs = ScoredPairs.of_values([1, 2, 3], [1, 3, 2])
    found = spearman(pairs, pairs.bootstrap())
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.why) == (None, "3 items; an interval needs 10")


def test_too_many_distinct_pairs_are_not_resampled() -> None:
    x = np.arange(2500.0)
    pairs = ScoredPairs.of_values(x, x[::-1])
    found = kendall_tau_b(pairs, pairs.bootstrap())
    assert found.value == pytest.approx(-1.0)
    assert "more than 2,000 distinct pairs" in found.why
