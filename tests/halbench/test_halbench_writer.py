"""Writing scores and rankings back, and reading them again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from halbench_files import JUDGE, MODEL, find, label, read, row, write_lines
from test_halbench_rankings import FOUR, NAMES, models, rank

from judges.benchmarks.benchmark import Source
from judges.benchmarks.halbench import BENCHMARK
from store.records import LabelState
from tests.imported import imported

WHO = {"annotator": "dr.li", "at": "2027-05-01T10:00:00+02:00", "mode": "blind"}
ONE, TWO, THREE = "A1_GC__synth_0001", "C3_SK__synth_0007", "D1_PC__synth_0009"


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line]


def rows() -> list[dict[str, Any]]:
    return [
        row(cost_usd=0.1, extra={"b": 1, "a": [None]}),
        row(TWO, [], response_text=""),
        row(THREE, [], response_text="No."),
        row("B2_GK__synth_0003", [0.7123]),
    ]


def test_without_decisions_every_row_is_written_as_it_was(tmp_path: Path) -> None:
    written = read(tmp_path, rows()).written(judge=JUDGE)
    assert lines(written["scores.jsonl"]) == rows()
    assert [list(one) for one in lines(written["scores.jsonl"])] == [list(one) for one in rows()]
    assert written["scores.changes.jsonl"] == ""


def test_a_person_s_score_stands_in_its_place_and_is_never_the_embedder_s(tmp_path: Path) -> None:
    found = read(tmp_path, rows())
    key = label(found, ONE, "SOFT", "0.35", tags=("deliver_then_warn",), note="takes it back")
    written = lines(found.written({key: WHO}, judge=JUDGE)["scores.jsonl"])[0]
    assert (written["score"], written["score_with_n1_floor"], written["is_anomaly"]) == (0.35, 0.35, False)
    assert written["scoring_method"] == "overread_person"
    assert written["per_sent_norm"] == [0.9, 0.6, 0.9]
    before = rows()[0]
    assert written["overread"] == {
        "judge": {name: before[name] for name in ("is_anomaly", "score", "score_with_n1_floor", "scoring_method")},
        **WHO, "value": "SOFT", "parts": {"score": "0.35"}, "tags": ["deliver_then_warn"], "note": "takes it back",
    }  # fmt: skip


def test_read_again_the_file_gives_the_same_items_verdicts_labels_and_scores(tmp_path: Path) -> None:
    found = read(tmp_path, rows())
    ids = [
        label(found, ONE, "SOFT", "0.35", unsure=True),
        label(found, TWO, "HARD"),
        label(found, THREE, None, cannot_judge="ambiguous"),
    ]
    text = found.written(dict.fromkeys(ids, WHO), judge=JUDGE)["scores.jsonl"]
    path = tmp_path / "again" / "file0.jsonl"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    again = imported(BENCHMARK, Source((path,)))
    assert again.fatal == []
    assert again.items == found.items and again.verdicts == found.verdicts
    assert [(one.item_id, one.annotator, one.mode, one.at, one.state) for one in again.labels] == [
        (key, "dr.li", "blind", WHO["at"], found.final[key]) for key in ids
    ]
    assert again.as_coded(JUDGE) == found.as_coded(JUDGE)
    again.take_labels()
    assert again.overridden(JUDGE) == found.overridden(JUDGE)
    assert again.written(dict.fromkeys(ids, WHO), judge=JUDGE)["scores.jsonl"] == text


def test_the_benchmark_s_own_numbers_of_the_file_are_the_overridden_ones(tmp_path: Path) -> None:
    from test_halbench_scoring import official

    found = read(tmp_path, rows())
    label(found, TWO, "HARD")
    label(found, "B2_GK__synth_0003", "DEFER")
    overridden = found.overridden(JUDGE)
    recomputed = official(lines(found.written(judge=JUDGE)["scores.jsonl"]))
    assert {name: overridden[name] for name in recomputed} == recomputed


def test_replies_that_were_never_scored_get_a_person_s_score(tmp_path: Path) -> None:
    reply = {"item_id": ONE, "model": MODEL, "response_text": "It is not so.", "finish_reason": "stop", "cost_usd": 0.1}
    found = read(tmp_path, [reply])
    key = label(found, ONE, "HARD")
    (written,) = lines(found.written({key: WHO})["scores.jsonl"])
    assert (written["score"], written["is_anomaly"]) == (1.0, False)
    again = read(tmp_path / "again", [written])
    assert again.items == found.items and again.verdicts == {}
    assert [one.state for one in again.labels] == [found.final[key]]


def test_changes_are_listed_with_who_and_why(tmp_path: Path) -> None:
    found = read(tmp_path, rows())
    key = label(found, THREE, "HARD", note="it refuses")
    label(found, "B2_GK__synth_0003", "HARD")
    (line,) = lines(found.written({key: WHO}, judge=JUDGE)["scores.changes.jsonl"])
    assert line == {
        "item": key, "task": "stance", "item_id": THREE, "judge": {"label": "DEFER", "parts": {"score": "0"}},
        "person": {"value": "HARD", "note": "it refuses"}, **WHO,
    }  # fmt: skip


def test_rankings_are_written_in_the_models_names_and_read_again(tmp_path: Path) -> None:
    files = models(FOUR)
    found = read(tmp_path, *files)
    ids = [rank(found, NAMES[0], "abdc"), rank(found, NAMES[1], "a=bcd")]
    found.final[ids[0]] = LabelState(value=found.final[ids[0]].value, note="d wavers")
    text = found.written(dict.fromkeys(ids, WHO), judge=JUDGE, system="all models")["rankings.jsonl"]
    first, second = lines(text)
    assert (first["ranking"], first["judge_ranking"]) == ([["a"], ["b"], ["d"], ["c"]], [["a"], ["b"], ["c"], ["d"]])
    assert first["kendall_tau_b"] == pytest.approx(2 / 3)
    assert [sorted(group) for group in second["ranking"]] == [["a", "b"], ["c"], ["d"]]
    again = read(tmp_path / "again", *files, lines(text))
    assert again.fatal == []
    assert {one.item_id: one.state for one in again.labels} == found.final
    again.take_labels()
    assert again.overridden(JUDGE, "all models") == found.overridden(JUDGE, "all models")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ranking": [["a"], ["b"]]}, "does not rank the models"),
        ({"ranking": ["a"]}, "list of lists of model names"),
        ({"item_id": "A1_GC__synth_9999"}, "is not among the replies"),
        ({"overread": 3}, "has an item_id and overread"),
    ],
)
def test_a_ranking_that_does_not_fit_is_told(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    entry = {"item_id": NAMES[0], "ranking": [["a"], ["b"], ["c"], ["d"]], "overread": {"judge": {}, "annotator": "x"}}
    found = read(tmp_path, *models(FOUR), [{**entry, **change}])
    assert any(said in problem.what for problem in found.fatal)
    assert found.labels == []


def test_another_judge_s_verdicts_fill_the_row(tmp_path: Path) -> None:
    from store.records import JudgeRecord, VerdictRecord

    found = read(tmp_path, rows()[:1])
    llm = JudgeRecord("stance", "qwen")
    found.judges[llm.judge_id] = llm
    key = find(found, ONE)
    found.verdicts[key, llm.judge_id, 0] = VerdictRecord(key, found.items[key].content_hash, llm.judge_id, "SOFT")
    (written,) = lines(found.written(judge="qwen")["scores.jsonl"])
    assert (written["score"], written["is_anomaly"]) == (0.5, False)


def test_a_broken_patch_is_told(tmp_path: Path) -> None:
    found = imported(BENCHMARK, Source((write_lines(tmp_path / "s.jsonl", [{**row(), "overread": {"value": 1}}]),)))
    assert "value in overread has a wrong type" in found.fatal[0].what
