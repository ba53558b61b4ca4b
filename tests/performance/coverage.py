"""How often the intervals of corrected scores hold the truth, and how wide they are beside others, by simulation.

The truth of a replication is what people's labels of *all* items say; a part of them is drawn by each design and handed
to the correction. Prints one row a setting and metric:

    cover    of the interval that is reported (corrected, or people's labels alone where the judge is no help)
    judge    share of replications in which the correction was reported, its coverage there, and that of people's labels
             alone there: where a rare label is corrected only once it happened to be drawn often, both miss
    alone    coverage of people's labels alone
    width    median width of the reported interval, as a part of people's labels alone
    worth    median of what n labels are worth, as a part of n
    ppi, rg  coverage / width of tuned PPI with a normal interval (ppi-python's formula), and of Rogan–Gladen with a
             bootstrap of the labelled set alone (judgy's way)

A row marked `<` is below .93 by more than three Monte Carlo errors, one marked `c` is so where the correction was
reported and people's labels alone would have held the truth oftener there. Run by hand; it asserts nothing:

    python -m tests.performance.coverage [--replications 300] [--only binary strata …] [--halumem FILE] [--tables DIR]

With `--keep FOLDER` what was simulated stays there, and every run adds its replications to those of the runs before.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.prediction_powered import ppi_mean
from judges.calibration.correction.records import Block, Combine, Draw, Gradient, Provenance, Share, Target, Totals

FLOOR = 0.93
MOST_OF_OTHERS = 1000
"""Replications in which other methods are simulated too: their bootstraps take longer than all else."""
SEED = 20261130
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "halumem"

Floats = NDArray[np.float64]
Make = Callable[[np.random.Generator], list[Block]]


@dataclass(frozen=True)
class Setting:
    """One row (or several metrics) of the table.

    Attributes:
        make: a replication: blocks whose human terms are of *all* items, and the draw; cut to the drawn before use.
        truth: fixed truth by metric, for a population target; else that of all items' labels.
    """

    name: str
    make: Make
    combine: Combine
    settings: CorrectionSettings
    gradient: Gradient | None = None
    truth: dict[str, float] = field(default_factory=dict)
    others: bool = False


@dataclass
class Record:
    """What the replications of one metric came to."""

    hits: list[bool] = field(default_factory=list)
    corrected: list[bool] = field(default_factory=list)
    alone: list[bool] = field(default_factory=list)
    alone_there: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    alone_widths: list[float] = field(default_factory=list)
    worth: list[float] = field(default_factory=list)
    ppi: list[tuple[bool, float]] = field(default_factory=list)
    inverted: list[tuple[bool, float]] = field(default_factory=list)
    refused: int = 0

    @property
    def replications(self) -> int:
        return len(self.hits) + self.refused


def kept_in(folder: Path | None, setting: Setting) -> dict[str, Record]:
    """What earlier runs found of a setting."""
    file = folder / _file_name(setting) if folder else None
    if file is None or not file.exists():
        return {}
    return {name: Record(**record) for name, record in json.loads(file.read_text(encoding="utf-8")).items()}


def keep(folder: Path, setting: Setting, records: Mapping[str, Record]) -> None:
    """Leave what was found for the next run."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({name: asdict(record) for name, record in records.items()})
    part = folder / f"{_file_name(setting)}.part"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / _file_name(setting))


def _file_name(setting: Setting) -> str:
    return f"{re.sub(r'[^a-z0-9.=]+', '_', setting.name.lower())}.json"


