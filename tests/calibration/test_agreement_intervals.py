"""Intervals: exact and score bounds, resampling by counts, when an interval is withheld."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from judges.calibration.agreement import krippendorff_alpha as alpha_module
from judges.calibration.agreement.binomial import clopper_pearson, wilson
from judges.calibration.agreement.bootstrap import FEW_CLUSTERS, Bootstrap, rarest_label
from judges.calibration.agreement.class_agreement import positive_agreement
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.gwet import gwet_ac1
from judges.calibration.agreement.krippendorff_alpha import krippendorff_alpha
from judges.calibration.agreement.ratings import LabelCounts, PairTable
from judges.calibration.agreement.raw import raw_agreement
from judges.calibration.agreement.scale import FloatArray, IntArray, Scale

PASS_FAIL = Scale(("pass", "fail"))
SAS = PairTable.of_confusion(Scale(("1", "2", "3")), [[0, 4, 1], [0, 8, 0], [0, 1, 5]])
AUDIT_TABLE = [[184, 6], [4, 6]]


def audit_pairs() -> PairTable:
    return PairTable.of_confusion(PASS_FAIL, AUDIT_TABLE)


class TestBinomial:
    @pytest.mark.parametrize(
        ("k", "n", "low", "high"),
        [
            (0, 10, 0.0, 0.2775328),
            (5, 10, 0.2365931, 0.7634069),
            (10, 10, 0.7224672, 1.0),
        ],
    )
    def test_wilson(self, k: int, n: int, low: float, high: float) -> None:
        assert wilson(k, n) == pytest.approx((low, high), abs=1e-7)

    @pytest.mark.parametrize(
        ("k", "n", "low", "high"),
        [
            (0, 10, 0.0, 0.3084971),
            (5, 10, 0.1870860, 0.8129140),
            (7, 10, 0.3475471, 0.9332605),
            (0, 41, 0.0, 1 - 0.025 ** (1 / 41)),
        ],
    )
    def test_clopper_pearson(self, k: int, n: int, low: float, high: float) -> None:
        assert clopper_pearson(k, n) == pytest.approx((low, high), abs=1e-7)

    def test_both_equal_scipy(self) -> None:
        from scipy.stats import binomtest

        for k, n in ((1, 7), (6, 7), (13, 400), (399, 400)):
            test = binomtest(k, n)
            exact, score = test.proportion_ci(0.9, "exact"), test.proportion_ci(0.9, "wilson")
            assert clopper_pearson(k, n, 0.9) == pytest.approx((exact.low, exact.high), abs=1e-12)
            assert wilson(k, n, 0.9) == pytest.approx((score.low, score.high), abs=1e-12)

    @pytest.mark.parametrize(("k", "n"), [(1, 0), (0, 0), (3, 2), (-1, 2)])
    def test_no_share(self, k: int, n: int) -> None:
        with pytest.raises(ValueError, match="not a share"):
            wilson(k, n)
        with pytest.raises(ValueError, match="not a share"):
            clopper_pearson(k, n)


def brute_force(rows: IntArray, columns: IntArray, clusters: IntArray | None, resamples: int, seed: int) -> FloatArray:
    """Kappa of resampled items (or clusters of items), one by one, by scikit-learn."""
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        if clusters is None:
            drawn = rng.integers(0, len(rows), len(rows))
        else:
            names = rng.choice(np.unique(clusters), len(np.unique(clusters)))
            drawn = np.concatenate([np.flatnonzero(clusters == name) for name in names])
        values.append(cohen_kappa_score(rows[drawn], columns[drawn], labels=[0, 1]))
    return np.array(values)


class TestResamplingByCounts:
    def sample(self) -> tuple[IntArray, IntArray, IntArray]:
        """40 clusters of 1 to 8 items, errors clustered."""
        rng = np.random.default_rng(11)
        sizes = rng.integers(1, 9, 40)
        clusters = np.repeat(np.arange(40), sizes)
        errors = rng.beta(0.6, 2.4, 40)[clusters]
        people = (rng.random(len(clusters)) < 0.4).astype(np.int64)
        return people, np.where(rng.random(len(clusters)) < errors, 1 - people, people), clusters

    @pytest.mark.slow
    @pytest.mark.parametrize("clustered", [False, True])
    def test_equals_resampling_items_one_by_one(self, clustered: bool) -> None:
        people, judge, clusters = self.sample()
        by_cluster = clusters if clustered else None
        one_by_one = brute_force(people, judge, by_cluster, 1500, seed=4)
        pairs = PairTable.of_codes(PASS_FAIL, people, judge, by_cluster)
        drawn = np.concatenate(list(Bootstrap.of_pairs(pairs, resamples=20_000, seed=9).draw()))
        from judges.calibration.agreement.cohen_kappa import kappa_values

        by_counts = kappa_values(pairs, drawn, 1 - np.eye(2))
        spread = one_by_one.std()
        assert by_counts.mean() == pytest.approx(one_by_one.mean(), abs=4 * spread / np.sqrt(1500))
        assert by_counts.std() == pytest.approx(spread, rel=0.08)
        assert np.percentile(by_counts, [2.5, 97.5]) == pytest.approx(
            np.percentile(one_by_one, [2.5, 97.5]), abs=0.25 * spread
        )

    def test_clusters_widen_the_interval_when_errors_cluster(self) -> None:
        people, judge, clusters = self.sample()
        items, grouped = (PairTable.of_codes(PASS_FAIL, people, judge, each) for each in (None, clusters))
        narrow = cohen_kappa(items, Bootstrap.of_pairs(items))
        wide = cohen_kappa(grouped, Bootstrap.of_pairs(grouped))
        assert narrow.value == wide.value
        assert cast(float, wide.high) - cast(float, wide.low) > 1.2 * (
            cast(float, narrow.high) - cast(float, narrow.low)
        )
        assert "resamples of items" in narrow.method
        assert "resamples of 40 clusters" in wide.method

    def test_clusters_of_one_item_are_items(self) -> None:
        people, judge, _ = self.sample()
        single = PairTable.of_codes(PASS_FAIL, people, judge, np.arange(len(people)))
        assert single.clusters is None

    def test_few_clusters_speak_of_themselves_only(self) -> None:
        people, judge, clusters = self.sample()
        pairs = PairTable.of_codes(PASS_FAIL, people, judge, clusters % (FEW_CLUSTERS - 1))
        found = cohen_kappa(pairs, Bootstrap.of_pairs(pairs))
        assert found.low is not None
        assert "resamples of items" in found.method
        assert f"with {FEW_CLUSTERS - 1} clusters the interval speaks of the items of these clusters alone" in found.why

    def test_matches_a_reference_bootstrap(self) -> None:
        """The published sample, 1,000 resamples of items with another generator: the same interval within its noise."""
        data = json.loads((Path(__file__).parent / "agreement_published.json").read_text(encoding="utf-8"))
        audit = next(each for each in data if each["name"] == "judge_pass_fail_92")["bootstrap"]
        pairs = audit_pairs()
        bootstrap = Bootstrap.of_pairs(pairs, resamples=4000)
        for name, found in (
            ("cohen_kappa", cohen_kappa(pairs, bootstrap)),
            ("gwet_ac1", gwet_ac1(pairs.label_counts(), bootstrap)),
            ("krippendorff_alpha_nominal", krippendorff_alpha(pairs.label_counts(), bootstrap)),
        ):
            assert (found.low, found.high) == pytest.approx(audit[name]["ci"], abs=0.35 * audit[name]["se"])

    def test_the_seed_decides(self) -> None:
        pairs = audit_pairs()
        first, again, other = (cohen_kappa(pairs, Bootstrap.of_pairs(pairs, seed=seed)) for seed in (1, 1, 2))
        assert first == again
        assert (first.low, first.high) != (other.low, other.high)
        assert first.value == other.value
        assert "2,000 resamples of items, seed 1" in first.method

    def test_chunks_do_not_change_the_interval(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pairs = audit_pairs()
        whole = np.concatenate(list(Bootstrap.of_pairs(pairs).draw()))
        from judges.calibration.agreement import bootstrap

        monkeypatch.setattr(bootstrap, "_CHUNK_CELLS", 64)
        chunked = Bootstrap.of_pairs(pairs)
        assert np.array_equal(np.concatenate(list(chunked.draw())), whole)
        assert cohen_kappa(pairs, chunked) == cohen_kappa(pairs, chunked)

    def test_cost_does_not_grow_with_items(self) -> None:
        """Work is by patterns: a million items and a thousand give resamples of the same shape."""
        few, many = (PairTable.of_confusion(PASS_FAIL, np.array(AUDIT_TABLE) * k) for k in (5, 5000))
        shapes = {next(iter(Bootstrap.of_pairs(pairs).draw())).shape for pairs in (few, many)}
        assert shapes == {(2000, 4)}
        assert many.n == 1_000_000


class TestWithheld:
    def test_the_point_value_stays(self) -> None:
        pairs = PairTable.of_confusion(PASS_FAIL, [[180, 5], [2, 2]])
        for found in (
            cohen_kappa(pairs, Bootstrap.of_pairs(pairs)),
            gwet_ac1(pairs.label_counts(), Bootstrap.of_pairs(pairs)),
            krippendorff_alpha(pairs.label_counts(), Bootstrap.of_pairs(pairs)),
        ):
            assert found.status == "ok"
            assert found.value is not None
            assert (found.low, found.high, found.level) == (None, None, None)
            assert found.why == (
                "the rarest label, fail, has 4 items and an interval needs 10: 6 more items of it would do "
                "(about 284 more labels at its present rate)"
            )

    def test_raw_agreement_keeps_its_interval(self) -> None:
        found = raw_agreement(PairTable.of_confusion(PASS_FAIL, [[18, 1], [0, 1]]))
        assert (found.low, found.high) == pytest.approx(wilson(19, 20))

    def test_ten_items_of_the_rarest_label_do(self) -> None:
        assert rarest_label(np.array([190, 10]), ("pass", "fail"), 200) == ""
        assert rarest_label(np.array([190, 9]), ("pass", "fail"), 199).startswith("the rarest label, fail, has 9 items")

    def test_it_is_the_peoples_label_that_counts(self) -> None:
        judged = PairTable.of_confusion(PASS_FAIL, [[50, 0], [48, 2]])
        assert cohen_kappa(judged, Bootstrap.of_pairs(judged)).low is not None

    def test_a_label_nobody_used_is_not_the_rarest(self) -> None:
        assert rarest_label(np.array([40, 0, 60]), ("a", "b", "c"), 100) == ""

    def test_one_item_is_one_item(self) -> None:
        assert "has 1 item and an interval needs 10: 9 more items" in rarest_label(np.array([9, 1]), ("a", "b"), 10)
        assert "1 more item of it would do" in rarest_label(np.array([91, 9]), ("a", "b"), 100)

    def test_perfect_agreement_gets_no_interval_of_no_width(self) -> None:
        pairs = PairTable.of_confusion(PASS_FAIL, [[30, 0], [0, 20]])
        found = cohen_kappa(pairs, Bootstrap.of_pairs(pairs))
        assert (found.value, found.low) == (1.0, None)
        assert found.why.startswith("every resample gives 1")

    def test_for_several_people_a_label_counts_where_anyone_gave_it(self) -> None:
        ratings = [["pass", "pass"]] * 30 + [["pass", "fail"]] * 5 + [["fail", "pass"]] * 5
        counts = LabelCounts.of_ratings(PASS_FAIL, ratings)
        assert krippendorff_alpha(counts, Bootstrap.of_counts(counts)).low is not None

    def test_an_undefined_statistic_gets_no_interval(self) -> None:
        pairs = PairTable.of_confusion(PASS_FAIL, [[30, 0], [20, 0]])
        found = cohen_kappa(pairs, Bootstrap.of_pairs(pairs))
        assert (found.value, found.low, found.status) == (None, None, "constant_rater")

    def test_mostly_undefined_resamples(self) -> None:
        pairs = PairTable.of_confusion(PASS_FAIL, [[40, 1], [0, 1]])
        found = cohen_kappa(pairs, Bootstrap.of_pairs(pairs, rarest=1))
        assert found.low is None
        assert "of the resamples leave it undefined" in found.why


def test_f1_interval_contains_it() -> None:
    pairs = audit_pairs()
    found = positive_agreement(pairs, "fail", Bootstrap.of_pairs(pairs))
    assert cast(float, found.low) < cast(float, found.value) < cast(float, found.high)
    assert found.n == 16


def test_alpha_of_a_million_items_does_not_call_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (PairTable.of_confusion(PASS_FAIL, np.array(AUDIT_TABLE) * k).label_counts() for k in (1, 5000))
    assert krippendorff_alpha(small).value == pytest.approx(0.52020202020202, abs=1e-12)

    def refuse(*_: object) -> float:
        raise AssertionError("the dense library call on a million items")

    monkeypatch.setattr(alpha_module, "_library", refuse)
    assert krippendorff_alpha(large).value == pytest.approx(0.519, abs=1e-3)
