"""Stands in for the store: collects a reader's records and gives them out as scoring and writing want them.

And builds runs of any content in the benchmark's shapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Source
from judges.benchmarks.medmemorybench import BENCHMARK
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

Json = dict[str, Any]
FIXTURES = Path(__file__).parent.parent / "fixtures" / "medmemorybench"
SHAPE, SHAPE_RESULT = FIXTURES / "shape_query_answer.json", FIXTURES / "shape_result.json"
TYPES = {
    "eem": "entity_exact_match",
    "mq": "multiple_choice",
    "tla": "temporal_localization",
    "sua": "state_update",
    "ig": "inference_generation",
    "mcd": "multi_hop_clinical_deduction",
}
NAME = "medmemorybench_bm25_fake_20261130_003148"


@dataclass
class Imported:
    """What one import gave of one or more systems; refuses records that refer to what has not come yet."""

    systems: list[SystemRecord] = field(default_factory=list)
    judges: dict[str, JudgeRecord] = field(default_factory=dict)
    items: dict[str, ItemRecord] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, VerdictRecord] = field(default_factory=dict)
    facts_of: dict[str, dict[str, Json]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    labels: dict[str, LabelState] = field(default_factory=dict)
    file_labels: list[LabelRecord] = field(default_factory=list)

    def add(self, record: Record) -> None:
        match record:
            case Problem():
                self.problems.append(record)
            case TextRecord():
                assert record.text_hash not in self.texts, "a shared text comes once"
                self.texts[record.text_hash] = record.text
            case ItemRecord():
                assert record.item_id not in self.items
                assert set(record.texts.values()) <= self.texts.keys(), "texts come before what refers to them"
                assert record.system in [system.system for system in self.systems]
                self.items[record.item_id] = record
            case VerdictRecord():
                assert record.item_id not in self.verdicts
                assert record.content_hash == self.items[record.item_id].content_hash
                assert record.judge_id in self.judges
                self.verdicts[record.item_id] = record
            case FactRecord():
                by_key = self.facts_of.setdefault(record.system, {}).setdefault(record.kind, {})
                assert record.key not in by_key
                by_key[record.key] = json.loads(canonical_json(record.payload))
            case JudgeRecord():
                assert record.judge_id not in self.judges
                self.judges[record.judge_id] = record
            case LabelRecord():
                assert record.item_id in self.items
                self.file_labels.append(record)
            case _:
                self.systems.append(record)

    @property
    def fatal(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.fatal]

    @property
    def warnings(self) -> list[str]:
        return [problem.what for problem in self.problems if not problem.fatal]

    @property
    def system(self) -> str:
        (system,) = self.systems
        return system.system

    def facts(self, system: str = "") -> dict[str, Json]:
        return self.facts_of.get(system or self.system, {})

    def scored(self, system: str = "", judge: str = "") -> Iterator[ScoredItem]:
        """A system's items in verdict order, through JSON as a store keeps them.

        Args:
            judge: only this judge's verdicts, as a study gives them.
        """
        wanted = system or self.system
        verdicts = {i: v for i, v in self.verdicts.items() if judge in ("", self.judges[v.judge_id].name)}
        last = len(self.items)
        ids = [item_id for item_id, item in self.items.items() if item.system == wanted]
        for item_id in sorted(ids, key=lambda i: (verdicts[i].position if i in verdicts else last, i)):
            item = self.items[item_id]
            yield ScoredItem(
                item_id=item_id,
                task=item.task,
                cluster=item.cluster,
                group=item.group,
                weight=item.weight,
                payload=json.loads(canonical_json(item.payload)),
                slices=item.slices,
                verdict=verdicts.get(item_id),
                label=self.labels.get(item_id),
                texts={name: self.texts[text] for name, text in item.texts.items()},
                extra=json.loads(canonical_json(item.extra)),
            )

    def as_coded(self, system: str = "", judge: str = "") -> Json:
        return BENCHMARK.as_coded(self.scored(system, judge), self.facts(system))

    def as_described(self, system: str = "") -> Json:
        return BENCHMARK.as_described(self.scored(system), self.facts(system))

    def overridden(self, system: str = "") -> Json:
        return BENCHMARK.overridden(self.scored(system), self.facts(system))

    def stated(self, system: str = "", judge: str = "judge") -> Mapping[str, Any] | None:
        return BENCHMARK.stated_scores(self.facts(system), judge)

    def written(self, provenance: Mapping[str, Mapping[str, Any]] | None = None, system: str = "") -> dict[str, str]:
        files = BENCHMARK.write_native(self.scored(system), self.facts(system), provenance or {})
        return {file.name: "".join(file.chunks) for file in files}

    def find(self, task: str, persona: str = "1", checkpoint: str = "10") -> ItemRecord:
        (found,) = [
            item
            for item in self.items.values()
            if (item.task, item.cluster, item.slices.get("checkpoint")) == (task, persona, checkpoint)
        ]
        return found

    def verdict(self, task: str, persona: str = "1", checkpoint: str = "10") -> VerdictRecord:
        return self.verdicts[self.find(task, persona, checkpoint).item_id]

    def judged(self, task: str, persona: str = "1", checkpoint: str = "10") -> ScoredItem:
        """An item with its verdict."""
        wanted = self.find(task, persona, checkpoint)
        return next(item for item in self.scored(wanted.system) if item.item_id == wanted.item_id)

    def slices_of_verdicts(self) -> dict[str, dict[str, str]]:
        """Item → the slices that its verdict falls into."""
        items = (item for system in self.systems for item in self.scored(system.system))
        return {item.item_id: dict(BENCHMARK.slices_of_verdict(item)) for item in items}

    def label(self, item: ItemRecord, value: str | None, **more: Any) -> ItemRecord:
        self.labels[item.item_id] = LabelState(value=value, **more)
        return item


def collect(records: Iterable[Record]) -> Imported:
    imported = Imported()
    for record in records:
        imported.add(record)
    return imported


def read(*files: Path, answers: Iterable[Path] = (), system: str = "", judge: str = "", **options: str) -> Imported:
    return collect(BENCHMARK.read(Source(files, tuple(answers), system, judge, options)))


# Runs of any content


def shape() -> Json:
    """The six-record shape of a query_answer file, to change and write again."""
    value: Json = json.loads(SHAPE.read_text(encoding="utf-8"))
    return value


def record_of(task: str, checkpoint: int = 10) -> Json:
    """The shape's record of a task, asked at a checkpoint."""
    (found,) = [record for record in shape()["queries"] if record["query_type"] == TYPES[task]]
    return {**found, "query_id": f"session_{checkpoint}_{task}_1"}


