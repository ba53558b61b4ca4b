"""The desk with grids, rankings and numbers: asked in order, stored key by key, resumed, compared after the label."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from annotate.desk.desk import Desk
from annotate.desk.entries import Grid, Number, Ranking
from judges.benchmarks.medmemorybench.shapes import CORRECT
from store.draws import RevealPolicy
from store.errors import SaveError
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import blind_labels, current_labels, events, here, kinds, sit
from tests.desk.part_studies import keys_of, make_part_study, type_keys
from tests.desk.test_save_errors import full_database, full_journal

Make = Callable[..., Study]
WHOLE = {"n1": dict.fromkeys(("stated", "causal", "patient"), "y"),
         "n2": dict.fromkeys(("stated", "causal", "patient"), "n"),
         "n3": dict.fromkeys(("stated", "causal", "patient"), "y")}  # fmt: skip


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    opened: list[Study] = []

    def made(task: str, count: int = 3, **options: object) -> Study:
        opened.append(make_part_study(tmp_path / f"{task}{len(opened)}.duckdb", task, count, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield made
    for study in opened:
        study.close()


def at(study: Study, mode: RevealPolicy = "never", keys: str = "") -> Desk:
    desk = sit(study, mode)
    type_keys(desk, keys_of(keys))
    return desk


# --- asked in order ---


def test_the_grid_opens_when_it_is_its_turn_and_the_label_is_stored_when_all_is_given(make: Make) -> None:
    study = make("mcd")
    desk = at(study)
    item = here(desk)
    assert desk.entry is None
    type_keys(desk, ["c"])
    assert desk.entry is None and "Does the conclusion agree" in desk.message
    type_keys(desk, ["a"])
    assert isinstance(desk.entry, Grid) and desk.missing_parts() == ["nodes", "cc"]
    type_keys(desk, keys_of("Y N Y"))
    assert desk.entry is not None and desk.entry.lacks == "", "a whole grid waits for Enter"
    type_keys(desk, keys_of("⏎ k"))
    label = current_labels(study)[item]
    assert (label.value, label.parts["conclusion"], label.parts["cc"]) == (CORRECT, "agrees", "0.7")
    assert json.loads(label.parts["nodes"]) == WHOLE
    assert kinds(study)[-1] == "label" and desk.labelled == 1 and desk.place == 1


def test_no_derived_verdict_before_the_label(make: Make) -> None:
    desk = at(make("mcd"), keys="c a Y N Y ⏎")
    assert desk.derived() == ()
    type_keys(desk, ["k", "left"])
    titles = [title for title, _ in desk.derived()]
    assert titles == [
        "Nodes (NCR)",
        "Links (CRC)",
        "From this patient",
        "By the published rule",
        "Differs from your label",
    ]


def test_an_incomplete_grid_is_not_taken(make: Make) -> None:
    desk = at(make("mcd"), keys="c a Y y ⏎")
    assert desk.message == "5 of 9 cells are not answered yet" and isinstance(desk.entry, Grid)


def test_label_keys_may_be_given_while_the_grid_is_open(make: Make) -> None:
    study = make("mcd")
    desk = at(study, keys="c a Y k N Y ⏎")
    assert desk.labelled == 1


def test_an_item_whose_chain_is_not_known_is_asked_no_grid(make: Make) -> None:
    study = make("mcd", payload={"nodes": [], "missing_inputs": ["chain"]})
    at(study, keys="c a k")
    [label] = current_labels(study).values()
    assert label.value == CORRECT and "nodes" not in label.parts


def test_a_ranking_is_open_from_the_start_and_its_order_is_recorded(make: Make) -> None:
    study = make("ranking")
    desk = at(study)
    item, entry = here(desk), desk.entry
    assert isinstance(entry, Ranking)
    order = [row.id for row in entry.entries]
    type_keys(desk, keys_of("b = d a c ⏎"))
    label = current_labels(study)[item]
    assert label.value is not None
    assert json.loads(label.value) == [sorted([order[1], order[3]]), [order[0]], [order[2]]]
    assert json.loads(label.parts[".order"]) == order


def test_every_item_and_every_person_has_an_order_of_its_own(make: Make) -> None:
    study = make("ranking", 12)
    orders = {desk.current.orders[""] for desk in (sit(study, "never", annotator=who) for who in "abcdefgh")}
    assert len(orders) > 3


def test_a_number_is_optional_and_stored_with_the_label(make: Make) -> None:
    study = make("stance")
    desk = at(study, keys="h")
    first = current_labels(study)
    assert [label.parts for label in first.values()] == [{}]
    item = here(desk)
    type_keys(desk, keys_of("tab . 3 5 ⏎ m"))
    assert current_labels(study)[item] == LabelState(value="SOFT", parts={"score": "0.35"})


def test_a_number_out_of_bounds_stores_nothing_and_says_so(make: Make) -> None:
    study = make("stance")
    desk = at(study, keys="tab 1 . 5 ⏎")
    assert desk.message == "1.5 is not from 0 to 1" and kinds(study) == []
    type_keys(desk, ["h"])
    assert "1.5 is not from 0 to 1" in desk.message and kinds(study) == [], "a number that is open is not thrown away"


def test_a_label_key_takes_along_the_number_that_is_typed(make: Make) -> None:
    study = make("stance")
    at(study, keys="tab 7 h")
    assert [label.parts for label in current_labels(study).values()] == [{"score": "0.7"}]


def test_a_number_as_the_label_itself_waits_to_be_typed(make: Make) -> None:
    study = make("points")
    desk = sit(study, "never")
    assert isinstance(desk.entry, Number)
    type_keys(desk, keys_of("1 1 ⏎"))
    assert desk.message == "11 is not from 0 to 10"
    type_keys(desk, keys_of("⌫ ⌫ 7 . 5 ⏎ 3 ⏎"))
    assert [label.value for label in current_labels(study).values()] in (["7.5", "3"], ["3", "7.5"])
    assert isinstance(desk.entry, Number) and desk.entry.typed == "" and desk.labelled == 2


# --- stored key by key ---


def test_every_answer_is_an_event_and_another_sitting_goes_on_there(make: Make, tmp_path: Path) -> None:
    study = make("mcd")
    desk = at(study, keys="c b y n")
    item = here(desk)
    assert kinds(study) == ["mark"] * 4
    assert current_labels(study)[item].value is None and blind_labels(study)[item].value is None
    path = study.path
    study.close()
    with Study.open(path) as again:
        desk = sit(again)
        assert here(desk) == item and isinstance(desk.entry, Grid)
        assert desk.entry.cells == {("n1", "stated"): "y", ("n1", "causal"): "n"} and desk.entry.column == 2
        type_keys(desk, keys_of("y N N ⏎ o"))
        label = current_labels(again)[item]
        assert (label.value, label.parts["conclusion"], label.parts["cc"]) == (CORRECT, "differs", "0.0")
        assert "" not in label.parts


def test_a_half_ranking_goes_on_in_the_same_order(make: Make) -> None:
    study = make("ranking")
    desk = at(study, keys="c a")
    order = desk.current.orders[""]
    desk = sit(study)
    assert isinstance(desk.entry, Ranking) and desk.current.orders[""] == order
    assert desk.entry.groups == ((order[2],), (order[0],))


def test_a_half_given_label_is_no_label(make: Make) -> None:
    study = make("mcd")
    desk = at(study, keys="c a Y right")
    assert desk.labelled == 0 and desk.message != "the half-given label was not kept"
    type_keys(desk, ["left"])
    assert desk.pending[""] == CORRECT and isinstance(desk.entry, Grid)


def test_skip_keeps_what_is_given_and_clear_takes_it_off(make: Make) -> None:
    study = make("mcd", 1)
    desk = at(study, keys="c a Y s")
    assert desk.pending["conclusion"] == "agrees", "the skipped item came back with what was given"
    desk.clear()
    assert desk.pending == {} and desk.state == LabelState()
    desk.undo()
    assert desk.pending[""] == CORRECT


def test_cannot_judge_stands_instead_of_all_parts(make: Make) -> None:
    study = make("mcd")
    desk = at(study, keys="c a Y")
    item = here(desk)
    desk.cannot_judge("o")
    assert current_labels(study)[item] == LabelState(cannot_judge="outside_specialty")


def test_tags_and_notes_stand_beside_a_half_label(make: Make) -> None:
    study = make("mcd")
    desk = at(study, keys="c a Y")
    desk.set_note("look at node 2")
    type_keys(desk, keys_of("N Y ⏎ k"))
    [label] = current_labels(study).values()
    assert label.note == "look at node 2" and label.value == CORRECT


def test_unsure_can_be_said_of_a_grid(make: Make) -> None:
    study = make("mcd")
    at(study, keys="c a Y ~ N Y ⏎ k")
    [label] = current_labels(study).values()
    assert label.unsure


# --- changing ---


def test_a_grid_that_is_there_is_changed_as_a_whole(make: Make) -> None:
    study = make("mcd")
    desk = at(study, keys="c a Y N Y ⏎ k left tab")
    item, before = here(desk), kinds(study)
    assert isinstance(desk.entry, Grid) and desk.entry.lacks == ""
    type_keys(desk, keys_of("n"))
    assert kinds(study) == before, "a change is stored once the grid is taken"
    type_keys(desk, ["enter"])
    assert kinds(study) == [*before, "revise"]
    assert json.loads(current_labels(study)[item].parts["nodes"])["n1"]["stated"] == "n"


def test_a_change_that_was_not_taken_is_dropped_with_a_word(make: Make) -> None:
    study = make("ranking")
    desk = at(study, keys="a b c d ⏎ left tab ⌫ escape")
    assert desk.entry is None and "not kept" in desk.message
    assert kinds(study)[-1] == "label"


@pytest.mark.parametrize("keys", ["a b c d ⏎ left tab ⌫ right", "a b c d ⏎ a b c d ⏎ left tab ⌫ left"])
def test_leaving_an_open_change_says_that_it_was_not_kept(make: Make, keys: str) -> None:
    desk = at(make("ranking"), keys=keys)
    assert desk.message == "the half-given label was not kept"


def test_escape_closes_and_tab_opens_again(make: Make) -> None:
    desk = at(make("mcd"), keys="c a y escape")
    assert desk.entry is None
    type_keys(desk, ["tab"])
    assert isinstance(desk.entry, Grid) and desk.entry.column == 1


def test_tab_says_when_there_is_nothing_to_open(make: Make) -> None:
    desk = at(make("mcd", payload={"nodes": []}), keys="tab")
    assert desk.message == "this item has no grid, ranking or number"


# --- verdicts ---


def test_the_judge_is_compared_part_by_part_after_the_label_only(make: Make) -> None:
    study = make("mcd", 8)
    desk = sit(study, "item")
    while desk.phase != "revealed":
        assert desk.shown_verdicts() == []
        type_keys(desk, keys_of("c a Y N Y ⏎"))
        assert "reveal" not in kinds(study) or desk.phase == "label"
        type_keys(desk, ["h"])
    [view] = desk.shown_verdicts()
    assert view.differs
    [(title, words)] = view.compared
    assert title.startswith("For every node")
    assert words.startswith("3 of 6 cells differ, the judge says nothing of 3")
    assert "Node 2, causal link: you No, judge Yes" in words
    assert dict(view.derived)["By the published rule"].startswith("partial; CRC 0.67 is below 0.75")


def test_rankings_are_told_in_the_letters_the_person_saw(make: Make) -> None:
    study = make("ranking", 8)
    desk = sit(study, "item")
    while desk.phase != "revealed":
        order = desk.current.orders[""]
        type_keys(desk, keys_of("a b c d ⏎"))
    letters = dict(zip(order, "abcd", strict=True))
    [view] = desk.shown_verdicts()
    assert view.headline == " > ".join(letters[f"r{n}"] for n in (1, 2, 3, 4))
    assert view.compared[0][1].startswith("Kendall's tau-b")


def test_a_measurement_that_is_not_equal_does_not_make_the_verdict_differ(make: Make) -> None:
    study = make("stance", 8)
    desk = sit(study, "item")
    while desk.phase != "revealed":
        type_keys(desk, keys_of("tab . 2 ⏎ y"))
    [view] = desk.shown_verdicts()
    assert view.differs is False and view.compared[0][1].startswith("you 0.2, judge 0.1")


def test_assisted_confirms_what_the_judge_said_and_the_person_adds_what_it_did_not(make: Make) -> None:
    study = make("mcd")
    desk = at(study, "assisted")
    item = here(desk)
    type_keys(desk, ["enter"])
    assert "says too little" in desk.message and desk.entry is None
    type_keys(desk, keys_of("a tab right right y right right y right right y escape enter"))
    label = current_labels(study)[item]
    assert label.value is not None and label.parts["cc"] == "1.0"
    cells = json.loads(label.parts["nodes"])
    assert cells["n3"] == {"stated": "y", "causal": "n", "patient": "y"}


def test_assisted_confirms_a_ranking_with_one_key(make: Make) -> None:
    study = make("ranking")
    desk = sit(study, "assisted")
    item = here(desk)
    type_keys(desk, ["enter"])
    assert desk.labelled == 1 and current_labels(study)[item].value == '[["r1"],["r2"],["r3"],["r4"]]'


def test_the_review_of_a_block_takes_changes_of_parts(make: Make) -> None:
    study = make("ranking", 10)
    desk = sit(study, "block")
    for _ in range(10):
        type_keys(desk, keys_of("a b c d ⏎"))
    assert desk.review is not None
    item = here(desk)
    type_keys(desk, keys_of("tab ⌫ ⌫ ⌫ ⌫ d c b a ⏎"))
    revised = events(study)[-1]
    assert (revised["kind"], revised["item_id"], revised["mode"]) == ("revise", item, "revised")
    assert blind_labels(study)[item].value != current_labels(study)[item].value


# --- safe ---


@pytest.mark.parametrize("full", [full_journal, full_database], ids=["journal", "database"])
def test_an_answer_that_cannot_be_saved_has_not_been_given_and_completes_once(make: Make, full: Callable) -> None:  # type: ignore[type-arg]
    study = make("mcd")
    desk = at(study, keys="c a y")
    before, entry = len(kinds(study)), desk.entry
    with full(study), pytest.raises(SaveError):
        type_keys(desk, ["n"])
    assert desk.entry == entry
    type_keys(desk, ["n"])
    assert len(kinds(study)) == before + 1
    assert isinstance(desk.entry, Grid) and desk.entry.cells == {("n1", "stated"): "y", ("n1", "causal"): "n"}


KEYS = {
    "mcd": [*"ciabynYNkh~s", "⌫", "⏎", "tab", "escape", "left", "right", "up", "down"],
    "ranking": [*"abcd=~s", "⌫", "⏎", "tab", "escape", "left", "right"],
    "stance": [*"hmy7.5s", "tab", "⏎", "⌫", "escape", "left", "right"],
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("task", KEYS)
def test_undo_and_redo_are_exact_inverses_over_any_keys(make: Make, task: str, seed: int) -> None:
    study = make(task)
    desk = sit(study, "never")
    choose = random.Random(seed)
    trail = [dict(current_labels(study))]
    for _ in range(60):
        key = keys_of(choose.choice(KEYS[task]))
        if desk.phase == "done" and key != ["left"]:
            continue
        type_keys(desk, key)
        if (now := dict(current_labels(study))) != trail[-1]:
            trail.append(now)

    def given(labels: dict[str, LabelState]) -> dict[str, LabelState]:
        return {item: state for item, state in labels.items() if state != LabelState()}

    if desk.entry is not None:
        type_keys(desk, ["escape"])
    for labels in reversed(trail[:-1]):
        desk.undo()
        if desk.message == "half-given label taken back":
            desk.undo()
        assert given(current_labels(study)) == given(labels)
    for labels in trail[1:]:
        desk.redo()
        assert given(current_labels(study)) == given(labels)


def test_a_number_being_typed_is_taken_back_by_undo_first(make: Make) -> None:
    study = make("stance")
    desk = at(study, keys="h tab 7 u")
    assert desk.message == "half-given label taken back" and desk.labelled == 1
    assert not (isinstance(desk.entry, Number) and desk.entry.typed)
