"""Writes MIST's files back: the results of one run with people's answers in them, or the items with what people said.

A row that a person decided has their letter under the answer's own name (null for "no option") and `overread` beside
it; labels of its memories stand in there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judges.benchmarks.benchmark import NativeFile, ScoredItem
from judges.benchmarks.mist.columns import Mapped
from judges.benchmarks.mist.scoring import Facts
from judges.benchmarks.mist.shapes import NOBODY
from judges.benchmarks.mist.tasks import ANSWER, FIRST_PASS, MEMORY, VALIDITY
from judges.benchmarks.native import PATCH_FIELD, SideFiles, patch_of, said
from judges.benchmarks.row_text import restored
from store.records import LabelState

RESULTS, ITEMS = "results", "items"

Provenance = Mapping[str, Mapping[str, Any]]


def write_native(items: Iterable[ScoredItem], facts: Facts, provenance: Provenance) -> Iterator[NativeFile]:
    """The rows of one run (or the items) as JSONL, and the lists beside them."""
    writing = _Writing(facts, provenance)
    for item in items:
        writing.add(item)
    yield from writing.files()


class _Writing:
    """One export. Rows are kept until the end, as the labels of their memories come after them: a run has hundreds."""

    def __init__(self, facts: Facts, provenance: Provenance) -> None:
        self._facts, self._provenance = facts, provenance
        self._mapped = Mapped(results=facts.get("mist_columns", {}).get("results", {}))
        self._rows: dict[str, dict[str, Any]] = {}
        self._stem = RESULTS if "mist_system" in facts else ITEMS
        self._side = SideFiles(self._stem, provenance)

    def add(self, item: ScoredItem) -> None:
        question = item.extra["question"]
        self._side.add(item, {"item_id": question})
        who = self._provenance.get(item.item_id, {})
        label = item.label if item.label is not None and item.label.decided else None
        if item.task == MEMORY.task:
            if label is not None:
                self._add_memory(question, item.extra["place"], label, who)
            return
        row = restored(item.extra, item.payload, item.texts)
        if label is not None and item.task == ANSWER.task:
            self._patch_answer(row, label, who)
        elif label is not None and item.task == VALIDITY.task:
            row[PATCH_FIELD] = patch_of(label, {}, who)
        early = self._rows.get(question, {}).get(PATCH_FIELD)
        if early is not None:
            row[PATCH_FIELD] = {**row.get(PATCH_FIELD, {"judge": {}}), "memories": early["memories"]}
        self._rows[question] = row

    def _patch_answer(self, row: dict[str, Any], label: LabelState, who: Mapping[str, Any]) -> None:
        judge = {
            name: self._mapped.result(row, name)
            for name in ("answer", "first_pass_answer")
            if self._mapped.has_result(row, name)
        }
        if label.value is not None:
            self._mapped.put(row, "answer", _letter(label.value))
            if FIRST_PASS in label.parts:
                self._mapped.put(row, "first_pass_answer", _letter(label.parts[FIRST_PASS]))
        row[PATCH_FIELD] = patch_of(label, judge, who)

    def _add_memory(self, question: str, place: int, label: LabelState, who: Mapping[str, Any]) -> None:
        row = self._rows.setdefault(question, {})
        patch = row.setdefault(PATCH_FIELD, {"judge": {}})
        patch.setdefault("memories", []).append({"place": place, **who, **said(label)})

    def files(self) -> Iterator[NativeFile]:
        about = "the run's results, patched" if self._stem == RESULTS else "the items, with what people said of them"
        yield NativeFile(f"{self._stem}.jsonl", self._lines(), about)
        yield from self._side.files()

    def _lines(self) -> Iterator[str]:
        for row in self._rows.values():
            yield json.dumps(row, ensure_ascii=False) + "\n"
        for fact in self._facts.get("fact_recall", {}).values():
            yield fact["row"] + "\n"


def _letter(value: str) -> str | None:
    return None if value == NOBODY else value