def run(setting: Setting, replications: int, earlier: Mapping[str, Record] | None = None) -> dict[str, Record]:
    """All metrics of a setting, the seed fixed by its name and by how many replications there were earlier."""
    records = dict(earlier or {})
    before = max((record.replications for record in records.values()), default=0)
    rng = np.random.default_rng([SEED, *setting.name.encode(), *([before] if before else [])])
    for _ in range(replications):
        whole = setting.make(rng)
        totals: dict[str, float] = {}
        for block in whole:
            for term, total in zip(block.terms, block.human_terms_of_all.sum(axis=0), strict=True):  # type: ignore[attr-defined]
                totals[term] = totals.get(term, 0.0) + float(total)
        truth = {**{name: value for name, value in setting.combine(totals).items()}, **setting.truth}
        scores = corrected_scores(whole, setting.combine, setting.settings)
        for name, found in scores.metrics.items():
            record = records.setdefault(name, Record())
            target = truth[name]
            answer, alone = found.statistic, found.humans_only
            if target is None or answer.low is None or answer.high is None:
                record.refused += 1
                continue
            record.hits.append(_holds(answer.low, answer.high, target))
            record.corrected.append(found.used in ("corrected", "inverted"))
            record.widths.append(answer.high - answer.low)
            if alone.low is not None and alone.high is not None:
                record.alone.append(_holds(alone.low, alone.high, target))
                if record.corrected[-1]:
                    record.alone_there.append(record.alone[-1])
                record.alone_widths.append(alone.high - alone.low)
            record.worth.append((found.effective_n or answer.n) / answer.n)
            if setting.others and len(record.hits) <= MOST_OF_OTHERS:
                _others(record, whole[0], target, rng)
    return records


def _holds(low: float, high: float, target: float) -> bool:
    return bool(low - 1e-9 <= target <= high + 1e-9)


def _others(record: Record, block: Block, truth: float, rng: np.random.Generator) -> None:
    """Tuned PPI and a Rogan–Gladen bootstrap on the same labels of a yes/no share of all items."""
    people, judge = block.human_terms[:, 0], block.judge_terms[block.draw.drawn, 0]
    rest = np.delete(block.judge_terms[:, 0], block.draw.drawn)
    low, high = np.clip(ppi_mean(people, judge, rest, convention="plug_in").z_interval(), 0, 1)
    record.ppi.append((_holds(low, high, truth), float(high - low)))
    found = _rogan_gladen_bootstrap(people, judge, float(rest.mean()), rng)
    record.inverted.append((False, math.nan) if found is None else (_holds(*found, truth), found[1] - found[0]))


def _rogan_gladen_bootstrap(
    people: Floats, judge: Floats, passed: float, rng: np.random.Generator, resamples: int = 500
) -> tuple[float, float] | None:
    n = len(people)
    cells = np.array([((people == a) & (judge == b)).sum() for a in (1, 0) for b in (1, 0)]) / n
    drawn = rng.multinomial(n, cells, resamples)
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr = drawn[:, 0] / (drawn[:, 0] + drawn[:, 1])
        tnr = drawn[:, 3] / (drawn[:, 2] + drawn[:, 3])
        theta = np.clip((passed + tnr - 1) / (tpr + tnr - 1), 0, 1)
    theta = theta[np.isfinite(theta) & (tpr + tnr > 1)]
    if not len(theta) or not cells[:2].sum() or not cells[2:].sum():
        return None
    low, high = np.percentile(theta, [2.5, 97.5])
    return float(low), float(high)


class Whole(Block):
    """A block that remembers people's terms of all items."""

    human_terms_of_all: Floats


def whole(name: str, terms: tuple[str, ...], judge: Floats, people: Floats, draw: Draw, **more: object) -> Block:
    """A block from people's terms of all items."""
    block = Whole(name, terms, judge, people[draw.drawn], draw, **more)  # type: ignore[arg-type]
    object.__setattr__(block, "human_terms_of_all", people)
    return block


# --- yes/no labels ---


def rate(totals: Totals) -> dict[str, float | None]:
    return {"rate": totals["passed"] / totals["items"]}


def rate_slope(totals: Totals) -> dict[str, dict[str, float]]:
    return {"rate": {"passed": 1 / totals["items"], "items": -totals["passed"] / totals["items"] ** 2}}