def run_of(records: Sequence[tuple[str, Json]], **members: Any) -> Json:
    """A query_answer file of (persona, record) pairs, its sums as the official code makes them."""
    queries = [record for _, record in records]
    contexts: Json = {}
    for persona, record in records:
        context = contexts.setdefault(persona, {"total": 0, "correct": 0, "query_ids": []})
        context["total"] += 1
        context["correct"] += 1 if record["is_correct"] else 0
        context["query_ids"].append(record["query_id"])
    time: float = 0
    for record in queries:
        time = time + record["query_time"]
    summary = {
        "total_queries": len(queries),
        "correct_count": sum(1 for record in queries if record["is_correct"]),
        "total_query_time": time,
        "avg_query_time": time / len(queries),
        "avg_retrieved_count": sum(record["retrieved_count"] for record in queries) / len(queries),
    }
    names = {"method_name": "bm25", "model_name": "fake", "dataset_name": "medmemorybench"}
    return {**names, "summary": summary, "by_context": contexts, "queries": queries, **members}


def whole_shape() -> Json:
    """The eighteen records of which the shape shows six: two checkpoints of persona 1, one of persona 2."""
    order = [("1", 10), ("1", 20), ("2", 20)]
    return run_of([(persona, record_of(task, at)) for persona, at in order for task in TYPES])


def write(folder: Path, value: Any, name: str = f"{NAME}_query_answer.json", indent: int | None = 2) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent), encoding="utf-8")
    return path


def result_of(summary: Json | None = None, *, noise: Any = False, language: str = "zh") -> Json:
    """A result file; its summary is the shape's unless another is given."""
    value: Json = json.loads(SHAPE_RESULT.read_text(encoding="utf-8"))
    value["config"]["dataset_config"] = {"language": language, "evaluation": {"inject_noise": noise}}
    return {**value, "summary": summary or value["summary"]}


def query_of(task: str, checkpoint: int = 10, **fields: Any) -> Json:
    """A query of the benchmark that asks what the shape's record of a task answers."""
    record = record_of(task, checkpoint)
    return {
        "query_id": record["query_id"],
        "session_id": checkpoint,
        "query_type": TYPES[task],
        "question": record["question"],
        "answers": [{"content": record["expected_answer"], "is_correct": True, "explanation": "because"}],
        "source_key_points": [],
        "metadata": {},
        **fields,
    }


def key_point(session: int, content: str = "a fact") -> Json:
    return {"category": "c", "name": "n", "content": content, "trap_score": 0.5, "time": None, "session_id": session}


def chain_query(checkpoint: int = 10, nodes: int = 4, **fields: Any) -> Json:
    """The shape's deduction query with a chain of that many nodes."""
    value: Json = json.loads((FIXTURES / "shape_mcd_query.json").read_text(encoding="utf-8"))
    node = {"role": "step", "source_info": "s"}
    chain = [{"node_id": n, "session_id": n, "content": f"n{n}", **node} for n in range(1, nodes + 1)]
    value["metadata"]["reasoning_chain"] = chain
    return {**value, "query_id": f"session_{checkpoint}_mcd_1", "session_id": checkpoint, **fields}


def write_queries(folder: Path, queries: Sequence[Json], persona: str = "1") -> Path:
    name = f"persona_{persona}/eval/generated_queries.json"
    return write(folder, {"metadata": {"total_queries": len(queries)}, "queries": list(queries)}, name)


def grid(*rows: str) -> str:
    """A complete checklist: one "yyn" (stated, causal, patient) a node."""
    names = ("stated", "causal", "patient")
    return canonical_json({str(n): dict(zip(names, row, strict=True)) for n, row in enumerate(rows, start=1)})
