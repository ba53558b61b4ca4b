"""Small HaluMem question-answering studies with labels planted: what people say, what the judge says, and the texts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotate.report.options import ReportOptions
from judges.benchmarks.halumem.tasks import TASKS
from judges.calibration.audit_result import Settings
from store.events import EventDraft
from store.importing import import_records
from store.records import ItemRecord, JudgeRecord, LabelState, Record, SystemRecord, VerdictRecord, item_id
from store.study import Study, now
from store.tasks import add_tasks

MADE_AT = dt.datetime(2027, 3, 1, 9, 30, tzinfo=dt.UTC)
CORRECT, HALLUCINATION, OMISSION = "Correct", "Hallucination", "Omission"


@dataclass(frozen=True)
class Planted:
    """One item.

    Attributes:
        judge: the verdict; None for one that failed.
        people: annotator → label, or a whole state.
        after: annotator → the state given once the verdict has been shown.
    """

    judge: str | None
    people: Mapping[str, str | LabelState] = field(default_factory=dict)
    after: Mapping[str, LabelState] = field(default_factory=dict)
    question: str = "Which dose does she take?"
    response: str = "Five milligrams."
    rationale: str = "The dose is the same."
    system: str = "northwind"
    slices: Mapping[str, str] = field(default_factory=dict)
    judge_name: str = "gpt-judge"


def items_of(table: Mapping[tuple[str, str | None], int], *people: str) -> list[Planted]:
    """Items by (what people say, what the judge says) → how many."""
    names = people or ("dr.li",)
    return [Planted(said, dict.fromkeys(names, label)) for (label, said), n in table.items() for _ in range(n)]


def plant(path: Path, items: Sequence[Planted]) -> Study:
    """A study with these items and labels, open."""
    study = Study.create(path, "halumem")
    add_tasks(study, [task.as_json() for task in TASKS if task.task == "qa"], now().isoformat())
    records = [_item(number, one) for number, one in enumerate(items)]
    import_records(study, _records(records, items), [], at=now().isoformat())
    study.append([draft for record, one in zip(records, items, strict=True) for draft in _labels(record, one)])
    return study


def options(**more: object) -> ReportOptions:
    """Report options with few resamples and a fixed time."""
    return ReportOptions(made_at=MADE_AT, **{"settings": Settings(resamples=100), **more})  # type: ignore[arg-type]


def _item(number: int, one: Planted) -> ItemRecord:
    payload = {"question": one.question, "reference": "Ten milligrams.", "evidence": [], "response": one.response}
    return ItemRecord(
        item_id=item_id("halumem", "qa", one.system, number), task="qa", system=one.system, natural_key=str(number),
        cluster=f"user-{number}", group="", payload=payload, slices=one.slices, position=number,
    )  # fmt: skip


def _records(items: Sequence[ItemRecord], planted: Sequence[Planted]) -> list[Record]:
    systems: dict[str, Record] = {one.system: SystemRecord(one.system, one.system) for one in planted}
    judges = {one.judge_name: JudgeRecord("qa", one.judge_name) for one in planted}
    verdicts = [
        VerdictRecord(
            item.item_id, item.content_hash, judges[one.judge_name].judge_id, one.judge,
            failure="" if one.judge else "malformed", rationale=one.rationale, position=item.position,
        )
        for item, one in zip(items, planted, strict=True)
    ]  # fmt: skip
    return [*systems.values(), *judges.values(), *items, *verdicts]


def _labels(item: ItemRecord, one: Planted) -> list[EventDraft]:
    drafts = []
    for who, label in one.people.items():
        state = label if isinstance(label, LabelState) else LabelState(value=label)
        drafts.append(EventDraft("label", who, item.item_id, item.content_hash, state, policy="item"))
        if who in one.after:
            shown = EventDraft("reveal", who, item.item_id, item.content_hash, state, policy="item")
            drafts += [shown, EventDraft("revise", who, item.item_id, item.content_hash, one.after[who], policy="item")]
    return drafts
