"""Every benchmark's sample is judged task by task, scored under the new judge, and written as a native file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from store.study import Study
from tests.commands import ROOT, Overread
from tests.judging.chat_server import Reply, Request, completion, serving

SAMPLES = ROOT / "sample_data"


def by_schema(request: Request) -> Reply:
    """An answer that fits the schema, whatever it asks for; the label depends on the item."""
    schema = request.body["response_format"]["json_schema"]["schema"]
    return Reply(completion(json.dumps(made_for(schema, len(request.text)), ensure_ascii=False)))


def made_for(schema: dict[str, Any], number: int) -> Any:
    if schema["type"] == "object":
        return {name: made_for(value, number) for name, value in schema["properties"].items()}
    if schema["type"] == "array":
        return [[entry] for entry in schema["items"]["items"]["enum"]]
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    return "A reason, with “quotes” and 中文." if schema["type"] == "string" else 0.5


def files_of(benchmark: str) -> list[Path]:
    root = SAMPLES / benchmark
    if benchmark == "halumem":
        return [root / "northwind-mem_eval_stat_result.json"]
    if benchmark == "medmemorybench":
        return [*sorted((root / "data").rglob("*.json")), *sorted((root / "outputs").rglob("*query_answer.json"))]
    if benchmark == "mist":
        return [root / "items.jsonl", root / "results.jsonl"]
    return [root / "items.jsonl", root / "calibration_endpoints.json", *sorted(root.glob("quillon__*.jsonl"))]


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["halumem", "medmemorybench", "halbench", "mist"])
def test_the_sample_of_a_benchmark(benchmark: str, tmp_path: Path, overread_cli: Overread) -> None:
    study = tmp_path / "study.duckdb"
    overread_cli("init", study, "--benchmark", benchmark)
    answers = SAMPLES / "halumem" / "northwind-mem_eval_results.jsonl"
    more = ["--answers", answers, "--system", "northwind-mem"] if benchmark == "halumem" else []
    assert overread_cli("--study", study, "import", *files_of(benchmark), *more).exit_code == 0
    with serving(by_schema) as server:
        base = ("--study", study, "judge", "--model", "fake-1", "--base-url", server.url, "--items", "all", "--json")
        done = overread_cli(*base, "--concurrency", "32")
        assert done.exit_code == 0, done
        calls = server.count
        assert [run["requests"] for run in overread_cli(*base).json()["runs"]].count(0) == len(done.json()["runs"])
        assert server.count == calls
    runs = {run["task"]: run for run in done.json()["runs"]}
    assert all(run["failures"] == {} and run["left"] == 0 for run in runs.values()), runs
    assert sum(run["judged"] + run["linked"] + run["given"] + run["skipped"] for run in runs.values()) == sum(
        run["slots"] for run in runs.values()
    )
    with Study.open(study) as opened:
        systems = [row[0] for row in opened.rows("SELECT DISTINCT system FROM items ORDER BY 1")]
    scores = overread_cli("--study", study, "score", "--judge", "fake-1", "--json")
    assert scores.exit_code == 0, scores
    assert scores.json()["systems"]
    audit = overread_cli("--study", study, "audit", "--json")
    assert audit.exit_code in (0, 3), audit  # nobody has labelled
    out = tmp_path / "native"
    written = overread_cli(
        "--study", study, "export", out, "--format", "native", "--judge", "fake-1", "--system", systems[0]
    )
    assert written.exit_code == 0, written
