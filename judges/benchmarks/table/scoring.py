"""A table's metrics: the share of each label, overall and by system and stratum, and the mean where labels are numbers.

A table has no official code. Shares and means are totals over items with a readable verdict (share = Σ [label] / n,
mean = Σ label / n). A verdict that could not be read is in neither sum; `unreadable` and `no_verdict` count those.
Where several items share a cluster, `cluster_mean` is the mean over clusters of each one's mean: a document with many
items counts no more than one with few. It is no function of totals.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.native import is_changed
from store.records import LabelState

BENCHMARK_NAME = "table"

Facts = Mapping[str, Mapping[str, Any]]
SEPARATOR = " / "
SHARE, MEAN, N, SUM, WORDS = "share", "mean", "n", "sum", "words"
"""`words` counts labels that are no numbers: where there are some, or could be, there is no mean."""
CLUSTER_MEAN = "cluster_mean"
BY_SYSTEM, BY = "by_system", "by"


class TaskOfPath(Mapping[str, frozenset[str]]):
    """Metric path → the one task whose labels it rests on, for any path.

    Which metrics there are depends on the table, so this has nothing to iterate over: look up what `combine` gives.
    """

    def __getitem__(self, path: str) -> frozenset[str]:
        return frozenset({path.partition(SEPARATOR)[0]})

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def terms(item: ScoredItem, state: LabelState | None) -> dict[str, float]:
    """What an item adds to the totals under a label; None: under its verdict, nothing when that could not be read."""
    verdict = item.verdict.label if item.verdict is not None else None
    return _terms(item, state.value if state is not None else verdict)


def combine(sums: Mapping[str, float]) -> dict[str, float | Undefined]:
    """Metric path ("task / share / label", "task / by / group / value / mean" …) → value."""
    return {SEPARATOR.join(path): value for path, value in _combined(sums)}


def as_coded(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """The metrics over the judge's verdicts."""
    return _scores(items, facts, lambda item: item.verdict.label if item.verdict else None)


def overridden(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """`as_coded` with people's labels in place of the verdicts; `people` counts them by task."""
    people: dict[str, Counter[str]] = {}
    scores = _scores(_counting(items, people), facts, _decision)
    return scores | {"people": {task: dict(counts) for task, counts in people.items()}}


def _decision(item: ScoredItem) -> str | None:
    if item.label is not None and item.label.value is not None:
        return item.label.value
    return item.verdict.label if item.verdict is not None else None


def _counting(items: Iterable[ScoredItem], people: dict[str, Counter[str]]) -> Iterator[ScoredItem]:
    for item in items:
        if item.label is not None and item.label.decided:
            counts = people.setdefault(item.task, Counter(labelled=0, changed=0, cannot_judge=0))
            counts["cannot_judge" if item.label.value is None else "labelled"] += 1
            counts["changed"] += is_changed(item)
        yield item


def _scores(items: Iterable[ScoredItem], facts: Facts, decide: Callable[[ScoredItem], str | None]) -> Scores:
    sums: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    clusters = _Clusters()
    for item in items:
        value = decide(item)
        count = counts.setdefault(item.task, Counter(items=0, unreadable=0, no_verdict=0))
        count["items"] += 1
        if value is None:
            count["no_verdict" if item.verdict is None else "unreadable"] += 1
        for name, term in _terms(item, value).items():
            sums[name] += term  # type: ignore[assignment]
        clusters.add(item, value)
    scores: Scores = {task: dict(count) for task, count in _in_order(counts, facts).items()}
    for task in scores:
        for label in facts.get("table_task", {}).get(task, {}).get("labels", ()):
            sums[_key(task, SHARE, label)] += 0
    for path, metric in _combined(sums):
        _put(scores, path, metric)
        if path[-1] == MEAN and (mean := clusters.mean(path[:-1])) is not None:
            _put(scores, (*path[:-1], CLUSTER_MEAN), mean)
    return scores


class _Clusters:
    """Sums of number labels by scope and cluster."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, ...], dict[str, tuple[float, int]]] = {}

    def add(self, item: ScoredItem, value: str | None) -> None:
        number = _number(value) if value is not None else None
        if number is None:
            return
        for scope in _scopes(item):
            sums = self._sums.setdefault(scope, {})
            total, n = sums.get(item.cluster, (0.0, 0))
            sums[item.cluster] = (total + number, n + 1)

    def mean(self, scope: tuple[str, ...]) -> float | None:
        """None where no cluster has two items: it would be the plain mean."""
        sums = self._sums.get(scope, {})
        if all(n < 2 for _, n in sums.values()):
            return None
        return sum(total / n for total, n in sums.values()) / len(sums)


def _in_order(counts: Mapping[str, Counter[str]], facts: Facts) -> dict[str, Counter[str]]:
    """By the order of the tasks in the study."""
    names = dict.fromkeys([*facts.get("table_task", {}), *counts])
    return {task: counts[task] for task in names if task in counts}


def _terms(item: ScoredItem, value: str | None) -> dict[str, float]:
    if value is None:
        return {}
    number = _number(value)
    found: dict[str, float] = {}
    for scope in _scopes(item):
        found[_key(*scope, N)] = 1.0
        found[_key(*scope, SHARE, value)] = 1.0
        if number is not None:
            found[_key(*scope, SUM)] = number
        else:
            found[_key(*scope, WORDS)] = 1.0
    return found


def _scopes(item: ScoredItem) -> Iterator[tuple[str, ...]]:
    yield (item.task,)
    for system in item.extra.get("systems", ()):
        yield item.task, BY_SYSTEM, system
    for name, value in item.slices.items():
        yield item.task, BY, name, value


def _combined(sums: Mapping[str, float]) -> Iterator[tuple[tuple[str, ...], float | Undefined]]:
    for key, total in sums.items():
        *scope, last = path = tuple(json.loads(key))
        if len(path) >= 2 and path[-2] == SHARE:
            yield path, _ratio(total, sums.get(_key(*path[:-2], N), 0.0))
        elif last == N and len(scope) > 1:
            yield path, total
        elif last == SUM and _key(*scope, WORDS) not in sums:
            yield (*scope, MEAN), _ratio(total, sums.get(_key(*scope, N), 0.0))


def _ratio(total: float, n: float) -> float | Undefined:
    return total / n if n else Undefined("nothing_to_count", "no verdict could be read")


def _put(scores: Scores, path: tuple[str, ...], value: float | Undefined) -> None:
    *scope, last = path
    here = scores
    for name in scope:
        here = here.setdefault(name, {})
    here[last] = int(value) if last == N and isinstance(value, float) else value


@lru_cache(maxsize=10_000)
def _key(*path: str) -> str:
    return json.dumps(path, ensure_ascii=False)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
