"""A prompt that quotes what it was tuned on: eight tokens in a row, in any script, however it is set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judges.retune.leakage import RUN, leaks, tokens

NOTE = "Bisoprolol 1.25 mg once a day was started and the potassium was low"
CHINESE = "患者出院时开始每日一次服用比索洛尔"


def test_eight_words_of_an_item_are_a_leak_and_seven_are_none() -> None:
    words = "bisoprolol 1 25 mg once a day was"
    assert [leak.item_id for leak in leaks(f"Rule: {words}.", {"i": [NOTE]})] == ["i"]
    assert leaks("Rule: 1.25 mg once a day was", {"i": [NOTE]}) == []


def test_case_punctuation_and_lines_hide_nothing() -> None:
    said = "Remember:\nBISOPROLOL – 1.25 mg;\n* once a DAY\n* was *started*"
    assert leaks(said, {"i": [NOTE]})


def test_chinese_counts_by_character() -> None:
    assert leaks(f"规则：{CHINESE[3:11]}。", {"i": [CHINESE]})
    assert leaks(f"规则：{CHINESE[3:10]}。", {"i": [CHINESE]}) == []
    assert tokens("a比b") == ["a", "比", "b"]


def test_what_the_old_prompt_said_already_is_no_leak() -> None:
    assert leaks(f"{NOTE} and more", {"i": [NOTE]}, base=NOTE) == []


@given(st.lists(st.sampled_from(["alpha", "beta", "患", "7", "gamma"]), min_size=RUN, max_size=30), st.data())
def test_any_run_of_an_item_is_found_wherever_it_stands(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - RUN))
    prompt = "Judge strictly. " + " ".join(words[start : start + RUN]) + " End."
    assert leaks(prompt, {"i": [" ".join(words)]})
