"""Quotations are found by their words, and by nothing less."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.benchmarks.halumem.matching import ENDING, QuotedTexts, normal_text


@pytest.mark.parametrize(
    ("quoted", "point"),
    [
        ("Anna's dog is a Labrador", "Anna’s dog is a labrador."),
        ("[Sep 06, 2025, 22:43:36][Persona Memory]Drinks I like: tea", "drinks I like tea"),
        ("Her  sister\n'Eve' lives in Rome", 'Her sister "Eve" lives in Rome'),
        ("陈志远，每天喝两升水。", "陈志远 每天喝两升水"),
        ("Ｄｏｓｅ： 5 mg", "dose 5 mg"),
    ],
)
def test_quotation_marks_case_and_width_do_not_matter(quoted: str, point: str) -> None:
    assert normal_text(quoted) == normal_text(point)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("blood group A+", "blood group A-"),
        ("takes 7.5 mg", "takes 75 mg"),
        ("takes it at 10:30", "takes it at 1030"),
        ("works for higher pay", "works for lower pay"),
        ("cholesterol > 5", "cholesterol < 5"),
        ("[a]", "[b]"),
    ],
)
def test_what_carries_a_value_matters(one: str, other: str) -> None:
    assert normal_text(one) != normal_text(other)


def found(texts: list[str], quoted: str) -> tuple[list[int], list[int]]:
    index = QuotedTexts()
    for text in texts:
        index.add(normal_text(text))
    return index.same(normal_text(quoted)), index.ending_in(normal_text(quoted))


def test_a_clause_finds_the_texts_that_end_in_it() -> None:
    clause = "I dislike boxing because it is aggressive"
    texts = [f"Ann Lee sports I dislike: boxing, reason: {clause}", f"{clause}, though less so now", clause, "boxing"]
    assert found(texts, clause) == ([2], [0])


def test_a_short_end_and_a_part_of_a_word_find_nothing() -> None:
    assert found(["Ann's mental health status: Normal"], "Normal") == ([], [])
    word = "x" * ENDING
    assert found([f"abc{word}"], word) == ([], [])
    assert found([f"abc {word}"], word) == ([], [0])


def test_texts_that_are_there_twice_are_both_found() -> None:
    assert found(["Likes tea.", "likes coffee", "Likes tea"], "likes tea") == ([0, 2], [])


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1))
def test_blanks_and_punctuation_between_words_do_not_matter(words: list[str]) -> None:
    assert normal_text("; ".join(words)) == normal_text(f" {'  '.join(words)}! ")