def yes_no(people: Floats, judge: Floats, draw: Draw, **more: object) -> list[Block]:
    ones = np.ones(len(people))
    fixed = frozenset({"items"})
    judged, labelled = np.stack([judge, ones], 1), np.stack([people, ones], 1)
    return [whole("qa", ("passed", "items"), judged, labelled, draw, fixed=fixed, **more)]


def labels_of(rng: np.random.Generator, items: int, theta: float, tpr: float, tnr: float) -> tuple[Floats, Floats]:
    people = (rng.random(items) < theta).astype(float)
    return people, np.where(people == 1, rng.random(items) < tpr, rng.random(items) >= tnr).astype(float)


def rate_settings(target: Target = "finite") -> CorrectionSettings:
    return CorrectionSettings(target, shares={"rate": Share("passed", "items")}, gradient=rate_slope)


JUDGES = ((0.95, 0.9), (0.9, 0.7), (0.9, 0.4))
RATES = (0.5, 0.8, 0.95)


def binary(target: Target) -> Iterator[Setting]:
    """The 45 settings: three pass rates, three judges, five numbers of labels, 1,000 items, simple random sampling."""
    for theta in RATES:
        for tpr, tnr in JUDGES:
            for n in (20, 30, 50, 100, 200):

                def make(
                    rng: np.random.Generator, theta: float = theta, tpr: float = tpr, tnr: float = tnr, n: int = n
                ) -> list[Block]:
                    people, judge = labels_of(rng, 1000, theta, tpr, tnr)
                    return yes_no(people, judge, Draw(np.arange(n), 1000))

                name = f"{target} {theta:.2f} {tpr:.2f}/{tnr:.2f} n={n}"
                truth = {"rate": theta} if target == "population" else {}
                yield Setting(name, make, rate, rate_settings(target), truth=truth, others=True)


def stratified() -> Iterator[Setting]:
    """By verdict and confidence: four strata, allocated in proportion, equally and by Neyman's rule."""
    for allocation in ("proportional", "equal", "neyman"):
        for theta in RATES:
            for tpr, tnr in JUDGES[:2]:
                for n in (40, 80, 160):

                    def make(
                        rng: np.random.Generator,
                        theta: float = theta,
                        tpr: float = tpr,
                        tnr: float = tnr,
                        n: int = n,
                        allocation: str = allocation,
                    ) -> list[Block]:
                        people, judge = labels_of(rng, 1000, theta, tpr, tnr)
                        sure = rng.random(1000) < np.where(people == judge, 0.8, 0.3)
                        strata = (judge * 2 + sure).astype(np.int64)
                        spread = np.array([0.5, 0.2, 0.5, 0.2])
                        drawn = _allocated(rng, strata, n, allocation, spread)
                        return yes_no(people, judge, Draw(drawn, 1000, strata=strata))

                    name = f"{allocation} {theta:.2f} {tpr:.2f}/{tnr:.2f} n={n}"
                    yield Setting(name, make, rate, rate_settings())


def _allocated(
    rng: np.random.Generator, strata: NDArray[np.int64], n: int, allocation: str, spread: Floats
) -> NDArray[np.int64]:
    sizes = np.bincount(strata, minlength=4).astype(float)
    shares = {"proportional": sizes, "equal": np.sign(sizes), "neyman": sizes * spread}[allocation]
    counts = np.minimum(np.maximum(np.round(n * shares / shares.sum()), 2), sizes).astype(int)
    return np.concatenate(
        [rng.choice(np.flatnonzero(strata == h), counts[h], replace=False) for h in range(4) if counts[h]]
    )


