"""Small real studies for tests of the desk: a study on disk, a clock that is set by hand, what the store says."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotate.desk.actions import Choice, KeyMap
from annotate.desk.desk import Desk
from annotate.desk.opening import make_draw, sit_down
from judges.benchmarks.halumem.tasks import ACCURACY, QA, TASKS
from store.draws import RevealPolicy
from store.events import STATE_COLUMNS, state_of_row
from store.importing import import_records
from store.journal import journal_path
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

ANNOTATOR = "dr.li"
SYSTEM = "northwind"
JUDGE = "gpt-judge"
RATIONALE = "the response and the reference name the same breed"


@dataclass(frozen=True)
class Spec:
    """An item to make: its task, its group, and the judge's answer (None: no verdict; "!": a failure)."""

    task: str = "qa"
    group: str = ""
    label: str | None = "Correct"
    parts: dict[str, str] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)
    rationale: str = RATIONALE


def qa(label: str | None = "Correct", group: str = "", **payload: Any) -> Spec:
    return Spec("qa", group, label, payload=payload)


def accuracy(label: str | None = "2", included: str | None = "true", group: str = "") -> Spec:
    return Spec("accuracy", group, label, {"included": included} if included else {})


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


_TEMPLATES = tempfile.TemporaryDirectory(prefix="overread-desk-studies-")
_made: dict[str, Path] = {}


def make_study(path: Path, specs: Sequence[Spec]) -> Study:
    """A study with these items, in this order of position. The same items are imported once and copied after that."""
    key = repr(specs)
    if key not in _made:
        template = Path(_TEMPLATES.name) / f"{len(_made)}.duckdb"
        with Study.create(template, "halumem") as study:
            add_tasks(study, [task.as_json() for task in TASKS], now().isoformat())
            import_records(study, _records(specs), [], skip_bad=False, at=now().isoformat())
        _made[key] = template
    return Study.open(copy_study(_made[key], path))


def _records(specs: Sequence[Spec]) -> list[Record]:
    dialogue = TextRecord.of(canonical_json([
        {"role": "user", "content": "My dog is a Labrador.", "timestamp": ""},
        {"role": "assistant", "content": "A fine breed.", "timestamp": ""},
        {"role": "user", "content": "Now I prefer the Golden Retriever.", "timestamp": ""},
    ]))  # fmt: skip
    gold = TextRecord.of(canonical_json(["Martin has a dog.", "Martin likes the Golden Retriever."]))
    judges = {task: JudgeRecord(task, JUDGE) for task in ("qa", "accuracy", "integrity", "update")}
    records: list[Record] = [SystemRecord(SYSTEM, "Northwind"), dialogue, gold, *judges.values()]
    for number, spec in enumerate(specs):
        item = _item(number, spec, dialogue.text_hash, gold.text_hash)
        records.append(item)
        if spec.label is not None:
            failed = spec.label == "!"
            records.append(
                VerdictRecord(
                    item.item_id,
                    item.content_hash,
                    judges[spec.task].judge_id,
                    None if failed else spec.label,
                    parts=spec.parts,
                    failure="malformed" if failed else "",
                    rationale=spec.rationale,
                    position=number,
                )
            )
    return records


def item_of(number: int, task: str = "qa") -> str:
    """The id of the item of that number."""
    return item_id("halumem", task, SYSTEM, ["u", number])


def _item(number: int, spec: Spec, dialogue: str, gold: str) -> ItemRecord:
    payload = {
        "qa": {"question": f"What dog does Martin like, {number}?", "reference": "Golden Retriever",
               "evidence": ["Martin changed his preference."], "response": "He likes Labradors."},
        "accuracy": {"memory_content": f"Martin likes the Golden Retriever, {number}."},
    }[spec.task]  # fmt: skip
    return ItemRecord(
        item_id=item_of(number, spec.task), task=spec.task, system=SYSTEM, natural_key=canonical_json(["u", number]),
        cluster="u", group=spec.group, payload={**payload, **spec.payload},
        texts={"dialogue": dialogue} | ({"gold": gold} if spec.task == "accuracy" else {}), position=number,
    )  # fmt: skip


def copy_study(source: Path, target: Path) -> Path:
    """A copy of a closed study with its journal."""
    shutil.copy(source, target)
    shutil.copy(journal_path(source), journal_path(target))
    return target


def sit(study: Study, mode: RevealPolicy | None = None, *, annotator: str = ANNOTATOR, **options: Any) -> Desk:
    """Sit down with a clock of one's own; the draw that is made then has seed 7."""
    if not study.rows("SELECT 1 FROM draws"):
        make_draw(study, options.get("task", ""), mode or "item", 7, annotator)
    return sit_down(study, annotator, mode=mode, clock=options.pop("clock", Clock()), **options)


KEYMAPS = {task.task: KeyMap(task) for task in TASKS}


def press(desk: Desk, *keys: str) -> None:
    """Label keys, as the task of the item in hand has them."""
    for key in keys:
        task = desk.review.line.reading.task if desk.review is not None else desk.current.task
        choice = KEYMAPS[task.task].resolve(key)
        assert isinstance(choice, Choice), key
        desk.choose(choice)


def here(desk: Desk) -> str:
    """The id of the item in hand."""
    return desk.review.line.reading.item.item_id if desk.review is not None else desk.current.item.item_id


def hidden(desk: Desk) -> bool:
    """Whether the item that is read never shows its verdict."""
    return desk.ledger.stays_hidden(desk.current.item.item_id)


def go_to_first(desk: Desk, *, hidden: bool) -> None:
    """To the first open item whose verdict stays hidden, or does not."""
    place = next(
        place for place, item in enumerate(desk.queue.items)
        if desk.ledger.stays_hidden(item.item_id) == hidden and not desk.ledger.is_decided(item.item_id)
    )  # fmt: skip
    desk.go_to(place + 1)


def current_labels(study: Study, annotator: str = ANNOTATOR) -> dict[str, LabelState]:
    return _labels(study, "current_labels", annotator)


def blind_labels(study: Study, annotator: str = ANNOTATOR) -> dict[str, LabelState]:
    return _labels(study, "blind_labels", annotator)


def _labels(study: Study, view: str, annotator: str) -> dict[str, LabelState]:
    rows = study.rows(f"SELECT item_id, {STATE_COLUMNS} FROM {view} WHERE annotator = ?", [annotator])
    assert len({row[0] for row in rows}) == len(rows), "one current value per item and annotator"
    return {row[0]: state_of_row(row[1:]) for row in rows}


def events(study: Study, annotator: str = ANNOTATOR) -> list[dict[str, Any]]:
    """All events of a person in order, as the journal has them."""
    rows = study.rows("SELECT body FROM label_events WHERE annotator = ? ORDER BY clock, copy_id, seq", [annotator])
    return [json.loads(row[0]) for row in rows]


def kinds(study: Study, annotator: str = ANNOTATOR) -> list[str]:
    return [event["kind"] for event in events(study, annotator)]


def journaled(study: Study, kind: str, annotator: str = ANNOTATOR) -> list[dict[str, Any]]:
    """The events of a kind in the journal's bytes on disk."""
    lines = journal_path(study.path).read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [record for record in records if record.get("kind") == kind and record.get("annotator") == annotator]


TASK_OF = {"qa": QA, "accuracy": ACCURACY}
