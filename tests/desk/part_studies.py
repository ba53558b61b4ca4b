"""Small real studies whose labels have a grid, a ranking or a number, as MedMemoryBench and HalBench declare them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotate.desk.actions import Choice, KeyMap
from annotate.desk.desk import Desk
from annotate.desk.part_keys import part_act
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.halbench.tasks import RANKING, STANCE
from judges.benchmarks.medmemorybench.shapes import CORRECT, INCORRECT
from judges.benchmarks.medmemorybench.tasks import MCD, TLA
from store.importing import import_records
from store.records import ItemRecord, JudgeRecord, Record, SystemRecord, VerdictRecord, canonical_json, item_id
from store.study import Study, now
from store.tasks import add_tasks

SYSTEM, JUDGE = "northwind", "gpt-judge"
RATIONALE = "zqxj-rationale-7731"
NODES = ("n1", "n2", "n3")
POINTS = TaskDefinition("points", "Points", "How many points?", "interval", (), (), kind="number", low=0.0, high=10.0)
"""A task of a table whose label is a number."""
TASKS: Mapping[str, TaskDefinition] = {"mcd": MCD, "ranking": RANKING, "stance": STANCE, "points": POINTS, "tla": TLA}
BENCHMARK = {
    "mcd": "medmemorybench",
    "ranking": "halbench",
    "stance": "halbench",
    "points": "table",
    "tla": "medmemorybench",
}
KEYMAPS = {name: KeyMap(task) for name, task in TASKS.items()}


def deduction_raw(correct: bool = True) -> str:
    """What the judge of a deduction answers: every node stated, the links of the first two, from the patient."""
    flags = [
        {"node_id": node, "mentioned": True, "specific_data_matched": True, "causal_link_correct": node != "n3"}
        for node in NODES
    ]
    details = {
        "judge_reason": RATIONALE, "ncr_score": 1.0, "crc_score": 0.67, "cc_score": 1.0, "node_validations": flags,
        "uses_patient_specific_info": True, "memory_retrieval_quality": "good",
    }  # fmt: skip
    return json.dumps({"is_correct": correct, "score": 0.9, "evaluation_details": details})


def judged_cells() -> str:
    return canonical_json({n: {"stated": "y", "causal": "n" if n == "n3" else "y"} for n in NODES})


def verdict_fields(task: str, number: int) -> dict[str, Any]:
    if task == "mcd":
        parts = {"nodes": judged_cells(), "cc": "1.0"}
        return {
            "label": CORRECT if number % 2 else INCORRECT,
            "parts": parts,
            "raw": deduction_raw(bool(number % 2)),
        }
    if task == "ranking":
        return {"label": canonical_json([["r1"], ["r2"], ["r3"], ["r4"]])}
    if task == "points":
        return {"label": str(number)}
    if task == "tla":
        return {"label": CORRECT}
    return {"label": "DEFER", "parts": {"score": repr(0.1 + number / 100)}, "score": 0.1 + number / 100}


def payload_of(task: str, number: int) -> dict[str, Any]:
    if task == "mcd":
        nodes = [{"id": node, "title": f"Node {node[1]}", "text": f"what happened {node}"} for node in NODES]
        return {"question": f"Why, {number}?", "reference": "Because.", "response": "Perhaps.", "nodes": nodes}
    if task == "tla":
        return {"question": f"When, {number}?", "reference": "In May.", "response": "In June."}
    if task == "ranking":
        entries = [{"id": f"r{n}", "title": f"Reply {n}", "text": f"words of reply {n}"} for n in (1, 2, 3, 4)]
        return {"substrate": f"the moon {number}", "entries": entries}
    return {"substrate": f"the moon {number}", "response": "It glows."}


def make_part_study(
    path: Path, task: str, count: int = 3, *, payload: Mapping[str, Any] | None = None, verdicts: bool = True
) -> Study:
    """A study with so many items of one task; `payload` changes every item's."""
    study = Study.create(path, BENCHMARK[task])
    add_tasks(study, [TASKS[task].as_json()], now().isoformat())
    judge = JudgeRecord(task, JUDGE)
    records: list[Record] = [SystemRecord(SYSTEM, "Northwind"), judge]
    for number in range(count):
        key = ["p", number]
        item = ItemRecord(
            item_id=item_id(BENCHMARK[task], task, SYSTEM, key), task=task, system=SYSTEM,
            natural_key=canonical_json(key), cluster="p", group="",
            payload={**payload_of(task, number), **(payload or {})}, position=number,
        )  # fmt: skip
        records.append(item)
        if verdicts:
            fields = {"rationale": RATIONALE, **verdict_fields(task, number)}
            records.append(VerdictRecord(item.item_id, item.content_hash, judge.judge_id, position=number, **fields))
    import_records(study, records, [], skip_bad=False, at=now().isoformat())
    return study


def type_keys(desk: Desk, keys: Sequence[str]) -> None:
    """Keys as the screen gives them to the desk: to the open part first."""
    for key in keys:
        task = desk.review.line.reading.task if desk.review is not None else desk.current.task
        keymap = KEYMAPS[task.task]
        act = part_act(desk.entry, keymap, key) if desk.entry is not None else None
        if act is not None:
            desk.act_on_part(act)
            continue
        meaning = keymap.resolve(key)
        if isinstance(meaning, Choice):
            desk.choose(meaning)
        else:
            acts = {
                "enter": desk.confirm, "tab": desk.open_part, "u": desk.undo, "s": desk.skip, "ctrl+r": desk.redo,
                "backspace": desk.clear, "right": lambda: desk.move(1), "left": lambda: desk.move(-1),
            }  # fmt: skip
            if key in acts:
                acts[key]()


def keys_of(text: str) -> list[str]:
    """ "c a Y ⏎" as key names."""
    return [{"⏎": "enter", "⌫": "backspace"}.get(key, key) for key in text.split()]