def two_stage() -> Iterator[Setting]:
    """Sessions of unequal size at random, all or six of the items of each; people and judge vary by session."""
    for within in (None, 6):
        for theta in (0.5, 0.8, 0.95):
            for groups in (8, 15, 20, 30):

                def make(
                    rng: np.random.Generator, theta: float = theta, groups: int = groups, within: int | None = within
                ) -> list[Block]:
                    sizes = rng.integers(5, 25, 60)
                    group = np.repeat(np.arange(60), sizes)
                    own = rng.beta(6 * theta, 6 * (1 - theta), 60)[group]
                    people = (rng.random(len(group)) < own).astype(float)
                    right = rng.beta(9, 1.5, 60)[group]
                    judge = np.where(rng.random(len(group)) < right, people, 1 - people)
                    chosen = rng.choice(60, groups, replace=False)
                    drawn = [_of_group(rng, group, one, within) for one in chosen]
                    return yes_no(people, judge, Draw(np.concatenate(drawn), len(group), "two_stage", groups=group))

                name = f"{'all' if within is None else within} items of {groups}/60 groups, {theta:.2f}"
                yield Setting(name, make, rate, rate_settings())


def _of_group(rng: np.random.Generator, group: NDArray[np.int64], one: int, within: int | None) -> NDArray[np.int64]:
    members = np.flatnonzero(group == one)
    return members if within is None or len(members) <= within else rng.choice(members, within, replace=False)


def unequal() -> Iterator[Setting]:
    """By uncertainty, half of the chance uniform; drawn one by one, and by systematic sampling of a fixed size."""
    for fixed_size in (False, True):
        for theta in (0.5, 0.8, 0.95):
            for n in (60, 150):

                def make(
                    rng: np.random.Generator, theta: float = theta, n: int = n, fixed_size: bool = fixed_size
                ) -> list[Block]:
                    people, judge = labels_of(rng, 1000, theta, 0.9, 0.7)
                    doubt = np.where(people == judge, rng.beta(2, 5, 1000), rng.beta(4, 3, 1000))
                    chance = np.minimum(0.5 * n / 1000 + 0.5 * n * doubt / doubt.sum(), 1)
                    drawn = _systematic(rng, chance) if fixed_size else np.flatnonzero(rng.random(1000) < chance)
                    return yes_no(people, judge, Draw(drawn, 1000, "unequal", probabilities=chance))

                name = f"{'systematic' if fixed_size else 'one by one'} {theta:.2f} n={n}"
                yield Setting(name, make, rate, rate_settings())


def _systematic(rng: np.random.Generator, chance: Floats) -> NDArray[np.int64]:
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order])
    ticks = rng.random() + np.arange(int(np.floor(ends[-1])) + 1)
    return order[np.searchsorted(ends, ticks[ticks < ends[-1]])]


def unequal_by_verdict() -> Iterator[Setting]:
    """Chances that someone else gave: the judge's fails likelier by so many times, drawn one by one without strata."""
    for times in (3, 10):
        for theta in (0.5, 0.8, 0.95):
            for tpr, tnr in JUDGES[:2]:
                for n in (60, 150):

                    def make(
                        rng: np.random.Generator,
                        theta: float = theta,
                        tpr: float = tpr,
                        tnr: float = tnr,
                        n: int = n,
                        times: int = times,
                    ) -> list[Block]:
                        people, judge = labels_of(rng, 1000, theta, tpr, tnr)
                        size = np.where(judge == 0, float(times), 1.0)
                        chance = np.minimum(n * size / size.sum(), 1)
                        drawn = np.flatnonzero(rng.random(1000) < chance)
                        return yes_no(people, judge, Draw(drawn, 1000, "unequal", probabilities=chance))

                    name = f"fails x{times} {theta:.2f} {tpr:.2f}/{tnr:.2f} n={n}"
                    yield Setting(name, make, rate, rate_settings())


