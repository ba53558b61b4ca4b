"""Writes HalBench's files back: a model's `scores.jsonl` with people's scores in it, or people's rankings.

A row that a person scored has their number in `score` and in `score_with_n1_floor`, is no anomaly, and says so in
`scoring_method`; the embedder's own values stand under `overread`. Its sentence scores stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judges.benchmarks.benchmark import NativeFile, ScoredItem
from judges.benchmarks.halbench.rankings import ranks
from judges.benchmarks.halbench.scoring import Facts, native_judges, person_score, verdict_score
from judges.benchmarks.halbench.shapes import PERSON_METHOD
from judges.benchmarks.halbench.tasks import RANKING
from judges.benchmarks.halbench.written import named_ranking
from judges.benchmarks.native import PATCH_FIELD, SideFiles, Spool, patch_of
from judges.benchmarks.row_text import restored
from judges.calibration.agreement.tau_of_rankings import tau_of_rankings
from store.records import LabelState

SCORES, RANKINGS = "scores", "rankings"
REPLACED = ("is_anomaly", "score", "score_with_n1_floor", "scoring_method")

Provenance = Mapping[str, Mapping[str, Any]]


def write_native(items: Iterable[ScoredItem], facts: Facts, provenance: Provenance) -> Iterator[NativeFile]:
    """`scores.jsonl` of a model, or `rankings.jsonl` of all, and the lists beside it; items are read once."""
    spool = Spool()
    native = native_judges(facts)
    stem, side = SCORES, SideFiles(SCORES, provenance)
    for item in items:
        who = provenance.get(item.item_id, {})
        if item.task == RANKING.task:
            if stem == SCORES:
                stem, side = RANKINGS, SideFiles(RANKINGS, provenance)
            if item.label is not None and item.label.decided:
                spool.write_line(_ranking(item, item.label, who))
        else:
            spool.write_line(_score(item, who, native))
        side.add(item, {"item_id": item.extra["item"]})
    about = "the model's scores, patched" if stem == SCORES else "people's rankings"
    yield NativeFile(f"{stem}.jsonl", spool.drain(), about)
    yield from side.files()


def _score(item: ScoredItem, who: Mapping[str, Any], native: frozenset[str]) -> dict[str, Any]:
    row = restored(item.extra, item.payload, item.texts)
    if item.verdict is not None and item.verdict.judge_id in native:
        row |= json.loads(item.verdict.raw)
    elif item.verdict is not None:
        score = verdict_score(item.verdict)
        row |= {"score": score, "score_with_n1_floor": score, "is_anomaly": score is None}
    if item.label is None or not item.label.decided:
        return row
    judge = {name: row[name] for name in REPLACED if name in row}
    score = person_score(item.label)
    if score is not None:
        row |= {"is_anomaly": False, "score": score, "score_with_n1_floor": score, "scoring_method": PERSON_METHOD}
    return row | {PATCH_FIELD: patch_of(item.label, judge, who)}


def _ranking(item: ScoredItem, label: LabelState, who: Mapping[str, Any]) -> dict[str, Any]:
    models = item.extra["models"]
    verdict = item.verdict.label if item.verdict is not None else None
    tau = (
        tau_of_rankings(ranks(label.value), ranks(verdict)) if label.value is not None and verdict is not None else None
    )
    patch = patch_of(label, {}, who)
    patch.pop("value", None)
    return {
        "item_id": item.extra["item"],
        "ranking": named_ranking(label.value, models),
        "judge_ranking": named_ranking(verdict, models),
        "kendall_tau_b": tau,
        PATCH_FIELD: patch,
    }
