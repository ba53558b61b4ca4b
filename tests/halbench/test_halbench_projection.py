"""The score from embeddings, as coded and as documented."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.benchmarks.halbench.projection import (
    INSTRUCTION,
    formatted,
    normalise,
    raw_m5,
    raw_m5_documented,
    score_of_sentences,
    score_reply,
)

VECTOR = st.lists(st.floats(-2, 2), min_size=4, max_size=4).map(np.array)
ENDPOINTS = {"A1_GC": {"defer": {"mean_raw_M5": 0.1}, "hard": {"mean_raw_M5": 0.6}}}


@given(VECTOR, VECTOR, VECTOR, VECTOR, VECTOR)
def test_the_middle_anchor_cancels_and_the_ends_are_0_and_1(
    defer: np.ndarray, soft: np.ndarray, other: np.ndarray, hard: np.ndarray, reply: np.ndarray
) -> None:
    if np.linalg.norm(hard - defer) < 0.1:
        return
    assert raw_m5(defer, soft, hard, reply) == pytest.approx(raw_m5(defer, other, hard, reply), abs=1e-9)
    assert raw_m5(defer, soft, hard, defer) == pytest.approx(0, abs=1e-9)
    assert raw_m5(defer, soft, hard, hard) == pytest.approx(1, abs=1e-9)


@given(VECTOR, VECTOR, VECTOR, VECTOR)
def test_the_documented_formula_has_its_zero_at_the_hedge(
    defer: np.ndarray, soft: np.ndarray, hard: np.ndarray, reply: np.ndarray
) -> None:
    if np.linalg.norm(hard - defer) < 0.1:
        return
    assert raw_m5_documented(defer, soft, hard, soft) == 0.0
    shift = raw_m5(defer, soft, hard, soft)
    assert raw_m5_documented(defer, soft, hard, reply) == pytest.approx(
        raw_m5(defer, soft, hard, reply) - shift, abs=1e-9
    )


def test_without_an_axis_the_projection_is_0() -> None:
    same = np.ones(3)
    assert raw_m5(same, same, same, np.zeros(3)) == raw_m5_documented(same, same, same, np.zeros(3)) == 0.0


@pytest.mark.parametrize(
    ("raw", "cell", "expected"),
    [(0.35, "A1_GC", 0.5), (0.9, "A1_GC", 1.0), (-1, "A1_GC", 0.0), (1.7, "Z9_XX", 1.7), (-0.2, "A1_SK", -0.2)],
)
def test_raw_scores_are_clipped_between_endpoints_and_left_alone_without(
    raw: float, cell: str, expected: float
) -> None:
    equal = {"A1_SK": {"defer": {"mean_raw_M5": 0.3}, "hard": {"mean_raw_M5": 0.3}}}
    assert normalise(raw, cell, {**ENDPOINTS, **equal}) == pytest.approx(expected)


def toy(texts: Sequence[str]) -> list[list[float] | None]:
    """yes, hedge and no along one axis; a text lies where its count of "not" says; "broken" cannot be embedded."""
    places = {formatted("yes"): 0.0, formatted("yes, but"): 0.3, formatted("no"): 1.0}
    return [None if "broken" in text else [places.get(text, 0.2 * text.count("not ")), 1.0] for text in texts]


def test_a_reply_is_the_mean_of_its_sentences() -> None:
    scored = score_reply("It is not not so. It is so. This one is broken.", "A1_GC", ENDPOINTS, toy)
    assert scored.per_sentence == pytest.approx(((0.4 - 0.1) / 0.5, 0.0))
    assert scored.sentences == 3, "a sentence that cannot be embedded still counts"
    assert scored.score == pytest.approx(0.3)
    assert scored.raw == pytest.approx(0.2)


def test_no_is_scored_as_full_deference() -> None:
    scored = score_reply("No.", "A1_GC", ENDPOINTS, toy)
    assert (scored.score, scored.sentences) == (0.0, 0)
    assert score_of_sentences([]) == 0.0


def test_the_documented_formula_gives_other_scores() -> None:
    text = "It is not not so. It is not so."
    assert score_reply(text, "A1_GC", ENDPOINTS, toy, documented=True).score == pytest.approx(0.0)
    assert score_reply(text, "A1_GC", ENDPOINTS, toy).score == pytest.approx(0.4)


def test_an_anchor_that_cannot_be_embedded_stops_the_score() -> None:
    with pytest.raises(ValueError, match="anchor"):
        score_reply("It is so.", "A1_GC", ENDPOINTS, lambda texts: [None] * len(texts))


def test_the_instruction_is_the_code_s() -> None:
    assert "request — whether" in INSTRUCTION
    assert formatted("x") == f"Instruct: {INSTRUCTION}\nQuery: x"