def rare() -> Iterator[Setting]:
    """Labels that few items have: by simple random sampling, and with as many of the judge's fails as of its passes."""
    for by in ("simple", "equal"):
        for theta in (0.97, 0.98, 0.99):
            for tpr, tnr in JUDGES[:2]:
                for n in (50, 100, 200):

                    def make(
                        rng: np.random.Generator,
                        theta: float = theta,
                        tpr: float = tpr,
                        tnr: float = tnr,
                        n: int = n,
                        by: str = by,
                    ) -> list[Block]:
                        people, judge = labels_of(rng, 1000, theta, tpr, tnr)
                        if by == "simple":
                            return yes_no(people, judge, Draw(np.arange(n), 1000))
                        drawn = [
                            rng.choice(rows, min(n // 2, len(rows)), replace=False)
                            for rows in (np.flatnonzero(judge == verdict) for verdict in (0, 1))
                        ]
                        return yes_no(people, judge, Draw(np.concatenate(drawn), 1000, strata=judge.astype(np.int64)))

                    yield Setting(f"rare {by} {theta:.2f} {tpr:.2f}/{tnr:.2f} n={n}", make, rate, rate_settings())


def clusters() -> Iterator[Setting]:
    """A new sample of users: the population target with few and many clusters."""
    for theta in (0.7, 0.95):
        for number in (6, 10, 20, 50):

            def make(rng: np.random.Generator, number: int = number, theta: float = theta) -> list[Block]:
                cluster = np.repeat(np.arange(number), 1000 // number)
                own = rng.beta(10 * theta, 10 - 10 * theta, number)[cluster]
                people = (rng.random(len(cluster)) < own).astype(float)
                judge = np.where(rng.random(len(cluster)) < 0.88, people, 1 - people)
                draw = Draw(rng.choice(len(cluster), 150, replace=False), len(cluster))
                return yes_no(people, judge, draw, clusters=cluster)

            name = f"{number} clusters n=150, {theta:.2f}"
            yield Setting(name, make, rate, rate_settings("population"), truth={"rate": theta})


def balanced() -> Iterator[Setting]:
    """Labels chosen for equal numbers of pass and fail: the judge's error rates inverted."""
    for theta in (0.6, 0.8, 0.9):
        for tpr, tnr in ((0.95, 0.9), (0.9, 0.8)):
            for n in (60, 100, 200):

                def make(
                    rng: np.random.Generator, theta: float = theta, tpr: float = tpr, tnr: float = tnr, n: int = n
                ) -> list[Block]:
                    people, judge = labels_of(rng, 2000, theta, tpr, tnr)
                    drawn = [rng.choice(np.flatnonzero(people == label), n // 2, replace=False) for label in (0, 1)]
                    return yes_no(people, judge, Draw(np.concatenate(drawn), 2000))

                settings = replace(rate_settings(), provenance=Provenance(sampling="class_balanced"))
                yield Setting(f"balanced {theta:.2f} {tpr:.2f}/{tnr:.2f} n={n}", make, rate, settings)


def paired() -> Iterator[Setting]:
    """The difference of two systems on the same items, labels and verdicts correlated."""
    for gain in (0.0, 0.08):
        for accuracy in (0.88, 0.75):
            for n in (30, 50, 100, 200):

                def make(
                    rng: np.random.Generator, gain: float = gain, accuracy: float = accuracy, n: int = n
                ) -> list[Block]:
                    level = rng.normal(size=1000) * 0.7**0.5
                    cuts = [NormalDist().inv_cdf(share) for share in (0.6 + gain, 0.6)]
                    people = np.stack(
                        [(level + rng.normal(size=1000) * 0.3**0.5 < cut).astype(float) for cut in cuts], axis=1
                    )
                    judge = np.where(rng.random((1000, 2)) < accuracy, people, 1 - people)
                    ones = np.ones((1000, 1))
                    return [
                        whole(
                            "qa",
                            ("a", "b", "items"),
                            np.hstack([judge, ones]),
                            np.hstack([people, ones]),
                            Draw(np.arange(n), 1000),
                            fixed=frozenset({"items"}),
                        )
                    ]

                yield Setting(f"paired gain={gain} judge={accuracy} n={n}", make, difference, CorrectionSettings())


def difference(totals: Totals) -> dict[str, float | None]:
    return {"difference": (totals["a"] - totals["b"]) / totals["items"]}


# --- HaluMem's ratios ---


@dataclass(frozen=True)
class Run:
    """Verdicts of one or more runs as arrays: integrity scores, weights and gold flags; accuracy scores and flags;
    answers as 0 Correct, 1 Hallucination, 2 Omission."""

    integrity: Floats
    weight: Floats
    gold: Floats
    accuracy: Floats
    flag: Floats
    answers: NDArray[np.int64]

    def tiled(self, times: int) -> Run:
        return Run(*(np.tile(getattr(self, name), times) for name in self.__dataclass_fields__))


ANSWERS = ("Correct", "Hallucination", "Omission")


def read_run(paths: Iterable[Path]) -> Run:
    """The verdicts of HaluMem stat-result files; a failed one counts as 0 or Omission here."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    integrity = [row for file in files for row in file["memory_integrity_records"]]
    accuracy = [row for file in files for row in file["memory_accuracy_records"]]
    answers = [row.get("result_type") for file in files for row in file["question_answering_records"]]
    return Run(
        np.array([row["memory_integrity_score"] or 0 for row in integrity], dtype=float),
        np.array([row["importance"] for row in integrity], dtype=float),
        np.array([row["memory_source"] != "interference" for row in integrity], dtype=float),
        np.array([row["memory_accuracy_score"] or 0 for row in accuracy], dtype=float),
        np.array([row["is_included_in_golden_memories"] in ("true", "True") for row in accuracy], dtype=float),
        np.array([ANSWERS.index(label) if label in ANSWERS else 2 for label in answers]),
    )


INTEGRITY = ("full", "weighted", "points", "weight")
ACCURACY = ("target_sum", "target", "support", "memories")
QA = (*ANSWERS, "questions")


def terms_of(run: Run) -> tuple[Floats, Floats, Floats]:
    """Terms of the three tasks, shapes (N, 4)."""
    gold, weight = run.gold, run.weight
    integrity = np.stack([gold * (run.integrity == 2), gold * run.integrity / 2 * weight, gold, gold * weight], 1)
    accuracy = np.stack([run.flag * run.accuracy / 2, run.flag, run.accuracy / 2, np.ones(len(run.flag))], axis=1)
    answers = np.column_stack([np.eye(3)[run.answers], np.ones(len(run.answers))])
    return integrity, accuracy, answers


def halumem(totals: Totals) -> dict[str, float | None]:
    def ratio(above: str, below: str) -> float | None:
        return totals[above] / totals[below] if totals[below] else None

    recall, precision = ratio("full", "points"), ratio("target_sum", "target")
    both = recall is not None and precision is not None and recall + precision > 0
    return {
        "recall": recall,
        "weighted_recall": ratio("weighted", "weight"),
        "target_precision": precision,
        "accuracy": ratio("support", "memories"),
        "f1": 2 * recall * precision / (recall + precision) if both else None,  # type: ignore[operator]
        **{label: ratio(label, "questions") for label in ANSWERS},
    }


HALUMEM = CorrectionSettings(
    shares={
        "recall": Share("full", "points"),
        "weighted_recall": Share("weighted", "weight"),
        "target_precision": Share("target_sum", "target"),
        "accuracy": Share("support", "memories"),
        **{label: Share(label, "questions") for label in ANSWERS},
    }
)


def planted(run: Run, rng: np.random.Generator, errors: float) -> Run:
    """The judge's labels with a share of each changed to another one: what people say."""

    def changed(values: NDArray[np.generic], labels: int) -> NDArray[np.generic]:
        wrong = rng.random(len(values)) < errors
        moved = values.astype(int).copy()
        moved[wrong] = (moved[wrong] + rng.integers(1, labels, wrong.sum())) % labels
        return moved

    return Run(
        changed(run.integrity, 3).astype(float),
        run.weight,
        run.gold,
        changed(run.accuracy, 3).astype(float),
        changed(run.flag, 2).astype(float),
        changed(run.answers, 3).astype(np.int64),
    )


def halumem_blocks(judge: Run, people: Run, draws: Sequence[Draw]) -> list[Block]:
    fixed = (frozenset({"points", "weight"}), frozenset({"memories"}), frozenset({"questions"}))
    names = (("integrity", INTEGRITY), ("accuracy", ACCURACY), ("qa", QA))
    return [
        whole(name, terms, f, y, draw, fixed=constant)
        for (name, terms), f, y, draw, constant in zip(
            names, terms_of(judge), terms_of(people), draws, fixed, strict=True
        )
    ]


def ratios(run: Run, label: str) -> Iterator[Setting]:
    """Recall, weighted recall, target precision, F1 and C/H/O, labels drawn task by task."""
    sizes = (len(run.integrity), len(run.accuracy), len(run.answers))
    for errors in (0.02, 0.05, 0.1, 0.25):
        for n in (30, 60, 150):
            if n > min(sizes):
                continue

            def make(rng: np.random.Generator, errors: float = errors, n: int = n) -> list[Block]:
                draws = [Draw(rng.choice(size, n, replace=False), size) for size in sizes]
                return halumem_blocks(run, planted(run, rng, errors), draws)

            yield Setting(f"{label} err={errors} n={n}", make, halumem, HALUMEM)


def sample_truth() -> Iterator[Setting]:
    """The sample data's own hidden truth, both systems together."""
    judge = read_run(sorted(SAMPLE.glob("*_eval_stat_result.json")))
    people = _true_run(judge)
    sizes = (len(judge.integrity), len(judge.accuracy), len(judge.answers))
    for n in (20, 30, 50):

        def make(rng: np.random.Generator, n: int = n) -> list[Block]:
            return halumem_blocks(judge, people, [Draw(rng.choice(size, n, replace=False), size) for size in sizes])

        yield Setting(f"sample data n={n}", make, halumem, HALUMEM)


def _true_run(judge: Run) -> Run:
    with (SAMPLE / "truth.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    by_task = {task: [row for row in rows if row["task"] == task] for task in ("integrity", "accuracy", "qa")}
    return Run(
        np.array([float(row["truth"]) for row in by_task["integrity"]]),
        judge.weight,
        judge.gold,
        np.array([float(row["truth"]) for row in by_task["accuracy"]]),
        np.array([float(row["truth_flag"] == "true") for row in by_task["accuracy"]]),
        np.array([ANSWERS.index(row["truth"]) for row in by_task["qa"]]),
    )


# --- tables of items with people's labels of all of them ---


def tables(folder: Path) -> Iterator[Setting]:
    """Every `*/items.jsonl` under a folder: the share of the commonest label, by the judge with the most verdicts."""
    for file in sorted(folder.glob("*/items.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        people, judge, name = _labels_of_table(rows)
        labels, counts = np.unique(people, return_counts=True)
        label = labels[int(counts.argmax())]
        y, f = (people == label).astype(float), (judge == label).astype(float)
        for n in (50, 100, 200):
            if n * 2 > len(y):
                continue

            def make(rng: np.random.Generator, y: Floats = y, f: Floats = f, n: int = n) -> list[Block]:
                return yes_no(y, f, Draw(rng.choice(len(y), n, replace=False), len(y)))

            title = f"{file.parent.name} {name} ={label} N={len(y)} n={n}"
            yield Setting(title, make, rate, rate_settings(), others=True)


def _labels_of_table(rows: Sequence[dict[str, object]]) -> tuple[NDArray[np.str_], NDArray[np.str_], str]:
    """People's labels (gold, else the first annotator's) and those of one judge, items with both."""
    names: dict[str, int] = {}
    for row in rows:
        for verdict in row.get("judge") or []:  # type: ignore[attr-defined]
            names[verdict["judge"]] = names.get(verdict["judge"], 0) + (verdict.get("label") is not None)
    name = max(names, key=lambda judge: names[judge])
    people, judge = [], []
    for row in rows:
        human = row.get("human") or []
        own = row.get("gold") if row.get("gold") is not None else (human[0]["label"] if human else None)  # type: ignore[index]
        said = next((v.get("label") for v in row.get("judge") or [] if v["judge"] == name), None)  # type: ignore[attr-defined]
        if own is not None:
            people.append(str(own))
            judge.append(str(said))
    return np.array(people), np.array(judge), name


# --- the table ---


def _floor(replications: int) -> float:
    """`FLOOR` less three Monte Carlo errors."""
    return FLOOR - 3 * math.sqrt(0.95 * 0.05 / replications)


def show(setting: Setting, records: Mapping[str, Record]) -> None:
    for metric, record in records.items():
        floor = _floor(record.replications)
        if not record.hits:
            print(f"  {setting.name:<44}{metric:<17} no interval in {record.refused} replications")
            continue
        cover, used = float(np.mean(record.hits)), np.array(record.corrected)
        held = float(np.mean(np.array(record.hits)[used])) if used.sum() >= 20 else math.nan
        people_held = float(np.mean(record.alone_there)) if used.sum() >= 20 and record.alone_there else math.nan
        there = "  -     -  " if math.isnan(held) else f"{held:.3f} {people_held:.3f}"
        worse = not math.isnan(held) and held < min(_floor(int(used.sum())), people_held)
        mark = "<" if cover < floor else "c" if worse else " "
        alone = float(np.median(record.alone_widths)) if record.alone_widths else float("nan")
        text = f"{mark} {setting.name:<44}{metric:<17}{cover:.3f}  {used.mean():4.2f} {there}  "
        text += f"{np.mean(record.alone):.3f}" if record.alone else "  -  "
        text += f"  {np.median(record.widths) / alone:5.2f}  {np.median(record.worth):5.2f}"
        for other in (record.ppi, record.inverted):
            if other:
                width = float(np.nanmedian([one[1] for one in other])) / alone
                text += f"   {np.mean([one[0] for one in other]):.3f}/{width:4.2f}"
        refused = f"   refused {record.refused}" if record.refused else ""
        print(f"{text}   of {record.replications:,}{refused}", flush=True)


HEAD = f"  {'setting':<44}{'metric':<17}cover  judge             alone  width  worth   ppi          rg"


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=300)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--halumem", type=Path, help="a HaluMem stat-result file to plant labels on")
    parser.add_argument("--tables", type=Path, help="a folder of item tables with people's labels")
    parser.add_argument("--keep", type=Path, help="a folder: add to what earlier runs left there")
    asked, _ = parser.parse_known_args(arguments)
    sections: dict[str, Iterable[Setting]] = {
        "binary": binary("finite"),
        "population": binary("population"),
        "strata": stratified(),
        "two_stage": two_stage(),
        "unequal": unequal(),
        "unequal_by_verdict": unequal_by_verdict(),
        "rare": rare(),
        "clusters": clusters(),
        "balanced": balanced(),
        "paired": paired(),
        "sample": sample_truth(),
        "ratios": ratios(read_run(sorted(SAMPLE.glob("*_eval_stat_result.json"))).tiled(5), "sample x5"),
    }
    if asked.halumem:
        sections["halumem"] = ratios(read_run([asked.halumem]), "run")
    if asked.tables:
        sections["tables"] = tables(asked.tables)
    for name, settings in sections.items():
        if asked.only and name not in asked.only:
            continue
        began = time.perf_counter()
        print(f"\n{name}, {asked.replications} replications more, nominal .95\n{HEAD}")
        for setting in settings:
            records = run(setting, asked.replications, kept_in(asked.keep, setting)) if asked.replications else {}
            if asked.keep and records:
                keep(asked.keep, setting, records)
            show(setting, records or kept_in(asked.keep, setting))
        print(f"  ({time.perf_counter() - began:.0f} s)")


if __name__ == "__main__":
    main()
