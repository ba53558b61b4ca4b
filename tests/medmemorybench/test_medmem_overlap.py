"""Token F1, ROUGE-L, abstention: declared definitions, by hand and against a plain algorithm."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.benchmarks.medmemorybench.abstention import abstains
from judges.benchmarks.medmemorybench.overlap import longest_common, rouge_l, token_f1
from judges.benchmarks.medmemorybench.rules import tokens


def test_tokens_are_numbers_words_and_single_chinese_characters() -> None:
    assert tokens("空腹血糖 8.20 mmol/L，Ｇｌｕｃｏｓｅ!") == ["空", "腹", "血", "糖", "8.2", "mmol", "l", "glucose"]
    assert tokens("2026-01-24") == ["2026", "1", "24"], "a dash between numbers is no sign"
    assert tokens("from -5 to 1,200.50") == ["from", "-5", "to", "1200.5"]


def test_overlaps_by_hand() -> None:
    """Answer of 4 tokens, reference of 6, 3 in common, 2 of them in order."""
    answer, reference = "每天40 mg", "现在每晚40 mg"
    assert tokens(answer) == ["每", "天", "40", "mg"]
    assert tokens(reference) == ["现", "在", "每", "晚", "40", "mg"]
    assert token_f1(answer, reference) == 2 * 3 / 10
    assert rouge_l(answer, reference) == 2 * 3 / 10
    assert token_f1("mg 40", "40 mg") == 1.0
    assert rouge_l("mg 40", "40 mg") == 0.5
    assert token_f1("", "") == rouge_l("…", "!") == 1.0
    assert token_f1("x", "") == rouge_l("", "x") == 0.0


def plain_longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    row = [0] * (len(second) + 1)
    for one in first:
        last = row
        row = [0]
        for place, other in enumerate(second):
            row.append(last[place] + 1 if one == other else max(row[place], last[place + 1]))
    return row[-1]


@given(st.lists(st.sampled_from("abcd"), max_size=40), st.lists(st.sampled_from("abcd"), max_size=40))
def test_the_longest_common_subsequence_is_that_of_the_plain_algorithm(first: list[str], second: list[str]) -> None:
    assert longest_common(first, second) == plain_longest_common(first, second)


@pytest.mark.parametrize(
    "output",
    ["", "  \n", "[API_ERROR] timeout", "抱歉，没有找到他的记录。", "无法确定具体日期", "I don't have an eGFR for her.",
     "We cannot determine this.", "There is no record of it.", "Unknown"],
)  # fmt: skip
def test_what_the_rule_takes_for_an_abstention(output: str) -> None:
    assert abstains(output)


@pytest.mark.parametrize(
    "output",
    [
        "310 L/min",
        "他知道自己有哮喘。",
        "Take 40 mg every night.",
        "The dose is 5 mg. " + "It is fine. " * 20 + "I don't know.",
    ],
)
def test_what_it_does_not(output: str) -> None:
    assert not abstains(output)
