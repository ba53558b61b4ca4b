"""Draws in their order and with their probabilities; tasks in versions; both rebuilt from the journal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_makers import draw_of, dump, item, run_of, take

from store.draws import Draw, DrawnItem, add_draw, drawn_items, list_draws
from store.errors import SaveError
from store.journal import journal_path
from store.repair import rebuild
from store.study import Study
from store.tasks import add_tasks, current_tasks, version_of

AT = "2026-03-01T09:00:00+00:00"


def test_a_draw_is_read_back_with_its_terms_and_its_order(study: Study) -> None:
    items = [item(number) for number in range(2500)]
    take(study, run_of(items))
    chance = random.Random(1)
    drawn = [
        DrawnItem(each.item_id, number // 3, f"stratum '{number % 4}", chance.random())
        for number, each in enumerate(items)
    ]
    chance.shuffle(drawn)
    draw, _ = draw_of([], settings={"never_shown": 0.25, "words": "漢 ' \" \x00"}, seed=2**62, reveal="block", at=AT)
    add_draw(study, draw, drawn)
    assert drawn_items(study, draw.draw_id) == drawn, "every place, every probability to the last digit"
    found = list_draws(study)
    assert len(found) == 1
    for name in ("draw_id", "task", "stream", "design", "reveal", "seed", "created_by", "settings"):
        assert getattr(found[0], name) == getattr(draw, name), name


@settings(deadline=None, max_examples=8)
@given(
    probabilities=st.lists(st.floats(min_value=0, max_value=1, exclude_min=True), min_size=1, max_size=20),
    data=st.data(),
)
def test_probabilities_survive_the_journal(
    tmp_path_factory: pytest.TempPathFactory, probabilities: list[float], data: st.DataObject
) -> None:
    names = data.draw(
        st.lists(
            st.text(max_size=8).filter(_is_utf8), min_size=len(probabilities), max_size=len(probabilities), unique=True
        )
    )
    path = tmp_path_factory.mktemp("draws") / "s.duckdb"
    drawn = [DrawnItem(name, 0, name, probability) for name, probability in zip(names, probabilities, strict=True)]
    with Study.create(path, "halumem") as study:
        add_draw(study, draw_of([])[0], drawn)
        before = dump(study)
    path.unlink()
    rebuild(path)
    with Study.open(path) as study:
        assert dump(study) == before
        rows = study.rows("SELECT item_id, group_number, stratum, probability FROM draw_items ORDER BY ordinal")
    assert [DrawnItem(*row) for row in rows] == drawn


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def test_items_that_the_study_no_longer_has_are_left_out(study: Study) -> None:
    take(study, run_of([item(1)]))
    add_draw(study, *draw_of([item(1).item_id, "gone"]))
    assert [each.item_id for each in drawn_items(study, "draw-1")] == [item(1).item_id]


def test_draws_come_oldest_first_and_an_empty_one_is_a_draw(study: Study) -> None:
    for number, at in enumerate(
        ["2026-03-01T09:00:00+01:00", "2026-03-01T08:30:00+00:00", "2026-03-01T08:30:00+00:00"]
    ):
        add_draw(study, *draw_of([], f"draw-{number}", at=at))
    assert [draw.draw_id for draw in list_draws(study)] == ["draw-0", "draw-1", "draw-2"]
    assert drawn_items(study, "draw-0") == []


def test_a_draw_that_the_study_cannot_hold_is_refused_before_it_is_journaled(study: Study) -> None:
    """What went into the journal must go into the study at every later opening."""
    before = journal_path(study.path).read_bytes()
    draw, items = draw_of(["item-1"], seed=2**70)
    with pytest.raises(SaveError, match="Not saved") as caught:
        add_draw(study, draw, items)
    assert not caught.value.journaled
    bad, items = draw_of(["item-1"], at="yesterday")
    with pytest.raises(SaveError):
        add_draw(study, bad, items)
    assert journal_path(study.path).read_bytes() == before
    assert list_draws(study) == [] and study.rows("SELECT count(*) FROM draw_items") == [(0,)]
    add_draw(study, *draw_of(["item-1"]))
    assert len(list_draws(study)) == 1


TASKS = [{"task": "qa", "labels": ["a", "b"], "rubric": "漢\n"}, {"task": "update", "labels": []}]


def test_tasks_are_stored_once_a_version(study: Study) -> None:
    assert add_tasks(study, list(TASKS), AT) == ["qa", "update"]
    assert add_tasks(study, list(TASKS), AT) == []
    changed = [{**TASKS[0], "labels": ["a", "b", "c"]}, TASKS[1]]
    assert add_tasks(study, changed, "2026-03-02T09:00:00+00:00") == ["qa"]
    tasks = current_tasks(study)
    assert [(task.task, task.version, task.definition) for task in tasks] == [
        ("qa", version_of(changed[0]), changed[0]),
        ("update", version_of(TASKS[1]), TASKS[1]),
    ]
    assert study.rows("SELECT count(*) FROM tasks") == [(3,)], "labels still find the version they were given under"


def test_of_two_versions_at_one_moment_the_later_one_counts(study: Study) -> None:
    for labels in (["a"], ["b"], ["c"]):
        add_tasks(study, [{"task": "qa", "labels": labels}], AT)
    assert current_tasks(study)[0].definition["labels"] == ["c"]


def test_a_version_names_the_content_and_nothing_else() -> None:
    assert version_of({"task": "qa", "b": 1, "a": 2}) == version_of({"a": 2, "b": 1, "task": "qa"})
    assert version_of({"task": "qa", "a": 1}) != version_of({"task": "qa", "a": 2})
    assert len(version_of({})) == 12


def test_tasks_and_draws_are_rebuilt_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Study.create(path, "halumem") as study:
        add_tasks(study, list(TASKS), AT)
        add_draw(study, *draw_of([f"item-{number}" for number in range(2100)]))
        before = dump(study), [task.definition for task in current_tasks(study)]
    path.unlink()
    rebuild(path)
    with Study.open(path) as study:
        assert (dump(study), [task.definition for task in current_tasks(study)]) == before


def test_a_draw_has_the_terms_it_was_made_with() -> None:
    draw = draw_of([])[0]
    assert isinstance(draw, Draw) and draw.settings == {}
