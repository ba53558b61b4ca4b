"""The leaderboard against an independent computation, people's scores put in, and totals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from halbench_files import JUDGE, MODEL, corpus, find, label, read, row, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judges.benchmarks.benchmark import Source, Undefined
from judges.benchmarks.halbench import BENCHMARK
from judges.benchmarks.halbench.corpus import LEADERBOARD
from judges.benchmarks.halbench.shapes import CELLS, FIELDS
from store.records import JudgeRecord, VerdictRecord
from tests.imported import Imported, imported, summed

UNIT = st.floats(0, 1).map(lambda value: round(value, 4))


@st.composite
def score_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows of every kind: anomalies, no sentence, one, several; cells and fields at random."""
    rows = []
    for number in range(draw(st.integers(1, 40))):
        cell, field = draw(st.sampled_from(CELLS)), draw(st.sampled_from(list(FIELDS)))
        sentences = draw(st.lists(UNIT, max_size=6))
        kind = draw(st.sampled_from(["plain", "plain", "plain", "empty", "filtered", "no"]))
        name = f"{cell}_{field}__synth_{number:04d}"
        if kind == "empty":
            rows.append(row(name, [], response_text=""))
        elif kind == "filtered":
            rows.append(row(name, sentences, finish_reason="content_filter"))
        else:
            text = "No." if not sentences else " ".join(f"Sentence {n} is here." for n in range(len(sentences)))
            rows.append(row(name, sentences, response_text=text))
    return rows


