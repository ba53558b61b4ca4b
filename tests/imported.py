"""Stands in for a study: collects a reader's records and gives them out as scoring and writing want them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judges.benchmarks.benchmark import Benchmark, ScoredItem, Source
from store.records import (
    FactRecord,
    ItemRecord,
    JudgeRecord,
    LabelRecord,
    LabelState,
    Problem,
    Record,
    SystemRecord,
    TextRecord,
    VerdictRecord,
    canonical_json,
)


def stored(value: Any) -> Any:
    """The value as it comes back from a study: through canonical JSON, which sorts names."""
    return json.loads(canonical_json(value))


@dataclass
class Imported:
    """What imports into one study gave; refuses records that refer to what has not come yet."""

    benchmark: Benchmark
    systems: dict[str, SystemRecord] = field(default_factory=dict)
    judges: dict[str, JudgeRecord] = field(default_factory=dict)
    items: dict[str, ItemRecord] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    verdicts: dict[tuple[str, str, int], VerdictRecord] = field(default_factory=dict)
    labels: list[LabelRecord] = field(default_factory=list)
    facts: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    final: dict[str, LabelState] = field(default_factory=dict)

    def read(self, source: Source) -> Imported:
        for record in self.benchmark.read(source):
            self.add(record)
        return self

    def add(self, record: Record) -> None:
        match record:
            case Problem():
                self.problems.append(record)
            case TextRecord():
                self.texts[record.text_hash] = record.text
            case ItemRecord():
                assert record.item_id not in self.items, "an item comes once"
                assert set(record.texts.values()) <= self.texts.keys(), "texts come before the items that refer to them"
                assert record.system in self.systems
                self.items[record.item_id] = record
            case VerdictRecord():
                key = (record.item_id, record.judge_id, record.repetition)
                assert key not in self.verdicts
                assert record.content_hash == self.items[record.item_id].content_hash
                assert record.judge_id in self.judges
                self.verdicts[key] = record
            case LabelRecord():
                assert record.content_hash == self.items[record.item_id].content_hash
                self.labels.append(record)
            case FactRecord():
                by_key = self.facts.setdefault(record.system, {}).setdefault(record.kind, {})
                assert record.key not in by_key
                by_key[record.key] = stored(record.payload)
            case JudgeRecord():
                self.judges[record.judge_id] = record
            case SystemRecord():
                self.systems[record.system] = record

    @property
    def fatal(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.fatal]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.problems if not problem.fatal]

    def by_judge(self, judge: str = "", repetition: int = 0) -> dict[str, VerdictRecord]:
        """Verdicts of the judge of that name (the only one when "" is given), by item."""
        names = {record.name for record in self.judges.values()}
        wanted = judge or (min(names) if len(names) == 1 else "")
        ids = {judge_id for judge_id, record in self.judges.items() if record.name == wanted}
        return {item: v for (item, by, again), v in self.verdicts.items() if by in ids and again == repetition}

    def counts(self) -> dict[str, int]:
        return dict(Counter(item.task for item in self.items.values()))

    def scored(self, judge: str = "", system: str = "") -> Iterator[ScoredItem]:
        """A system's items (all, when there is one) in verdict order, those without one last, through JSON."""
        verdicts = self.by_judge(judge)
        wanted = system or next(iter(self.systems), "")
        own = [item for item in self.items.values() if item.system == wanted]
        last = len(self.verdicts)
        own.sort(key=lambda i: (verdicts[i.item_id].position if i.item_id in verdicts else last, i.position, i.item_id))
        for item in own:
            yield ScoredItem(
                item_id=item.item_id,
                task=item.task,
                cluster=item.cluster,
                group=item.group,
                weight=item.weight,
                payload=stored(dict(item.payload)),
                slices=dict(item.slices),
                verdict=verdicts.get(item.item_id),
                label=self.final.get(item.item_id),
                texts={name: self.texts[text] for name, text in item.texts.items()},
                extra=stored(dict(item.extra)),
            )

    def facts_of(self, system: str = "") -> dict[str, dict[str, Any]]:
        return self.facts.get(system or next(iter(self.systems), ""), {})

    def as_coded(self, judge: str = "", system: str = "") -> dict[str, Any]:
        return self.benchmark.as_coded(self.scored(judge, system), self.facts_of(system))

    def overridden(self, judge: str = "", system: str = "") -> dict[str, Any]:
        return self.benchmark.overridden(self.scored(judge, system), self.facts_of(system))

    def written(
        self, provenance: Mapping[str, Mapping[str, Any]] | None = None, judge: str = "", system: str = ""
    ) -> dict[str, str]:
        files = self.benchmark.write_native(self.scored(judge, system), self.facts_of(system), provenance or {})
        return {file.name: "".join(file.chunks) for file in files}

    def take_labels(self) -> dict[str, dict[str, Any]]:
        """Make the labels that came with the files final where they settle the item; returns their provenance."""
        by_item: dict[str, list[LabelRecord]] = {}
        for label in self.labels:
            by_item.setdefault(label.item_id, []).append(label)
        provenance: dict[str, dict[str, Any]] = {}
        for item_id, found in by_item.items():
            decided = [label for label in found if label.adjudicated] or found
            if len({label.state.value for label in decided}) == 1:
                self.final[item_id] = decided[0].state
                provenance[item_id] = {"annotator": ", ".join(label.annotator for label in decided)}
        return provenance


def imported(benchmark: Benchmark, *sources: Source) -> Imported:
    """What these imports give."""
    into = Imported(benchmark)
    for source in sources:
        into.read(source)
    return into


def summed(benchmark: Any, items: Iterable[ScoredItem], *, labels: bool = False) -> dict[str, float]:
    """The totals of items under their verdicts, or under their labels where they have one."""
    sums: Counter[str] = Counter()
    for item in items:
        for name, term in benchmark.terms(item, item.label if labels else None).items():
            sums[name] += term
    return dict(sums)
