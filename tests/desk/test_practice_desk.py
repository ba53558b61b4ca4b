"""Practice at the desk: the answer after the own label and never before, the first label counts, no verdict at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.desk.lessons import Lesson
from annotate.desk.reading import sections_for
from annotate.desk.whole_text import whole_text
from annotate.tui.screens.label.pane import lesson_lines
from annotate.tui.screens.label.state import PRACTICE, header
from annotate.tui.widgets.spans import text_of
from store.errors import SaveError, UsageError
from store.events import PRACTICE as PRACTICE_ROUND
from store.events import EventDraft
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import accuracy, events, item_of, make_study, press, sit
from tests.desk.practice_studies import WHY, begin, other, practice_draw, settled_here, settled_study
from tests.desk.test_save_errors import full_journal


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with settled_study(tmp_path / "s.duckdb") as study:
        yield study


def test_the_answer_comes_with_the_own_label_and_not_before(study: Study) -> None:
    desk = begin(study)
    assert len(desk.queue) == 4 and desk.lesson() is None and desk.policy == "never"
    desk.set_note("mine")
    desk.skip()
    desk.move(-1)
    assert desk.lesson() is None and WHY not in whole_text(sections_for(desk.current, study))
    item, value = desk.current.item.item_id, settled_here(desk)
    press(desk, other(value))
    assert desk.current.item.item_id == item and desk.phase == "revealed", "it stays until a key goes on"
    assert desk.lesson() == Lesson(value, "by 2 of 2 people", (WHY,), agrees=False)
    assert desk.shown_verdicts() == [] and desk.mode == "blind"
    desk.confirm()
    assert desk.current.item.item_id != item and desk.lesson() is None
    assert {(event["round"], event["mode"]) for event in events(study, "new")} == {(PRACTICE_ROUND, "blind")}
    assert text_of(header(desk, "halumem", 80)).rstrip().endswith(PRACTICE)


def test_the_first_label_counts_and_another_sitting_knows_it(study: Study) -> None:
    desk = begin(study)
    value = settled_here(desk)
    press(desk, other(value))
    press(desk, value[0].lower())
    desk.undo()
    desk.undo()
    assert desk.lesson() is None, "without a label there is no answer"
    press(desk, value[0].lower())
    lesson = desk.lesson()
    assert lesson is not None and lesson.agrees
    desk.confirm()
    press(desk, settled_here(desk)[0].lower())
    desk.confirm()
    desk.cannot_judge("o")
    assert desk.summary()[-1] == "Practice: 1 of 3 as settled at the first try."
    assert sit(study, annotator="new", draw=desk.draw.draw_id).lessons.tally == (1, 3)


def test_a_label_that_is_not_safe_brings_no_answer(study: Study) -> None:
    desk = begin(study)
    with full_journal(study), pytest.raises(SaveError):
        press(desk, "c")
    assert desk.lesson() is None and desk.lessons.tally.of == 0


def test_what_people_come_to_differ_on_is_said_and_not_counted(study: Study) -> None:
    desk = begin(study)
    item = desk.current.item
    study.append([
        EventDraft(kind="revise", annotator="expert 1", item_id=item.item_id, content_hash=item.content_hash,
                   state=LabelState(value="Correct" if settled_here(desk) != "Correct" else "Omission"))
    ])  # fmt: skip
    desk = sit(study, annotator="new", draw=desk.draw.draw_id)
    press(desk, "c")
    assert desk.lesson() == Lesson("") and desk.lessons.tally.of == 0


def test_the_experts_have_nothing_to_practise(study: Study) -> None:
    draw = practice_draw(study).draw.draw_id
    with pytest.raises(UsageError, match="no items for this annotator") as refused:
        sit(study, annotator="expert 1", draw=draw)
    assert "practice comes first" in refused.value.detail
    assert item_of(4) not in {item.item_id for item in sit(study, annotator="new", draw=draw).queue.items}


def test_parts_that_differ_are_named(tmp_path: Path) -> None:
    with make_study(tmp_path / "p.duckdb", [accuracy() for _ in range(2)]) as study:
        for who in ("expert 1", "expert 2"):
            expert = sit(study, "never", annotator=who)
            for _ in range(2):
                press(expert, "a", "i")
        desk = begin(study)
        press(desk, "o", "a")
        lesson = desk.lesson()
        assert lesson is not None and lesson.agrees and len(lesson.apart) == 1
        assert lesson.apart[0] in text_of(lesson_lines(lesson)[0])
