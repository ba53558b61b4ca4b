"""Two systems or two judges on the same people's labels, several systems in order, and one system's calibration on
another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from judges.benchmarks.benchmark import CorrectableBenchmark
from judges.collect import resolved_label, task_definitions
from judges.correcting import Corrections, combined, shares_of
from judges.served_part import Served
from judges.study_blocks import BlockItem, StudyBlocks
from store.errors import UsageError

if TYPE_CHECKING:
    from judges.calibration.correction.comparison import Difference, JudgeComparison
    from judges.calibration.correction.leaderboard import Rank
    from judges.calibration.correction.records import Block
    from judges.calibration.correction.result import CorrectedMetric, CorrectedScores
    from judges.calibration.correction.transport import Transport

WORTH_FINDING = 0.05
"""The true difference that power is told for."""


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """a − b in every metric.

    Attributes:
        paired: tasks whose items were drawn as pairs. apart: why others were not, by task.
    """

    a: str
    b: str
    metrics: Mapping[str, Difference]
    paired: tuple[str, ...]
    apart: Mapping[str, str]

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {"a": self.a, "b": self.b, "metric": name, **difference_json(one)} for name, one in self.metrics.items()
        ]


def difference_json(one: Difference) -> dict[str, Any]:
    """A difference as DESIGN §7 has it, with what it rests on."""
    power = one.power
    return {
        "difference": one.found.as_json(), "as_coded": one.found.as_coded, "p_value": one.p_value,
        "paired": one.paired, "separable": one.separable,
        "power": {"detectable": power.detectable, "at": WORTH_FINDING, "observed": power.observed,
                  "labels_needed": power.labels, "power": power.power} if power else None,
    }  # fmt: skip


def compare_systems_of(
    corrections: Corrections, a: str, b: str, judge: str | Sequence[str], only: Sequence[str] = ()
) -> SystemComparison:
    """What people would say of two systems, in every metric or in those of `only`.

    Raises:
        UsageError: the benchmark has nothing that labels could correct.
    """
    from judges.calibration.correction.comparison import compare_systems

    benchmark = corrections.benchmark
    if not isinstance(benchmark, CorrectableBenchmark):
        raise UsageError(f"{corrections.study.benchmark} has no metric that is corrected by labels.")
    first, second = corrections.blocks(a, judge), corrections.blocks(b, judge)
    keys = _pair_keys(corrections)
    ones, twos, apart = list[Any](), list[Any](), dict[str, str]()
    paired = []
    for one, two in zip(*_common(first, second), strict=True):
        name = one.name
        parts = (first.served[name], second.served[name])
        if why := _not_paired(parts, first.items[name], second.items[name], keys):
            apart[name] = why
            ones.append(one)
            twos.append(two)
            continue
        paired.append(name)
        order = sorted(keys[item.item_id] for item in first.items[name])
        both = _drawn_keys(first, name, keys) & _drawn_keys(second, name, keys)
        ones.append(reordered(one, [keys[item.item_id] for item in first.items[name]], order, both))
        twos.append(reordered(two, [keys[item.item_id] for item in second.items[name]], order, both))
    settings = corrections.settings([first, second])
    found = compare_systems(ones, twos, combined(benchmark), settings, paired, WORTH_FINDING, only)
    needs = benchmark.needs()
    metrics = {name: replace(one, paired=_all_paired(needs, name, paired)) for name, one in found.items()}
    return SystemComparison(a, b, metrics, tuple(paired), apart)


def _common(first: StudyBlocks, second: StudyBlocks) -> tuple[list[Block], list[Block]]:
    names = [one.name for one in first.blocks if any(one.name == two.name for two in second.blocks)]
    ones = {one.name: one for one in first.blocks}
    twos = {two.name: two for two in second.blocks}
    return [ones[name] for name in names], [twos[name] for name in names]


def _all_paired(needs: Mapping[str, frozenset[str]], metric: str, paired: Sequence[str]) -> bool:
    try:
        tasks = {need.partition("/")[0] for need in needs[metric]}
    except KeyError:
        return False
    return bool(tasks) and tasks <= set(paired)


def _pair_keys(corrections: Corrections) -> dict[str, str]:
    return dict(corrections.study.rows("SELECT item_id, pair_key FROM current_items"))


def _not_paired(
    parts: tuple[Served, Served], first: Sequence[BlockItem], second: Sequence[BlockItem], keys: Mapping[str, str]
) -> str:
    """Why a task's items of two systems are not one draw of pairs; "" when they are."""
    one, two = ([keys[item.item_id] for item in items] for items in (first, second))
    if len(set(one)) < len(one) or len(set(two)) < len(two):
        return "a system has several items for one question"
    if set(one) != set(two):
        return f"{len(set(one) ^ set(two)):,} items have no counterpart in the other system"
    whole = all(len(part.items) == len(items) for part, items in zip(parts, (first, second), strict=True))
    if whole:
        return ""
    draws = [part.draw for part in parts]
    if draws[0] is None or draws[1] is None or draws[0].draw_id != draws[1].draw_id:
        return "the two were not labelled under one draw"
    if not draws[0].settings.get("paired"):
        return "items were not drawn by question: overread sample --paired"
    return ""


