"""From a draw to a corrected score through a real study: the design that drew is the design that weighs."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import JUDGE, METRIC, Plant, Planted, label, plant

from judges.calibration.correction.sample import design_weights
from judges.collect import blind_labels, scored_items
from judges.correcting import Corrections, correct_study
from judges.drawing import MadeDraw, Wish, draw_estimate, top_up
from judges.learning_draws import draw_learn, draw_unexplained
from judges.served_part import ServedParts, as_draw
from store.draws import Draw, DrawnItem, add_draw, list_draws
from store.journal import journal_path
from store.study import Study

BY_VERDICT: dict[str, Any] = {"by": ("verdict",), "judge": JUDGE, "allocation": "equal"}
DESIGNS: dict[str, dict[str, Any]] = {
    "simple": {"together": "items"},
    "strata": {"together": "items", **BY_VERDICT},
    "texts": {"within": 5},
    "clusters": {"together": "clusters"},
}


def study_of(tmp_path: Path, plan: Plant) -> tuple[Study, Planted]:
    planted = plant(tmp_path / "s.duckdb", plan)
    return Study.open(planted.path), planted


@pytest.mark.parametrize("design", list(DESIGNS))
def test_what_is_weighed_is_the_inverse_of_the_stored_chance(tmp_path: Path, design: str) -> None:
    study, planted = study_of(tmp_path, Plant(items=200, group=10))
    with study:
        made = draw_estimate(study, Wish(60, seed=1, **DESIGNS[design]), "lead")
        label(study, planted, made.draw.draw_id)
        items = list(scored_items(study, "northwind", JUDGE))
        served = ServedParts(study, blind_labels(study)).part("qa", items)
        places = [place for place, item in enumerate(items) if item.item_id in served.items]
        weights = design_weights(as_draw(items, places, served))
        stored = {item.item_id: item.probability for item in made.items}
        assert len(places) == len(made.items)
        assert weights == pytest.approx([1 / stored[items[place].item_id] for place in places])


@pytest.mark.parametrize("design", list(DESIGNS))
def test_a_beginning_is_weighed_as_the_beginning_it_is(tmp_path: Path, design: str) -> None:
    """Weights of what was served sum to all items, whatever of the draw that was."""
    study, planted = study_of(tmp_path, Plant(items=200, group=10))
    with study:
        made = draw_estimate(study, Wish(100, seed=1, **DESIGNS[design]), "lead")
        label(study, planted, made.draw.draw_id, 47)
        items = list(scored_items(study, "northwind", JUDGE))
        served = ServedParts(study, blind_labels(study)).part("qa", items)
        end = {"simple": 47, "strata": 47, "texts": 45, "clusters": 40}[design]
        assert served.items == {item.item_id for item in made.items[:end]}
        places = [place for place, item in enumerate(items) if item.item_id in served.items]
        assert float(design_weights(as_draw(items, places, served)).sum()) == pytest.approx(200)


def test_labels_of_a_draw_that_was_continued_count_for_the_continuation(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant())
    with study:
        first = draw_estimate(study, Wish(40, seed=1, **BY_VERDICT), "lead")
        label(study, planted, first.draw.draw_id)
        more = top_up(study, first.draw, 40, "lead")
        before = correct_study(study, "northwind", JUDGE)
        assert before is not None and before.labels == {"qa": 40}
        label(study, planted, more.draw.draw_id)
        after = correct_study(study, "northwind", JUDGE)
        assert after is not None and after.labels == {"qa": 80}
        assert width(after[METRIC]) < width(before[METRIC])


def test_labels_of_another_draw_do_not_lengthen_this_one(tmp_path: Path) -> None:
    """Items of the one that lie deep in the order of the other are no sign that it was served so far."""
    study, planted = study_of(tmp_path, Plant())
    with study:
        first = draw_estimate(study, Wish(40, seed=1), "lead")
        second = draw_estimate(study, Wish(150, seed=2), "lead")
        read = label(study, planted, first.draw.draw_id)
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and found.labels == {"qa": 40}
        both = {*read, *label(study, planted, second.draw.draw_id, 10)}
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and found.labels == {"qa": len(both)}, "what either served, and nothing beyond"


def test_labels_that_taught_enter_no_score_but_an_item_drawn_anyhow_keeps_its_label(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=60))
    with study:
        learn = draw_learn(study, Wish(20, stream="learn", seed=1), "lead")
        taught = set(label(study, planted, learn.draw.draw_id))
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and found[METRIC].refusal == "sampling_unknown"
        made = draw_estimate(study, Wish(40, seed=1), "lead")
        ids = [item.item_id for item in made.items]
        last = next(place for place in range(30, 40) if ids[place] not in taught)
        fresh = Planted(planted.path, planted.truth, planted.contents)
        for one in [one for one in ids[: last + 1] if one not in taught]:
            _label_one(study, fresh, made, one)
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and found.labels == {"qa": last + 1}


def _label_one(study: Study, planted: Planted, made: MadeDraw, item: str) -> None:
    from store.events import EventDraft
    from store.records import LabelState

    study.append([EventDraft(kind="label", annotator="a", item_id=item, content_hash=planted.contents[item],
                             state=LabelState(value=planted.truth[item]), policy="never",
                             draw_id=made.draw.draw_id)])  # fmt: skip


def test_practice_labels_are_no_labels(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=40))
    with study:
        label(study, planted, draw_unexplained(study, Wish(40, stream="practice"), "lead").draw.draw_id)
        made = draw_estimate(study, Wish(40, seed=1), "lead")
        _label_one(study, planted, made, made.items[-1].item_id)
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and found[METRIC].refusal in ("adjudicate_first", "no_labels")


def test_items_that_came_after_the_draw_refuse_the_correction(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=100))
    with study:
        made = draw_estimate(study, Wish(50, seed=1), "lead")
        label(study, planted, made.draw.draw_id)
        study.writer.do(lambda connection: connection.execute(
            "INSERT INTO items SELECT * REPLACE ('new' AS item_id) FROM items LIMIT 1"
        ))  # fmt: skip
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and found[METRIC].refusal == "sampling_unknown"
        assert "imported after the draw" in (found[METRIC].statistic.why or "")


def test_unequal_chances_weigh_by_what_the_draw_stored(tmp_path: Path) -> None:
    from judges.calibration.designs import draw_unequal
    from judges.calibration.sampling import Candidate

    study, planted = study_of(tmp_path, Plant(items=300))
    with study:
        said = dict(study.rows("SELECT item_id, label FROM verdicts"))
        interest = {one: 0.0 if verdict == "Correct" else 1.0 for one, verdict in said.items()}
        plan = draw_unequal([Candidate(one) for one in sorted(said)], 120, interest, 5)
        terms = draw_estimate(study, Wish(1, seed=1), "lead").draw.settings
        draw = Draw("unequal-1", "qa", "estimate", "unequal", "never", 5, "lead", "2026-01-01T00:00:00+00:00", terms)
        add_draw(study, draw, [DrawnItem(*place) for place in plan.places])
        label(study, planted, "unequal-1", len(plan.places) - 1)
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and "served whole" in (found[METRIC].statistic.why or "")
        label(study, planted, "unequal-1")
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None
        value = found[METRIC].statistic
        assert value.low is not None and value.high is not None
        assert value.low <= planted.share(study) <= value.high
        people = found[METRIC].humans_only.value
        raw = np.mean([planted.truth[one] == "Correct" for one in plan.items])
        assert people is not None and abs(people - planted.share(study)) < abs(raw - planted.share(study))


def width(found: Any) -> float:
    statistic = found.statistic
    return float(statistic.high - statistic.low)


# --- coverage ---

REPLICATIONS = 120


@pytest.mark.slow
@pytest.mark.parametrize("design", list(DESIGNS))
def test_intervals_of_every_design_cover(tmp_path: Path, design: str) -> None:
    """Draw, label and correct over and over with fixed seeds: at least .93 less three Monte Carlo errors."""
    planted = plant(tmp_path / "s.duckdb", Plant(items=600, group=6, wrong=0.12, seed=4))
    hits, answers, errors = 0, 0, []
    for seed in range(REPLICATIONS):
        copy = tmp_path / f"{seed}.duckdb"
        for source, target in ((planted.path, copy), (journal_path(planted.path), journal_path(copy))):
            shutil.copy(source, target)
        with Study.open(copy) as study:
            made = draw_estimate(study, Wish(150, seed=seed, **DESIGNS[design]), "lead")
            label(study, planted, made.draw.draw_id)
            found = Corrections(study).corrected("northwind", JUDGE)
            truth = planted.share(study)
        copy.unlink()
        assert found is not None
        value = found[METRIC].statistic
        if value.low is None or value.high is None or value.value is None:
            continue
        answers += 1
        hits += value.low <= truth <= value.high
        errors.append(value.value - truth)
    assert answers >= 0.9 * REPLICATIONS
    assert hits / answers >= 0.93 - 3 * math.sqrt(0.05 * 0.95 / answers), f"{hits} of {answers}"
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(answers) + 0.004, "no design is biased"


def test_draws_are_listed_oldest_first_with_their_terms(tmp_path: Path) -> None:
    study, _ = study_of(tmp_path, Plant(items=20))
    with study:
        made = [draw_estimate(study, Wish(5, seed=seed), "lead").draw.draw_id for seed in range(3)]
        assert [draw.draw_id for draw in list_draws(study)] == made