def official(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The leaderboard row of the benchmark's description, written again from it."""
    valid = [r["score"] for r in rows if r["score"] is not None and not r["is_anomaly"]]
    floored = [r["score_with_n1_floor"] for r in rows if r["score_with_n1_floor"] is not None and not r["is_anomaly"]]
    scores = np.array(valid)
    return {
        "n": len(valid),
        "n_anomalies": sum(1 for r in rows if r["is_anomaly"]),
        "n_n1": sum(1 for r in rows if r["is_n1_response"]),
        "mean": float(np.mean(scores)),
        "mean_with_n1_floor": float(np.mean(floored if floored else valid)),
        "sd": float(np.std(scores, ddof=0)),
        **{f"p{q}": float(np.percentile(scores, q, method="linear")) for q in (10, 50, 90)},
        **{f"pct_above_{t}": float(np.mean(scores > t)) for t in (0.5, 0.7, 0.8)},
    }


@given(rows=score_rows())
@settings(max_examples=40)
def test_a_generated_scores_file_recomputes_to_the_leaderboard(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    found = read(tmp_path_factory.mktemp("scores"), rows)
    coded = found.as_coded(JUDGE)
    if any(r["score"] is not None for r in rows):
        assert {name: coded[name] for name in LEADERBOARD} == official(rows)
        for cell in CELLS:
            own = [r["score"] for r in rows if r["cell"] == cell and r["score"] is not None]
            assert coded["by_cell"][cell]["n"] == len(own)
            if own:
                assert coded["by_cell"][cell]["mean"] == float(np.mean(own))
    else:
        assert isinstance(coded["mean"], Undefined)


def test_shares_are_strictly_above(tmp_path: Path) -> None:
    rows = [row(f"A1_GC__synth_{n:04d}", [score, score]) for n, score in enumerate((0.5, 0.7, 0.8, 0.81))]
    coded = read(tmp_path, rows).as_coded(JUDGE)
    assert [coded[f"pct_above_{bound}"] for bound in (0.5, 0.7, 0.8)] == [0.75, 0.5, 0.25]


def test_rows_that_both_count_are_counted_twice_as_the_benchmark_does(tmp_path: Path) -> None:
    rows = [row(response_text=""), row(sentences=[0.2, 0.4]), row("B2_PC__synth_0001")]
    coded = read(tmp_path, rows, duplicates="both").as_coded(JUDGE)
    assert {name: coded[name] for name in LEADERBOARD} == official(rows)
    assert coded["n_anomalies"] == 1


def test_a_stated_leaderboard_is_compared_number_for_number(tmp_path: Path) -> None:
    from judges.scoring import differences, plain

    rows = [row(f"A1_GC__synth_{n:04d}", [n / 10, 0.3]) for n in range(9)]
    stated = [{"model_short": "one", "model_id": MODEL, **official(rows)}, {"model_id": "other", "mean": 0.1}]
    board = tmp_path / "leaderboard.json"
    board.write_text(json.dumps(stated), encoding="utf-8")
    found = imported(BENCHMARK, Source((write_lines(tmp_path / "scores.jsonl", rows), board)))
    facts = found.facts_of(MODEL)
    row_of_model = BENCHMARK.stated_scores(facts, JUDGE)
    assert row_of_model == official(rows)
    assert differences(plain(found.as_coded(JUDGE)), row_of_model or {}) == []
    assert BENCHMARK.stated_scores(facts, "somebody else") is None


def test_the_documented_mean_is_the_floored_one_and_the_corpus_without_the_dropped(tmp_path: Path) -> None:
    rows = [row(sentences=[0.9]), row("B2_PC__synth_0001", [0.2, 0.4]), row("B2_PC__synth_0002", [0.5, 0.5])]
    drops = write_lines(tmp_path / "drops.json", [{"all_drops": ["B2_PC__synth_0002"]}])
    found = imported(BENCHMARK, Source((write_lines(tmp_path / "scores.jsonl", rows), drops)))
    described = BENCHMARK.as_described(found.scored(JUDGE), found.facts_of())
    assert described["mean"] == pytest.approx((0.3 + 0.5) / 2)
    assert found.as_coded(JUDGE)["mean"] == pytest.approx((0.9 + 0.3 + 0.5) / 3)
    assert (described["corpus_v2.3"]["n"], described["corpus_v2.3"]["mean"]) == (2, pytest.approx(0.6))


def test_the_heat_map_has_every_cell_and_says_which_are_empty(tmp_path: Path) -> None:
    heat = read(tmp_path, [row("C3_SK__synth_0001", [0.25, 0.75])]).as_coded(JUDGE)["heat_map"]
    assert sum(len(fields) for fields in heat.values()) == 32
    assert heat["C3"]["SK"] == {"mean": 0.5, "n": 1}
    assert (heat["A1"]["GC"]["n"], heat["A1"]["GC"]["mean"].status) == (0, "nothing_to_score")


def test_length_and_score_are_correlated_as_the_benchmark_shows_them(tmp_path: Path) -> None:
    words = [3, 5, 8, 9, 12, 15, 20, 22, 30, 41]
    scores = [0.3, 0.2, 0.5, 0.4, 0.4, 0.7, 0.6, 0.9, 0.8, 0.7]
    rows = [
        row(f"A1_GC__synth_{n:04d}", [score, score], response_text="word " * count)
        for n, (count, score) in enumerate(zip(words, scores, strict=True))
    ]
    rows.append(row("A1_GC__synth_0099", [], response_text="   "))
    length = read(tmp_path, rows).as_coded(JUDGE)["length"]
    assert length["n"] == 10
    assert length["spearman"] == pytest.approx(stats.spearmanr(scores, words).statistic)
    fifths = [sum(scores[n : n + 2]) / 2 for n in range(0, 10, 2)]
    assert list(length["mean_by_length"].values()) == pytest.approx(fifths)


def test_lengths_that_do_not_vary_have_no_correlation(tmp_path: Path) -> None:
    length = read(tmp_path, [row(), row("B2_PC__synth_0001", [0.1, 0.1])]).as_coded(JUDGE)["length"]
    assert length["spearman"].status == "constant_rater"


# --- people ---


def labelled(tmp_path: Path) -> Imported:
    rows = [row(), row("B2_PC__synth_0001", [0.9]), row("C3_SK__synth_0001", [], response_text=""),
            row("D1_GK__synth_0001", [], response_text="No.")]  # fmt: skip
    return read(tmp_path, rows)


def test_a_person_s_number_counts_else_the_constant_of_the_stance(tmp_path: Path) -> None:
    found = labelled(tmp_path)
    label(found, "A1_GC__synth_0001", "SOFT", "0.35", tags=("deliver_then_warn",))
    label(found, "D1_GK__synth_0001", "HARD", tags=("silent_refusal",))
    scores = found.overridden(JUDGE)
    assert scores["mean"] == pytest.approx((0.35 + 0.9 + 1.0) / 3)
    assert scores["people"] == {"stance": {"labelled": 2, "changed": 2, "cannot_judge": 0}}
    assert scores["tags"] == {"deliver_then_warn": 0.5, "silent_refusal": 0.5}


def test_a_person_s_score_passes_the_floor_and_ends_an_anomaly(tmp_path: Path) -> None:
    found = labelled(tmp_path)
    before = found.overridden(JUDGE)
    label(found, "B2_PC__synth_0001", "DEFER")
    label(found, "C3_SK__synth_0001", "HARD")
    scores = found.overridden(JUDGE)
    assert (before["n"], before["n_anomalies"], before["n_n1"]) == (3, 1, 1)
    assert (scores["n"], scores["n_anomalies"], scores["n_n1"]) == (4, 0, 1)
    assert scores["mean_with_n1_floor"] == pytest.approx((0.8 + 0.0 + 1.0) / 3)


def test_cannot_judge_leaves_the_score(tmp_path: Path) -> None:
    found = labelled(tmp_path)
    label(found, "A1_GC__synth_0001", None, cannot_judge="ambiguous")
    assert found.overridden(JUDGE)["mean"] == found.as_coded(JUDGE)["mean"]


def test_another_judge_is_scored_by_its_number_or_its_stance(tmp_path: Path) -> None:
    found = labelled(tmp_path)
    llm = JudgeRecord("stance", "qwen")
    found.judges[llm.judge_id] = llm
    answers: list[tuple[str | None, float | None]] = [("SOFT", None), ("DEFER", 0.1), (None, None)]
    for key, (stance, score) in zip(found.items, answers, strict=False):
        found.verdicts[key, llm.judge_id, 0] = VerdictRecord(
            key, found.items[key].content_hash, llm.judge_id, stance, score=score, raw="SOFT: it hedges"
        )
    coded = found.as_coded("qwen")
    assert (coded["n"], coded["n_anomalies"], coded["mean"]) == (2, 1, pytest.approx(0.3))
    combined = BENCHMARK.combine(summed(BENCHMARK, found.scored("qwen")))
    assert combined["mean"] == pytest.approx(0.3)


STANCES = st.sampled_from([None, ("HARD", ""), ("SOFT", "0.3"), ("DEFER", "")])


@given(rows=score_rows(), people=st.lists(STANCES, max_size=40))
@settings(max_examples=30)
def test_totals_combine_to_the_scores_with_and_without_labels(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], people: list[tuple[str, str] | None]
) -> None:
    found = read(tmp_path_factory.mktemp("totals"), rows)
    for one, said in zip(rows, people, strict=False):
        if said is not None:
            label(found, one["item_id"], *said)
    for labels, scores in ((False, found.as_coded(JUDGE)), (True, found.overridden(JUDGE))):
        combined = BENCHMARK.combine(summed(BENCHMARK, found.scored(JUDGE), labels=labels))
        assert combined.keys() == BENCHMARK.needs().keys()
        for path, value in combined.items():
            here: Any = scores
            for name in path.split(" / "):
                here = here[name]
            if isinstance(value, Undefined):
                assert isinstance(here, Undefined), path
            else:
                assert math.isclose(value, here, abs_tol=1e-12), path


def test_every_metric_needs_the_stance_and_quantiles_are_not_among_them() -> None:
    needs = BENCHMARK.needs()
    assert set(needs.values()) == {frozenset({"stance"})}
    assert "p50" not in needs and "heat_map / C3 / SK" not in needs
    assert "heat_map / C3 / SK / mean" in needs


def test_the_report_is_told_that_it_is_no_safety_benchmark() -> None:
    assert "not a safety benchmark" in BENCHMARK.remarks()[0]


def test_a_judge_without_verdicts_scores_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, [row()], [corpus()])
    assert found.as_coded("nobody") == {}
    assert find(found, "A1_GC__synth_0001")
