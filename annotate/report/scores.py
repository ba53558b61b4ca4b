"""The benchmark's scores: as coded, with people's labels put in, corrected where somebody has computed that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeGuard

from annotate.report.beside import beside_blocks, remark_blocks
from annotate.report.blocks import Block, Cell, Fold, Heading, Listing, Paragraph, Row, Section, Table
from annotate.report.facts import Facts
from annotate.report.words import MINUS, NO_NUMBER, decimal_words
from judges.benchmarks.benchmark import Alarm
from judges.calibration.statistic import Statistic
from judges.judge_sets import JudgeSet, judge_set, judge_sets
from judges.scoring import StudyScores, SystemScores, alarms_of, score_study

_EQUALITY: Final[Mapping[bool | None, str]] = {
    True: "As coded equals the scores that the imported file states, number for number.",
    False: "As coded DIFFERS from the scores that the imported file states.",
    None: "The imported file states no scores of its own.",
}


MOST_METRICS: Final = 60
OUTER: Final = 2
"""Separators in the path of a metric of all items ("support / share / supported")."""
MOST_SYSTEMS: Final = 8
"""Systems whose scores stand open; of more, each is folded."""


class Change(NamedTuple):
    """A metric that people's labels change."""

    system: str
    metric: str
    before: float
    after: float


def scores_of(facts: Facts) -> list[StudyScores]:
    """The scores under each judge that is reported on; judges of different tasks score together."""
    return [score_study(facts.study, one.names) for one in _sets(facts)]


def alarms_to_report(facts: Facts, scores: list[StudyScores]) -> list[Mapping[str, Sequence[Alarm]]]:
    """What comes before every number, under each set of judges; of the one task, if only that is reported on."""
    if not facts.options.task:
        return [{system: found.alarms for system, found in one.systems.items()} for one in scores]
    return [alarms_of(facts.study, one.names, facts.options.task) for one in _sets(facts)]


def _sets(facts: Facts) -> list[JudgeSet]:
    if facts.options.judge:
        return [judge_set(facts.study, facts.options.judge)]
    return [one for one in judge_sets(facts.study) if set(one.names) & set(facts.judges)]


