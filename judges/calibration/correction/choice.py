"""The answer for one metric: corrected, people's labels alone, or none, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from judges.calibration.correction.estimate import Estimate, Problem
from judges.calibration.correction.interval import (
    Interval,
    by_verdict,
    simple_width,
    t_interval,
    varies,
    wilson_interval,
    worst_case,
)
from judges.calibration.correction.inverted import inverted_share
from judges.calibration.correction.records import Gradient, Provenance, Share, Target
from judges.calibration.correction.refusals import Reason, Touched, covariate, no_answer, no_correction
from judges.calibration.correction.result import CorrectedMetric
from judges.calibration.statistic import Statistic


@dataclass(frozen=True)
class CorrectionSettings:
    """How metrics are corrected.

    Attributes:
        shares: metrics that are shares, by name: they stay within [0, 1], and Wilson's interval serves labels alone.
        families: metrics that get one λ together, so that what sums to a whole with people's labels does so corrected.
        gradient: exact derivatives of `combine`; numeric ones without it.
    """

    target: Target = "finite"
    level: float = 0.95
    provenance: Provenance = field(default_factory=Provenance)
    shares: Mapping[str, Share] = field(default_factory=dict)
    families: Sequence[Sequence[str]] = ()
    gradient: Gradient | None = None


@dataclass(frozen=True)
class Choice:
    problem: Problem
    settings: CorrectionSettings
    people: Mapping[str, Estimate]
    families: Mapping[str, list[str]]

    def metric(self, name: str) -> CorrectedMetric:
        coded = self.problem.metrics.values(self.problem.judge_totals)[name]
        as_coded = coded if math.isfinite(coded) else None
        people = self.people[name]
        touched = self._touched(name)
        reason = no_answer(touched, self.settings.provenance, self.settings.target)
        if reason is None and not (math.isfinite(people.value) and np.isfinite(people.gradient).all()):
            reason = Reason("undefined", "people's labels leave it undefined")
        if reason is not None:
            return self._nothing(name, touched, reason, as_coded)
        if all(not (gradient * block.unfixed).any() for block, gradient in touched):
            return self._exact(touched, as_coded)
        if self.settings.provenance.sampling == "class_balanced":
            return self._inverted(name, touched, as_coded)
        return self._chosen(name, touched, as_coded)

    def _touched(self, name: str) -> list[Touched]:
        """The blocks a metric depends on, at people's totals or, for blocks without labels, at the judge's."""
        judge = self.problem.metrics.gradients(self.problem.judge_totals, [name])[0]
        people = self.people[name].gradient
        slopes = people if np.isfinite(people).all() else judge
        either = (np.nan_to_num(slopes) != 0) | (np.nan_to_num(judge) != 0)
        return [
            Touched(block, np.nan_to_num(slopes[block.columns]))
            for block in self.problem.blocks
            if either[block.columns].any()
        ]

    def _nothing(self, name: str, touched: list[Touched], reason: Reason, as_coded: float | None) -> CorrectedMetric:
        n, dropped = _counts(touched)
        none = Statistic.undefined(reason.refusal, reason.why, n, dropped, "corrected score")
        estimate = self.people[name]
        bounds = None
        if reason.refusal == "adjudicate_first" and math.isfinite(estimate.value):
            bounds = worst_case(self.problem, touched, estimate, self.settings.shares.get(name))
        return CorrectedMetric(none, "none", none, refusal=reason.refusal, as_coded=as_coded, worst_case=bounds)

    def _exact(self, touched: list[Touched], as_coded: float | None) -> CorrectedMetric:
        n, dropped = _counts(touched)
        if as_coded is None:
            none = Statistic.undefined("undefined", "its totals leave it undefined", n, dropped)
            return CorrectedMetric(none, "none", none, refusal="undefined")
        exact = Statistic(as_coded, n, "no label changes it", as_coded, as_coded, self.settings.level, dropped)
        return CorrectedMetric(exact, "exact", exact, as_coded=as_coded, error=0.0, df=math.inf)

    def _inverted(self, name: str, touched: list[Touched], as_coded: float | None) -> CorrectedMetric:
        share = self.settings.shares.get(name)
        found = inverted_share([one.block for one in touched], share, self.settings.level)
        n, dropped = _counts(touched)
        if isinstance(found, Reason):
            none = Statistic.undefined(found.refusal, found.why, n, dropped, "corrected score")
            return CorrectedMetric(none, "none", none, refusal=found.refusal, as_coded=as_coded)
        why = "labels chosen for equal numbers of each say nothing of the share by themselves"
        alone = Statistic.undefined("class_balanced", why, n, dropped, "people's labels alone")
        method = "the judge's error rates inverted (Rogan & Gladen); smoothed interval of Lee et al. 2025"
        answer = Statistic(found.value, n, method, found.low, found.high, self.settings.level, dropped)
        return CorrectedMetric(answer, "inverted", alone, answer, as_coded=as_coded, error=found.error, df=math.inf)

    def _chosen(self, name: str, touched: list[Touched], as_coded: float | None) -> CorrectedMetric:
        people, alone = self.people[name], self._alone(name, touched)
        humans_only = self._statistic(people.value, alone, touched, self._people_method(touched))
        reason = no_correction(touched, self.settings.provenance)
        tuned = self._tuned(name, touched) if reason is None or reason.refusal == "few_of_a_class" else None
        reason = reason or self._no_gain(tuned, alone, touched)
        corrected = tuned and self._statistic(
            tuned.estimate.value, tuned.interval, touched, self._method(tuned.estimate, touched)
        )
        bounds = worst_case(self.problem, touched, people if reason or not tuned else tuned.estimate, self._share(name))
        if reason is None and tuned is not None and corrected is not None:
            return CorrectedMetric(
                corrected,
                "corrected",
                humans_only,
                corrected,
                as_coded=as_coded,
                tuning=self._tuning(tuned.estimate, touched),
                effective_n=self._worth(touched, tuned.interval, alone),
                worst_case=bounds,
                error=tuned.interval.error,
                df=tuned.interval.df,
            )
        return CorrectedMetric(
            _because(humans_only, reason.why if reason else ""),
            "humans_only",
            humans_only,
            corrected,
            refusal=reason.refusal if reason else "no_gain",
            as_coded=as_coded,
            worst_case=bounds,
            error=alone.error if alone else None,
            df=alone.df if alone else None,
        )

    def _alone(self, name: str, touched: list[Touched]) -> Interval | None:
        """The interval of people's labels alone; None where they show no variation at all."""
        people, settings = self.people[name], self.settings
        share = self._share(name)
        found = wilson_interval(touched, people, share, settings.target, settings.level)
        if found is not None:
            return found
        if not varies(touched) and not all(block.sample.complete for block, _ in touched):
            return None
        return t_interval(self.problem, touched, people, settings.target, settings.level, share)

    def _tuned(self, name: str, touched: list[Touched]) -> _Tuned | None:
        """The correction; None where the judge's help leaves the metric undefined."""
        family = self.families[name]
        touches = [any(block is one.block for one in touched) for block in self.problem.blocks]
        usable = [
            any(block is one.block and covariate(one.block, one.gradient) for one in touched)
            for block in self.problem.blocks
        ]
        estimate = self.problem.tuned(family, touches, usable)[name]
        if not (math.isfinite(estimate.value) and np.isfinite(estimate.gradient).all()):
            return None
        settings, shared = self.settings, len(family) > 1
        interval = t_interval(
            self.problem, touched, estimate, settings.target, settings.level, self._share(name), shared
        )
        return _Tuned(self._within(estimate, name), interval)

    def _within(self, estimate: Estimate, name: str) -> Estimate:
        if self._share(name) is None:
            return estimate
        return estimate._replace(value=min(max(estimate.value, 0.0), 1.0))

    def _share(self, name: str) -> Share | None:
        return self.settings.shares.get(name)

    def _statistic(self, value: float, interval: Interval | None, touched: list[Touched], method: str) -> Statistic:
        n, dropped = _counts(touched)
        plain = Statistic(value, n, method, dropped=dropped)
        if interval is None:
            return plain.without_interval(
                "people and judge gave every item the same value: a sample without variation cannot show how far it "
                "may be off"
            )
        return plain.with_interval(interval.low, interval.high, self.settings.level, interval.how)

    def _tuning(self, estimate: Estimate, touched: list[Touched]) -> dict[str, float]:
        return {
            block.block.name: float(weight)
            for block, weight in zip(self.problem.blocks, estimate.tuning, strict=True)
            if any(block is one.block for one in touched)
        }

    def _method(self, estimate: Estimate, touched: list[Touched]) -> str:
        if not (estimate.tuning > 0).any():
            return f"people's labels within strata of the judge's verdict, {self._speaks_of(touched)}"
        weights = ", ".join(f"{weight:.2f}" for weight in self._tuning(estimate, touched).values())
        return f"people's labels with the judge as covariate (λ {weights}), {self._speaks_of(touched)}"

    def _people_method(self, touched: list[Touched]) -> str:
        return f"people's labels alone, {self._speaks_of(touched)}"

    def _speaks_of(self, touched: list[Touched]) -> str:
        if self.settings.target == "population":
            return "for the population the items are from"
        return f"for these {sum(block.block.items for block, _ in touched):,} items"

    def _worth(self, touched: list[Touched], interval: Interval, alone: Interval | None) -> float | None:
        """Labels that alone, and without strata, would give as short an interval: width² goes with 1/n, less 1/N for
        the finite target."""
        if alone is None or interval.width <= 0 or alone.width <= 0:
            return None
        width = alone.width
        finite = self.settings.target == "finite"
        if finite and any(block.sample.draw.strata is not None for block, _ in touched):
            width = simple_width(touched, self.settings.level)
        n = sum(block.sample.n for block, _ in touched)
        rest = 1 / sum(block.block.items for block, _ in touched) if finite else 0.0
        return 1 / (rest + (interval.width / width) ** 2 * (1 / n - rest))

    def _no_gain(self, tuned: _Tuned | None, alone: Interval | None, touched: Sequence[Touched]) -> Reason | None:
        if tuned is None:
            return Reason("no_gain", "with the judge's help the metric is undefined")
        if not (tuned.estimate.tuning > 0).any() and not by_verdict(touched):
            return Reason("no_gain", "the judge's verdicts explain nothing of people's labels here")
        if alone is not None and tuned.interval.width > alone.width + 1e-12:
            why = (
                f"with the judge's help the interval would be {tuned.interval.width:.3g} wide, without "
                f"{alone.width:.3g}: this judge saves no labels here"
            )
            return Reason("no_gain", why)
        return None


class _Tuned(NamedTuple):
    estimate: Estimate
    interval: Interval


def _because(statistic: Statistic, why: str) -> Statistic:
    return replace(statistic, why="; ".join(text for text in (statistic.why, why) if text))


def _counts(touched: Sequence[Touched]) -> tuple[int, dict[str, int]]:
    """Resolved labels a metric rests on, and the unresolved by reason."""
    dropped: dict[str, int] = {}
    for block, _ in touched:
        missing = len(block.sample.draw.drawn) - block.sample.n
        for reason, count in block.block.missing.items():
            dropped[reason] = dropped.get(reason, 0) + count
        rest = missing - sum(block.block.missing.values())
        if rest > 0:
            dropped["unresolved"] = dropped.get("unresolved", 0) + rest
    return sum(block.sample.n for block, _ in touched), dropped
