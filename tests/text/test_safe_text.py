from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.safe_text import HIDDEN, TERMINAL_UNSAFE, safe_line, safe_text

ANY_CHARACTER = st.characters(exclude_categories=())
HOSTILE = st.text(
    st.one_of(
        st.sampled_from(
            "\x00\t\n\r\x1b\x7f\x85\x9b\xad\u200b\u200c\u200d\u200e\u202e\u2028\u2066\ufe0f\ufeff\ud83d\ude00"
        ),
        st.sampled_from("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e007f\U000e0101👩é中ب می"),
        st.characters(min_codepoint=0x20, max_codepoint=0x7E),
        ANY_CHARACTER,
    )
)
ORDINARY = [
    "Plain English, with “curly quotes”, an em — dash, £5 and naïve café.",
    "患者否认药物过敏史，每天服用四十毫克阿司匹林。\n\u3000\u3000第二段。",
    "لا يعاني المريض من الصُّداع\u200f (ICD-10)\u200e.",
    "نمی\u200cخواهم، ه\u200d.ش",
    "יש לו כְּאֵב רֹאשׁ",
    "क्\u200dष शि हिन्दी",
    "👩\u200d⚕️ 👍🏽 🇬🇧 ❤️ 1️⃣ 🏳️\u200d🌈",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "葛\U000e0100城市",
    "a\u00a0b\u202fc — ½ ∑ ≥ 5 µg",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert safe_text(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
        ("\x1b[31mred", "␛[31mred"),
        ("\x9b31m", "‹9B›31m"),
        ("a\x00b\x7f", "a␀b␡"),
        ("one\r\ntwo\rthree\x85four\u2028five\u2029six", "one\ntwo\nthree\nfour\nfive\nsix"),
        ("a\tb", "a    b"),
        ("\u202egnp.exe\u202c", "‹RLO›gnp.exe‹PDF›"),
        ("\u2066x\u2069", "‹LRI›x‹PDI›"),
        ("do\u200bnot \ufeffhere \u2060there", f"do{HIDDEN}not {HIDDEN}here {HIDDEN}there"),
        ("hyper\xadtension", f"hyper{HIDDEN}tension"),
        ("half \ud83d end", "half \ufffd end"),
        ("pair \ud83d\ude00 end", "pair 😀 end"),
        ("hi\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065", "hi‹tags: ignore›"),
        ("p\u200cay\u200dpal", f"p{HIDDEN}ay{HIDDEN}pal"),
        ("می\u200c\u200d\u200cx", f"می\u200c{HIDDEN}{HIDDEN}x"),
        ("😀\ufe0f\ufe01\U000e0110", f"😀\ufe0f{HIDDEN}{HIDDEN}"),
    ],
)
def test_what_could_act_or_hide_is_shown(raw: str, shown: str) -> None:
    assert safe_text(raw) == shown


@given(HOSTILE)
def test_nothing_unsafe_is_left_and_doing_it_twice_changes_nothing(text: str) -> None:
    safe = safe_text(text)
    assert all(TERMINAL_UNSAFE.search(line) is None for line in safe.split("\n"))
    assert all(
        character == "\n" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in safe
    )
    assert len(safe.splitlines()) == len(safe.removesuffix("\n").split("\n")) if safe else True
    assert safe_text(safe) == safe
    safe.encode("utf-8")


@given(HOSTILE, st.integers(1, 40))
def test_a_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = safe_line(text, limit)
    assert len(line) <= limit
    assert TERMINAL_UNSAFE.search(line) is None
    assert safe_line(line, limit) == line


def test_a_line_is_cut_between_clusters_and_says_so() -> None:
    assert safe_line("one\ntwo") == "one↵two"
    assert safe_line("abcdef", 4) == "abc…"
    assert safe_line("ae\u0301\u0301\u0301z", 4) == "a…"
    assert safe_line("xx👩\u200d⚕️yy", 5) == "xx…"
    assert safe_line("\r\n" * 400, 10) == "↵" * 9 + "…"


def test_a_line_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        safe_line("a", 0)
