"""How much is done for a key, in counts: no new layout, one paint of what changed, nothing that grows with the item."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from annotate.desk import layout, sections
from annotate.desk.document import Document
from annotate.tui.widgets.document_view import DocumentView
from store.study import Study
from tests.desk.desk_studies import make_study, qa
from tests.tui.desk_pilot import NARROW, WIDE, at_desk


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, *places: tuple[Any, str]) -> Iterator[Counter[str]]:
    """How often these functions are called."""
    counts: Counter[str] = Counter()
    with monkeypatch.context() as patch:
        for owner, name in places:
            real = getattr(owner, name)

            def call(*arguments: Any, _real: Any = real, _name: str = name, **options: Any) -> Any:
                counts[_name] += 1
                return _real(*arguments, **options)

            patch.setattr(owner, name, call)
        yield counts


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "140x45"])
async def test_a_label_key_paints_once_and_lays_out_no_screen(
    study: Study, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_desk(study, "never", size=size) as person:
        await person.press("c")
        await person.pilot.pause(0.1)
        places = [(Screen, "_refresh_layout"), (Screen, "_compositor_refresh"), (DocumentView, "render_line")]
        with counted(monkeypatch, *places) as counts:
            await person.press("o")
        assert counts["_refresh_layout"] == 0
        assert counts["_compositor_refresh"] == 1
        assert counts["render_line"] <= size[1]


async def test_a_message_repaints_its_own_line_only(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_desk(study, "never", size=WIDE) as person:
        await person.press("w")
        with counted(monkeypatch, (DocumentView, "render_line"), (Screen, "_refresh_layout")) as counts:
            await person.press("enter")
        assert person.message.startswith("choose a label first")
        assert counts == {}


async def test_the_next_item_is_read_wrapped_and_rendered_while_this_one_is_read(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_desk(study, "never") as person:
        await person.press("c")
        await person.read_ahead()
        beforehand = [(Study, "rows"), (sections, "sections_of"), (layout, "wrap"), (DocumentView, "render_line")]
        with counted(monkeypatch, *beforehand) as counts:
            person.clock.wait(1)
            await person.type("o")
        assert person.kinds == ["label", "label"]
        assert counts == {}


LINE = "0123456789 " * 18_200


@pytest.fixture
def huge(tmp_path: Path) -> Iterator[Study]:
    """Items whose response is one line of 200,000 characters."""
    with make_study(tmp_path / "h.duckdb", [qa(response=LINE) for _ in range(4)]) as study:
        yield study


async def test_keys_over_a_line_of_200_000_characters_make_only_the_rows_that_are_seen(
    huge: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_desk(huge, "never") as person:
        assert len(LINE) > 200_000
        await person.read_ahead()
        places = [(Document, "row"), (Document, "lay_out"), (sections, "safe_text")]
        with counted(monkeypatch, *places) as counts:
            await person.press("pagedown", "pagedown", "down", "up", "n", "a", "escape", "t", "1", "w")
        assert counts["lay_out"] == counts["safe_text"] == 0
        assert counts["row"] < 10 * 24
        assert person.label.note == "a"


async def test_a_dialogue_of_a_megabyte_opens_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [{"role": "user", "content": f"{n} " + "The patient takes forty mg. " * 12} for n in range(3_000)]
    dialogue = json.dumps(turns)
    assert len(dialogue) > 1_000_000
    with make_study(tmp_path / "m.duckdb", [qa() for _ in range(2)]) as study:
        monkeypatch.setattr("annotate.desk.reading.get_texts", lambda _, hashes: dict.fromkeys(hashes, dialogue))
        async with at_desk(study, "never") as person:
            with counted(monkeypatch, (Document, "row")) as counts:
                await person.press("v")
            assert "▾ Dialogue of the session 3000 turns" in person.screen
            assert counts["row"] <= 3 * 24
            await person.read_ahead()
            with counted(monkeypatch, (Document, "row"), (Document, "lay_out")) as counts:
                await person.press("pagedown", "down", "w")
            assert counts["row"] <= 4 * 24
            assert counts["lay_out"] == 0
