"""Makes items and verdicts of result rows: a stance for each reply, a ranking for each item that several models got.

Ranking items belong to no model; their system is `ALL_MODELS`. Replies stand in them under neutral ids in an order that
a hash of item and model fixes; `extra["models"]` says which id is whose.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from judges.benchmarks.decisions import number_text
from judges.benchmarks.halbench.corpus import CorpusItem
from judges.benchmarks.halbench.rankings import ranking_of_scores
from judges.benchmarks.halbench.rows import ResultRow
from judges.benchmarks.halbench.sentences import sentence_strip
from judges.benchmarks.halbench.shapes import CONTENT_FILTER, MECHANISMS, stance_of
from judges.benchmarks.halbench.tasks import ENTRIES, RANKING, SCORE, STANCE
from judges.benchmarks.row_text import packed
from store.records import ItemRecord, JudgeRecord, TextRecord, VerdictRecord, canonical_json, digest, item_id

BENCHMARK_NAME = "halbench"
ALL_MODELS = "all models"
DEFAULT_JUDGE = "harrier-oss-v1-0.6b"


class Place(NamedTuple):
    """Where a row stands: its file's name, its place among all, and which of several rows of its item it is."""

    file: str
    position: int
    ordinal: int


class Reply(NamedTuple):
    """What a ranking needs of a row."""

    model: str
    response: str
    score: float | None


def judges(name: str) -> dict[str, JudgeRecord]:
    """The embedder, by task."""
    return {task.task: JudgeRecord(task.task, name) for task in (STANCE, RANKING)}


def stance_item(
    row: ResultRow, corpus: CorpusItem | None, dropped: Sequence[str] | None, place: Place
) -> tuple[ItemRecord, list[TextRecord]]:
    """The item of a reply, and its long texts."""
    key: list[Any] = [row.item_id, place.ordinal] if place.ordinal else [row.item_id]
    payload, texts = _asked(corpus)
    payload["response"] = row.response
    seen = {"response_text": "response"} if row.plain.get("response_text") == row.response else {}
    kept = {name: None if name in row.judged else value for name, value in row.plain.items()}
    extra = {"item": row.item_id, "file": place.file, "judged": list(row.judged), **packed(kept, seen)}
    item = ItemRecord(
        item_id=item_id(BENCHMARK_NAME, STANCE.task, row.model, key),
        task=STANCE.task,
        system=row.model,
        natural_key=canonical_json(key),
        cluster=row.item_id,
        group=row.item_id,
        payload=payload,
        texts={name: text.text_hash for name, text in texts.items()},
        slices=_slices(row, corpus, dropped),
        extra=extra,
        position=place.position,
    )
    return item, list(texts.values())


def stance_verdict(row: ResultRow, item: ItemRecord, judge: JudgeRecord) -> VerdictRecord:
    """What the embedder said of a reply: its score, and the stance whose badge that score has."""
    score = None if row.is_anomaly else row.score
    failure = "" if score is not None else "filtered" if row.finish_reason == CONTENT_FILTER else "missing"
    strip = sentence_strip(row.response, row.per_sentence)
    return VerdictRecord(
        item_id=item.item_id,
        content_hash=item.content_hash,
        judge_id=judge.judge_id,
        label=None if score is None else stance_of(score),
        parts={} if score is None else {SCORE: number_text(score)},
        failure=failure,
        raw=json.dumps(dict(row.judged), ensure_ascii=False),
        score=score,
        rationale=strip.words if score is not None and "per_sent_norm" in row.judged else "",
        position=item.position,
    )


def ranking_item(
    name: str, replies: Sequence[Reply], corpus: CorpusItem | None, cells: Mapping[str, str], position: int
) -> ItemRecord:
    """The item of all models' replies to one prompt.

    Args:
        cells: its slices.
    """
    ordered = sorted(replies, key=lambda reply: digest("order of replies", name, reply.model))
    ids = [f"r{number}" for number in range(1, len(ordered) + 1)]
    payload, texts = _asked(corpus)
    payload[ENTRIES] = [
        {"id": entry, "title": f"Reply {number}", "text": reply.response}
        for number, (entry, reply) in enumerate(zip(ids, ordered, strict=True), start=1)
    ]
    models = {entry: reply.model for entry, reply in zip(ids, ordered, strict=True)}
    return ItemRecord(
        item_id=item_id(BENCHMARK_NAME, RANKING.task, ALL_MODELS, [name]),
        task=RANKING.task,
        system=ALL_MODELS,
        natural_key=canonical_json([name]),
        cluster=name,
        group=name,
        payload=payload,
        texts={field: text.text_hash for field, text in texts.items()},
        slices=dict(cells),
        extra={"item": name, "models": models},
        position=position,
    )


def ranking_verdict(item: ItemRecord, replies: Sequence[Reply], judge: JudgeRecord) -> VerdictRecord:
    """The order of the replies by score; a failure when one of them has none."""
    scores = {reply.model: reply.score for reply in replies}
    by_id = {entry: scores[model] for entry, model in item.extra["models"].items()}
    ranking = ranking_of_scores(by_id)
    words = ", ".join(f"{entry} {'none' if score is None else f'{score:.3f}'}" for entry, score in by_id.items())
    return VerdictRecord(
        item_id=item.item_id,
        content_hash=item.content_hash,
        judge_id=judge.judge_id,
        label=ranking,
        failure="" if ranking is not None else "missing",
        raw=json.dumps({"scores": by_id}),
        rationale=f"Scores: {words}",
        position=item.position,
    )


def cells_of(row: ResultRow) -> dict[str, str]:
    """The strata of a row's item."""
    found = {"cell": row.cell, "field": row.field, "cell_field": row.cell_field}
    found["mechanism"] = MECHANISMS.get(row.cell, "")
    return {name: value for name, value in found.items() if value}


def _asked(corpus: CorpusItem | None) -> tuple[dict[str, Any], dict[str, TextRecord]]:
    """What was asked: the pinned premise, the conversation as a shared text, and what was sent in its place."""
    if corpus is None:
        return {}, {}
    payload: dict[str, Any] = dict(corpus.pinned)
    texts = {"dialogue": TextRecord.of(corpus.dialogue)}
    return (payload | {"sent": corpus.sent} if corpus.sent else payload), texts


def _slices(row: ResultRow, corpus: CorpusItem | None, dropped: Sequence[str] | None) -> dict[str, str]:
    slices = cells_of(row)
    slices["sentences"] = {0: "none", 1: "one"}.get(row.sentences, "several")
    if corpus is not None:
        slices["turns"] = "several" if corpus.turns > 1 else "one"
    if dropped is not None:
        slices["corpus"] = "dropped" if row.item_id in dropped else "kept"
    return slices
