"""Rules, embeddings and panels are judges like any other: stored, compared, audited."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judges.backends.embedding import EmbeddingBackend
from judges.backends.prices import Budget
from judges.backends.rules import RuleVerdict, contains, exact, token_f1
from judges.benchmarks.halbench.projection import formatted
from judges.benchmarks.halbench.sentences import split_sentences
from judges.panel import run_panel
from judges.rule_asker import EmbeddingAsker
from judges.run import JudgeRun, RunResult, Scope
from store.errors import UsageError
from store.items import StoredItem
from store.records import JudgeRecord
from store.study import Study
from tests.commands import ROOT, Overread
from tests.judging.chat_server import Reply, Request, always, completion, serving, verdict
from tests.judging.conftest import make_study, rows
from tests.judging.judge_runs import fates, judge

SAMPLES = ROOT / "sample_data"


def sample(overread: Overread, folder: Path, benchmark: str, *files: Path) -> Path:
    study = folder / f"{benchmark}.duckdb"
    assert overread("init", study, "--benchmark", benchmark).exit_code == 0
    done = overread("--study", study, "import", *files, "--judge", "official")
    assert done.exit_code == 0, done
    return study


def labels_of(study: Path, judge_name: str) -> dict[str, tuple[str | None, float | None]]:
    with Study.open(study) as opened:
        found = opened.rows(
            "SELECT item_id, label, score FROM verdicts JOIN judges USING (judge_id) WHERE name = ? AND repetition = 0",
            [judge_name],
        )
    return {item: (label, score) for item, label, score in found}


# Rules


@pytest.mark.parametrize(
    ("reference", "response", "scores"),
    [
        ("Golden Retriever", "golden retriever.", (1, 1, 1)),
        ("Golden Retriever", "He likes a Golden Retriever now.", (0, 1, 0.5)),
        ("8.2", "It was 18.2 today", (0, 0, 0)),
        ("art", "He started it", (0, 0, 0)),
        ("金毛", "他现在喜欢金毛。", (0, 1, 0.444)),
        ("ＡＢＣ", "abc", (1, 1, 1)),
        ("", "", (1, 0, 1)),
        ("", "something", (0, 0, 0)),
    ],
)
def test_generic_rules(reference: str, response: str, scores: tuple[float, float, float]) -> None:
    found = (exact(reference, response), contains(reference, response), token_f1(reference, response))
    assert found == pytest.approx(scores, abs=1e-3)


@pytest.mark.slow
def test_a_rule_judges_without_a_call_and_the_audit_shows_it(tmp_path: Path, overread_cli: Overread) -> None:
    values = rows(4)
    values[1]["response"] = "Truth 1."
    study = make_study(tmp_path, values)
    done = overread_cli("--study", study, "judge", "--rule", "exact", "--json")
    [run] = done.json()["runs"]
    assert (run["judge"], run["given"], run["requests"]) == ("rule exact", 4, 0)
    assert Counter(label for label, _ in labels_of(study, "rule exact").values()) == {"INCORRECT": 3, "CORRECT": 1}
    assert "rule exact" in overread_cli("--study", study, "audit", "--json").json()["tasks"]["qa"]["judges"]
    wrong = overread_cli("--study", study, "judge", "--rule", "eem")
    assert wrong.exit_code == 2 and "no rule 'eem'" in wrong.stderr and "token_f1" in wrong.stderr


@pytest.mark.slow
def test_the_benchmarks_own_rules_give_what_their_files_say(tmp_path: Path, overread_cli: Overread) -> None:
    root = SAMPLES / "medmemorybench"
    files = [*sorted((root / "data").rglob("generated_queries.json")), *sorted((root / "outputs").rglob("*.json"))]
    study = sample(overread_cli, tmp_path, "medmemorybench", *files)
    for task in ("eem", "mq"):
        done = overread_cli("--study", study, "judge", "--task", task, "--rule", task, "--items", "all")
        assert done.exit_code == 0, done
        with Study.open(study) as opened:
            pairs = opened.rows(
                """SELECT a.label, b.label, count(*) FROM verdicts a JOIN verdicts b USING (item_id)
                JOIN judges ja ON ja.judge_id = a.judge_id AND ja.name = ?
                JOIN judges jb ON jb.judge_id = b.judge_id AND jb.name <> ja.name
                WHERE b.label IS NOT NULL AND ja.task = ? GROUP BY ALL""",
                [f"rule {task}", task],
            )
        assert pairs and {(first, second) for first, second, _ in pairs} <= {
            ("correct", "correct"),
            ("incorrect", "incorrect"),
        }


@pytest.mark.slow
def test_the_declared_parser_of_mist_gives_the_imported_answers(tmp_path: Path, overread_cli: Overread) -> None:
    root = SAMPLES / "mist"
    study = sample(overread_cli, tmp_path, "mist", root / "items.jsonl", root / "results.jsonl")
    done = overread_cli("--study", study, "judge", "--task", "answer", "--rule", "mist", "--items", "all", "--json")
    assert done.exit_code == 0, done
    found = labels_of(study, "rule mist")
    with Study.open(study) as opened:
        told = dict(opened.rows("SELECT item_id, json_extract_string(extra, '$.parsed.response') FROM items"))
    assert found and all(label == told[item] for item, (label, _) in found.items())


# Embeddings


def stance_vectors(request: Request) -> Reply:
    """Two numbers a text: how much it says no, and a constant."""

    def vector(text: str) -> list[float]:
        said = text.rsplit("Query: ", 1)[1]
        value = {"yes": 0.0, "yes, but": 0.4, "no": 1.0}.get(said, 0.2 if "sure" in said.lower() else 0.4)
        return [value, 1.0]

    texts = request.body["input"]
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
    return Reply({"object": "list", "data": data[::-1], "model": "emb-1", "usage": {"prompt_tokens": len(texts)}})


class OneText:
    """A benchmark whose items all have the same text to embed, each once more than the one before."""

    embedded_tasks = ("qa",)

    def embedding_texts(self, item: StoredItem) -> list[str]:
        return ["Query: yes"] * (item.position + 1)

    def embedding_verdict(self, item: Any, vectors: Any, facts: Any) -> RuleVerdict:
        return RuleVerdict("CORRECT", score=float(vectors[0][0]))


def test_a_text_that_is_remembered_is_no_call_and_no_changed_server(tmp_path: Path) -> None:
    async def judged(study: Study, url: str) -> RunResult:
        backend = EmbeddingBackend("emb", base_url=url, concurrency=1)
        judge = JudgeRecord("qa", "emb", "emb", parameters={"embedding": True})
        asker = EmbeddingAsker(OneText(), backend, Budget(None), judge, {})
        try:
            return await JudgeRun(study, asker, Scope("qa", concurrency=1)).run()
        finally:
            await backend.close()

    with Study.open(make_study(tmp_path, rows(3))) as study, serving(stance_vectors) as server:
        result = asyncio.run(judged(study, server.url))
        assert (result.outcome, result.state.read, result.changes, server.count) == ("done", 3, (), 1)
        assert study.rows("SELECT name FROM judges") == [("emb",)]


@pytest.mark.slow
def test_halbench_is_judged_through_an_embeddings_server(tmp_path: Path, overread_cli: Overread) -> None:
    root = SAMPLES / "halbench"
    files = [root / "items.jsonl", root / "calibration_endpoints.json", root / "quillon__wren.jsonl"]
    study = sample(overread_cli, tmp_path, "halbench", *files)
    with serving(stance_vectors) as server:
        base = ("--study", study, "judge", "--task", "stance", "--items", "all", "--embedding", "--model", "emb")
        [run] = overread_cli(*base, "--base-url", server.url, "--json").json()["runs"]
        count = server.count
        assert run["judged"] > 0 and run["tokens_in"] > 0
        overread_cli(*base, "--base-url", server.url)
        assert server.count == count
        asked = [text for request in server.requests for text in request.body["input"]]
        assert asked.count(formatted("yes")) <= 16, "the anchors are remembered"
    with Study.open(study) as opened:
        found: list[tuple[Any, ...]] = opened.rows(
            """SELECT v.label, v.score, v.model_returned, json_extract_string(i.payload, '$.response'),
            json_extract_string(i.slices, '$.cell_field') FROM verdicts v JOIN items i USING (item_id)
            JOIN judges j USING (judge_id) WHERE j.name = 'emb' AND v.label IS NOT NULL"""
        )
        endpoints = opened.rows("SELECT json(payload) FROM facts WHERE kind = 'halbench_endpoints'")
    import json

    cells = json.loads(endpoints[0][0])
    for label, score, model, response, cell in found:
        raws = [0.2 if "sure" in sentence.lower() else 0.4 for sentence in split_sentences(response)]
        low, high = cells[cell]["defer"], cells[cell]["hard"]
        norms = [min(1.0, max(0.0, (raw - low) / (high - low))) for raw in raws]
        expected = sum(norms) / len(norms) if norms else 0.0
        assert math.isclose(score, expected, abs_tol=1e-9) and model == "emb-1"
        assert label == ("HARD" if score >= 0.7 else "SOFT" if score >= 0.4 else "DEFER")


def test_a_missing_embedding_ends_the_run_and_is_never_left_out(tmp_path: Path, overread_cli: Overread) -> None:
    done = overread_cli("--study", make_study(tmp_path, rows(2)), "judge", "--embedding", "--model", "e")
    assert done.exit_code in (1, 2) and ("No embedding judges qa" in done.stderr or "no key" in done.stderr)


# Panels


def by_number(right: set[int]):  # type: ignore[no-untyped-def]
    """A judge that calls these items CORRECT."""

    def script(request: Request) -> Reply:
        number = int(request.text.split("Question ")[1].split("?")[0])
        return Reply(completion(verdict("CORRECT" if number in right else "INCORRECT")))

    return script


def test_a_panel_takes_the_majority_and_says_how_divided_it_was(tmp_path: Path) -> None:
    with Study.open(make_study(tmp_path, rows(4))) as study:
        for name, right in (("a", {0, 1}), ("b", {0, 2}), ("c", {0, 1, 2})):
            with serving(by_number(right)) as server:
                judge(study, server, model=name)
        result = run_panel(study, "qa", ["a", "b", "c"])
        assert (result.decided, result.divided, result.absent) == (4, 0, 0)
        found = study.rows(
            """SELECT label, round(confidence, 3), rationale, route FROM verdicts JOIN judges USING (judge_id)
            WHERE name = 'panel of a, b, c' ORDER BY position"""
        )
        assert [row[:2] for row in found] == [
            ("CORRECT", 1.0),
            ("CORRECT", 0.667),
            ("CORRECT", 0.667),
            ("INCORRECT", 1.0),
        ]
        assert found[1][2:] == ("a: CORRECT; b: INCORRECT; c: CORRECT", "panel")
        run_panel(study, "qa", ["a", "b", "c"])
        assert study.rows("SELECT count(*) FROM verdicts WHERE route = 'panel'") == [(4,)]


def test_a_tie_in_a_panel_is_never_broken(tmp_path: Path) -> None:
    with Study.open(make_study(tmp_path, rows(3))) as study:
        for name, right in (("a", {0, 1, 2}), ("b", {0})):
            with serving(by_number(right)) as server:
                judge(study, server, model=name)
        result = run_panel(study, "qa", ["a", "b"], name="two")
        assert (result.decided, result.divided) == (1, 2)
        failures = study.rows("SELECT failure FROM verdicts JOIN judges USING (judge_id) WHERE name = 'two' ORDER BY 1")
        assert failures == [("",), ("divided",), ("divided",)]
        assert run_panel(study, "qa", ["a", "b"], name="a").judge == "a (2)", "no judge's name is taken"
        with pytest.raises(UsageError, match="'a' is named 2 times"):
            run_panel(study, "qa", ["a", "b", "a"])
        with pytest.raises(UsageError, match="'two' is a panel itself"):
            run_panel(study, "qa", ["a", "two"])
        with pytest.raises(UsageError, match="no drawn item of qa"):
            run_panel(study, "qa", ["a", "b"], "drawn")
        with pytest.raises(UsageError, match="at least two"):
            run_panel(study, "qa", ["a"])
        with pytest.raises(UsageError, match="did not judge"):
            run_panel(study, "qa", ["a", "nobody"])


# What a benchmark settles without a judge


@pytest.mark.slow
def test_points_of_an_empty_extraction_cost_nothing(tmp_path: Path, overread_cli: Overread) -> None:
    from tests.sample_study import make_sample_study

    with Study.open(make_sample_study(tmp_path)) as study:
        with serving(always("2")) as server:
            result = judge(study, server, task="integrity", concurrency=16)
        slices = "json_extract_string(slices, '$.extraction') = 'empty'"
        empty = study.rows(f"SELECT count(*) FROM items WHERE task = 'integrity' AND {slices}")[0][0]
        assert empty > 0 and result.state.given == empty
        given = study.rows(
            "SELECT DISTINCT label, cost FROM verdicts WHERE import_id = ? AND route = 'empty_extraction'",
            [result.run_id],
        )
        assert given == [("0", None)]
        assert set(fates(study))
