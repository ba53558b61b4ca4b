"""Calibration of a judge's confidence, and thresholds with a guarantee."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correction_cases import PUBLISHED, Floats

from judges.calibration.confidence import (
    confidence,
    ece_equal_width,
    fit_isotonic,
    fit_platt,
    fit_temperature,
    log_odds,
    recalibrated,
    reliability,
)
from judges.calibration.logistic import SeparatedError, fit_logistic
from judges.calibration.selective import least_selected, selection

EXPECTED = PUBLISHED["calibration_metrics"]
LEVELS = np.array(PUBLISHED["selective"]["conf"])
AGREES = np.array(PUBLISHED["selective"]["correct"], dtype=float)
EXACT = {"abs": 1e-9}


class TestPublished:
    def test_scores(self) -> None:
        found = confidence(LEVELS, AGREES)
        assert found.brier.value == pytest.approx(EXPECTED["brier"], **EXACT)
        assert found.log_loss.value == pytest.approx(EXPECTED["log_loss"], **EXACT)
        assert found.ece.value == pytest.approx(EXPECTED["ece_10_equal_mass"], **EXACT)
        assert ece_equal_width(LEVELS, AGREES) == pytest.approx(EXPECTED["ece_10_equal_width"], **EXACT)
        assert found.gap.value == pytest.approx(EXPECTED["mean_conf"] - EXPECTED["accuracy"], **EXACT)

    def test_temperature_is_the_optimum(self) -> None:
        temperature = fit_temperature(LEVELS, AGREES)
        loss = float(np.logaddexp(0, -np.where(AGREES == 1, 1, -1) * log_odds(LEVELS) / temperature).mean())
        assert loss == pytest.approx(EXPECTED["nll_at_T"], **EXACT)
        # The published T is an iterative solver's, right to eight digits.
        assert temperature == pytest.approx(EXPECTED["temperature"], abs=1e-8)

    def test_platt_is_the_optimum(self) -> None:
        found, expected = fit_platt(LEVELS, AGREES), EXPECTED["platt_unregularised"]
        design = np.column_stack([np.ones(300), log_odds(LEVELS)])
        fitted = found(LEVELS)
        assert np.abs(design.T @ (AGREES - fitted)).max() < 1e-10
        assert found.slope == pytest.approx(expected["coef"], abs=1e-8)
        assert found.intercept == pytest.approx(expected["intercept"], abs=1e-8)

    def test_isotonic(self) -> None:
        found = fit_isotonic(LEVELS, AGREES)
        at = {float(level): value for level, value in EXPECTED["isotonic_at"].items()}
        assert found(np.array(list(at))) == pytest.approx(list(at.values()), **EXACT)

    @pytest.mark.parametrize("key", PUBLISHED["selective"]["n_min"])
    def test_least_selected(self, key: str) -> None:
        alpha, delta = (float(part.split("=")[1]) for part in key.split(","))
        assert least_selected(alpha, delta) == PUBLISHED["selective"]["n_min"][key]

    @pytest.mark.parametrize("key", PUBLISHED["selective"]["results"])
    def test_thresholds(self, key: str) -> None:
        self.check(LEVELS, AGREES, key, PUBLISHED["selective"]["results"][key])

    @pytest.mark.parametrize("key", PUBLISHED["selective"]["dataset_b"]["results"])
    def test_thresholds_of_the_second_set(self, key: str) -> None:
        other = PUBLISHED["selective"]["dataset_b"]
        self.check(np.array(other["conf"]), np.array(other["correct"], dtype=float), key, other["results"][key])

    def check(self, levels: Floats, agrees: Floats, key: str, expected: dict[str, Any] | None) -> None:
        alpha, delta = (float(part.split("=")[1]) for part in key.split(","))
        found = selection(levels, agrees, alpha, delta)
        if expected is None:
            assert found.threshold is None
            assert "leave all to people" in found.why
            return
        assert (found.threshold, found.selected, found.errors) == (
            expected["threshold"],
            expected["n_selected"],
            expected["errors"],
        )
        assert found.upper == pytest.approx(expected["ucb"], **EXACT)
        assert found.coverage == pytest.approx(expected["coverage"], **EXACT)
        assert found.agreement == pytest.approx(expected["empirical_agreement"], **EXACT)


class TestSelection:
    @pytest.mark.slow
    def test_the_guarantee_holds(self) -> None:
        """The true error rate above the threshold exceeds alpha in at most delta of the samples."""
        rng = np.random.default_rng(1)
        broken = 0
        for _ in range(300):
            levels = rng.beta(5, 2, 300)
            found = selection(levels, rng.random(300) < 0.75 + 0.25 * levels, 0.1, 0.1)
            if found.threshold is not None:
                inside = rng.beta(5, 2, 20_000)
                inside = inside[inside >= found.threshold]
                broken += float((1 - 0.75 - 0.25 * inside).mean()) > 0.1 if len(inside) else 0
        assert broken <= 300 * 0.1 + 3 * (300 * 0.09) ** 0.5

    def test_few_items_say_how_many_are_needed(self) -> None:
        found = selection(np.linspace(0.5, 1, 20), np.ones(20), 0.05, 0.1)
        assert found.threshold is None
        assert found.why == "20 labelled items; 45 are needed for any threshold"

    def test_equal_confidences_go_together(self) -> None:
        levels = np.repeat([0.9, 0.6], 60)
        found = selection(levels, np.concatenate([np.ones(60), np.zeros(60)]), 0.05, 0.1)
        assert (found.threshold, found.selected, found.coverage) == (0.9, 60, 0.5)

    def test_bad_input(self) -> None:
        with pytest.raises(ValueError, match="not a number"):
            selection([np.nan], [1])
        with pytest.raises(ValueError, match="between 0 and 1"):
            selection([0.5], [1], alpha=1.0)


class TestConfidence:
    def test_an_overconfident_judge(self) -> None:
        rng = np.random.default_rng(2)
        levels = rng.uniform(0.7, 1, 1000)
        found = confidence(levels, rng.random(1000) < levels - 0.2)
        assert found.gap.low is not None and found.gap.low > 0.15
        assert found.ece.low is not None and found.ece.low > 0.1
        assert fit_temperature(levels, (rng.random(1000) < levels - 0.2).astype(float)) > 1

    def test_the_interval_of_a_calibrated_judge_reaches_down_to_zero(self) -> None:
        rng = np.random.default_rng(3)
        levels = rng.uniform(0.5, 1, 500)
        found = confidence(levels, rng.random(500) < levels)
        assert found.ece.low == 0.0

    def test_bins_hold_equal_numbers(self) -> None:
        bins = reliability(LEVELS, AGREES)
        assert [one.n for one in bins] == [30] * 10
        assert all(one.low <= one.confidence <= one.high for one in bins)
        assert len(reliability(LEVELS[:4], AGREES[:4])) == 4

    def test_missing_confidences_are_counted(self) -> None:
        levels = LEVELS.copy()
        levels[:7] = np.nan
        found = confidence(levels, AGREES)
        assert (found.brier.n, found.brier.dropped) == (293, {"no_confidence": 7})

    def test_few_items(self) -> None:
        found = confidence(LEVELS[:20], AGREES[:20])
        assert found.ece.value is not None and found.ece.low is None
        assert confidence([np.nan, 0.5], [1, 1]).brier.status == "too_few"

    def test_items_that_stand_for_others_speak_of_all_of_them(self) -> None:
        """Doubtful items, of which the judge is less right than it says, are ten times likelier to be drawn."""
        rng = np.random.default_rng(5)
        held, misled = {"brier": 0, "ece": 0, "gap": 0}, 0
        everyone = rng.uniform(0.5, 1, 4000)
        right = (rng.random(4000) < np.where(everyone < 0.7, 0.4, everyone)).astype(float)
        whole = confidence(everyone, right, resamples=1)
        chances = np.where(everyone < 0.7, 0.2, 0.02)
        for seed in range(24):
            drawn = rng.random(4000) < chances
            found = confidence(everyone[drawn], right[drawn], resamples=100, seed=seed, weights=1 / chances[drawn])
            for name in held:
                statistic = getattr(found, name)
                held[name] += statistic.low <= getattr(whole, name).value <= statistic.high
            as_drawn = confidence(everyone[drawn], right[drawn], resamples=1).gap
            assert as_drawn.low is not None and whole.gap.value is not None
            misled += as_drawn.low > whole.gap.value
        assert min(held.values()) >= 20, held
        assert misled >= 18, "without weights the judge looks more overconfident than it is"

    def test_equal_weights_change_nothing(self) -> None:
        plain, counted = (confidence(LEVELS, AGREES, weights=w) for w in (None, np.full(len(LEVELS), 7.0)))
        for name in ("brier", "log_loss", "ece", "gap"):
            assert getattr(counted, name).value == pytest.approx(getattr(plain, name).value, **EXACT)
        assert [one.agreement for one in counted.bins] == pytest.approx([one.agreement for one in plain.bins])
        assert counted.ece.low == pytest.approx(plain.ece.low) and counted.ece.high == pytest.approx(plain.ece.high)

    def test_a_confidence_of_120_percent(self) -> None:
        with pytest.raises(ValueError, match="outside 0 to 1"):
            confidence([0.5, 1.2], [1, 0])


class TestRecalibrated:
    rng = np.random.default_rng(4)
    levels = rng.uniform(0.6, 1, 600)
    agrees = (rng.random(600) < levels - 0.25).astype(float)

    @pytest.mark.parametrize("method", ["platt", "temperature", "isotonic"])
    def test_out_of_fold_confidence_is_better(self, method: Any) -> None:
        found = recalibrated(self.levels, self.agrees, method)
        before, after = confidence(self.levels, self.agrees), confidence(found, self.agrees)
        assert after.brier.value is not None and before.brier.value is not None
        assert after.brier.value < before.brier.value

    @pytest.mark.parametrize("fit", [fit_platt, fit_temperature, fit_isotonic])
    def test_an_item_that_stands_for_three_counts_three_times(self, fit: Any) -> None:
        weights = np.where(self.agrees == 1, 1, 3)
        counted = fit(self.levels, self.agrees, weights.astype(float))
        repeated = fit(self.levels.repeat(weights), self.agrees.repeat(weights))
        plain = fit(self.levels, self.agrees)
        counted, repeated, plain = (
            one(self.levels) if callable(one) else np.array([one]) for one in (counted, repeated, plain)
        )
        assert counted == pytest.approx(repeated)
        assert float(np.abs(counted - plain).max()) > 0.05

    def test_an_item_is_calibrated_without_its_cluster(self) -> None:
        """Other labels in one cluster change every confidence but those of its own fold."""
        clusters = np.repeat(np.arange(30), 20)
        changed = self.agrees.copy()
        changed[clusters == 7] = 1 - changed[clusters == 7]
        before, after = (recalibrated(self.levels, y, "platt", clusters=clusters) for y in (self.agrees, changed))
        moved = before != after
        assert not moved[clusters == 7].any()
        assert {int(moved[clusters == cluster].sum()) for cluster in range(30)} == {0, 20}
        assert moved.sum() == 24 * 20

    def test_the_seed_makes_the_folds(self) -> None:
        first, again = (recalibrated(self.levels, self.agrees, seed=1) for _ in range(2))
        assert first.tolist() == again.tolist()
        assert first.tolist() != recalibrated(self.levels, self.agrees, seed=2).tolist()

    def test_what_cannot_be_fitted(self) -> None:
        with pytest.raises(ValueError, match="all verdicts or with none"):
            recalibrated(self.levels, np.ones(600))
        with pytest.raises(ValueError, match="cannot fill"):
            recalibrated(self.levels[:3], self.agrees[:3])


class TestLogistic:
    def test_agrees_with_scikit_learn(self) -> None:
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng(5)
        x = rng.normal(size=(400, 2))
        y = (rng.random(400) < 1 / (1 + np.exp(-(0.5 + x @ [1.0, -2.0])))).astype(float)
        found = fit_logistic(np.column_stack([np.ones(400), x]), y)
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(x, y)
        assert found.coefficients[0] == pytest.approx(model.intercept_[0], abs=1e-5)
        assert found.coefficients[1:] == pytest.approx(model.coef_[0], abs=1e-5)

    def test_separated_outcomes(self) -> None:
        with pytest.raises(SeparatedError):
            fit_logistic(np.column_stack([np.ones(20), np.arange(20.0)]), (np.arange(20) >= 10).astype(float))

    def test_outcomes_separated_for_some_items_only(self) -> None:
        """Every item with the mark passes and the others vary: its coefficient has no bound, and no error either."""
        rng = np.random.default_rng(3)
        mark, y = np.zeros(200), (rng.random(200) < 0.5).astype(float)
        mark[:12], y[:12] = 3.0, 1.0
        with pytest.raises(SeparatedError):
            fit_logistic(np.column_stack([np.ones(200), mark]), y)

    def test_two_predictors_that_say_the_same(self) -> None:
        x = np.arange(20.0) % 3
        with pytest.raises(ValueError, match="the same"):
            fit_logistic(np.column_stack([x, x]), (np.arange(20) % 2).astype(float))


def test_one_very_sure_verdict_does_not_pass_for_separation() -> None:
    """Log odds of 9 times a slope of 4 is a large predictor; people still disagree where the judge is less sure."""
    rng = np.random.default_rng(1)
    odds = rng.normal(0, 1, 400)
    agrees = (rng.random(400) < 1 / (1 + np.exp(-4 * odds))).astype(float)
    odds[0], agrees[0] = 9.0, 1.0
    fitted = fit_platt(1 / (1 + np.exp(-odds)), agrees)
    assert fitted.slope == pytest.approx(4, rel=0.3)
