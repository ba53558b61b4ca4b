"""Rubrics in every version: what changed, what an edit stores and what it does not, and the screen at both sizes."""

from __future__ import annotations

import pytest

from annotate.desk.closed import closed_words
from annotate.tui.rubric_app import RubricApp
from annotate.tui.screens.rubric import state as rubric
from annotate.tui.screens.rubric.state import RubricState
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import text_of
from judges.collect import task_definitions
from judges.setup import judge_prompt
from store.errors import UsageError
from store.judge_rubrics import current_rubric, rubric_versions
from store.study import Study
from store.tasks import current_tasks, task_versions
from tests.desk.desk_studies import press, sit
from tests.tui.desk_pilot import NARROW, WIDE, at_desk


def state_of(study: Study) -> RubricState:
    return RubricState(study, list(task_definitions(study).values()), "qa")


def shown(rows: list[rubric.Line]) -> str:
    return "\n".join(map(text_of, rows))


def test_an_edited_rubric_for_people_is_a_new_version_that_labels_carry(study: Study) -> None:
    desk = sit(study, "never")
    press(desk, "c")
    state = state_of(study)
    assert state.subject.words.endswith("for people who label")
    [first] = state.versions
    assert first.used == 1 and first.text == task_definitions(study)["qa"].rubric
    state.save(f"{first.text}\n\nMind the units. \x1b[31m")
    newest, before = state.versions
    assert (newest.origin, newest.used, before.used) == ("edited", 0, 1)
    assert "labels from now on carry it" in state.message and not state.refused
    state.toggle()
    text = shown(rubric.text_rows(state))
    assert "+ Mind the units. ␛[31m" in text and "\x1b" not in text
    order = [task.task for task in current_tasks(study)]
    assert order == [task for task in dict.fromkeys(one.task.task for one in state.subjects)], "in its place"
    press(sit(study, "never"), "h")
    versions = {label.rubric_version for label in study_labels(study)}
    assert versions == {newest.version, before.version}
    assert [one.used for one in state_of(study).versions] == [1, 1]


def study_labels(study: Study) -> list[object]:
    from annotate.exchange.entries import label_entries

    return list(label_entries(study))


def test_an_edited_rubric_for_the_judge_is_another_judge(study: Study) -> None:
    state, task = state_of(study), task_definitions(study)["qa"]
    before = judge_prompt(study, task).version
    state.other(1)
    assert state.subject.language == "en"
    state.save(f"{state.text_to_edit}\nMind the units.")
    current = current_rubric(study, "qa")
    assert current is not None and current.texts["en"].endswith("Mind the units.") and current.origin == "edited"
    assert current.texts["zh"] == rubric_versions(study, "qa")[0].texts["zh"]
    assert judge_prompt(study, task).version != before
    state.other(1)
    assert state.subject.language == "zh" and len(state.versions) == 1, "the Chinese text is as it was"


@pytest.mark.parametrize("subject", [0, 1])
@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda text: "  \n", "is empty"),
        (lambda text: f"\n{text}\n\n", "is as it was"),
        (lambda text: text.replace("Omission", "Gap").replace("omission", "gap"), "no longer names a label: Omission"),
    ],
    ids=["empty", "same", "label"],
)
def test_what_cannot_take_its_place_is_told_and_stores_nothing(
    study: Study, subject: int, edit: object, says: str
) -> None:
    state = state_of(study)
    state.other(subject)
    tasks, rubrics = len(task_versions(study, "qa")), len(rubric_versions(study, "qa"))
    with pytest.raises(UsageError, match=says):
        state.save(edit(state.text_to_edit))  # type: ignore[operator]
    assert (len(task_versions(study, "qa")), len(rubric_versions(study, "qa"))) == (tasks, rubrics)


def test_the_newest_is_edited_whichever_is_read(study: Study) -> None:
    state = state_of(study)
    text = state.text_to_edit.strip()
    state.save(f"{text}\nOne.")
    state.save(f"{text}\nOne.\nTwo.")
    state.move(2)
    assert state.version.text.strip() == text and state.before is None
    assert state.text_to_edit.endswith("Two.")
    state.toggle()
    assert "nothing came before" in shown(rubric.text_rows(state))
    state.save(text)
    assert state.row == 0 and state.version.text == text, "an old text may be taken up again"
    assert task_definitions(study)["qa"].rubric == text


def test_in_mid_queue_what_the_judge_is_told_stays_closed(study: Study) -> None:
    """A retuned rubric comes from verdicts, and its worked examples show people's labels."""
    desk = sit(study, "never")
    press(desk, "c")
    closed = closed_words(study, desk.annotator)
    state = RubricState(study, list(task_definitions(study).values()), "qa", closed)
    assert {subject.language for subject in state.subjects} == {""} and state.refused
    assert "What the judge is told is closed until your queue is done (1 of 20 labelled)" in state.message
    state.save(f"{state.text_to_edit}\nMind the units.")
    assert {subject.language for subject in state.subjects} == {""}


async def test_the_desk_shows_what_changed_in_the_rubric_for_people_and_nothing_of_the_judges(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("g")
        assert "d changes" not in person.screen
        await person.press("d")
        assert person.app.screen is person.app.label_screen
    state = state_of(study)
    state.save(f"{state.text_to_edit}\nMind the units.")
    state.other(1)
    state.save(f"{state.text_to_edit}\nA rule that a search found.")
    async with at_desk(study, "never") as person:
        await person.press("g")
        assert "Mind the units." in person.screen and "d changes, text" in person.rows[-1]
        await person.press("d")
        assert "+ Mind the units." in person.screen and "a search found" not in person.screen
        await person.press("d")
        assert "+ Mind" not in person.screen
        await person.press("x")
        assert person.app.screen is person.app.label_screen and person.desk.labelled == 0


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_screen_shows_versions_and_says_when_there_is_no_terminal_to_lend(
    study: Study, size: tuple[int, int]
) -> None:
    state = state_of(study)
    state.save(f"{state.text_to_edit}\n[bold]One[/], **two** and \x1b[31m.")
    app = RubricApp(state)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("d")
        await pilot.pause()
        text = "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())
        assert (
            "Versions  2" in text and "+ [bold]One[/], **two** and ␛[31m." in text and "e edit" in text.splitlines()[-1]
        )
        for key, sign in (("d", ""), ("m", "**"), ("m", "")):
            await pilot.press(key)
            await pilot.pause()
            app.screen.query_one("#rubric", Lines).scroll_rows(99)
            await pilot.pause()
            text = "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())
            assert f"[bold]One[/], {sign}two{sign} and ␛[31m." in " ".join(text.split()), key
        await pilot.press("e")
        await pilot.pause()
        assert state.refused and "overread rubric --edit" in state.message
        await pilot.press("?", "x", "right", "q")
    assert app.fault is None and app.return_code == 0
