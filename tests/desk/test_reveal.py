"""When the verdict is shown: the four policies, the arm that never sees it, and what is stored before it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.calibration.sampling import NEVER_SHOWN_SHARE, is_never_shown
from store.draws import RevealPolicy, list_draws
from store.errors import UsageError
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import (
    JUDGE,
    Clock,
    Spec,
    accuracy,
    blind_labels,
    current_labels,
    events,
    go_to_first,
    here,
    hidden,
    journaled,
    kinds,
    make_study,
    press,
    qa,
    sit,
)

POLICIES: tuple[RevealPolicy, ...] = ("item", "block", "never", "assisted")


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with make_study(tmp_path / "s.duckdb", [qa("Omission") for _ in range(12)]) as study:
        yield study


# --- choosing the policy ---


def test_the_policy_is_item_unless_said_otherwise(study: Study) -> None:
    assert sit(study).policy == "item"
    assert list_draws(study)[0].reveal == "item"


@pytest.mark.parametrize("policy", POLICIES)
def test_mode_sets_the_policy_of_the_draw_that_is_made_now(study: Study, policy: RevealPolicy) -> None:
    assert sit(study, policy).policy == policy
    assert [draw.reveal for draw in list_draws(study)] == [policy]


@pytest.mark.parametrize("kept", POLICIES)
@pytest.mark.parametrize("wanted", POLICIES)
def test_on_a_draw_that_is_there_mode_may_only_tighten(study: Study, kept: RevealPolicy, wanted: RevealPolicy) -> None:
    order = ("assisted", "item", "block", "never")
    sit(study, kept)
    if order.index(wanted) < order.index(kept):
        with pytest.raises(UsageError, match="would show more") as refusal:
            sit(study, wanted)
        assert refusal.value.exit_code == 2
    else:
        assert sit(study, wanted).policy == wanted
    assert sit(study).policy == kept, "one sitting's wish does not change the draw"


# --- item ---


def test_item_shows_the_verdict_at_once_after_the_label_and_stores_that_first(study: Study) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=False)
    item = here(desk)
    assert desk.shown_verdicts() == []
    press(desk, "h")
    assert here(desk) == item and desk.phase == "revealed"
    assert kinds(study) == ["label", "reveal"]
    assert [entry["item_id"] for entry in journaled(study, "reveal")] == [item]
    [view] = desk.shown_verdicts()
    assert (view.judge, view.headline, view.differs) == (JUDGE, "Omission", True)
    assert events(study)[1]["verdicts_shown"] == [desk.current.verdicts[0].record.verdict_id]


def test_item_enter_keeps_and_a_label_key_revises_each_one_key(study: Study) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=False)
    kept = here(desk)
    press(desk, "h")
    desk.confirm()
    assert here(desk) != kept and kinds(study) == ["label", "reveal"]
    go_to_first(desk, hidden=False)
    revised = here(desk)
    press(desk, "h")
    press(desk, "o")
    assert here(desk) != revised
    assert current_labels(study)[revised] == LabelState(value="Omission")
    assert blind_labels(study) == {kept: LabelState(value="Hallucination"), revised: LabelState(value="Hallucination")}
    assert events(study)[-1]["mode"] == "revised"


def test_item_reveals_after_cannot_judge_too(study: Study) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=False)
    desk.cannot_judge("a")
    assert desk.phase == "revealed"
    [view] = desk.shown_verdicts()
    assert view.differs is None


def test_item_reveals_only_when_all_required_parts_are_given(tmp_path: Path) -> None:
    with make_study(tmp_path / "p.duckdb", [accuracy() for _ in range(8)]) as study:
        desk = sit(study, "item")
        go_to_first(desk, hidden=False)
        press(desk, "a")
        assert desk.shown_verdicts() == [] and journaled(study, "reveal") == []
        press(desk, "o")
        assert [view.headline for view in desk.shown_verdicts()] == ["All supported · Inside"]


def test_item_without_a_verdict_leads_on(tmp_path: Path) -> None:
    with make_study(tmp_path / "n.duckdb", [qa(None) for _ in range(3)]) as study:
        desk = sit(study, "item")
        press(desk, "c")
        assert desk.place == 1 and kinds(study) == ["label"]


def test_a_hidden_item_leads_on_and_stays_hidden(study: Study) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=True)
    place = desk.place
    press(desk, "h")
    assert desk.place != place and kinds(study) == ["label"]
    for _ in range(2):
        desk.go_to(place + 1)
        assert desk.shown_verdicts() == [] and desk.mode == "blind" and desk.phase == "label"
        press(desk, "c")
    assert journaled(study, "reveal") == []


# --- never ---


def test_never_shows_nothing_whatever_is_done(study: Study) -> None:
    desk = sit(study, "never")
    for place in range(12):
        desk.go_to(place + 1)
        press(desk, "h")
        desk.go_to(place + 1)
        press(desk, "c")
        desk.undo()
        desk.redo()
        assert desk.shown_verdicts() == [] and desk.review is None
    assert journaled(study, "reveal") == []
    assert set(blind_labels(study)) == set(current_labels(study))


@pytest.mark.parametrize("policy", ["item", "block"])
def test_a_label_given_in_a_never_sitting_is_not_shown_later(study: Study, policy: RevealPolicy) -> None:
    sit(study, policy)
    desk = sit(study, "never")
    for _ in range(12):
        press(desk, "h")
    desk = sit(study)
    assert desk.policy == policy and desk.phase == "done" and desk.review is None
    for place in range(12):
        desk.go_to(place + 1)
        desk.confirm()
        assert desk.review is None and desk.shown_verdicts() == []
    desk.go_to(1)
    press(desk, "c")
    desk.undo()
    assert desk.review is None and desk.shown_verdicts() == []
    assert journaled(study, "reveal") == []


# --- assisted ---


def test_assisted_stores_the_reveal_before_the_verdict_stands_beside_the_item(study: Study) -> None:
    desk = sit(study, "assisted")
    assert [entry["item_id"] for entry in journaled(study, "reveal")] == [here(desk)]
    assert desk.mode == "assisted" and [view.headline for view in desk.shown_verdicts()] == ["Omission"]
    desk.move(1)
    assert len(journaled(study, "reveal")) == 2


def test_assisted_enter_confirms_and_a_label_key_overrides(study: Study) -> None:
    desk = sit(study, "assisted")
    confirmed, overridden = here(desk), desk.queue.items[1].item_id
    desk.confirm()
    press(desk, "h")
    assert current_labels(study)[confirmed] == LabelState(value="Omission")
    assert current_labels(study)[overridden] == LabelState(value="Hallucination")
    shapes = [set(event) for event in events(study) if event["kind"] == "label"]
    assert shapes[0] == shapes[1], "confirming and overriding make the same record"
    assert blind_labels(study) == {}
    assert {event["mode"] for event in events(study)} == {"assisted"}


def test_assisted_never_puts_the_verdict_over_a_persons_label(tmp_path: Path) -> None:
    path = tmp_path / "again.duckdb"
    with make_study(path, [qa("Omission") for _ in range(3)]) as study:
        desk = sit(study, "assisted")
        item = here(desk)
        press(desk, "H")
        desk.go_to(1)
        desk.confirm()
        assert current_labels(study)[item] == LabelState(value="Hallucination", unsure=True)
    with Study.open(path) as study:
        desk = sit(study)
        desk.go_to(1)
        assert here(desk) == item and desk.state == LabelState(value="Hallucination", unsure=True)
        desk.confirm()
        assert current_labels(study)[item] == LabelState(value="Hallucination", unsure=True)
        assert [event["kind"] for event in events(study) if event["item_id"] == item].count("label") == 1


def test_assisted_enter_confirms_all_parts_and_a_part_key_first_overrides_that_part(tmp_path: Path) -> None:
    with make_study(tmp_path / "p.duckdb", [accuracy("1", "false") for _ in range(3)]) as study:
        desk = sit(study, "assisted")
        first, second = here(desk), desk.queue.items[1].item_id
        desk.confirm()
        press(desk, "i")
        desk.confirm()
        labels = current_labels(study)
        assert labels[first] == LabelState(value="1", parts={"included": "false"})
        assert labels[second] == LabelState(value="1", parts={"included": "true"})


@pytest.mark.parametrize(
    "spec", [qa("!"), qa("Splendid"), accuracy("2", None), Spec("accuracy", "", "2", {"included": "maybe"})],
    ids=["failed", "off the set", "part missing", "part off the set"],
)  # fmt: skip
def test_assisted_what_cannot_be_read_cannot_be_confirmed(tmp_path: Path, spec: Spec) -> None:
    with make_study(tmp_path / "f.duckdb", [spec, spec]) as study:
        desk = sit(study, "assisted")
        desk.confirm()
        assert desk.place == 0 and "label key" in desk.message and kinds(study) == ["reveal"]


def test_assisted_without_a_verdict_is_blind_and_enter_does_nothing(tmp_path: Path) -> None:
    with make_study(tmp_path / "n.duckdb", [qa(None)]) as study:
        desk = sit(study, "assisted")
        desk.confirm()
        assert kinds(study) == [] and desk.mode == "blind"
        press(desk, "c")
        assert list(blind_labels(study).values()) == [LabelState(value="Correct")]


def test_assisted_enter_is_guarded_like_a_label_key(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "assisted", clock=clock)
    desk.guard.painted(clock())
    clock.wait(0.2)
    desk.confirm()
    assert "too fast" in desk.message and desk.labelled == 0
    clock.wait(0.2)
    desk.confirm()
    assert desk.labelled == 1
    for _ in range(40):
        desk.guard.painted(clock())
        clock.wait(0.04)
        desk.confirm()
    assert desk.labelled == 1, "a held Enter confirms nothing unseen"


def test_a_label_key_revises_a_confirmed_verdict_with_one_key(study: Study) -> None:
    desk = sit(study, "assisted")
    item = here(desk)
    desk.confirm()
    desk.move(-1)
    press(desk, "c")
    assert current_labels(study)[item] == LabelState(value="Correct") and desk.place == 1


# --- after a reveal nothing is blind ---


def test_a_label_after_a_reveal_is_never_blind_also_after_undo_and_restart(tmp_path: Path) -> None:
    path = tmp_path / "u.duckdb"
    with make_study(path, [qa("Omission") for _ in range(8)]) as study:
        desk = sit(study, "item")
        go_to_first(desk, hidden=False)
        item = here(desk)
        press(desk, "h")
        desk.undo()
        assert desk.state == LabelState() and desk.mode == "revised" and desk.phase == "label"
    with Study.open(path) as study:
        desk = sit(study, "never")
        desk.go_to(desk.queue.place_of[item] + 1)
        assert desk.mode == "revised"
        press(desk, "o")
        desk.undo()
        desk.redo()
        assert current_labels(study)[item] == LabelState(value="Omission")
        assert blind_labels(study)[item] == LabelState(value="Hallucination")
        after = [event["mode"] for event in events(study) if event["item_id"] == item][2:]
        assert after == ["revised"] * len(after) and len(after) == 4


def test_marks_after_a_reveal_do_not_touch_the_blind_label(study: Study) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=False)
    item = here(desk)
    press(desk, "h")
    desk.set_note("the judge is right")
    assert blind_labels(study)[item].note == "" and current_labels(study)[item].note == "the judge is right"


# --- the arm that never sees the verdict ---


@given(st.text(min_size=1, max_size=20), st.integers(0, 2**63 - 1), st.text(min_size=1, max_size=30))
def test_the_coin_is_fixed_by_item_annotator_and_seed(annotator: str, seed: int, item: str) -> None:
    annotator, item = (text.encode("utf-8", "replace").decode("utf-8") for text in (annotator, item))
    assert is_never_shown(item, annotator, seed) == is_never_shown(item, annotator, seed)
    assert not is_never_shown(item, annotator, seed, share=0.0)
    assert is_never_shown(item, annotator, seed, share=1.0)


@pytest.mark.parametrize("seed", [0, 7, 20260101])
def test_a_quarter_is_never_shown_within_binomial_bounds(seed: int) -> None:
    items = [f"item {number}" for number in range(10_000)]
    share = sum(is_never_shown(item, "dr.li", seed) for item in items) / len(items)
    assert NEVER_SHOWN_SHARE == 0.25
    assert abs(share - 0.25) < 4.4 * (0.25 * 0.75 / len(items)) ** 0.5  # p < 1e-5 for a fair coin


def test_the_arm_differs_between_annotators_and_seeds() -> None:
    items = [f"item {number}" for number in range(4_000)]

    def arm(annotator: str, seed: int) -> set[str]:
        return {item for item in items if is_never_shown(item, annotator, seed)}

    for other in (arm("dr.okafor", 7), arm("dr.li", 8)):
        both = len(arm("dr.li", 7) & other) / len(items)
        assert abs(both - 0.0625) < 0.02, "independent arms share a sixteenth"


def test_the_coin_is_the_same_everywhere_and_for_ever() -> None:
    shown = "".join("h" if is_never_shown(f"item {number}", "dr.li", 7) else "." for number in range(40))
    assert shown == GOLDEN_ARM


GOLDEN_ARM = "...........h..h..h.............h...h...."


@pytest.mark.parametrize("policy", ["item", "block"])
def test_hidden_items_are_the_coins_and_the_draw_keeps_the_share(study: Study, policy: RevealPolicy) -> None:
    desk = sit(study, policy)
    assert desk.draw.settings["never_shown"] == 0.25
    for place in range(12):
        desk.go_to(place + 1)
        assert hidden(desk) == is_never_shown(here(desk), "dr.li", 7)


def test_what_one_draw_hid_another_draw_does_not_show(tmp_path: Path) -> None:
    with make_study(tmp_path / "d.duckdb", [qa("Omission") for _ in range(30)]) as study:
        first = sit(study, "item", task="qa")
        concealed = [item.item_id for item in first.queue.items if first.ledger.stays_hidden(item.item_id)]
        for place in range(30):
            first.go_to(place + 1)
            press(first, "h")
        from annotate.desk.opening import make_draw, sit_down

        make_draw(study, "", "block", 8, "lead")
        second = sit_down(study, "dr.li")
        assert second.draw.seed == 8 and second.review is None
        for item_id in concealed:
            second.go_to(second.queue.place_of[item_id] + 1)
            second.clear()
            press(second, "c")
        reviewed = {entry["item_id"] for entry in journaled(study, "reveal")}
        assert reviewed.isdisjoint(concealed) and len(concealed) > 2
