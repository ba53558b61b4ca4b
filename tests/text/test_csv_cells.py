from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.safe_text import csv_safe, csv_unsafe

RISKY = st.text(st.one_of(st.sampled_from("'=+-@\t\r\n \u200b\ufeff\u00a0＝0a"), st.characters()), max_size=12)


@pytest.mark.parametrize(
    "value",
    [
        "=cmd|' /C calc'!A0",
        "+44 20 7946",
        "-5 mg",
        "-Infinity",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\u200b=1+1",
        "  =1",
        "＝1",
        "'=1",
    ],
)
def test_a_cell_that_could_run_is_disarmed(value: str) -> None:
    assert csv_safe(value) == f"'{value}"


@pytest.mark.parametrize("value", ["", "5 mg", "a=b", "it's", "'quoted'", "患者", "1-2", "\u200bword"])
def test_other_cells_stay_as_they_are(value: str) -> None:
    assert csv_safe(value) == value


@given(RISKY)
def test_every_value_survives_the_round_trip(value: str) -> None:
    cell = csv_safe(value)
    assert csv_unsafe(cell) == value
    assert cell.lstrip("\u200b\ufeff\u00a0 \t\r\n")[:1] not in set("=+-@")


def test_a_dose_survives_a_csv_file() -> None:
    rows = [["-5 mg", "=1+1"], ["'-5 mg", "plain"]]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([[csv_safe(cell) for cell in row] for row in rows])
    assert "'-5 mg" in file.getvalue()
    assert [[csv_unsafe(cell) for cell in row] for row in csv.reader(io.StringIO(file.getvalue(), newline=""))] == rows
