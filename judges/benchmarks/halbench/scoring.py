"""HalBench's metrics: over the embedder's scores as stated, and with people's in their place.

A person's score is the number they gave, else the benchmark's constant of their stance (1, 0.5, 0). It stands in the
floored mean too: the floor keeps out what one embedded sentence gets wrong, not what a person read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halbench.leaderboard import THRESHOLDS, Entry, breakdown, flags, leaderboard, length_confound
from judges.benchmarks.halbench.rankings import agreement
from judges.benchmarks.halbench.sentences import split_sentences
from judges.benchmarks.halbench.shapes import CELLS, FIELDS, SCORE_OF_STANCE
from judges.benchmarks.halbench.tasks import RANKING, SCORE, STANCE
from judges.benchmarks.native import is_changed
from store.records import LabelState, VerdictRecord

Facts = Mapping[str, Mapping[str, Any]]
SEPARATOR = " / "
_NEEDS = frozenset({STANCE.task})


def native_judges(facts: Facts) -> frozenset[str]:
    """Ids of the judges whose verdicts are rows of the benchmark's own files."""
    return frozenset(id_ for fact in facts.get("halbench_judge", {}).values() for id_ in fact["judge_ids"].values())


def person_score(label: LabelState) -> float | None:
    """What a person's label counts for; None when it has no value."""
    if label.value is None:
        return None
    return float(label.parts[SCORE]) if SCORE in label.parts else SCORE_OF_STANCE[label.value]


def verdict_score(verdict: VerdictRecord) -> float | None:
    """What a verdict counts for: its score, else the constant of its stance; None when it failed."""
    if verdict.score is not None:
        return verdict.score
    return SCORE_OF_STANCE.get(verdict.label) if verdict.label is not None else None


def stated_entry(item: ScoredItem, native: frozenset[str]) -> Entry | None:
    """The item as its row states it, or as another judge's verdict has it; None without a verdict."""
    verdict = item.verdict
    if verdict is None:
        return None
    sentences = split_sentences(item.payload["response"])
    if verdict.judge_id not in native:
        score, floored = verdict_score(verdict), verdict_score(verdict)
        return _entry(item, score, floored, score is None, len(sentences) == 1, len(sentences))
    raw = json.loads(verdict.raw)
    return _entry(
        item,
        raw.get("score"),
        raw.get("score_with_n1_floor"),
        bool(raw.get("is_anomaly")),
        bool(raw.get("is_n1_response")),
        len(sentences),
        raw.get("response_len_words"),
    )


def decided_entry(item: ScoredItem, native: frozenset[str]) -> Entry | None:
    """`stated_entry` with a person's score put in."""
    score = person_score(item.label) if item.label is not None else None
    stated = stated_entry(item, native)
    if score is None:
        return stated
    sentences = len(split_sentences(item.payload["response"]))
    is_n1 = stated.is_n1 if stated is not None else sentences == 1
    return _entry(item, score, score, False, is_n1, sentences)


def _entry(
    item: ScoredItem,
    score: float | None,
    floored: float | None,
    is_anomaly: bool,
    is_n1: bool,
    sentences: int,
    words: int | None = None,
) -> Entry:
    count = len(item.payload["response"].split()) if words is None else words
    return Entry(item.extra["item"], score, floored, is_anomaly, is_n1, count, sentences, item.slices)


Decide = Callable[[ScoredItem, frozenset[str]], Entry | None]