def _drawn_keys(found: StudyBlocks, name: str, keys: Mapping[str, str]) -> set[str]:
    return {keys[item_id] for item_id in found.served[name].items}


def reordered(block: Block, keys: Sequence[str], order: Sequence[str], drawn: set[str]) -> Block:
    """The block with its items in the order of pairs, of the drawn only those whose pair was drawn whole."""
    import numpy as np

    place = {key: row for row, key in enumerate(keys)}
    rows = np.array([place[key] for key in order], dtype=np.int64)
    human_row = {keys[row]: number for number, row in enumerate(block.draw.drawn.tolist())}
    kept = [number for number, key in enumerate(order) if key in drawn]

    def moved(values: Any) -> Any:
        return None if values is None else np.asarray(values)[rows]

    draw = replace(
        block.draw, drawn=np.array(kept, dtype=np.int64), strata=moved(block.draw.strata),
        groups=moved(block.draw.groups), probabilities=moved(block.draw.probabilities),
    )  # fmt: skip
    human = block.human_terms[[human_row[order[number]] for number in kept]]
    missing = {} if len(kept) < len(block.draw.drawn) else block.missing
    return replace(
        block, judge_terms=block.judge_terms[rows], human_terms=human, draw=draw, verdicts=moved(block.verdicts),
        clusters=moved(block.clusters), missing=missing,
    )  # fmt: skip


# Several systems in order


MOST_PAIRED = 10
"""Systems of a leaderboard that are compared in pairs: 45 pairs of them."""


def leaderboards(
    corrections: Corrections,
    scores: Mapping[str, CorrectedScores],
    judge: str | Sequence[str],
    metrics: Sequence[str] = (),
) -> dict[str, list[Rank]]:
    """Systems in order by each metric that labels speak of, with the ranks that they cannot tell apart.

    Up to `MOST_PAIRED` systems that were labelled question by question are compared in pairs; more of them as if they
    had been drawn apart, which tells fewer ranks apart but takes seconds.
    """
    from judges.calibration.correction.leaderboard import leaderboard

    lower: frozenset[str] = getattr(corrections.benchmark, "lower_is_better", frozenset)()
    chosen = [name for name in metrics or _main_metrics(corrections.benchmark, scores) if _is_ranked(name, scores)]
    pairs = {
        (a, b): compare_systems_of(corrections, a, b, judge, chosen).metrics
        for a, b in combinations(scores if len(scores) <= MOST_PAIRED else (), 2)
        if any(name in scores[a].metrics and name in scores[b].metrics for name in chosen)
        and any(_drawn_as_pairs(corrections.blocks(name, judge)) for name in (a, b))
    }
    found = {}
    for metric in chosen:
        rows: dict[str, CorrectedMetric] = {
            name: one.metrics[metric] for name, one in scores.items() if metric in one.metrics
        }
        paired = {pair: one[metric] for pair, one in pairs.items() if metric in one and one[metric].paired}
        found[metric] = leaderboard(rows, paired, metric not in lower)
    return found


