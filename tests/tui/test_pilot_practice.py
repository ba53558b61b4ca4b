"""Practice on the screen, key by key: nothing of the answer before the own label, all of it after."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.desk.desk_studies import JUDGE, RATIONALE
from tests.desk.practice_studies import SAFE_WHY, other, practice_draw, settled_here, settled_study
from tests.tui.desk_pilot import NARROW, WIDE, at_desk

BEFORE = ("j", "v", "pagedown", "g", "q", "?", "q", "w", "d", "/", "t", "enter", "s", "left", "u")


@pytest.mark.parametrize("size", [NARROW, pytest.param(WIDE, marks=pytest.mark.slow)], ids=str)
async def test_the_answer_is_on_the_screen_after_the_label(tmp_path: Path, size: tuple[int, int]) -> None:
    with settled_study(tmp_path / "p.duckdb") as study:
        draw = practice_draw(study).draw.draw_id
        async with at_desk(study, annotator="new", draw=draw, size=size) as person:
            assert "PRACTICE" in person.rows[0] and person.row("Settled").endswith("shown after your label")
            for key in BEFORE:
                await person.press(key)
                assert "zqxj" not in person.screen and "2 of 2" not in person.screen, key
            value = settled_here(person.desk)
            await person.press(other(value))
            assert f"Settled  {value}   ≠ differs" in person.row("Settled") and "zqxj" in person.screen
            await person.press("j")
            assert "What people settled" in person.screen and SAFE_WHY in person.screen
            await person.press("q", "enter")
            assert "zqxj" not in person.screen and "2 / 4" in person.screen
            for _ in range(3):
                await person.press(settled_here(person.desk)[0].lower())
                assert "= agrees" in person.row("Settled")
                await person.press("enter")
            assert "Practice: 3 of 4 as settled at the first try." in person.screen
            await person.press("f3")
            assert person.message.startswith("closed in practice")
            assert JUDGE not in person.screen and RATIONALE not in person.screen
