"""Wide rows a page at a time: the same rows in the same order as a sort of them, however they lie in the file."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from store_makers import item, run_of, take, verdict

from store import items as items_module
from store import ordered
from store.errors import OverreadError
from store.items import stream_scored, stream_with_verdicts
from store.records import ItemRecord, JudgeRecord, SystemRecord, VerdictRecord
from store.study import Study

OTHER = JudgeRecord("qa", "judge-b", "model", "v1")
COUNT = 200


@pytest.fixture(params=["together", "scattered"])
def shuffled(request: pytest.FixtureRequest) -> bool:
    return request.param == "scattered"


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PAGE", 16), ("SCATTERED_PAGE", 48), ("_GAP", 2), ("_MOST_SPANS", 2)):
        monkeypatch.setattr(ordered, name, value)


def records(shuffled: bool) -> tuple[list[ItemRecord], list[VerdictRecord]]:
    """Items of which every seventh has no verdict, some have one of another judge too, and one is a repetition."""
    positions = list(range(COUNT))
    if shuffled:
        random.Random(3).shuffle(positions)
    items = [item(number, question=f"q{number}", position=positions[number]) for number in range(COUNT)]
    verdicts = [verdict(one, f"label {n}", position=COUNT - n) for n, one in enumerate(items) if n % 7]
    verdicts += [verdict(one, "other", judge=OTHER, position=one.position) for one in items[:50]]
    return items, [*verdicts, verdict(items[1], "again", repetition=1)]


def test_whole_rows_come_in_their_order(study: Study, small_pages: None, shuffled: bool) -> None:
    items, verdicts = records(shuffled)
    take(study, run_of(items, OTHER, *verdicts))
    changed = [replace(one, payload={"question": "new"}) for one in items[:5]]
    take(study, run_of(changed))
    current = {one.item_id: one for one in [*items, *changed]}
    said = {one.item_id: one for one in verdicts if one.judge_id != OTHER.judge_id and one.repetition == 0}

    scored = list(stream_scored(study, "sys", "judge-a"))
    assert len(scored) == COUNT == len({one.item_id for one, _ in scored})
    for one, found in scored:
        record = current[one.item_id]
        assert (one.content_hash, dict(one.payload)) == (record.content_hash, record.payload)
        kept = said.get(one.item_id)
        assert (found and found.label) == (kept.label if kept and kept.content_hash == one.content_hash else None)
    order = [(found is None, found.position if found else 0, one.position) for one, found in scored]
    assert order == sorted(order)

    whole = list(stream_with_verdicts(study))
    assert [one.position for one, _ in whole] == list(range(COUNT))
    assert sum(len(found) for _, found in whole) == sum(
        one.content_hash == current[one.item_id].content_hash for one in verdicts
    )
    twice = next(found for one, found in whole if one.item_id == items[8].item_id)
    assert [(one.judge, one.record.label) for one in twice] == [("judge-a", "label 8"), ("judge-b", "other")]


def test_what_lies_between_the_rows_is_not_read(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    judges = [JudgeRecord("qa", f"judge {n}", "model", "v1") for n in range(20)]
    items = [item(n, system=f"system {n % 3}", position=n) for n in range(60)]
    verdicts = [verdict(one, judge=judge, position=one.position) for one in items for judge in judges]
    take(study, run_of(items, *(SystemRecord(f"system {n}", "") for n in range(3)), *judges, *verdicts))
    read = []
    rows = study.rows

    def counting(*asked: Any, **more: Any) -> list[Any]:
        found = rows(*asked, **more)
        read.append(len(found))
        return found

    monkeypatch.setattr(study, "rows", counting)
    assert len(list(stream_scored(study, "system 1", "judge 7"))) == 20
    assert sum(read) <= 80, "20 items, and a verdict of this judge on each item in between"


def test_current_items_are_what_the_view_says(study: Study) -> None:
    take(study, run_of(items := [item(n) for n in range(5)]))
    for text in ("new", "newer"):
        take(study, run_of([replace(one, payload={"question": text}) for one in items[:2]]))
    of_view = study.rows("SELECT item_id, version FROM current_items ORDER BY 1")
    assert study.rows(f"SELECT i.item_id, i.version FROM {items_module._CURRENT} ORDER BY 1") == of_view
    assert [version for _, version in of_view if version] == [2, 2]


def test_what_has_no_rows_gives_none(study: Study) -> None:
    assert list(stream_with_verdicts(study)) == [] and list(stream_scored(study, "sys", "judge-a")) == []
    take(study, run_of([item(1)]))
    assert [found for _, found in stream_scored(study, "sys", "judge-a")] == [None]


def test_rows_that_moved_meanwhile_are_never_taken_for_others(study: Study, small_pages: None) -> None:
    items, verdicts = records(shuffled=False)
    take(study, run_of(items, OTHER, *verdicts))
    reading = stream_scored(study, "sys", "judge-a")
    next(reading)
    study.writer.do(lambda connection: connection.execute(
        "CREATE TABLE kept AS SELECT * FROM verdicts ORDER BY position DESC; DELETE FROM verdicts;"
        "INSERT INTO verdicts SELECT * FROM kept; DROP TABLE kept"
    ))  # fmt: skip
    with pytest.raises(OverreadError, match="changed while it was read"):
        list(reading)


def test_the_order_comes_from_a_study_opened_again(tmp_path: Path, small_pages: None) -> None:
    items, verdicts = records(shuffled=True)
    with Study.create(tmp_path / "s.duckdb", "halumem") as study:
        take(study, run_of(items, OTHER, *verdicts))
        before = [(one.item_id, found) for one, found in stream_scored(study, "sys", "judge-a")]
    with Study.open(tmp_path / "s.duckdb") as study:
        assert [(one.item_id, found) for one, found in stream_scored(study, "sys", "judge-a")] == before
