"""Drawing and queueing: seeded orders that do not depend on the input, groups together, what is refused."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.opening import find_draw, make_draw, sit_down, task_definitions
from annotate.desk.queue import BLOCK_SIZE, Queue, Waiting
from judges.calibration.sampling import Candidate, Place, two_stage_order
from store.draws import DrawnItem, list_draws
from store.errors import UsageError
from store.records import LabelState
from store.study import Study
from store.tasks import add_tasks
from tests.desk.desk_studies import accuracy, make_study, press, qa, sit

UNITS = st.lists(
    st.tuples(st.text("abcdef", min_size=1, max_size=4), st.sampled_from(["", "", "g1", "g2", "g3"])),
    max_size=40, unique_by=lambda unit: unit[0],
).map(lambda units: [Candidate(*unit) for unit in units])  # fmt: skip


# --- orders ---


@given(UNITS, st.integers(0, 2**63 - 1), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_the_input(units: list[Candidate], seed: int, random: object) -> None:
    shuffled = list(units)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert two_stage_order(shuffled, seed) == two_stage_order(units, seed)


@given(UNITS, st.integers(0, 2**63 - 1))
def test_every_item_once_groups_together_and_numbered_as_served(units: list[Candidate], seed: int) -> None:
    places = two_stage_order(units, seed)
    assert sorted(place.item_id for place in places) == sorted(unit.item_id for unit in units)
    numbers = [number for number, _ in groupby(places, key=lambda place: place.group_number)]
    assert numbers == list(range(len(numbers)))
    group_of = {unit.item_id: unit.group for unit in units}
    for _, members in groupby(places, key=lambda place: place.group_number):
        groups = {group_of[member.item_id] or member.item_id for member in members}
        assert len(groups) == 1


def test_orders_differ_between_seeds_and_place_every_group_first_sometimes() -> None:
    units = [Candidate(f"{group}{number}", group) for group in "abcd" for number in range(3)]
    orders = {tuple(two_stage_order(units, seed)) for seed in range(50)}
    assert len(orders) == 50
    assert {order[0].item_id[0] for order in orders} == set("abcd")


def test_the_order_of_a_seed_is_the_same_for_ever() -> None:
    units = [
        *(Candidate(f"s{number}", "") for number in range(4)),
        Candidate("x1", "x"),
        Candidate("x2", "x"),
        Candidate("x3", "x"),
    ]
    assert two_stage_order(units, 7) == GOLDEN_ORDER


GOLDEN_ORDER = [
    Place("x2", 0),
    Place("x3", 0),
    Place("x1", 0),
    Place("s0", 1),
    Place("s3", 2),
    Place("s1", 3),
    Place("s2", 4),
]


# --- blocks ---


@given(st.lists(st.integers(1, 14), max_size=25))
def test_blocks_are_ten_single_items_or_one_group(sizes: list[int]) -> None:
    items = [DrawnItem(f"{group}.{n}", group) for group, size in enumerate(sizes) for n in range(size)]
    queue = Queue(items)
    covered = [place for number in queue.blocks for place in queue.block(number)]
    assert covered == list(range(len(items)))
    for number in queue.blocks:
        block = queue.block(number)
        groups = {queue.items[place].group_number for place in block}
        assert len(groups) == 1 or (len(groups) == len(block) <= BLOCK_SIZE)
        assert {queue.block_of[place] for place in block} == {number}


# --- what still waits ---

STATES = st.sampled_from([LabelState(), LabelState(skipped=True), LabelState(value="c"), LabelState(cannot_judge="a"),
                          LabelState(note="only a note")])  # fmt: skip


@given(st.integers(0, 12), st.data())
def test_what_waits_equals_a_walk_over_all_places(size: int, data: st.DataObject) -> None:
    places = st.integers(0, max(size - 1, 0))
    known = data.draw(st.dictionaries(places, STATES)) if size else {}
    waiting = Waiting(size)
    waiting.load(known)
    for place, state in data.draw(st.lists(st.tuples(places, STATES), max_size=20)) if size else []:
        known[place] = state
        waiting.update(place, state)
    states = [known.get(place, LabelState()) for place in range(size)]
    assert waiting.labelled == sum(state.decided for state in states)
    assert waiting.skipped == sum(state.skipped and not state.decided for state in states)
    start = data.draw(st.integers(0, size + 1))
    around = [*range(start, size), *range(min(start, size))]
    open_places = [place for place in around if not states[place].decided and not states[place].skipped]
    skipped = [place for place in around if not states[place].decided and states[place].skipped]
    assert waiting.next(start) == next(iter([*open_places, *skipped]), None)


# --- draws of a study ---


def test_the_draw_is_kept_with_seed_design_and_terms(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa(group="g"), qa(group="g"), qa()]) as study:
        desk = sit_down(study, "dr.li", seed=42, mode="block")
        [draw] = list_draws(study)
        assert (draw.seed, draw.design, draw.stream, draw.reveal, draw.created_by) == (
            42, "two_stage", "estimate", "block", "dr.li",
        )  # fmt: skip
        again = sit_down(study, "dr.okafor")
        assert again.draw.draw_id == desk.draw.draw_id and again.queue.items == desk.queue.items
        assert len(list_draws(study)) == 1


def test_without_shared_texts_the_draw_is_simple(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa(), qa()]) as study:
        assert sit(study).draw.design == "simple"


def test_the_same_seed_draws_the_same_order_in_another_study(tmp_path: Path) -> None:
    specs = [qa() for _ in range(9)]
    with make_study(tmp_path / "a.duckdb", specs) as one, make_study(tmp_path / "b.duckdb", specs) as other:
        first, second = sit_down(one, "a", seed=3), sit_down(other, "b", seed=3)
        assert [item.item_id for item in first.queue.items] == [item.item_id for item in second.queue.items]


def test_one_task_of_a_draw_of_all(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa(group="g"), accuracy(group="g"), qa(), accuracy()]) as study:
        everything = sit(study)
        assert len(everything.queue) == 4
        questions = sit(study, task="qa")
        assert len(questions.queue) == 2 and questions.draw.draw_id == everything.draw.draw_id
        assert {questions.ledger.read(item.item_id).item.task for item in questions.queue.items} == {"qa"}


def test_a_draw_of_a_task_is_preferred_to_one_of_all_and_newer_ones_to_older(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa(), accuracy()]) as study:
        assert find_draw(study, "") is None
        everything = make_draw(study, "", "item", 1, "lead")
        assert find_draw(study, "qa") == find_draw(study, "") == _as_stored(study, everything.draw_id)
        questions = make_draw(study, "qa", "block", 2, "lead")
        assert find_draw(study, "qa") == _as_stored(study, questions.draw_id)
        assert find_draw(study, "") == find_draw(study, "accuracy") == _as_stored(study, everything.draw_id)


def _as_stored(study: Study, draw_id: str) -> object:
    return next(draw for draw in list_draws(study) if draw.draw_id == draw_id)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"task": "poetry"}, "no task 'poetry'"), ({"task": "update"}, "no items of task 'update'"),
     ({"minutes": 0}, "cannot last"), ({"minutes": -5}, "cannot last"), ({"minutes": float("nan")}, "cannot last"),
     ({"seed": -1}, "seed"), ({"seed": 2**63}, "seed")],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_drawn(
    tmp_path: Path, options: dict[str, object], words: str
) -> None:
    with make_study(tmp_path / "s.duckdb", [qa()]) as study:
        with pytest.raises(UsageError, match=words):
            sit_down(study, "dr.li", **options)  # type: ignore[arg-type]
        assert list_draws(study) == []


def test_another_seed_than_the_draws_is_refused(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa()]) as study:
        sit_down(study, "dr.li", seed=1)
        sit_down(study, "dr.li", seed=1)
        with pytest.raises(UsageError, match="has a draw with seed 1"):
            sit_down(study, "dr.li", seed=2)


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x1b[31m", "half \ud83d"])
def test_a_name_that_cannot_be_printed_labels_nothing(tmp_path: Path, name: str) -> None:
    with make_study(tmp_path / "s.duckdb", [qa()]) as study:
        with pytest.raises(UsageError, match="annotator"):
            sit_down(study, name)
        assert list_draws(study) == []


def test_a_name_is_one_name_however_it_is_typed(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa(), qa()]) as study:
        press(sit(study, "never", annotator=" dr.müller "), "c")
        assert sit(study, annotator="dr.mu\N{COMBINING DIAERESIS}ller").labelled == 1


def test_an_empty_study_cannot_be_labelled(tmp_path: Path) -> None:
    with Study.create(tmp_path / "e.duckdb", "halumem") as study:
        from judges.benchmarks.halumem.tasks import TASKS

        add_tasks(study, [task.as_json() for task in TASKS], "2026-01-01T00:00:00+00:00")
        with pytest.raises(UsageError, match="no items") as refusal:
            sit_down(study, "dr.li")
        assert "import" in refusal.value.hint
        assert set(task_definitions(study)) == {"integrity", "accuracy", "update", "qa"}


def test_the_order_says_nothing_of_the_verdicts(tmp_path: Path) -> None:
    """The same items and seed, other answers of the judge: the same order."""
    orders = []
    for name, labels in (("a", ["Correct"] * 15), ("b", ["Correct", "Omission", "!"] * 5), ("c", [None] * 15)):
        with make_study(tmp_path / f"{name}.duckdb", [qa(label) for label in labels]) as study:
            orders.append([item.item_id for item in sit(study, "block").queue.items])
    assert orders[0] == orders[1] == orders[2]
