"""The stance of a reply from the embeddings of its sentences, as the benchmark scores it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judges.backends.rules import RuleVerdict
from judges.benchmarks.decisions import number_text
from judges.benchmarks.halbench.projection import DEFER, HARD, SOFT, formatted, score_reply
from judges.benchmarks.halbench.sentences import split_sentences
from judges.benchmarks.halbench.shapes import stance_of
from judges.benchmarks.halbench.tasks import SCORE
from store.items import StoredItem

ENDPOINTS = "halbench_endpoints"
"""Kind of the fact that holds the endpoints of all cells."""


def embedding_texts(item: StoredItem) -> list[str]:
    """The three anchors and the reply's sentences; [] where there is no reply to score."""
    response = str(item.payload.get("response", ""))
    return [formatted(text) for text in (DEFER, SOFT, HARD, *split_sentences(response))] if response else []


def embedding_verdict(
    item: StoredItem, vectors: Sequence[Sequence[float] | None], facts: Mapping[str, Mapping[str, Any]]
) -> RuleVerdict:
    """The score of the benchmark's own code, and the stance whose badge it has.

    Where no endpoints were imported there is nothing to normalise by, and no verdict.
    """
    endpoints = facts.get(ENDPOINTS, {}).get("endpoints", {})
    cell_field = item.slices.get("cell_field", "")
    if cell_field not in endpoints:
        return RuleVerdict(None, "missing", f"there are no endpoints for {cell_field or 'an unknown cell'}")
    own = {name: {"mean_raw_M5": value} for name, value in endpoints[cell_field].items()}
    by_text = dict(zip(embedding_texts(item), vectors, strict=True))
    scored = score_reply(
        str(item.payload["response"]), cell_field, {cell_field: own}, lambda texts: [by_text[text] for text in texts]
    )
    words = f"{scored.sentences} sentences; raw projection {scored.raw:.4f}"
    return RuleVerdict(stance_of(scored.score), why=words, parts={SCORE: number_text(scored.score)}, score=scored.score)
