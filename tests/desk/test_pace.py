"""Time at the desk: active time, the guard against keys that cannot be meant, pace words, the end of a sitting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.desk.pace import ActiveClock, KeyGuard, minutes_in_words
from store.study import Study
from tests.desk.desk_studies import Clock, events, go_to_first, here, make_study, press, qa, sit


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with make_study(tmp_path / "s.duckdb", [qa() for _ in range(12)]) as study:
        yield study


# --- active time ---


def test_active_time_stops_after_a_minute_without_a_key() -> None:
    clock = ActiveClock(0.0, "a")
    clock.tick(10.0)
    clock.tick(500.0)
    assert clock.pending_ms("a") == 70_000


def test_active_time_belongs_to_the_item_in_front_also_when_one_comes_back() -> None:
    clock = ActiveClock(0.0, "a")
    clock.tick(5.0)
    clock.turn_to("b")
    clock.tick(12.0)
    clock.settle("b")
    clock.turn_to("a")
    clock.tick(14.0)
    assert (clock.pending_ms("a"), clock.pending_ms("b")) == (7_000, 0)
    clock.settle("a")
    clock.tick(15.0)
    assert clock.pending_ms("a") == 1_000 and clock.total == 15.0


def test_a_clock_that_jumps_back_takes_no_time_away() -> None:
    clock = ActiveClock(100.0, "a")
    clock.tick(90.0)
    clock.tick(95.0)
    assert clock.pending_ms("a") == 5_000


def test_each_label_carries_the_active_time_of_its_own_item(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "never", clock=clock)

    def key(seconds: float) -> None:
        clock.wait(seconds)
        desk.active.tick(clock())

    key(8)
    desk.move(1)  # looked at the first item for 8 s, then at the second
    key(20)
    press(desk, "c")
    desk.go_to(1)
    key(300)
    press(desk, "h")
    assert [event["active_ms"] for event in events(study)] == [20_000, 68_000]


def test_opened_panels_are_stored_with_the_item_they_were_opened_on(study: Study) -> None:
    desk = sit(study, "never")
    desk.ledger.open_panels(desk.current.task, ["dialogue", "question"])
    desk.ledger.open_panels(desk.current.task, ["dialogue"])
    desk.move(1)
    press(desk, "c")
    desk.go_to(1)
    desk.set_note("x")
    press(desk, "c")
    assert [event["panels"] for event in events(study)] == [[], ["dialogue"], []]


# --- the guard ---


def test_a_label_key_before_the_first_paint_or_right_after_it_is_ignored_visibly() -> None:
    guard = KeyGuard()
    guard.new_item()
    assert "too fast" in guard.refusal("c", 10.0)
    guard.painted(10.0)
    guard.painted(10.2)  # only the first paint counts
    assert "too fast" in guard.refusal("h", 10.29)
    assert guard.refusal("o", 10.31) == ""


def test_a_held_key_gives_one_label_whatever_the_keyboards_delay() -> None:
    for delay in (0.2, 0.25, 0.4, 0.5, 0.66):
        for gap in (0.02, 0.033, 0.05, 0.1):
            guard, now, given = KeyGuard(), 0.0, 0
            guard.painted(now)
            now = 5.0
            for press_number in range(60):
                if guard.refusal("c", now) == "":
                    given += 1
                    guard.new_item()
                    guard.painted(now + 0.02)
                now += delay if press_number == 0 else gap
            assert given == 1, (delay, gap)


def test_tapping_the_same_key_always_gets_through() -> None:
    for gap in (0.13, 0.2, 0.35, 0.5, 0.8):
        guard, now, counted = KeyGuard(), 10.0, []
        guard.painted(9.0)
        for _ in range(6):
            counted.append(guard.refusal("c", now) == "")
            now += gap
        assert counted[0] and any(counted[1:3]), gap


def test_different_keys_are_never_held() -> None:
    guard = KeyGuard()
    guard.painted(0.0)
    assert [guard.refusal(key, 1 + number * 0.05) for number, key in enumerate("chch")] == ["", "", "", ""]


def test_a_desk_without_a_screen_has_no_guard(study: Study) -> None:
    desk = sit(study, "assisted")
    for _ in range(12):
        desk.confirm()
    assert desk.phase == "done" and desk.labelled == 12


# --- pace and the end ---


@pytest.mark.parametrize(
    ("minutes", "words"), [(0.2, "1 min"), (45, "45 min"), (60, "1 h"), (200, "3 h 20 min"), (59.6, "1 h")]
)
def test_minutes_in_words(minutes: float, words: str) -> None:
    assert minutes_in_words(minutes) == words


def test_pace_is_the_median_of_what_was_labelled_and_says_what_is_left(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "never", clock=clock)
    assert desk.pace_words() == "nothing labelled yet in this sitting · 12 left"
    for seconds in (10, 20, 50):
        clock.wait(seconds / 2)
        desk.active.tick(clock())
        desk.flag()  # an act before the label takes none of its time away
        clock.wait(seconds / 2)
        desk.active.tick(clock())
        press(desk, "c")
    assert desk.pace_words() == "3 labelled · 20 s an item (median) · 9 left, about 3 min"
    desk.undo()
    assert desk.pace_words().startswith("2 labelled · 15 s")


def test_pace_says_when_the_sitting_ends(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "never", clock=clock, minutes=90)
    clock.wait(600)
    assert desk.pace_words().endswith("this sitting ends in 1 h 20 min")


def test_minutes_end_after_the_label_that_is_given_when_they_are_over(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "never", clock=clock, minutes=10)
    press(desk, "c")
    clock.wait(601)
    assert desk.phase == "label", "never in the middle of an item"
    press(desk, "c")
    assert (desk.phase, desk.time_is_up, desk.labelled) == ("done", True, 2)
    desk.move(-1)
    assert desk.phase == "label" and not desk.time_is_up


def test_minutes_end_only_at_the_end_of_a_shared_text(tmp_path: Path) -> None:
    with make_study(tmp_path / "g.duckdb", [qa(group=f"g{n // 4}") for n in range(12)]) as study:
        clock = Clock()
        desk = sit(study, "never", clock=clock, minutes=10)
        clock.wait(700)
        for number in range(1, 5):
            assert desk.phase == "label"
            press(desk, "c")
            assert (desk.phase == "done") == (number == 4)


def test_skipped_items_of_the_text_do_not_keep_the_sitting_open(tmp_path: Path) -> None:
    with make_study(tmp_path / "g.duckdb", [qa(group=f"g{n // 3}") for n in range(9)]) as study:
        clock = Clock()
        desk = sit(study, "never", clock=clock, minutes=10)
        for _ in range(8):
            desk.skip()
        press(desk, "c")
        clock.wait(700)
        assert desk.place == 0
        press(desk, "c")
        press(desk, "c")
        assert desk.phase == "label", "two skipped items of the first text came back, the third is there too"
        press(desk, "c")
        assert desk.phase == "done" and desk.time_is_up


def test_minutes_end_after_the_review_of_the_block(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "block", clock=clock, minutes=10)
    for _ in range(9):
        press(desk, "c")
    clock.wait(700)
    press(desk, "c")
    assert desk.phase == "review"
    while desk.review is not None:
        desk.confirm()
    assert desk.phase == "done" and desk.time_is_up and desk.left == 2


def test_the_end_of_the_queue_is_no_end_of_time(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "never", clock=clock, minutes=1)
    for _ in range(11):
        desk.go_to(desk.labelled + 1)
        press(desk, "c")
    clock.wait(100)
    desk.go_to(12)
    press(desk, "c")
    assert desk.phase == "done" and not desk.time_is_up


@pytest.mark.parametrize("mode", ["item", "block", "never", "assisted"])
def test_the_summary_never_mentions_the_judge_or_what_it_said(study: Study, mode: str) -> None:
    desk = sit(study, mode)  # type: ignore[arg-type]
    press(desk, "h")
    go_to_first(desk, hidden=False)
    press(desk, "h")
    go_to_first(desk, hidden=False)
    desk.skip()
    text = " ".join(desk.summary()).lower()
    assert "2 of 12 items are labelled" in text and "1 skipped" in text
    for word in ("judge", "verdict", "differ", "agree", "correct", "hallucination", "northwind", "shown", "hidden"):
        assert word not in text


def test_the_summary_counts_what_is_labelled_now(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "never", clock=clock)
    press(desk, "c", "c", "c")
    desk.undo()
    press(desk, "h")
    desk.undo()
    clock.wait(125)
    assert desk.summary() == ["2 of 12 items are labelled.", "This sitting: 2 labelled in 2 min."]
    assert here(desk) == desk.queue.items[2].item_id