def _is_ranked(metric: str, scores: Mapping[str, CorrectedScores]) -> bool:
    """Whether labels speak of a metric in two systems or more."""
    rows = [one.metrics[metric] for one in scores.values() if metric in one.metrics]
    return sum(one.statistic.value is not None and one.used != "exact" for one in rows) >= 2


def _drawn_as_pairs(found: StudyBlocks) -> bool:
    return any(part.draw is not None and part.draw.settings.get("paired") for part in found.served.values()) or all(
        len(part.items) == len(found.items[task]) for task, part in found.served.items()
    )


MOST_METRICS = 8


def _main_metrics(benchmark: Any, scores: Mapping[str, CorrectedScores]) -> list[str]:
    known = [name for one in scores.values() for name in one.metrics]
    headline = [name for name in getattr(benchmark, "headline", {}) if name in known]
    return headline or sorted(dict.fromkeys(known), key=lambda name: name.count(" / "))[:MOST_METRICS]


def rank_json(rank: Rank) -> dict[str, Any]:
    return {
        "system": rank.system, "rank": rank.rank, "best": rank.best, "worst": rank.worst,
        "not_separable": list(rank.not_separable), "statistic": rank.statistic.as_json(),
    }  # fmt: skip


# One system's calibration on another


@dataclass(frozen=True, slots=True)
class Transported:
    """Scores of a system by the error rates a judge showed on another.

    Attributes:
        calibrated_on: where people labelled. checks: by task, whether the rates may be carried over.
        metrics: the shares that can be so corrected: (value, low, high); or why not.
    """

    calibrated_on: str
    checks: Mapping[str, Transport]
    metrics: Mapping[str, tuple[float, float, float] | str]

    def as_json(self) -> dict[str, Any]:
        return {
            "calibrated_on": self.calibrated_on,
            "checks": {
                task: {"verdict": one.verdict, "why": one.why, "labels_needed": one.labels_needed,
                       "differences": {label: found.as_json() for label, found in one.differences.items()},
                       "p_values": dict(one.p_values)}
                for task, one in self.checks.items()
            },
            "metrics": {
                name: {"value": None, "status": "not_transported", "why": one} if isinstance(one, str) else
                {"value": one[0], "low": one[1], "high": one[2], "level": 0.95,
                 "method": f"the judge's error rates on {self.calibrated_on}, inverted (Lee et al. 2025)"}
                for name, one in self.metrics.items()
            },
        }  # fmt: skip


def transported(corrections: Corrections, calibrated_on: str, system: str, judge: str | Sequence[str]) -> Transported:
    """What a system would score if the judge errs on it as it does on the one where people labelled.

    Raises:
        UsageError: the benchmark has nothing that labels could correct.
    """
    if not isinstance(corrections.benchmark, CorrectableBenchmark):
        raise UsageError(f"{corrections.study.benchmark} has no metric that is corrected by labels.")
    here, there = corrections.blocks(calibrated_on, judge), corrections.blocks(system, judge)
    checks = {}
    for task, definition in task_definitions(corrections.study).items():
        if definition.kind == "choice" and task in here.items and task in there.items:
            checks[task] = _check(corrections, definition.values, here, there, task)
    return Transported(calibrated_on, checks, _carried(corrections, here, there))


def _check(
    corrections: Corrections, values: Sequence[str], here: StudyBlocks, there: StudyBlocks, task: str
) -> Transport:
    from judges.calibration.agreement.scale import Scale
    from judges.calibration.correction.transport import transport

    calibrated = _codes(corrections, values, here, task, labelled_only=True)
    new = _codes(corrections, values, there, task, labelled_only=False)
    return transport(Scale(tuple(values)), calibrated, new)


def _codes(
    corrections: Corrections, values: Sequence[str], found: StudyBlocks, task: str, *, labelled_only: bool
) -> tuple[list[int], list[int]]:
    code = {value: number for number, value in enumerate(values)}
    people, judge = [], []
    for item in found.items[task]:
        label = _label(corrections, found, task, item, code)
        if label >= 0 or not labelled_only:
            people.append(label)
            judge.append(_verdict(item, code))
    return people, judge


