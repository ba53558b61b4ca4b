"""Nothing that a key does grows with the queue: a hundred thousand items answer like a hundred.

Counted, not timed: how much the desk looks at. What it takes in seconds is printed by `python -m tests.performance`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.desk.desk import Desk
from annotate.desk.opening import sit_down, task_definitions
from store.draws import Draw, DrawnItem
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import Clock, make_study, press, qa

MANY = 100_000


def lines_run(act: Callable[[], object]) -> int:
    """Lines of Python that run in `annotate` and `judges` while `act` does."""
    count = 0

    def trace(frame: object, event: str, _: object) -> object:
        nonlocal count
        file = frame.f_code.co_filename  # type: ignore[attr-defined]
        if "/annotate/" not in file and "/judges/" not in file:
            return None
        if event == "line":
            count += 1
        return trace

    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        act()
    finally:
        sys.settrace(None)
    return count


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_study(tmp_path / "s.duckdb", [qa("Omission") for _ in range(60)])


def desk_of(study: Study, size: int, policy: str) -> Desk:
    """A desk whose queue begins with the study's items and goes on with ones that are never reached."""
    draw = Draw("draw", "", "estimate", "simple", policy, 7, "lead", "")  # type: ignore[arg-type]
    real = [row[0] for row in study.rows("SELECT item_id FROM items ORDER BY item_id")]
    items = [DrawnItem(item_id, number) for number, item_id in enumerate(real)]
    items += [DrawnItem(f"unreached {number}", number) for number in range(len(real), size)]
    return Desk(study, f"reader of {size} {policy}", draw, items, task_definitions(study), policy=draw.reveal,
                clock=Clock())  # fmt: skip


ACTS: dict[str, Callable[[Desk], object]] = {
    "label": lambda desk: press(desk, "c"),
    "skip": Desk.skip,
    "flag": Desk.flag,
    "undo": Desk.undo,
    "redo": Desk.redo,
    "back": lambda desk: desk.move(-1),
    "go to": lambda desk: desk.go_to(30),
    "first open": Desk.first_open,
    "summary": Desk.summary,
    "pace": Desk.pace_words,
    "counts": lambda desk: (desk.labelled, desk.left, desk.state, desk.mode, desk.shown_verdicts()),
}


@pytest.mark.parametrize("policy", ["item", "block", "never", "assisted"])
def test_a_key_looks_at_as_much_whatever_the_queue(study: Study, policy: str) -> None:
    few, many = desk_of(study, 60, policy), desk_of(study, MANY, policy)
    for name, act in ACTS.items():
        assert lines_run(lambda act=act: act(many)) <= lines_run(lambda act=act: act(few)) + 50, name  # type: ignore[misc]
    study.close()


def test_the_last_of_many_items_is_found_at_once(study: Study) -> None:
    desk = desk_of(study, MANY, "never")
    desk.ledger.waiting.load({place: LabelState(value="Correct") for place in range(5, MANY)})
    press(desk, "c", "c", "c")
    assert lines_run(lambda: press(desk, "c")) < 2_000 and desk.place == 4
    study.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_key_in_a_study_of_a_hundred_thousand_items_does_as_much_as_in_one_of_sixty(tmp_path: Path) -> None:
    """From the file, with the label safe on disk; `tests.performance.long_studies` says how long it takes."""
    lines = {}
    for count in (60, MANY):
        with make_study(tmp_path / f"{count}.duckdb", [qa() for _ in range(count)]) as study:
            desk = sit_down(study, "dr.li", seed=1, mode="never")
            press(desk, "c")
            lines[count] = lines_run(lambda desk=desk: (press(desk, "c"), desk.summary()))  # type: ignore[misc]
    assert lines[MANY] <= lines[60] + 50
