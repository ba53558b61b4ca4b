"""Which draw the desk serves, and repeats: the same items once more, apart from the first labels."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import Plant, Planted, label, plant

from annotate.desk.actions import Choice
from annotate.desk.desk import Desk
from annotate.desk.opening import find_draw, sit_down
from judges.auditing import audit_study
from judges.calibration.audit_result import Settings
from judges.collect import blind_labels
from judges.draw_frame import frame_of
from judges.drawing import Wish, draw_estimate, top_up
from judges.learning_draws import draw_check, draw_learn
from judges.served_part import Served, ServedParts
from store.errors import UsageError
from store.study import Study


def study_of(tmp_path: Path, plan: Plant | None = None) -> tuple[Study, Planted]:
    planted = plant(tmp_path / "s.duckdb", plan or Plant(items=60))
    return Study.open(planted.path), planted


def served(study: Study, annotator: str = "a", task: str = "") -> str:
    found = find_draw(study, task, annotator)
    assert found is not None
    return found.draw_id


def part_of(study: Study) -> Served:
    items = frame_of(study, ["qa"], system="northwind")
    return ServedParts(study, blind_labels(study)).part("qa", items)


def give(desk: Desk, planted: Planted, count: int) -> None:
    for _ in range(count):
        desk.choose(Choice("", planted.truth[desk.current.item.item_id]))
        while desk.phase != "label" and desk.phase != "done":
            desk.confirm()


def test_the_oldest_draw_with_open_items_is_served_before_the_one_label_made(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        own = sit_down(study, "a", seed=1, mode="never").draw.draw_id
        assert served(study) == own
        first = draw_estimate(study, Wish(10, seed=1), "lead").draw.draw_id
        second = draw_estimate(study, Wish(10, task="qa", seed=2), "lead").draw.draw_id
        assert served(study) == served(study, task="qa") == first
        label(study, planted, first)
        assert served(study, task="qa") == second and served(study, "b") == first
        label(study, planted, second)
        assert served(study) == own
        assert sit_down(study, "a", draw=second[:8]).draw.draw_id == second


def test_a_continued_draw_is_served_as_its_continuation_with_the_labels_it_has(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        first = draw_estimate(study, Wish(10, seed=1), "lead")
        label(study, planted, first.draw.draw_id)
        more = top_up(study, first.draw, 5, "lead")
        desk = sit_down(study, "a")
        assert desk.draw.draw_id == more.draw.draw_id
        assert (len(desk.queue), desk.labelled, desk.place) == (15, 10, 10)


def test_the_policy_is_the_draws_own_and_may_only_be_tightened(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path)
    with study:
        estimate = draw_estimate(study, Wish(10, seed=1), "lead")
        learn = draw_learn(study, Wish(10, stream="learn", seed=1), "lead")
        assert sit_down(study, "a", draw=estimate.draw.draw_id).policy == "block"
        assert sit_down(study, "a", draw=learn.draw.draw_id).policy == "item"
        assert sit_down(study, "a", draw=learn.draw.draw_id, mode="never").policy == "never"
        with pytest.raises(UsageError, match="would show more"):
            sit_down(study, "a", draw=estimate.draw.draw_id, mode="item")
        with pytest.raises(UsageError, match="no draw"):
            sit_down(study, "a", draw="nowhere")


def test_repeats_are_asked_anew_and_stand_beside_the_first_labels(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        drawn = draw_estimate(study, Wish(10, seed=1, reveal="never"), "lead")
        first = label(study, planted, drawn.draw.draw_id)
        check = draw_check(study, Wish(4, stream="check", seed=2), "lead")
        assert served(study) == check.draw.draw_id
        desk = sit_down(study, "a")
        assert desk.labelled == 0 and not desk.state.decided and desk.policy == "never"
        again = desk.current.item.item_id
        assert again in first
        other = next(value for value in ("Correct", "Omission") if value != planted.truth[again])
        desk.choose(Choice("", other))
        assert desk.shown_verdicts() == []
        rounds = dict(study.rows("SELECT round, value FROM current_labels WHERE item_id = ?", [again]))
        assert rounds == {0: planted.truth[again], 1: other}
        desk.undo()
        assert sit_down(study, "a").labelled == 0
        assert study.rows("SELECT value FROM current_labels WHERE item_id = ? AND round = 0", [again]) == [
            (planted.truth[again],)
        ]


def test_a_person_repeats_only_what_they_labelled_themselves(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        drawn = draw_estimate(study, Wish(10, seed=1, reveal="never"), "lead")
        label(study, planted, drawn.draw.draw_id, 6)
        label(study, planted, drawn.draw.draw_id, annotator="b")
        check = draw_check(study, Wish(50, stream="check"), "lead")
        assert len(check.items) == 10
        assert len(sit_down(study, "a", draw=check.draw.draw_id).queue) == 6
        assert len(sit_down(study, "b", draw=check.draw.draw_id).queue) == 10
        with pytest.raises(UsageError, match="no items"):
            sit_down(study, "c", draw=check.draw.draw_id)


def test_labels_given_at_the_desk_under_a_sampled_draw_are_corrected_by(tmp_path: Path) -> None:
    from judges.correcting import correct_study

    study, planted = study_of(tmp_path, Plant(items=80, group=4))
    with study:
        draw_estimate(study, Wish(40, within=2, seed=1, reveal="never"), "lead")
        give(sit_down(study, "a"), planted, 21)
        found = correct_study(study, "northwind", "gpt-judge")
        assert found is not None and found.labels == {"qa": 20}, "the text that was begun is left out"


def test_what_several_draws_of_single_items_served_counts_together(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=120))
    with study:
        first, second = (draw_estimate(study, Wish(20, seed=seed, together="items"), "lead").draw for seed in (1, 2))
        read = {*label(study, planted, first.draw_id), *label(study, planted, second.draw_id, 12)}
        assert len(read) < 32, "the second draw may draw an item again"
        part = part_of(study)
        assert (
            part.items == read and part.equal_chances and part.draw is not None and part.draw.draw_id == first.draw_id
        )
        by_verdict = draw_estimate(
            study, Wish(30, seed=3, by=("verdict",), judge="gpt-judge", together="items"), "lead"
        ).draw
        more = label(study, planted, by_verdict.draw_id)
        part = part_of(study)
        assert part.items == read | set(more) and part.sampling == "random" and part.strata, "within strata of verdicts"


def test_draws_of_another_kind_stand_alone(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=120, group=4))
    with study:
        single = draw_estimate(study, Wish(20, seed=1, together="items"), "lead").draw
        texts = draw_estimate(study, Wish(12, seed=2, together="texts"), "lead").draw
        longer = set(label(study, planted, single.draw_id))
        other = set(label(study, planted, texts.draw_id)) - longer
        part = part_of(study)
        assert part.items == longer and part.left == {texts.draw_id: len(other)}
        judge = audit_study(study, settings=Settings(resamples=50)).tasks["qa"].judges["gpt-judge"]
        assert judge.raw_agreement.n == 20 and judge.raw_agreement.dropped["not_in_the_sample"] == len(other)
        [told] = [note for note in judge.notes if texts.draw_id[:8] in note]
        assert f"{len(other)} labelled items" in told and f"--top-up {single.draw_id[:8]}" in told


def test_draws_of_the_same_texts_count_together(tmp_path: Path) -> None:
    from judges.correcting import correct_study

    study, planted = study_of(tmp_path, Plant(items=120, group=4))
    with study:
        first, second = (
            draw_estimate(study, Wish(16, seed=seed, together="texts", within=within), "lead").draw
            for seed, within in ((1, 0), (2, 2))
        )
        read = {*label(study, planted, second.draw_id), *label(study, planted, first.draw_id)}
        part = part_of(study)
        assert part.items == read and part.design == "two_stage" and not part.left
        assert part.draw is not None and part.draw.draw_id == first.draw_id, "the older names both"
        found = correct_study(study, "northwind", "gpt-judge")
        assert found is not None and found.labels == {"qa": len(read)}
