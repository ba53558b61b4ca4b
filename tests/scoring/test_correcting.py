"""Corrected scores from a study: the served part of its draw, and what all labels must give exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotate.cli.study import create_study, read_into
from annotate.desk.actions import Choice
from annotate.desk.desk import Desk
from annotate.desk.opening import sit_down
from annotate.sample import sample_runs, truth_of
from judges.benchmarks.benchmark import get_benchmark
from judges.collect import blind_labels, scored_items, task_definitions
from judges.correcting import correct_study
from judges.scoring import score_study
from judges.served_part import ServedParts
from judges.study_blocks import possible_terms
from store.study import Study

METRIC = "question_answering / correct_qa_ratio(all)"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = create_study(tmp_path / "s.duckdb", "halumem")
    run = sample_runs()[1]
    read_into(made, list(run.files), [], system=run.system, judge="j", skip_bad=False)
    return made


def label(desk: Desk, count: int) -> None:
    """Give the sample's truth to the next `count` items."""
    truth = truth_of(desk.ledger.study)
    for _ in range(count):
        if desk.phase == "done":
            return
        state = truth[desk.current.item.item_id]
        for part, value in state.parts.items():
            desk.choose(Choice(part, value))
        desk.choose(Choice("", str(state.value)))


@pytest.mark.slow
def test_labels_on_all_items_give_what_people_say_without_an_interval_to_speak_of(study: Study) -> None:
    with study:
        desk = sit_down(study, "a", mode="never", seed=1)
        label(desk, len(desk.queue))
        system = study.rows("SELECT DISTINCT system FROM items")[0][0]
        corrected = correct_study(study, system, "j")
        overridden = score_study(study, "j", described=False).systems[system].overridden
        assert corrected is not None
        value = corrected[METRIC].statistic
        assert value.value == pytest.approx(overridden["question_answering"]["correct_qa_ratio(all)"])
        assert value.low == pytest.approx(value.value) and value.high == pytest.approx(value.value)


def test_a_group_begun_and_not_finished_is_no_part_of_the_sample(study: Study) -> None:
    with study:
        desk = sit_down(study, "a", task="qa", mode="never", seed=1)
        groups = [item.group_number for item in desk.queue.items]
        first = groups.count(groups[0])
        second = groups.count(groups[first])
        assert second > 1
        label(desk, first + 1)
        items = [item for item in scored_items(study, study.rows("SELECT system FROM items")[0][0], "j")]
        qa = [item for item in items if item.task == "qa"]
        served = ServedParts(study, blind_labels(study)).part("qa", qa)
        assert served.items == {item.item_id for item in desk.queue.items[:first]}
        assert served.design == "two_stage"


def test_a_label_nobody_gave_yet_is_not_an_exact_zero(study: Study) -> None:
    with study:
        label(sit_down(study, "a", mode="never", seed=1), 60)
        system = study.rows("SELECT system FROM items")[0][0]
        corrected = correct_study(study, system, "j")
        assert corrected is not None
        other = corrected["memory_update / other_update_memory_ratio(all)"].statistic
        assert other.value is None or (other.high is not None and other.high > 0)


def test_terms_that_no_label_changes_are_found_by_trying_labels(study: Study) -> None:
    with study:
        benchmark = get_benchmark("halumem")
        system = study.rows("SELECT system FROM items")[0][0]
        items = [item for item in scored_items(study, system, "j") if item.task == "integrity"]
        names, fixed = possible_terms(benchmark, task_definitions(study)["integrity"], items)  # type: ignore[arg-type]
        assert {"gold", "gold weight", "distractors"} <= fixed
        assert {"gold full", "distractors resisted"} <= names - fixed


def test_labels_given_after_the_verdict_correct_nothing(study: Study) -> None:
    with study:
        label(sit_down(study, "a", mode="assisted", seed=1), 40)
        corrected = correct_study(study, study.rows("SELECT system FROM items")[0][0], "j")
        assert corrected is not None
        found = corrected[METRIC]
        assert found.statistic.value is None and found.refusal == "no_labels"
