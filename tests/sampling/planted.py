"""Studies whose truth is planted: questions of one or two systems, in shared texts, with a judge that errs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judges.benchmarks.halumem.tasks import TASKS
from store.draws import drawn_items, list_draws
from store.events import EventDraft
from store.importing import import_records
from store.records import (
    ItemRecord,
    JudgeRecord,
    LabelState,
    Record,
    SystemRecord,
    TextRecord,
    VerdictRecord,
    canonical_json,
    item_id,
)
from store.study import Study, now
from store.tasks import add_tasks

METRIC = "question_answering / correct_qa_ratio(all)"
LABELS = ("Correct", "Hallucination", "Omission")
JUDGE = "gpt-judge"


@dataclass(frozen=True)
class Plant:
    """What is planted.

    Attributes:
        items: of each system. right: share of items people call Correct, by system.
        wrong: share of verdicts that differ from people's label. group: items that share a text; 1 for none.
        judges: the names of the judges; the second errs twice as often.
        repeats: repetitions of the first judge.
    """

    items: int = 200
    right: Mapping[str, float] = None  # type: ignore[assignment]
    wrong: float = 0.1
    group: int = 1
    judges: Sequence[str] = (JUDGE,)
    confidence: bool = True
    repeats: int = 1
    seed: int = 0

    @property
    def systems(self) -> Mapping[str, float]:
        return self.right or {"northwind": 0.7}


@dataclass(frozen=True)
class Planted:
    """A study on disk and the label people would give each item."""

    path: Path
    truth: Mapping[str, str]
    contents: Mapping[str, str]

    def share(self, study: Study, system: str = "northwind", label: str = "Correct") -> float:
        """What people would say of all items of a system."""
        ids = [row[0] for row in study.rows("SELECT item_id FROM current_items WHERE system = ?", [system])]
        return sum(self.truth[one] == label for one in ids) / len(ids)


def plant(path: Path, plan: Plant) -> Planted:
    """Make the study; it is closed when this returns."""
    rng = random.Random(plan.seed)
    truth: dict[str, str] = {}
    contents: dict[str, str] = {}
    records: list[Record] = [SystemRecord(system, system) for system in plan.systems]
    judges = [JudgeRecord("qa", name) for name in plan.judges]
    records += judges
    for system, right in plan.systems.items():
        for number in range(plan.items):
            text = TextRecord.of(canonical_json([{"role": "user", "content": f"turn {number // plan.group} " * 50,
                                                  "timestamp": ""}]))  # fmt: skip
            item = _item(system, number, plan.group, text)
            label = "Correct" if rng.random() < right else rng.choice(LABELS[1:])
            truth[item.item_id], contents[item.item_id] = label, item.content_hash
            records += [text, item]
            for place, judge in enumerate(judges):
                records += _verdicts(rng, plan, item, judge, label, plan.wrong * (place + 1))
    with Study.create(path, "halumem") as study:
        add_tasks(study, [task.as_json() for task in TASKS], now().isoformat())
        import_records(study, records, [], skip_bad=False, at=now().isoformat())
    return Planted(path, truth, contents)


def _item(system: str, number: int, group: int, text: TextRecord) -> ItemRecord:
    return ItemRecord(
        item_id=item_id("halumem", "qa", system, ["u", number]), task="qa", system=system,
        natural_key=canonical_json(["u", number]), cluster=f"user {number // max(group * 4, 1)}",
        group=f"s{number // group}" if group > 1 else "",
        payload={"question": f"What, {number}?", "reference": "This.", "evidence": [], "response": f"That, {system}."},
        texts={"dialogue": text.text_hash}, slices={"kind": "easy" if number % 4 else "hard"}, position=number,
    )  # fmt: skip


def _verdicts(
    rng: random.Random, plan: Plant, item: ItemRecord, judge: JudgeRecord, label: str, wrong: float
) -> list[Record]:
    said = []
    for repetition in range(plan.repeats):
        errs = rng.random() < wrong
        verdict = rng.choice([one for one in LABELS if one != label]) if errs else label
        sure = (rng.uniform(0.4, 0.8) if errs else rng.uniform(0.6, 1.0)) if plan.confidence else None
        said.append(
            VerdictRecord(
                item.item_id, item.content_hash, judge.judge_id, verdict, confidence=sure, repetition=repetition,
                confidence_source="logprob" if sure is not None else "", position=item.position,
            )
        )  # fmt: skip
    return said


def label(
    study: Study, planted: Planted, draw_id: str, count: int | None = None, *, annotator: str = "a", ms: int = 20_000
) -> list[str]:
    """Give the truth to the first `count` items of a draw, blind; returns their ids."""
    items = [one.item_id for one in drawn_items(study, draw_id)][:count]
    [draw] = [one for one in list_draws(study) if one.draw_id == draw_id]
    study.append([
        EventDraft(
            kind="label", annotator=annotator, item_id=one, content_hash=planted.contents[one],
            state=LabelState(value=planted.truth[one]), policy="never", draw_id=draw_id, active_ms=ms,
            round=draw.settings.get("round", 0),
        )
        for one in items
    ])  # fmt: skip
    return items
