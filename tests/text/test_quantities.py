from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.quantities import plain_text, quantities_of


def numbers(text: str) -> list[str]:
    return [quantity.value for quantity in quantities_of(text) if quantity.kind == "number"]


def units(text: str) -> list[str]:
    return [f"{unit.value} {next(iter(unit.exact))}" for unit in quantities_of(text) if unit.kind == "unit"]


def dates(text: str) -> list[set[str]]:
    return [set(quantity.exact) for quantity in quantities_of(text) if quantity.kind == "date"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("forty and 40", ["40", "40"]),
        ("1,000 or 1000 or 1 000", ["1000", "1000", "1000"]),
        ("1.5, 1,5 and 0.50", ["1.5", "1.5", "0.5"]),
        ("-5 mg but 5-10", ["-5", "5", "10"]),
        ("５０ and ٤٠ and ۵", ["50", "40", "5"]),
        ("twenty-one, two hundred and forty, three thousand", ["21", "240", "3000"]),
        ("a dozen, two dozen", ["12", "24"]),
        ("3rd or third", ["3", "3"]),
        ("one of them, but one pill", ["1"]),
        ("B12, HbA1c, O2", []),
        ("四十毫克，一百二十片，二〇二五年，三点五克，一万二千元", ["40", "120", "2025", "3.5", "12000"]),
        ("一个人，十分痛，万一，三心二意", []),
        ("两次，三天", ["2", "3"]),
        ("120/80", ["120", "80"]),
    ],
)
def test_numbers(text: str, values: list[str]) -> None:
    assert numbers(text) == values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("40 mg, 40 milligrams, 40毫克, ٤٠ ملغ", ["40 mg"] * 4),
        ("5mg/dL and 5 g", ["5 mg/dl", "5 g"]),
        ("72-year-old, 72 years, 72岁", ["72 year"] * 3),
        ("90 %, 90 percent, 百分之九十", ["90 %"] * 3),
        ("2 weeks, 2周, 3 أيام", ["2 week", "2 week", "3 day"]),
        ("40 mgs of grams", []),
        ("37.5°C", ["37.5 °C"]),
    ],
)
def test_units(text: str, found: list[str]) -> None:
    assert units(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "2025-09-04",
        "2025/9/4",
        "September 4, 2025",
        "Sept. 4th 2025",
        "4 September 2025",
        "4th of Sep 2025",
        "2025年9月4日",
        "2025 年 9 月 4 号",
        "4 سبتمبر 2025",
    ],
)
def test_one_day_in_many_spellings(text: str) -> None:
    assert dates(text) == [{"2025-9-4"}]


def test_other_dates_and_times() -> None:
    assert dates("04/09/2025") == [{"2025-9-4", "2025-4-9"}]
    assert dates("25/09/2025") == [{"2025-9-25"}]
    assert dates("May 5") == [{"-5-5"}]
    assert dates("Sep 2025") == [{"2025-9-"}]
    assert dates("10:30 pm, 22:30, 3 a.m.") == [{"T22:30"}, {"T22:30"}, {"T03:00"}]
    assert dates("Monday 周一 星期天") == [{"W0"}, {"W0"}, {"W6"}]
    assert dates("25:99 and 13/13/13") == []


@given(st.text())
def test_offsets_are_kept_and_nothing_overlaps(text: str) -> None:
    assert len(plain_text(text)) == len(text)
    end = 0
    for quantity in quantities_of(text):
        assert end <= quantity.start < quantity.end <= len(text)
        end = quantity.end


@given(st.integers(0, 10**9))
def test_grouped_and_plain_digits_are_one_number(value: int) -> None:
    assert numbers(f"{value:,}") == numbers(str(value)) == [str(value)]