def flatten(scores: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested scores as (path, value), the path as in "memory_integrity / recall(all)"."""
    for name, value in scores.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{name} / ")
        else:
            yield f"{prefix}{name}", value


def greatest_changes(scores: StudyScores, most: int = 3) -> list[Change]:
    """The shares (metrics between 0 and 1) that people's labels move furthest, over all systems.

    Of metrics of one system that make the same move (`recall(all)` and `recall(valid)`) the first stands for all.
    """
    changes: dict[tuple[str, float, float], Change] = {}
    for system, found in scores.systems.items():
        after_of = dict(flatten(found.overridden))
        for metric, before in _telling(list(flatten(found.as_coded)), scores.headline):
            after = after_of.get(metric)
            if _is_share(before) and _is_share(after) and before != after:
                changes.setdefault((system, before, after), Change(system, metric, before, after))
    # What is of all items comes before what is of a slice, which rests on few.
    outer = [change for change in changes.values() if change.metric.count(" / ") <= OUTER]
    return sorted(outer or changes.values(), key=lambda change: -abs(change.after - change.before))[:most]


def _telling(metrics: list[tuple[str, Any]], headline: Collection[str]) -> Iterator[tuple[str, Any]]:
    """All metrics; where there are very many, the outer ones and the headline: inner cells rest on a few items."""
    for path, value in metrics:
        if len(metrics) <= MOST_METRICS or path.count(" / ") < 2 or path in headline:
            yield path, value


def _is_share(value: Any) -> TypeGuard[float]:
    return isinstance(value, float) and 0 <= value <= 1


def scores_section(facts: Facts, scores: list[StudyScores]) -> Section:
    """One table a system."""
    blocks: list[Block] = [
        Paragraph(
            "As coded: what the benchmark's own script computes from the judge's verdicts. Overridden: the same with "
            "people's final labels in place of the verdicts; items nobody labelled keep the judge's."
        )
    ]
    blocks += remark_blocks(scores)
    for found in scores:
        corrected = facts.options.corrected.get(found.judge, {})
        folded = len(found.systems) > MOST_SYSTEMS
        for system, one in found.systems.items():
            name = f"{system}, judged by {found.judge}" if len(scores) > 1 else system
            told = [
                *_system(name, one, corrected.get(system) or _corrected_of(one)),
                *beside_blocks(name, one, facts.options.texts),
            ]
            blocks += [Fold(name, tuple(told[1:]))] if folded else told
    return Section("scores", "Scores", tuple(blocks))


def _corrected_of(found: SystemScores) -> Mapping[str, Statistic]:
    if found.corrected is None:
        return {}
    return {metric: answer.statistic for metric, answer in found.corrected.metrics.items()}


def _system(name: str, found: SystemScores, corrected: Mapping[str, Statistic]) -> Iterator[Block]:
    yield Heading(name)
    yield Paragraph(f"{_EQUALITY[found.equals_file]} {found.overridden_items:,} items have a person's final label.")
    overridden = dict(flatten(found.overridden))
    coded = dict(flatten(found.as_coded))
    moved = [metric for metric, value in coded.items() if metric in corrected or overridden.get(metric) != value]
    rest = [metric for metric in coded if metric not in moved]
    if moved:
        title = "Metrics that people's labels change" if not corrected else "Metrics changed or corrected"
        yield _table(f"{title}, {name}", moved, coded, overridden, corrected)
    if rest:
        unchanged = _table(f"Metrics that stay as they are, {name}", rest, coded, overridden, {})
        yield Fold(f"{len(rest)} metrics stay as they are", (unchanged,))
    described = [
        (metric, value)
        for metric, value in flatten(found.as_described)
        if value != coded.get(metric) and (" / " not in metric or metric in coded)
    ]
    if described:
        yield _described(name, described, coded)
    if reasons := [f"{metric}: {value.why}." for metric, value in coded.items() if hasattr(value, "why")]:
        yield Listing(tuple(reasons))


def _table(
    caption: str,
    metrics: list[str],
    coded: Mapping[str, Any],
    overridden: Mapping[str, Any],
    corrected: Mapping[str, Statistic],
) -> Table:
    columns = ["metric", "as coded", "overridden", "change"] + (["corrected (interval)"] if corrected else [])
    rows, group = [], ""
    for metric in sorted(metrics, key=lambda metric: " / " in metric):
        before, after = coded[metric], overridden.get(metric)
        head, _, name = metric.rpartition(" / ")
        if head != group:
            group = head
            rows.append(Row((Cell(head),), group=True))
        cells = [Cell(name), number_cell(before), number_cell(after), _change_cell(before, after)]
        if corrected:
            cells.append(_corrected_cell(corrected.get(metric)))
        rows.append(Row(tuple(cells)))
    return Table(caption, tuple(columns), tuple(rows))


def number_cell(value: Any) -> Cell:
    """A score: four decimals, a count as it is, a dash for none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell(NO_NUMBER)
    return Cell(f"{value:,}" if isinstance(value, int) else f"{value:.4f}", value=value)


def _change_cell(before: Any, after: Any) -> Cell:
    if not isinstance(before, int | float) or not isinstance(after, int | float) or before == after:
        return Cell("")
    change = after - before
    amount = f"{abs(change):,}" if isinstance(change, int) else f"{abs(change):.4f}"
    return Cell(f"{'+' if change > 0 else MINUS}{amount}")


def _corrected_cell(statistic: Statistic | None) -> Cell:
    if statistic is None:
        return Cell("")
    if statistic.value is None:
        return Cell(f"{statistic.status.replace('_', ' ')}: {statistic.why}")
    return Cell(decimal_words(statistic, 4), value=statistic.value)


def _described(name: str, described: list[tuple[str, Any]], coded: Mapping[str, Any]) -> Table:
    rows = [Row((Cell(metric), number_cell(coded.get(metric)), number_cell(value))) for metric, value in described]
    return Table(
        f"Where the benchmark's paper says something else than its code, {name}",
        ("metric", "as coded", "as described"),
        tuple(rows),
    )
