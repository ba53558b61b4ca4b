"""The files of the MedMemoryBench sample, read once, for its tests."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

SAMPLE = Path(__file__).parents[2] / "sample_data" / "medmemorybench"
SYSTEMS = ("heron_notes", "saltmarsh_rag")
REGIMES = ("Efficient", "Mixed")
LANGUAGES = ("zh", "en")
MODEL = "sample-model"
TASK_OF = {
    "entity_exact_match": "eem",
    "temporal_localization": "tla",
    "state_update": "sua",
    "multiple_choice": "mq",
    "inference_generation": "ig",
    "multi_hop_clinical_deduction": "mcd",
}
TASKS = tuple(TASK_OF.values())

Json = dict[str, Any]
Row = dict[str, str]


class Run(NamedTuple):
    system: str
    regime: str
    language: str
    answers: Json
    result: Json

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.system, self.regime, self.language)

    @property
    def id(self) -> str:
        """The system's id in a study."""
        return f"{self.system}_{MODEL}/{self.regime}/{self.language}"


def answer_files() -> list[Path]:
    return sorted(SAMPLE.glob("outputs/*/*_query_answer.json"))


def run_files() -> list[Path]:
    return sorted(SAMPLE.glob("outputs/*/*.json"))


def query_files() -> list[Path]:
    return sorted(SAMPLE.glob("data/*/persona_*/eval/generated_queries.json"))


def loaded(path: Path) -> Json:
    value: Json = json.loads(path.read_text(encoding="utf-8"))
    return value


@cache
def runs() -> tuple[Run, ...]:
    found = []
    for path in answer_files():
        result = loaded(path.with_name(path.name.replace("_query_answer", "_result")))
        config = result["config"]["dataset_config"]
        regime = "Mixed" if config["evaluation"]["inject_noise"] else "Efficient"
        answers = loaded(path)
        found.append(Run(answers["method_name"], regime, config["language"], answers, result))
    return tuple(found)


def records(run: Run) -> Iterator[tuple[str, Json]]:
    """(persona, record) in file order."""
    personas = [p for p, context in run.answers["by_context"].items() for _ in context["query_ids"]]
    yield from zip(personas, run.answers["queries"], strict=True)


@cache
def truth() -> tuple[Row, ...]:
    with (SAMPLE / "truth.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def truth_of(run: Run) -> list[Row]:
    return [row for row in truth() if (row["system"], row["regime"], row["language"]) == run.key]


def rows_with_records() -> Iterator[tuple[Row, Json]]:
    """Rows of truth.csv and records stand in the same order within a run."""
    for run in runs():
        for row, (persona, record) in zip(truth_of(run), records(run), strict=True):
            assert (row["persona"], row["query_id"]) == (persona, record["query_id"])
            yield row, record


def readme_tables(heading: str) -> list[list[list[str]]]:
    """The Markdown tables of a section, without their rules; cells stripped of backticks."""
    text = (SAMPLE / "README.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\|\n?)+", section, flags=re.MULTILINE)
    cells = [[[cell.strip(" `") for cell in line[1:-1].split("|")] for line in table.splitlines()] for table in tables]
    return [[table[0], *table[2:]] for table in cells]
