"""Items in clusters: what the judge leans on is not proven by the same text counted ten times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judges.calibration.biases import covariate_effect, difference_of_means, family_preference, leniency
from judges.calibration.breakdown import broken_systems
from judges.calibration.clustered import cluster_numbers, clustered_difference, clustered_mean, mean_of_means
from judges.calibration.system_gaps import system_gaps

RNG = np.random.default_rng(11)


def test_clusters_of_one_item_are_none() -> None:
    assert cluster_numbers(["a", "b", "c"]) is None
    assert cluster_numbers(None) is None
    assert cluster_numbers([7, 7, 3]).tolist() == [1, 1, 0]  # type: ignore[union-attr]


def test_single_items_have_the_usual_error() -> None:
    values = RNG.normal(size=50)
    found = clustered_mean(values, np.arange(50))
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(50))
    assert found.df == 49


def test_the_same_text_ten_times_is_one_text() -> None:
    values = RNG.normal(size=30)
    once, often = clustered_mean(values, np.arange(30)), clustered_mean(values.repeat(10), np.arange(30).repeat(10))
    assert often == pytest.approx(once)


def test_a_mean_of_means_by_hand() -> None:
    values, clusters = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 0, 0, 1])
    assert mean_of_means(values, clusters).value == pytest.approx((1 / 3 + 1) / 2)
    assert clustered_mean(values, clusters).value == 0.5


def test_a_cluster_on_both_sides_cancels() -> None:
    effect, noise = RNG.normal(size=40), RNG.normal(scale=0.01, size=80)
    mine = np.arange(40)
    found = clustered_difference(effect + noise[:40], effect + noise[40:], mine, mine)
    assert found.error < 0.01


def test_one_cluster_shows_nothing() -> None:
    here = np.arange(40) < 20
    found = difference_of_means(RNG.normal(size=40), here, ~here, "gap", 0.95, (~here).astype(np.int64))
    assert found.p_value == 1.0 and found.statistic.low is None and "one cluster" in found.statistic.why


def clustered_study(rng: np.random.Generator) -> dict[str, Any]:
    """A judge without bias: 40 texts of 10 items, every other of system a; what it lets pass goes by the text."""
    clusters = np.arange(400) // 10
    people = (rng.random(400) < 0.6).astype(float)
    flips = rng.random(400) < rng.beta(0.3, 0.9, 40)[clusters]
    judge = np.where(flips, 1.0, people * (rng.random(400) > 0.1))
    length = rng.gamma(4, 100, 40)[clusters]
    return {"clusters": clusters, "people": people, "judge": judge, "length": length,
            "system": np.where(clusters % 2, "a", "b")}  # fmt: skip


@pytest.mark.slow
def test_a_judge_without_bias_is_rarely_blamed() -> None:
    """Taken as independent, the same data are blamed several times as often as the level allows."""
    rng = np.random.default_rng(2)
    blamed = {name: [0, 0] for name in ("length", "leniency", "family", "system")}
    runs = 200
    for _ in range(runs):
        study = clustered_study(rng)
        people, judge, system = study["people"], study["judge"], study["system"]
        for place, clusters in enumerate((study["clusters"], None)):
            passed = covariate_effect("length", study["length"], judge, people, clusters=clusters)
            blamed["length"][place] += passed.flagged
            found = leniency({"system": list(system)}, people, judge, clusters=clusters)
            blamed["leniency"][place] += any(one.flagged for one in found)
            blamed["family"][place] += family_preference(system == "a", people, judge, clusters=clusters).flagged
            agrees = people == judge
            blamed["system"][place] += any(
                (one.p_value or 1.0) < 0.05 for one in broken_systems(list(system), agrees, clusters=clusters)
            )
    for name, (clustered, naive) in blamed.items():
        assert clustered / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5, name
        assert naive > clustered, name


def test_a_gap_counts_each_item_and_each_cluster() -> None:
    clusters = np.array([0] * 30 + [1] * 5 + [2] * 5)
    people = np.zeros(40)
    judge = np.concatenate([np.zeros(30), np.ones(10)])
    found = system_gaps({"a": np.ones(40, dtype=bool)}, people, judge, clusters=clusters)[0]
    assert found.gap.value == pytest.approx(0.25)
    assert found.gap_by_cluster is not None and found.gap_by_cluster.value == pytest.approx(2 / 3)
    assert found.gap_by_cluster.n == 3 and "gap_by_cluster" in found.as_json()
    alone = system_gaps({"a": np.ones(40, dtype=bool)}, people, judge, clusters=np.arange(40))[0]
    assert alone.gap_by_cluster is None and "gap_by_cluster" not in alone.as_json()


def test_a_gap_from_a_draw_by_verdict_is_that_of_all_items() -> None:
    """The judge passes 900 of 1,000 and people 920; half of 100 labels lie on what it fails."""
    rng = np.random.default_rng(5)
    judge = (np.arange(1000) < 900).astype(float)
    people = judge.copy()
    people[:40], people[900:960] = 0.0, 1.0
    hits, values = 0, []
    for _ in range(100):
        drawn = np.concatenate([rng.choice(900, 50, False), 900 + rng.choice(100, 50, False)])
        weights = np.where(drawn < 900, 18.0, 2.0)
        gap = system_gaps({"a": np.ones(100, dtype=bool)}, people[drawn], judge[drawn], weights=weights)[0].gap
        assert gap.value is not None and gap.low is not None and gap.high is not None
        hits += gap.low <= -0.02 <= gap.high
        values.append(gap.value)
    assert np.mean(values) == pytest.approx(-0.02, abs=0.01)
    assert hits >= 92
