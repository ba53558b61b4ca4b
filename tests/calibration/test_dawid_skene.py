"""Dawid and Skene's anaesthetists, and what EM must hold to."""

from __future__ import annotations

import numpy as np
import pytest
from correction_cases import PUBLISHED
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.calibration.dawid_skene import dawid_skene

GIVEN = PUBLISHED["dawid_skene"]
RATINGS = np.array(GIVEN["ratings"])


def test_the_anaesthetists() -> None:
    found = dawid_skene(RATINGS[:, 0] - 1, RATINGS[:, 1] - 1, RATINGS[:, 2] - 1, 4)
    expected = GIVEN["own_em"]
    assert found.status == "ok"
    assert found.shares == pytest.approx(expected["class_marginals"], abs=1e-9)
    assert found.shares == pytest.approx(GIVEN["published_class_marginals"], abs=0.005)
    assert found.log_likelihood == pytest.approx(expected["loglik"], abs=1e-9)
    assert (found.labels + 1).tolist() == expected["labels"]
    for rater, rates in expected["error_rates"].items():
        assert found.error_rates[int(rater) - 1] == pytest.approx(np.array(rates), abs=1e-9)


def test_a_poor_rater_weighs_less_than_the_majority_says() -> None:
    """Two good raters against three who guess."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    right = [0.95, 0.95, 0.5, 0.5, 0.5]
    votes = np.stack([np.where(rng.random(300) < share, truth, 1 - truth) for share in right], axis=1)
    items, raters = np.repeat(np.arange(300), 5), np.tile(np.arange(5), 300)
    found = dawid_skene(items, raters, votes.ravel(), 2)
    majority = (votes.mean(axis=1) > 0.5).astype(int)
    assert (found.labels == truth).mean() > 0.93 > (majority == truth).mean()
    assert found.error_rates[:2, [0, 1], [0, 1]].min() > 0.85 > found.error_rates[2:, [0, 1], [0, 1]].max()


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 2)), min_size=5, max_size=60))
@settings(max_examples=20)
def test_shares_and_posteriors_are_shares(ratings: list[tuple[int, int, int]]) -> None:
    table = np.array(ratings)
    items = np.unique(table[:, 0], return_inverse=True)[1]
    found = dawid_skene(items, np.unique(table[:, 1], return_inverse=True)[1], table[:, 2], 3)
    assert found.shares.sum() == pytest.approx(1)
    assert found.posteriors.sum(axis=1) == pytest.approx(np.ones(items.max() + 1))


def test_equal_votes_are_not_broken() -> None:
    found = dawid_skene([0, 0], [0, 1], [0, 1], 2)
    assert found.labels.tolist() == [-1]


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="no rating"):
        dawid_skene([], [], [], 2)
    with pytest.raises(ValueError, match="not among 0 to 1"):
        dawid_skene([0], [0], [2], 2)
