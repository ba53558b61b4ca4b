"""Stands in for the store: collects a reader's records and gives them out as scoring and writing want them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Source
from judges.benchmarks.halumem import BENCHMARK
from store.records import (
    FactRecord,
    ItemRecord,
    JudgeRecord,
    LabelState,
    Problem,
    Record,
    SystemRecord,
    TextRecord,
    VerdictRecord,
    canonical_json,
)

FIXTURES = Path(__file__).parent.parent / "fixtures" / "halumem"
SHEET = FIXTURES / "synthetic_eval_results.jsonl"
VERDICTS = FIXTURES / "synthetic_eval_stat_result.json"
MARTIN = FIXTURES / "martin_worked_example_stat_result.json"


def stored(value: Any) -> Any:
    """The value as it comes back from a study: through canonical JSON, which sorts names."""
    return json.loads(canonical_json(value))


@dataclass
class Imported:
    """What one import gave; refuses records that refer to what has not come yet."""

    systems: list[SystemRecord] = field(default_factory=list)
    judges: dict[str, JudgeRecord] = field(default_factory=dict)
    items: dict[str, ItemRecord] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, VerdictRecord] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    labels: dict[str, LabelState] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        if isinstance(record, Problem):
            self.problems.append(record)
        elif isinstance(record, TextRecord):
            assert record.text_hash not in self.texts, "a shared text comes once"
            self.texts[record.text_hash] = record.text
        elif isinstance(record, ItemRecord):
            assert record.item_id not in self.items
            assert set(record.texts.values()) <= self.texts.keys(), "texts come before the items that refer to them"
            assert record.system in [system.system for system in self.systems]
            self.items[record.item_id] = record
        elif isinstance(record, VerdictRecord):
            assert record.item_id not in self.verdicts
            assert record.content_hash == self.items[record.item_id].content_hash
            assert record.judge_id in self.judges
            self.verdicts[record.item_id] = record
        elif isinstance(record, FactRecord):
            by_key = self.facts.setdefault(record.kind, {})
            assert record.key not in by_key
            by_key[record.key] = stored(record.payload)
        elif isinstance(record, JudgeRecord):
            self.judges[record.judge_id] = record
        else:
            self.systems.append(record)

    @property
    def fatal(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.fatal]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.problems if not problem.fatal]

    def counts(self) -> dict[str, int]:
        return dict(Counter(item.task for item in self.items.values()))

    def scored(self) -> Iterator[ScoredItem]:
        """All items in verdict order, those without a verdict last, through JSON as a store would keep them."""
        last = len(self.verdicts)
        ids = sorted(self.items, key=lambda i: (self.verdicts[i].position if i in self.verdicts else last, i))
        for item_id in ids:
            item = self.items[item_id]
            yield ScoredItem(
                item_id=item_id,
                task=item.task,
                cluster=item.cluster,
                group=item.group,
                weight=item.weight,
                payload=stored(item.payload),
                slices=item.slices,
                verdict=self.verdicts.get(item_id),
                label=self.labels.get(item_id),
                texts={name: self.texts[text] for name, text in item.texts.items()},
                extra=stored(item.extra),
            )

    def as_coded(self) -> dict[str, Any]:
        return BENCHMARK.as_coded(self.scored(), self.facts)

    def as_described(self) -> dict[str, Any]:
        return BENCHMARK.as_described(self.scored(), self.facts)

    def overridden(self) -> dict[str, Any]:
        scores = BENCHMARK.overridden(self.scored(), self.facts)
        return {name: value for name, value in scores.items() if name != "people"}

    def people(self) -> dict[str, Any]:
        people: dict[str, Any] = BENCHMARK.overridden(self.scored(), self.facts)["people"]
        return people

    def written(self, provenance: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, str]:
        files = BENCHMARK.write_native(self.scored(), self.facts, provenance or {})
        return {file.name: "".join(file.chunks) for file in files}

    def find(self, task: str, content: str) -> ItemRecord:
        """The item whose memory point, memory or question starts so."""
        name = "question" if task == "qa" else "memory_content"
        (found,) = [i for i in self.items.values() if i.task == task and i.payload.get(name, "").startswith(content)]
        return found

    def label(self, task: str, content: str, value: str | None, **more: Any) -> ItemRecord:
        return self.label_item(self.find(task, content), value, **more)

    def label_item(self, item: ItemRecord, value: str | None, **more: Any) -> ItemRecord:
        self.labels[item.item_id] = LabelState(value=value, **more)
        return item


def collect(records: Iterable[Record]) -> Imported:
    imported = Imported()
    for record in records:
        imported.add(record)
    return imported


def read(*files: Path, answers: Iterable[Path] = (), system: str = "", judge: str = "") -> Imported:
    return collect(BENCHMARK.read(Source(files, tuple(answers), system, judge)))


def stat(path: Path = VERDICTS) -> dict[str, Any]:
    """A stat_result as Python values, to change and write again."""
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def users(path: Path = SHEET) -> list[dict[str, Any]]:
    """The users of an answer sheet as Python values."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_stat(folder: Path, value: Any, name: str = "run_eval_stat_result.json", indent: int | None = 4) -> Path:
    path = folder / name
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent), encoding="utf-8")
    return path


def write_users(folder: Path, value: list[dict[str, Any]], name: str = "run_eval_results.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(user, ensure_ascii=False) + "\n" for user in value), encoding="utf-8")
    return path