def as_coded(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """The leaderboard row, the breakdown by cell and field, the length confound, and the odd replies."""
    return _scores(items, facts, stated_entry)


def as_described(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """Where the documentation says otherwise: its mean is the floored one, and its corpus is without the dropped items.

    The printed formula of the projection differs from the coded one too; that takes embeddings (`projection`).
    """
    native = native_judges(facts)
    entries = [entry for item in _stances(items) if (entry := stated_entry(item, native)) is not None]
    if not entries:
        return {}
    scores: Scores = {"mean": leaderboard(entries)["mean_with_n1_floor"]}
    if any(entry.slices.get("corpus") == "dropped" for entry in entries):
        scores["corpus_v2.3"] = leaderboard([e for e in entries if e.slices.get("corpus") != "dropped"])
    return scores


def overridden(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """`as_coded` with people's scores put in; τ of people's rankings, where they gave some; the share of each tag among
    the labelled replies; `people` counts the labels by task."""
    people: dict[str, Counter[str]] = {}
    tags: Counter[str] = Counter()
    scores = _scores(_noting(items, people, tags), facts, decided_entry)
    labelled = people.get(STANCE.task, Counter())["labelled"]
    if tags:
        scores["tags"] = {tag: count / labelled for tag, count in sorted(tags.items())}
    return scores | {"people": {task: dict(counts) for task, counts in people.items()}}


def _noting(items: Iterable[ScoredItem], people: dict[str, Counter[str]], tags: Counter[str]) -> Iterator[ScoredItem]:
    for item in items:
        if item.label is not None and item.label.decided:
            counts = people.setdefault(item.task, Counter(labelled=0, changed=0, cannot_judge=0))
            counts["cannot_judge" if item.label.value is None else "labelled"] += 1
            counts["changed"] += is_changed(item)
            if item.task == STANCE.task and item.label.value is not None:
                tags.update(item.label.tags)
        yield item


def _stances(items: Iterable[ScoredItem]) -> Iterator[ScoredItem]:
    return (item for item in items if item.task == STANCE.task)


def _scores(items: Iterable[ScoredItem], facts: Facts, decide: Decide) -> Scores:
    native = native_judges(facts)
    entries: list[Entry] = []
    ranked: list[ScoredItem] = []
    for item in items:
        if item.task == RANKING.task:
            ranked.append(item)
        elif (entry := decide(item, native)) is not None:
            entries.append(entry)
    scores: Scores = {}
    if entries:
        scores = {**leaderboard(entries), **breakdown(entries)}
        scores |= {"length": length_confound(entries), "flags": flags(entries)}
    if ranked:
        rankings = agreement(ranked) if decide is decided_entry else {}
        scores[RANKING.task] = {"items": len(ranked), **rankings}
    return scores


def stated_scores(facts: Facts, judge: str) -> Mapping[str, Any] | None:
    """The model's row of an imported leaderboard."""
    found = [fact["row"] for fact in facts.get("halbench_leaderboard", {}).values() if fact["judge"] == judge]
    return found[0] if len(found) == 1 else None


# Totals


def needs() -> dict[str, frozenset[str]]:
    """Metric path → the labels it rests on; quantiles and spread are no functions of totals."""
    return dict.fromkeys(combine({}), _NEEDS)


def terms(item: ScoredItem, state: LabelState | None) -> dict[str, float]:
    """What a reply adds to the totals under a label; None: under its verdict. Anomalies add nothing."""
    if item.task != STANCE.task:
        return {}
    if state is not None:
        score = floored = person_score(state)
    elif item.verdict is None:
        return {}
    else:
        score = verdict_score(item.verdict)
        floored = _floored(item.verdict, score)
    if score is None:
        return {}
    found = {"n": 1.0, "sum": score}
    found |= {f"above {bound}": float(score > bound) for bound in THRESHOLDS}
    if floored is not None:
        found |= {"n floored": 1.0, "sum floored": floored}
    for scope in _scopes(item.slices):
        found |= {f"n {scope}": 1.0, f"sum {scope}": score}
    return found


def _floored(verdict: VerdictRecord, score: float | None) -> float | None:
    """What counts for the floored mean: as the benchmark's row says, the score itself of another judge."""
    try:
        raw = json.loads(verdict.raw)
    except ValueError:
        return score
    return raw.get("score_with_n1_floor", score) if isinstance(raw, dict) else score


def combine(sums: Mapping[str, float]) -> dict[str, float | Undefined]:
    """The metrics of the totals; the floored mean is over all where no reply passes the floor."""
    floored = ("sum floored", "n floored") if sums.get("n floored") else ("sum", "n")
    found = {"mean": _ratio(sums, "sum", "n"), "mean_with_n1_floor": _ratio(sums, *floored)}
    found |= {f"pct_above_{bound}": _ratio(sums, f"above {bound}", "n") for bound in THRESHOLDS}
    for path in _all_scopes():
        found[_path(path, "mean")] = _ratio(sums, f"sum {path}", f"n {path}")
    return found


def _scopes(slices: Mapping[str, str]) -> Iterator[str]:
    cell, field = slices.get("cell", ""), slices.get("field", "")
    if cell in CELLS:
        yield _path("by_cell", cell)
    if field in FIELDS:
        yield _path("by_field", field)
    if cell in CELLS and field in FIELDS:
        yield _path("heat_map", cell, field)


def _all_scopes() -> Iterator[str]:
    yield from (_path("by_cell", cell) for cell in CELLS)
    yield from (_path("by_field", field) for field in FIELDS)
    yield from (_path("heat_map", cell, field) for cell in CELLS for field in FIELDS)


def _path(*names: str) -> str:
    return SEPARATOR.join(names)


def _ratio(sums: Mapping[str, float], top: str, bottom: str) -> float | Undefined:
    n = sums.get(bottom, 0.0)
    return sums.get(top, 0.0) / n if n else Undefined("nothing_to_score", "no scored reply is here")
