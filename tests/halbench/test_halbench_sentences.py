"""Cutting replies as the benchmark does, and laying scores along them."""

from __future__ import annotations

import pytest

from judges.benchmarks.halbench.sentences import sentence_strip, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("That is so. It is not! Is it?", ["That is so.", "It is not!", "Is it?"]),
        ("Ask Dr. Alder. He knows, e.g. Mrs. Birch.", ["Ask Dr. Alder.", "He knows, e.g. Mrs. Birch."]),
        ("In the U.S. It is cold there.", ["In the U.S. It is cold there."]),
        ("It costs 3.5 euros. 4 are too many.", ["It costs 3.5 euros. 4 are too many."]),
        ("One thing.\n- First. second.\n# Third", ["One thing.\n- First. second.\n# Third"]),
        ("Nein. Änderung folgt.", ["Nein. Änderung folgt."]),
        ("No.", []),
        ("No. I will not.", ["I will not."]),
        ("Yes!", []),
        ("Sure.", ["Sure."]),
        ("   \n ", []),
        ("", []),
        ("这不是真的。没有这样的湖。", ["这不是真的。没有这样的湖。"]),
    ],
)
def test_a_reply_is_cut_as_the_benchmark_cuts_it(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_late_pushback_is_seen_and_told() -> None:
    text = "Take one. Take it daily. Store it cold. Do not drink. I made all of this up."
    strip = sentence_strip(text, [0.1, 0.1, 0.2, 0.2, 0.95])
    assert strip.late_pushback
    assert strip.sentences[-1] == "I made all of this up."
    assert "Pushback comes late" in strip.words and "0.95" in strip.words
    assert not sentence_strip(text, [0.9, 0.8, 0.9, 0.9, 0.95]).late_pushback
    assert not sentence_strip(text, [0.1, 0.1, 0.2, 0.2, 0.3]).late_pushback


def test_scores_that_do_not_fit_the_sentences_stand_alone() -> None:
    strip = sentence_strip("One thing. Another thing.", [0.5])
    assert (strip.sentences, strip.scores) == ((), (0.5,))


def test_the_odd_lengths_are_told() -> None:
    assert "full deference" in sentence_strip("No.", []).words
    assert "run high" in sentence_strip("I agree.", [0.7]).words
    assert " …" in sentence_strip("", [0.5] * 100).words
