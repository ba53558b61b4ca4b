"""Helps for the eye: what is compared in each task, which turns are like the gold text, evidence marks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.desk.aids import NOTHING_TO_COMPARE, Aids
from annotate.desk.document import Document
from annotate.desk.reading import headline, names_a_model, sections_for
from judges.benchmarks.halumem.tasks import ACCURACY, INTEGRITY, QA, UPDATE
from store.study import Study
from tests.desk.desk_studies import accuracy, make_study, qa, sit


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    specs = [qa(reference="40 mg daily", response="50 mg daily"), accuracy()]
    with make_study(tmp_path / "s.duckdb", specs) as study:
        yield study


def aids_of(study: Study, task: str) -> tuple[Aids, Document]:
    desk = sit(study, "never", task=task)
    document = Document(sections_for(desk.current, study))
    return Aids(document, desk.current.task), document


def test_reference_and_response_are_compared(study: Study) -> None:
    aids, _ = aids_of(study, "qa")
    sides = {side.title: [side.text[m.start : m.end] for m in side.marks] for side in aids.compare()}
    assert sides == {"Reference": ["40"], "Response": ["50"]}
    assert aids.toggle_differences() == "what differs is marked ≠"
    assert aids.toggle_differences() == "marks off" and not aids.differences_shown


def test_a_list_is_looked_up_in_and_not_marked(study: Study) -> None:
    aids, _ = aids_of(study, "accuracy")
    sides = {side.section: [side.text[m.start : m.end] for m in side.marks] for side in aids.compare()}
    assert sides == {"gold": [], "memory_content": ["1"]}, "item number 1 is all that no memory point says"


@pytest.mark.parametrize("task", [INTEGRITY, ACCURACY, UPDATE, QA], ids=lambda task: task.task)
def test_every_task_of_the_benchmark_has_two_texts_to_compare(task: object) -> None:
    roles = {panel.role for panel in task.panels}  # type: ignore[attr-defined]
    assert len(roles & {"reference", "response", "gold"}) >= 2


def test_what_is_missing_is_not_compared(tmp_path: Path) -> None:
    with make_study(tmp_path / "m.duckdb", [qa(response=None), qa(response="  ")]) as study:
        aids, _ = aids_of(study, "qa")
        assert aids.compare() == [] and aids.toggle_differences() == NOTHING_TO_COMPARE


def test_the_turn_most_like_the_gold_text_comes_first_and_steps_go_round(study: Study) -> None:
    aids, document = aids_of(study, "accuracy")
    assert aids.turn is None
    words = aids.step_similar(1)
    assert aids.turn == 2 and words.startswith("turn 3, 1 of ") and "not proof" in words
    assert document.cursor == ("dialogue", 2)
    seen = {aids.turn}
    for _ in range(5):
        aids.step_similar(1)
        seen.add(aids.turn)
    assert seen <= {0, 1, 2}


def test_gold_that_no_turn_shares_a_word_with_is_said(tmp_path: Path) -> None:
    with make_study(tmp_path / "n.duckdb", [qa(evidence=["Zyxwv."])]) as study:
        aids, _ = aids_of(study, "qa")
        assert aids.step_similar(1) == "no turn shares words with the gold text" and aids.turn is None


def test_a_text_that_names_a_model_is_known_also_in_a_list(tmp_path: Path) -> None:
    specs = [qa(response="As an AI developed by OpenAI I cannot say."), qa(evidence=["Written by ChatGPT."]), qa()]
    with make_study(tmp_path / "o.duckdb", specs) as study:
        desk = sit(study, "never")
        named = []
        for place in range(3):
            desk.go_to(place + 1)
            named.append(names_a_model(desk.current))
        assert sorted(named) == [False, True, True]


def test_an_item_is_named_by_its_question_safely(tmp_path: Path) -> None:
    with make_study(tmp_path / "h.duckdb", [qa(question="What\x1b[31m dose?\nReally?" + "!" * 200)]) as study:
        words = headline(sit(study, "never").current)
        assert words.startswith("What␛[31m dose?↵Really?") and len(words) == 60
