"""Calibrated verdicts, corrected scores, and the same for Inspect and MLflow in the shapes those tools read."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotate.cli.study import create_study, read_into
from store.draws import drawn_items
from store.study import Study
from tests.commands import ROOT, Overread

TABLE = ROOT / "sample_data" / "table"
CLUSTER_KEY = re.compile(r"note-\d{4}/\w+")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of the sample table in which people labelled the first 200 items."""
    made = tmp_path_factory.mktemp("calibrated")
    rows = [json.loads(line) for line in (TABLE / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows):
        if number >= 200:
            row["human"] = []
            row.pop("gold", None)
    (made / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name in ("contexts.jsonl", "tasks.toml"):
        (made / name).write_text((TABLE / name).read_text(encoding="utf-8"), encoding="utf-8")
    with create_study(made / "s.duckdb", "table") as study:
        options = {"tasks": str(made / "tasks.toml")}
        read_into(
            study, [made / "items.jsonl"], [], system="", judge="", skip_bad=False, options=options, sampled="srs"
        )
    return made


def exported(folder: Path, name: str, *options: str) -> list[dict[str, Any]]:
    found = Overread()("export", name, *options, cwd=folder)
    assert found.exit_code == 0, found
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_every_item_says_who_decided_and_how_far_to_trust_it(folder: Path) -> None:
    head, *rows = exported(folder, "v.jsonl", "--format", "verdicts")
    assert head["judge"] == "sample-judge" and head["gate"][0]["state"] == "unlooked"
    assert len(rows) == 384
    by = Counter(row["decided_by"] for row in rows)
    assert by["people"] == 200 and by["judge"] + by["nobody"] == 184
    with Study.open(folder / "s.duckdb") as study:
        contents = dict(study.rows("SELECT item_id, content_hash FROM current_items"))
    assert {row["item_id"]: row["content_hash"] for row in rows} == contents
    for row in rows:
        if row["decided_by"] == "judge":
            assert row["label"] == row["judge"]["label"] and 0 <= row["precision"]["low"] <= row["precision"]["value"]
            assert "people" not in row
        if row["decided_by"] == "people":
            assert row["people"]["annotators"] and "precision" not in row
        if row["decided_by"] == "nobody":
            assert row["label"] is None and row["judge"]["failure"]
    one = next(row for row in rows if row["decided_by"] == "judge" and row["label"] == "supported")
    labelled = [row for row in rows if row["decided_by"] == "people" and row["judge"]["label"] == "supported"]
    agreed = sum(row["label"] == "supported" for row in labelled)
    assert (one["precision"]["n"], one["precision"]["value"]) == (len(labelled), pytest.approx(agreed / len(labelled)))


@pytest.mark.slow
def test_the_corrected_scores_file_is_what_score_says(folder: Path) -> None:
    found = Overread()("export", "scores.json", "--format", "scores", cwd=folder)
    assert found.exit_code == 0, found
    document = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    score = Overread()("score", "--json", cwd=folder).json()
    for system, scores in score["systems"].items():
        assert document["systems"][system]["corrected"] == scores["corrected"]
        assert document["systems"][system]["as_coded"] == scores["as_coded"]
    assert document["gate"] == score["gate"] and document["study_id"]


@pytest.mark.slow
def test_inspect_reads_one_record_a_sample(folder: Path) -> None:
    rows = exported(folder, "i.jsonl", "--format", "inspect", "--system", "scribe-a")
    keys = [row["id"] for row in rows]
    assert len(set(keys)) == len(keys) and all(CLUSTER_KEY.fullmatch(key) for key in keys)
    for row in rows:
        assert set(row) == {"id", "value", "answer", "explanation", "metadata"}
        assert isinstance(row["id"], str) and row["value"] == ("C" if row["answer"] == "supported" else "I")
        assert isinstance(row["explanation"], str) and isinstance(row["metadata"], dict)
    both = Overread()("export", "both.jsonl", "--format", "inspect", cwd=folder)
    assert both.exit_code == 2 and "--system" in both.stderr


def test_mlflow_keeps_both_and_marks_what_people_overrode(folder: Path) -> None:
    rows = exported(folder, "m.jsonl", "--format", "mlflow")
    required = {"assessment_id", "assessment_name", "trace_id", "source", "create_time", "last_update_time", "feedback",
                "metadata", "valid"}  # fmt: skip
    assert len({row["assessment_id"] for row in rows}) == len(rows)
    by_id = {row["assessment_id"]: row for row in rows}
    for row in rows:
        assert required <= set(row) <= required | {"rationale", "overrides"}
        assert row["source"]["source_type"] in ("HUMAN", "LLM_JUDGE") and row["source"]["source_id"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["create_time"])
        assert all(isinstance(value, str) for value in row["metadata"].values())
        assert set(row["feedback"]) in ({"value"}, {"value", "error"}), "MLflow wants a value, null where there is none"
    people = [row for row in rows if row["source"]["source_type"] == "HUMAN"]
    assert len(people) == 200
    for row in people:
        judged = by_id[row["overrides"]]
        assert row["metadata"]["supersedes"] == row["overrides"] and row["valid"] and not judged["valid"]
    judged = [row for row in rows if row["source"]["source_type"] == "LLM_JUDGE"]
    assert len(judged) == 384 and sum(row["valid"] for row in judged) == 184
    assert sum("error" in row["feedback"] for row in judged) == 3


@pytest.mark.slow
def test_selective_leaves_to_people_what_the_judge_is_unsure_of(folder: Path, tmp_path: Path) -> None:
    refused = Overread()("export", "x.jsonl", "--format", "verdicts", "--selective", cwd=folder)
    assert refused.exit_code == 3 and "audit --confidence" in refused.stderr
    rows = [
        {"item_id": f"i{n}", "response": f"Answer {n}.", "human": [{"annotator": "A", "label": "ok", "mode": "blind"}],
         "judge": [{"judge": "gpt", "label": "ok", "confidence": 0.9}]}
        for n in range(120)
    ]  # fmt: skip
    rows += [{"item_id": f"u{n}", "response": f"Other {n}.", "human": [],
              "judge": [{"judge": "gpt", "label": "ok" if n % 2 else "bad", "confidence": 0.95 if n % 2 else 0.4}]}
             for n in range(20)]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    tasks = '[task]\nname = "t"\nquestion = "?"\nlabels = ["ok", "bad"]\nshow = [{ field = "response" }]\n'
    (tmp_path / "tasks.toml").write_text(tasks, encoding="utf-8")
    with create_study(tmp_path / "s.duckdb", "table") as study:
        options = {"tasks": str(tmp_path / "tasks.toml")}
        read_into(
            study, [tmp_path / "rows.jsonl"], [], system="", judge="", skip_bad=False, options=options, sampled="srs"
        )
    kept = Overread()("audit", "--confidence", "--keep", cwd=tmp_path)
    assert kept.exit_code == 0, kept
    head, *found = exported(tmp_path, "v.jsonl", "--format", "verdicts", "--selective")
    assert Overread()("doctor", cwd=tmp_path).stdout.rstrip().endswith("healthy")
    assert 0.4 < head["promises"]["t"]["threshold"] <= 0.9 and head["promises"]["t"]["alpha"] == 0.05
    by = Counter(row["decided_by"] for row in found)
    assert by == {"people": 120, "judge": 10, "queue": 10}
    assert all(row["label"] is None for row in found if row["decided_by"] == "queue")
    # The score of both: none while somebody waits, then people's labels and the verdicts that may stand alone.
    [waits] = Overread()("score", "--selective", "--json", cwd=tmp_path).json()["systems"].values()
    waits = waits["selective"]
    assert waits["decided"] == {"t": {"people": 120, "judge": 10, "queue": 10}}
    assert waits["scores"]["t"]["share"]["ok"]["why"] == "10 items of t wait for people"
    told = Overread()("score", "--selective", cwd=tmp_path).stdout
    assert "10 wait for people" in told and "at most 5 % of its verdicts differ" in told and "--n 15" in told
    assert len(exported(tmp_path, "i.jsonl", "--format", "inspect", "--selective")) == 130
    judged = [row for row in exported(tmp_path, "m.jsonl", "--format", "mlflow", "--selective")
              if row["source"]["source_type"] == "LLM_JUDGE"]  # fmt: skip
    assert Counter(row["metadata"]["decided_by"] for row in judged if row["valid"]) == {"judge": 10}
    draw = Overread()("sample", "--stream", "learn", "--abstained", "--n", "15", "--json", cwd=tmp_path).json()
    assert draw["items"] == 15
    with Study.open(tmp_path / "s.duckdb") as study:
        queue = {row["item_id"] for row in found if row["decided_by"] == "queue"}
        assert queue < {one.item_id for one in drawn_items(study, draw["draw_id"])}
    said = "".join("bad\n" for _ in range(15))
    done = Overread()("label", "--plain", "--annotator", "B", "--mode", "never", cwd=tmp_path, stdin=said)
    assert done.exit_code == 0, done
    [both] = Overread()("score", "--selective", "--json", cwd=tmp_path).json()["systems"].values()
    assert both["selective"]["decided"] == {"t": {"people": 135, "judge": 5}}
    assert both["selective"]["scores"] == both["overridden"]
    assert both["overridden"]["t"]["share"]["ok"] == 125 / 140
