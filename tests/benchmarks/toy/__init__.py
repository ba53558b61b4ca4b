"""A toy benchmark in one folder, as another distribution would ship it: one JSONL row an answer, judged right or wrong.

{"id": "q1", "model": "m", "question": "…", "reference": "…", "answer": "…", "verdict": true}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import (
    Label,
    NativeFile,
    Panel,
    Part,
    ScoredItem,
    Scores,
    Source,
    TaskDefinition,
    Undefined,
)
from judges.benchmarks.native import PATCH_FIELD, SideFiles, labels_of_patch, patch_of
from store.records import (
    ItemRecord,
    JudgeRecord,
    LabelState,
    Problem,
    Record,
    SystemRecord,
    VerdictRecord,
    canonical_json,
    item_id,
)

Facts = Mapping[str, Mapping[str, Any]]

TASK = TaskDefinition(
    task="answer",
    title="Answer",
    question="Is the answer right?",
    level="nominal",
    labels=(Label("right", "Right", "c", "1"), Label("wrong", "Wrong", "o", "2")),
    panels=(
        Panel("text", "question", "Question", role="question"),
        Panel("text", "reference", "Reference", role="reference"),
        Panel("text", "answer", "Answer", role="response"),
    ),
    parts=(
        Part("cites", "Does it cite?", (Label("yes", "Yes", "y", "3"), Label("no", "No", "k", "4")), required=False),
    ),
    tags=("made_up",),
    rubric="# Right\n\nThe answer says what the reference says.",
)


class Toy:
    """The benchmark behind the protocol."""

    name = "toy"
    names_systems = True
    options: Mapping[str, str] = {"shout": "yes: the answers are read in capitals"}

    def tasks(self) -> Sequence[TaskDefinition]:
        return (TASK,)

    def recognises(self, path: Path, head: bytes) -> bool:
        return path.suffix == ".jsonl" and b'"toy_id"' in head

    def read(self, source: Source) -> Iterator[Record]:
        judge = JudgeRecord(TASK.task, source.judge or "toy-judge")
        yield judge
        seen: set[str] = set()
        for path in source.files:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                try:
                    row = json.loads(line)
                    model, key = row["model"], [row["toy_id"]]
                except (KeyError, ValueError) as error:
                    yield Problem(str(path), number, 0, f"no row of toy: {error}", "mend the row")
                    continue
                if model not in seen:
                    seen.add(model)
                    yield SystemRecord(model, model)
                yield from self._row(row, model, key, judge, number)

    def _row(
        self, row: Mapping[str, Any], model: str, key: list[str], judge: JudgeRecord, number: int
    ) -> Iterator[Record]:
        item = ItemRecord(
            item_id=item_id("toy", TASK.task, model, key), task=TASK.task, system=model,
            natural_key=canonical_json(key), cluster=key[0], group="",
            payload={name: row[name] for name in ("question", "reference", "answer")},
            extra={"row": {name: value for name, value in row.items() if name != PATCH_FIELD}}, position=number,
        )  # fmt: skip
        yield item
        own = row.get(PATCH_FIELD, {}).get("judge", row)
        label = {True: "right", False: "wrong"}.get(own["verdict"])
        yield VerdictRecord(
            item.item_id, item.content_hash, judge.judge_id, label, failure="" if label else "malformed",
            raw=json.dumps(own["verdict"]), position=number,
        )  # fmt: skip
        if PATCH_FIELD in row:
            yield from labels_of_patch(row[PATCH_FIELD], item.item_id, item.content_hash)

    def as_coded(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return _accuracy([item.verdict.label if item.verdict else None for item in items])

    def as_described(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return {}

    def overridden(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return _accuracy([
            item.label.value if item.label and item.label.value else item.verdict.label if item.verdict else None
            for item in items
        ])  # fmt: skip

    def stated_scores(self, facts: Facts, judge: str) -> Mapping[str, Any] | None:
        return None

    def needs(self) -> Mapping[str, frozenset[str]]:
        return {"accuracy": frozenset({TASK.task})}

    def terms(self, item: ScoredItem, state: LabelState | None) -> Mapping[str, float]:
        label = state.value if state else item.verdict.label if item.verdict else None
        return {"n": 1.0, "right": float(label == "right")}

    def combine(self, sums: Mapping[str, float]) -> Mapping[str, float | Undefined]:
        return {"accuracy": sums["right"] / sums["n"]}

    def remarks(self) -> Sequence[str]:
        return ("A toy's accuracy says nothing of a product.",)

    def compared(
        self, systems: Mapping[str, Iterable[ScoredItem]], facts: Mapping[str, Facts], *, overridden: bool = False
    ) -> Scores:
        own = self.overridden if overridden else self.as_coded
        return {"by_model": {name: own(items, facts.get(name, {})) for name, items in systems.items()}}

    def write_native(
        self, items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[NativeFile]:
        side = SideFiles("toy", provenance)
        lines = []
        for item in items:
            row = dict(item.extra["row"])
            if item.label is not None and item.label.decided:
                patch = patch_of(item.label, {"verdict": row["verdict"]}, provenance.get(item.item_id, {}))
                row |= {"verdict": item.label.value == "right", PATCH_FIELD: patch}
            lines.append(json.dumps(row) + "\n")
            side.add(item, {"toy_id": row["toy_id"]})
        yield NativeFile("toy.jsonl", iter(lines), "the toy's rows, patched")
        yield from side.files()


def _accuracy(labels: list[str | None]) -> Scores:
    return {"accuracy": sum(label == "right" for label in labels) / len(labels), "n": len(labels)}


BENCHMARK = Toy()
