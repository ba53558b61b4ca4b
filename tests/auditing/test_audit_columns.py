"""The columns DuckDB hands out are those one makes item by item."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from judges.audit_columns import labelled_tasks
from judges.calibration.audit import audit
from judges.calibration.audit_result import Settings
from judges.collect import audit_records, task_definitions
from judges.draw_weights import draw_weights, weighed
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import accuracy, make_study, press, qa, sit
from tests.report.planted_studies import CORRECT, HALLUCINATION, OMISSION, Planted, plant

SETTINGS = Settings(resamples=50, all_statistics=True)


def both_ways(study: Study, judge: str = "") -> tuple[object, object]:
    """The audit from columns, and from records."""
    tasks = task_definitions(study)
    columns = [one.columns for one in labelled_tasks(study, tasks, judge).values()]
    records = [weighed(one, draw_weights(study, one.task)) for one in audit_records(study, tasks, judge)]
    return audit(columns, "s", SETTINGS).as_json(), audit(records, "s", SETTINGS).as_json()


def planted(seed: int) -> list[Planted]:
    """Labels of up to three people, doubts, failures, revisions, two judges' names, slices, systems."""
    chance = random.Random(seed)
    labels = (CORRECT, HALLUCINATION, OMISSION)
    items = []
    for _ in range(80):
        people: dict[str, str | LabelState] = {}
        for who in ("ann", "ben", "cid")[: chance.randint(0, 3)]:
            state = LabelState(cannot_judge="ambiguous") if chance.random() < 0.1 else chance.choice(labels)
            people[who] = state
        after = {who: LabelState(value=OMISSION) for who in people if chance.random() < 0.2}
        items.append(
            Planted(
                chance.choice([*labels, None]), people, after, system=chance.choice(["northwind", "southwind"]),
                slices={"language": chance.choice(["en", "zh"])} if chance.random() < 0.8 else {},
                judge_name=chance.choice(["gpt-judge", "qwen-judge"]),
            )
        )  # fmt: skip
    return items


@pytest.mark.parametrize("seed", range(3))
def test_columns_say_what_records_say(tmp_path: Path, seed: int) -> None:
    with plant(tmp_path / "s.duckdb", planted(seed)) as study:
        columns, records = both_ways(study)
        assert columns == records
        columns, records = both_ways(study, "qwen-judge")
        assert columns == records


def test_parts_and_reveals(tmp_path: Path) -> None:
    specs = [accuracy("2" if n % 3 else "0", "true" if n % 2 else "false", group=f"g{n // 4}") for n in range(12)]
    with make_study(tmp_path / "s.duckdb", [*specs, *(qa("Correct") for _ in range(4))]) as study:
        desk = sit(study, "item")
        for _ in range(8):
            task = desk.current.task.task
            press(desk, *("h" if task == "qa" else ("m", "i")))
            desk.confirm()
        columns, records = both_ways(study)
        assert columns == records
        assert any(task["labelled"] for task in columns["tasks"].values())  # type: ignore[index]
