"""What an item is does not depend on what a judge said of it: other verdicts, the same items, for every benchmark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotate.sample import sample_folder
from judges.benchmarks.benchmark import SampledBenchmark, Source, get_benchmark
from store.importing import ImportReport, import_records
from store.records import MAY_HOLD_VERDICTS
from store.study import Study
from tests.imported import Imported, imported

VERDICT_FIELDS: Mapping[str, frozenset[str]] = {
    "halumem": frozenset({
        "memory_integrity_score", "memory_accuracy_score", "is_included_in_golden_memories", "memory_update_type",
        "result_type", "rationale",
    }),
    "medmemorybench": frozenset({
        "is_correct", "judge_reason", "ncr_score", "crc_score", "cc_score", "node_validations",
        "uses_patient_specific_info", "memory_retrieval_quality",
    }),
    "halbench": frozenset({"score", "score_with_n1_floor", "raw_M5", "per_sent_norm"}),
    "mist": frozenset({"answer", "first_pass_answer"}),
    "table": frozenset({"judge"}),
}  # fmt: skip
"""By benchmark: the fields of its files that a judge or a rule wrote."""
QUERIES = "generated_queries.json"
"""What is right is the benchmark's word, not a judge's."""
NAMES = frozenset({"node_id", "judge"})


def turned(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | float():
            return 0 if value else 1
        case "supported" | "not_mentioned":
            return "contradicted"
        case str() if value.lower() in ("true", "false"):
            return "false" if value.lower() == "true" else "true"
        case str():
            return f"not {value}"
        case list():
            return [turned(one) for one in value]
        case dict():
            return {name: one if name in NAMES else turned(one) for name, one in value.items()}
    return value


def with_other_verdicts(value: Any, fields: frozenset[str]) -> Any:
    match value:
        case list():
            return [with_other_verdicts(one, fields) for one in value]
        case dict():
            return {
                name: turned(one) if name in fields else with_other_verdicts(one, fields) for name, one in value.items()
            }
    return value


def sources(name: str, folder: Path, judge: str) -> list[Source]:
    benchmark = get_benchmark(name)
    assert isinstance(benchmark, SampledBenchmark)
    return [replace(source, judge=judge) for source in benchmark.sample(folder).sources]


def judged_otherwise(name: str, folder: Path) -> Path:
    """The sample as another judge would have left it."""
    shutil.copytree(sample_folder(name), folder)
    for path in folder.rglob("*.json*"):
        if path.name == QUERIES:
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        changed = [with_other_verdicts(json.loads(line), VERDICT_FIELDS[name]) for line in lines]
        path.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in changed), encoding="utf-8")
    return folder


def seen(found: Imported) -> dict[str, tuple[Any, ...]]:
    """All there is of each item but what is known to come with a verdict."""
    return {
        one.item_id: (
            one.content_hash, one.cluster, one.group, one.slices, one.weight,
            {name: value for name, value in one.extra.items() if name not in MAY_HOLD_VERDICTS},
        )
        for one in found.items.values()
    }  # fmt: skip


@pytest.fixture(params=sorted(VERDICT_FIELDS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_other_verdicts_leave_the_items_as_they_are(name: str, tmp_path: Path) -> None:
    before = imported(get_benchmark(name), *sources(name, sample_folder(name), "a"))
    after = imported(get_benchmark(name), *sources(name, judged_otherwise(name, tmp_path / "other"), "a"))
    said, other = ({v.verdict_id: v.verdict_hash for v in one.verdicts.values()} for one in (before, after))
    assert said.keys() == other.keys()
    assert sum(said[one] != other[one] for one in said) > 0.4 * len(said), "the judge said something else"
    assert seen(before) == seen(after)


def take(study: Study, name: str, folder: Path, judge: str) -> list[ImportReport]:
    benchmark = get_benchmark(name)
    return [import_records(study, benchmark.read(source), [], skip_bad=True) for source in sources(name, folder, judge)]


@pytest.mark.slow
def test_an_import_of_other_verdicts_changes_no_item(name: str, tmp_path: Path) -> None:
    other = judged_otherwise(name, tmp_path / "other")
    with Study.create(tmp_path / "s.duckdb", name) as study:
        take(study, name, sample_folder(name), "first")
        for report in take(study, name, other, "second"):
            assert {tally.changed for tally in report.items.values()} == {0}
            assert sum(tally.new for tally in report.items.values()) == 0
        new = {
            item_id: one.extra
            for item_id, one in imported(get_benchmark(name), *sources(name, other, "second")).items.items()
        }
        stored = {
            item_id: json.loads(extra) for item_id, extra in study.rows("SELECT item_id, extra FROM current_items")
        }
        assert stored == new, "a writer finds the last file's own rows"
