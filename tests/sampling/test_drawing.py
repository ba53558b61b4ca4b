"""Draws made by `sample`: chances and strata as stored, continued, and what each stream may take."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from planted import JUDGE, Plant, Planted, label, plant

from judges.drawing import Wish, draw_estimate, top_up
from judges.learning_draws import draw_check, draw_learn, draw_unexplained
from judges.made_draws import find_draw
from store.draws import drawn_items, list_draws
from store.errors import UsageError
from store.events import EventDraft
from store.journal import journal_path
from store.records import LabelState
from store.study import Study


def study_of(tmp_path: Path, plan: Plant | None = None) -> tuple[Study, Planted]:
    planted = plant(tmp_path / "s.duckdb", plan or Plant())
    return Study.open(planted.path), planted


def verdicts(study: Study) -> dict[str, str]:
    return dict(study.rows("SELECT item_id, label FROM verdicts JOIN judges USING (judge_id) WHERE repetition = 0"))


def test_a_simple_draw_is_journaled_with_chances_and_order_before_any_label(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path)
    with study:
        made = draw_estimate(study, Wish(50, seed=3), "lead")
        stored = drawn_items(study, made.draw.draw_id)
        assert [item.probability for item in stored] == [0.25] * 50
        assert [item.group_number for item in stored] == list(range(50))
        assert (made.draw.design, made.draw.stream, made.draw.reveal) == ("simple", "estimate", "block")
    lines = [json.loads(line) for line in journal_path(study.path).read_text(encoding="utf-8").splitlines()]
    [head] = [line for line in lines if line["type"] == "draw"]
    rows = [row for line in lines if line["type"] == "draw_items" for row in line["rows"]]
    assert head["seed"] == 3 and [row[0] for row in rows] == [item.item_id for item in stored]


def test_strata_by_verdict_have_their_own_chances_and_the_order_does_not_take_turns(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path)
    with study:
        made = draw_estimate(study, Wish(60, by=("verdict",), judge=JUDGE, allocation="equal", seed=1), "lead")
        said = verdicts(study)
        sizes = Counter(said.values())
        drawn = Counter(said[item.item_id] for item in made.items)
        assert set(drawn.values()) == {20}
        for item in made.items:
            assert item.stratum == said[item.item_id]
            assert item.probability == pytest.approx(20 / sizes[said[item.item_id]])
        runs = sum(one.stratum == two.stratum for one, two in zip(made.items, made.items[1:], strict=False))
        assert 10 <= runs <= 30, "strata follow each other as chance has it"


def test_two_stages_draw_texts_and_serve_them_together(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(group=10))
    with study:
        made = draw_estimate(study, Wish(40, within=4, seed=1), "lead")
        assert (made.draw.design, made.groups, len(made.items)) == ("two_stage", 10, 40)
        text_of = dict(study.rows("SELECT item_id, group_key FROM current_items"))
        served = [text_of[item.item_id] for item in made.items]
        assert len(set(served)) == 10 and served == sorted(served, key=served.index)
        assert {item.probability for item in made.items} == {0.5 * 0.4}


def test_items_of_shared_texts_are_drawn_by_text_unless_strata_cut_through_them(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(group=5))
    with study:
        assert draw_estimate(study, Wish(40, seed=1), "lead").draw.design == "two_stage"
        by_verdict = Wish(40, by=("verdict",), judge=JUDGE, seed=1)
        assert draw_estimate(study, by_verdict, "lead").draw.design == "simple"
        with pytest.raises(UsageError, match="several strata"):
            draw_estimate(study, Wish(40, by=("verdict",), judge=JUDGE, together="texts"), "lead")
        whole = draw_estimate(study, Wish(40, together="clusters", seed=1), "lead")
        assert whole.groups == 2 and len(whole.items) == 40


def test_topping_up_keeps_the_order_and_raises_every_chance_alike(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        for terms in (
            {},
            {"by": ("verdict",), "judge": JUDGE},
            {"by": ("kind",), "allocation": "equal"},
        ):
            first = draw_estimate(study, Wish(40, seed=5, **terms), "lead")  # type: ignore[arg-type]
            more = top_up(study, first.draw, 20, "lead")
            direct = draw_estimate(study, Wish(60, seed=5, **terms), "lead")  # type: ignore[arg-type]
            old, new = [item.item_id for item in first.items], [item.item_id for item in more.items]
            assert new[:40] == old and len(new) == 60 and more.before == 40
            chances = {item.item_id: item.probability for item in direct.items}
            assert {item.item_id: item.probability for item in more.items} == chances
            assert more.draw.settings["extends"] == first.draw.draw_id
        assert planted.truth


def test_topping_up_texts_adds_texts(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(group=10))
    with study:
        first = draw_estimate(study, Wish(40, within=4, seed=1), "lead")
        more = top_up(study, first.draw, 20, "lead")
        assert more.groups == 15 and [item.item_id for item in more.items][:40] == [i.item_id for i in first.items]
        assert {item.probability for item in more.items} == {0.75 * 0.4}
        numbers = [item.group_number for item in more.items]
        assert numbers == sorted(numbers) and len(set(numbers)) == 15


def test_pairs_are_drawn_by_question_and_lie_beside_each_other(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(items=100, right={"a": 0.8, "b": 0.6}))
    with study:
        made = draw_estimate(study, Wish(30, paired=True, seed=2), "lead")
        assert len(made.items) == 60
        pair_of = dict(study.rows("SELECT item_id, pair_key FROM current_items"))
        pairs = [pair_of[item.item_id] for item in made.items]
        assert pairs[::2] == pairs[1::2] and len(set(pairs)) == 30


def test_a_draw_cannot_grow_over_items_that_came_later(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path)
    with study:
        first = draw_estimate(study, Wish(40, seed=5), "lead")
        study.writer.do(lambda connection: connection.execute("DELETE FROM items WHERE position = 7"))
        with pytest.raises(UsageError, match="other items"):
            top_up(study, first.draw, 10, "lead")


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish(0), "0 items"),
        (Wish(5, task="poetry"), "no task"),
        (Wish(5, task="update"), "Nothing can be drawn"),
        (Wish(5, by=("colour",)), "by 'colour'"),
        (Wish(5, by=("verdict",), judge="nobody"), "no judge"),
        (Wish(5, by=("verdict",), judge=JUDGE), "too few for 3 strata"),
        (Wish(5, system="zep"), "no system"),
        (Wish(5, together="texts"), "No two items share a text"),
        (Wish(5, seed=-1), "seed"),
        (Wish(5, within=3), "--within"),
        (Wish(30, by=("verdict",), judge=JUDGE, allocation="neyman"), "goes by labels"),
    ],
)
def test_what_cannot_be_drawn_is_said(tmp_path: Path, wish: Wish, words: str) -> None:
    study, _ = study_of(tmp_path, Plant(items=40))
    with study:
        with pytest.raises(UsageError, match=words):
            draw_estimate(study, wish, "lead")
        assert list_draws(study) == []


def test_neyman_puts_labels_where_the_judge_errs(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=300))
    with study:
        said = verdicts(study)
        flipped = {one: ("Omission" if said[one] == "Correct" and n % 3 == 0 else said[one])
                   for n, one in enumerate(sorted(said))}  # fmt: skip
        planted = Planted(planted.path, flipped, planted.contents)
        label(study, planted, draw_estimate(study, Wish(90, seed=1), "lead").draw.draw_id)
        wish = Wish(60, by=("verdict",), judge=JUDGE, allocation="neyman", seed=2)
        made = draw_estimate(study, wish, "lead")
        drawn = {name: count / size for name, (count, size) in made.strata.items()}
        assert drawn["Correct"] > 1.5 * drawn["Hallucination"]
        assert set(made.draw.settings["spread"]) == {"Correct", "Hallucination", "Omission"}


# --- streams that no estimate is made from ---


def test_learn_takes_what_judges_differ_on_and_leaves_labelled_and_drawn_items_alone(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(judges=(JUDGE, "other"), wrong=0.15, confidence=False))
    with study:
        drawn = draw_estimate(study, Wish(40, seed=1), "lead")
        labelled = label(study, planted, drawn.draw.draw_id, 20)
        made = draw_learn(study, Wish(30, stream="learn", seed=1), "lead")
        ids = [item.item_id for item in made.items]
        assert not set(ids) & ({item.item_id for item in drawn.items} | set(labelled))
        rows = study.rows("SELECT item_id, count(DISTINCT label) FROM verdicts GROUP BY item_id")
        differ = {item for item, kinds in rows if kinds > 1}
        assert 15 <= len(differ & set(ids)) <= 25, "a third is mixed in"
        assert made.draw.reveal == "item" and made.draw.design == "chosen"
        with pytest.raises(UsageError, match="single items"):
            draw_learn(study, Wish(5, stream="learn", by=("verdict",)), "lead")


def test_reasons_that_name_another_label_than_the_one_given_are_a_contradiction(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(confidence=False))
    with study:
        study.writer.do(lambda connection: connection.execute(
            """UPDATE verdicts SET rationale = CASE WHEN position < 6 THEN 'So this is an Omission'
            WHEN position < 12 THEN 'Not an Omission: Correct' ELSE 'no label named' END, label = 'Correct'"""
        ))  # fmt: skip
        drawn = draw_learn(study, Wish(9, stream="learn", seed=1), "lead")
        position = dict(study.rows("SELECT item_id, position FROM current_items"))
        assert sum(position[item.item_id] < 6 for item in drawn.items) == 6


def test_check_repeats_only_what_was_labelled_and_never_revealed(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        with pytest.raises(UsageError, match="nothing to repeat"):
            draw_check(study, Wish(5, stream="check"), "lead")
        labelled = label(study, planted, draw_estimate(study, Wish(40, seed=1), "lead").draw.draw_id, 20)
        study.append([
            EventDraft(kind="reveal", annotator="a", item_id=one, content_hash=planted.contents[one],
                       state=LabelState(value=planted.truth[one]), policy="item")
            for one in labelled[:8]
        ])  # fmt: skip
        made = draw_check(study, Wish(50, stream="check", seed=1), "lead")
        assert {item.item_id for item in made.items} == set(labelled[8:])
        assert made.draw.settings["round"] == 1 and made.draw.reveal == "never"
        assert draw_check(study, Wish(5, stream="check"), "lead").draw.settings["round"] == 2


def test_practice_leaves_the_estimate_alone(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(items=30))
    with study:
        drawn = {item.item_id for item in draw_estimate(study, Wish(25, seed=1), "lead").items}
        made = draw_unexplained(study, Wish(10, stream="practice"), "lead")
        assert len(made.items) == 5 and not {item.item_id for item in made.items} & drawn
        draw_estimate(study, Wish(30), "lead")
        with pytest.raises(UsageError, match="No item is left"):
            draw_unexplained(study, Wish(10, stream="practice"), "lead")


def test_a_draw_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(items=10))
    with study:
        made = draw_estimate(study, Wish(5), "lead")
        assert find_draw(study, made.draw.draw_id[:6]).draw_id == made.draw.draw_id
        with pytest.raises(UsageError, match="no draw"):
            find_draw(study, "zz")