def _label(corrections: Corrections, found: StudyBlocks, task: str, item: BlockItem, code: Mapping[str, int]) -> int:
    """What people say of an item that was served to them; −1 where it was not, or they do not agree."""
    said = corrections.labels.get(item.item_id) if item.item_id in found.served[task].items else None
    return code.get(resolved_label(said) or "", -1)


def _carried(
    corrections: Corrections, here: StudyBlocks, there: StudyBlocks
) -> dict[str, tuple[float, float, float] | str]:
    import numpy as np

    from judges.calibration.correction.corrected import problem_of
    from judges.calibration.correction.inverted import transported_share
    from judges.calibration.correction.refusals import Reason

    benchmark = corrections.benchmark
    assert isinstance(benchmark, CorrectableBenchmark)
    drawn = {one.block.name: one for one in problem_of(here.blocks, combined(benchmark)).blocks}
    new = {block.name: block for block in there.blocks}
    found: dict[str, tuple[float, float, float] | str] = {}
    for metric, share in shares_of(benchmark).items():
        owners = [one for one in drawn.values() if {share.numerator, share.denominator} <= set(one.block.terms)]
        if len(owners) != 1 or owners[0].block.name not in new:
            continue
        [block] = owners
        task = block.block.name
        if not block.sample.n:
            found[metric] = f"task {task} has no labels on the calibrated system"
            continue
        if not here.served[task].equal_chances:
            found[metric] = "error rates can be carried over only from items drawn one by one with equal chances"
            continue
        other = new[task]
        columns = [other.terms.index(name) if name in other.terms else -1 for name in block.block.terms]
        padded = np.concatenate([other.judge_terms, np.zeros((other.items, 1))], axis=1)
        answer = transported_share(block, padded[:, columns], share, 0.95)
        found[metric] = answer.why if isinstance(answer, Reason) else (answer.value, answer.low, answer.high)
    return found


# Two judges


def compare_judges_of(corrections: Corrections, first: str, second: str) -> dict[str, JudgeComparison | str]:
    """Two judges against the same labels, by task; a sentence where there is no comparison."""
    from judges.calibration.correction.comparison import compare_judges
    from store.items import systems

    found: dict[str, JudgeComparison | str] = {}
    for task, definition in task_definitions(corrections.study).items():
        if definition.kind != "choice":
            continue
        code = {value: number for number, value in enumerate(definition.values)}
        rows: list[tuple[int, int, int]] = []
        equal = True
        for system in systems(corrections.study):
            one, two = corrections.blocks(system, first), corrections.blocks(system, second)
            if task not in one.items or task not in two.items:
                continue
            equal = equal and (one.served[task].equal_chances or not one.served[task].items)
            other = {item.item_id: item for item in two.items[task]}
            rows += [
                (label, _verdict(item, code), _verdict(other[item.item_id], code))
                for item in one.items[task]
                if (label := _label(corrections, one, task, item, code)) >= 0
            ]
        if not rows:
            found[task] = "no labels"
        elif not equal:
            found[task] = "labels were drawn by strata or texts: items of unequal weight are not compared one by one"
        else:
            people, a, b = zip(*rows, strict=True)
            found[task] = compare_judges(people, a, b, len(code), worth_finding=WORTH_FINDING)
    return found


def _verdict(item: BlockItem, code: Mapping[str, int]) -> int:
    return code.get(item.verdict or "", -1)


def judges_json(a: str, b: str, found: Mapping[str, JudgeComparison | str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for task, one in found.items():
        if isinstance(one, str):
            rows.append({"a": a, "b": b, "task": task, "difference": None, "why": one})
            continue
        for name in ("accuracy", "informedness"):
            rows.append({
                "a": a, "b": b, "task": task, "metric": name, "difference": getattr(one, name).as_json(),
                "only_a_right": one.only_first, "only_b_right": one.only_second, "p_value": one.p_value,
                "paired": True, "power": {"detectable": one.power.detectable, "at": WORTH_FINDING,
                                          "observed": one.power.observed, "labels_needed": one.power.labels,
                                          "power": one.power.power},
            })  # fmt: skip
    return rows
