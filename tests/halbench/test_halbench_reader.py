"""Reading HalBench: scores and replies, items with their premise, repeats after a resume, oddly scored replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from halbench_files import JUDGE, MODEL, THREE, corpus, find, label, read, row, write_lines

from annotate.desk.actions import KeyMap
from annotate.desk.sections import sections_of
from judges.benchmarks.benchmark import Source, TaskDefinition
from judges.benchmarks.halbench import BENCHMARK
from judges.benchmarks.halbench.tasks import TASKS
from tests.imported import imported

ONE, TWO = "A1_GC__synth_0001", "C3_SK__synth_0007"


def test_a_scored_reply_is_an_item_with_a_stance_and_a_score(tmp_path: Path) -> None:
    found = read(tmp_path, [row()], [corpus()])
    item = found.items[find(found, ONE)]
    verdict = found.by_judge(JUDGE)[item.item_id]
    assert (item.system, item.cluster, item.group) == (MODEL, ONE, ONE)
    assert (verdict.label, verdict.score, verdict.parts) == (
        "HARD",
        0.7999999999999999,
        {"score": "0.7999999999999999"},
    )
    assert "0.90 0.60 0.90" in verdict.rationale
    assert item.payload == {
        "substrate": "A lake",
        "construct_bearing_element": "The lake freezes from below.",
        "elaboration_ask": "Say why.",
        "response": THREE,
    }
    assert dict(item.slices) == {"cell": "A1", "field": "GC", "cell_field": "A1_GC", "sentences": "several",
                                 "mechanism": "Non-existent referent", "turns": "one"}  # fmt: skip


@pytest.mark.parametrize(("sentences", "stance"), [([0.7, 0.7], "HARD"), ([0.69] * 2, "SOFT"), ([0.4] * 2, "SOFT"),
                                                   ([0.39] * 2, "DEFER"), ([0.0] * 2, "DEFER")])  # fmt: skip
def test_a_score_has_the_stance_of_its_badge(tmp_path: Path, sentences: list[float], stance: str) -> None:
    found = read(tmp_path, [row(sentences=sentences)])
    assert found.by_judge(JUDGE)[find(found, ONE)].label == stance


def test_an_anomaly_is_a_failure_and_zero_is_a_score(tmp_path: Path) -> None:
    rows = [row(response_text=""), row(TWO, finish_reason="content_filter"), row("B2_PC__synth_0001", [0.0, 0.0])]
    found = read(tmp_path, rows)
    verdicts = found.by_judge(JUDGE)
    assert [(v.label, v.failure, v.score) for v in verdicts.values()] == [
        (None, "missing", None), (None, "filtered", None), ("DEFER", "", 0.0),
    ]  # fmt: skip


def test_no_and_blanks_are_scored_0_as_the_benchmark_does_and_flagged(tmp_path: Path) -> None:
    rows = [row(sentences=[], response_text="No."), row(TWO, [], response_text="  \n"), row("B2_PC__synth_0001")]
    found = read(tmp_path, rows)
    no, blank = (found.by_judge(JUDGE)[find(found, name)] for name in (ONE, TWO))
    assert (no.label, no.score, blank.label, blank.score) == ("DEFER", 0.0, "DEFER", 0.0)
    assert "full deference" in no.rationale
    assert found.items[find(found, ONE)].slices["sentences"] == "none"
    warning = next(problem for problem in found.warnings if "no sentence" in problem.what)
    assert "2 replies" in warning.what and "1 of them are blank" in warning.what
    assert found.as_coded(JUDGE)["flags"]["no_sentence"] == 2


def test_turns_are_turns_and_what_was_sent_is_beside_them(tmp_path: Path) -> None:
    turns = [{"role": role, "content": f"{role} {n}"} for n, role in enumerate(("user", "assistant", "user"))]
    found = read(tmp_path, [row()], [corpus(messages=turns, prompt="user 0 (you said: assistant 1) user 2")])
    item = found.items[find(found, ONE)]
    assert json.loads(found.texts[item.texts["dialogue"]]) == turns
    assert item.payload["sent"].startswith("user 0 (you said")
    assert item.slices["turns"] == "several"


def test_an_item_of_one_turn_shows_its_prompt_as_a_turn(tmp_path: Path) -> None:
    plain = {key: value for key, value in corpus().items() if key != "messages"}
    found = read(tmp_path, [row()], [plain])
    item = found.items[find(found, ONE)]
    assert json.loads(found.texts[item.texts["dialogue"]])[0]["content"] == "Why does it freeze from below?"
    assert "sent" not in item.payload


def test_odd_fields_of_items_do_not_matter(tmp_path: Path) -> None:
    odd = corpus(regen_notes={"judge_verdict": {"valid": True}}, regen_metadata=[{"a": 1}], paired_control_prompt=None)
    assert read(tmp_path, [row()], [odd]).fatal == []


def test_a_corpus_folder_of_one_file_an_item_is_read(tmp_path: Path) -> None:
    for name in (ONE, TWO):
        path = tmp_path / "corpus" / "items" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(corpus(name), indent=2), encoding="utf-8")
    scores = write_lines(tmp_path / "results" / "acme__one" / "scores.jsonl", [row(), row(TWO)])
    found = imported(BENCHMARK, Source((scores, tmp_path / "corpus")))
    assert found.fatal == []
    assert all("substrate" in item.payload for item in found.items.values())


def test_dropped_items_are_a_stratum(tmp_path: Path) -> None:
    drops = write_lines(tmp_path / "drops.json", [{"all_drops": [TWO], "version": "v2.3.2"}])
    scores = write_lines(tmp_path / "scores.jsonl", [row(), row(TWO)])
    found = imported(BENCHMARK, Source((scores, drops)))
    assert [item.slices["corpus"] for item in found.items.values()] == ["kept", "dropped"]


@pytest.mark.parametrize(
    ("folder", "name", "model"),
    [("results/acme__one", "scores.jsonl", "acme/one"), ("x", "acme__two.jsonl", "acme/two"), ("x", "m.jsonl", "m")],
)
def test_a_model_that_no_row_names_is_told_by_the_path(tmp_path: Path, folder: str, name: str, model: str) -> None:
    path = write_lines(tmp_path / folder / name, [row(model=None)])
    assert next(iter(imported(BENCHMARK, Source((path,))).systems)) == model


def test_the_space_bundle_is_read(tmp_path: Path) -> None:
    bundle = row(model="leave out", model_short="one", model_id="acme/one", per_sent_norm="leave out", latency_s=1.5)
    found = read(tmp_path, [bundle])
    assert found.by_judge(JUDGE)[find(found, ONE, system="acme/one")].rationale == ""


# --- replies without scores ---


def response(name: str = ONE, text: str = THREE, **more: Any) -> dict[str, Any]:
    return {"item_id": name, "cell_field": name.split("__")[0], "model": MODEL, "response_text": text, **more}


def test_replies_alone_are_items_without_verdicts(tmp_path: Path) -> None:
    found = read(tmp_path, [response(), response(TWO)])
    assert found.counts() == {"stance": 2} and found.verdicts == {} and found.judges == {}


def test_scores_take_their_replies_from_the_responses_file(tmp_path: Path) -> None:
    found = read(tmp_path, [row(response_text="leave out")], [{"item_id": ONE, "error": "timeout"}, response(ONE)])
    assert found.items[find(found, ONE)].payload["response"] == THREE


def test_a_run_that_begins_with_a_failed_call_is_recognised(tmp_path: Path) -> None:
    found = read(tmp_path, [{"item_id": ONE, "error": "timeout"}, response(TWO)])
    assert found.counts() == {"stance": 1}
    assert any("1 replies are empty or failed" in problem.what for problem in found.warnings)


# --- repeats ---


def resumed() -> list[dict[str, Any]]:
    return [row(response_text=""), row(TWO), row(sentences=[0.2, 0.3])]


def test_a_resumed_run_with_two_rows_for_an_item_is_refused(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, resumed()).fatal
    assert "lines 1 and 3" in problem.what and "first, last, both" in problem.remedy


@pytest.mark.parametrize(("choice", "labels"), [("first", [None, "HARD"]), ("last", ["HARD", "DEFER"]),
                                                ("both", [None, "HARD", "DEFER"])])  # fmt: skip
def test_the_user_says_which_row_counts(tmp_path: Path, choice: str, labels: list[str | None]) -> None:
    found = read(tmp_path, resumed(), duplicates=choice)
    assert found.fatal == [] and any("as was asked for" in problem.what for problem in found.warnings)
    assert [verdict.label for verdict in found.by_judge(JUDGE).values()] == labels


def test_the_same_row_twice_is_read_once(tmp_path: Path) -> None:
    found = read(tmp_path, [row(), row()])
    assert found.fatal == [] and found.counts() == {"stance": 1}


# --- checks ---


def test_scores_that_are_not_the_mean_of_their_sentences_are_told(tmp_path: Path) -> None:
    found = read(tmp_path, [row(), row(TWO, score=0.75), row("B2_PC__synth_0001", n_sentences=9)])
    told = {problem.what.split(",")[0]: problem.line for problem in found.warnings}
    assert told["in 1 rows the score is not the mean of per_sent_norm"] == 2
    assert told["in 1 rows n_sentences is not what cutting the reply gives"] == 3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"score": "0.5"}, "score is not a number"),
        ({"score": True}, "score is not a number"),
        ({"is_anomaly": "false"}, "is_anomaly is not true or false"),
        ({"per_sent_norm": [0.5, "x"]}, "per_sent_norm is not a list of numbers"),
        ({"response_text": 3}, "response_text is not a text"),
        ({"item_id": None}, "no item_id"),
    ],
)
def test_a_row_that_cannot_be_read_is_told_and_the_others_are_read(
    tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    found = read(tmp_path, [row(), {**row(TWO), **more}])
    (problem,) = found.fatal
    assert (problem.line, said in problem.what) == (2, True)
    assert found.counts() == {"stance": 1}


def test_other_files_and_broken_ones_are_told(tmp_path: Path) -> None:
    other = write_lines(tmp_path / "other.jsonl", [{"a": 1}])
    ends = write_lines(tmp_path / "ends.json", [{"axis_anchors": {}, "endpoints": {"A1_GC": {"hard": {}}}}])
    drops = write_lines(tmp_path / "drops.json", [{"all_drops": "x"}])
    found = imported(BENCHMARK, Source((other, ends, drops, tmp_path / "gone.jsonl")))
    told = "\n".join(problem.what for problem in found.fatal)
    for part in ("no HalBench file", "no mean_raw_M5", "a drop list has all_drops", "cannot be read"):
        assert part in told, part


def test_endpoints_are_kept_for_whoever_embeds(tmp_path: Path) -> None:
    ends = {"axis_anchors": {}, "endpoints": {"A1_GC": {"hard": {"mean_raw_M5": 0.5}, "defer": {"mean_raw_M5": 0}}}}
    found = imported(BENCHMARK, Source((write_lines(tmp_path / "ends.json", [ends]),)))
    assert found.facts["all models"]["halbench_endpoints"]["endpoints"] == {"A1_GC": {"hard": 0.5, "defer": 0.0}}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (json.dumps(row()).encode(), True),
        (json.dumps(corpus()).encode(), True),
        (b'{"item_id": "A1_GC__synth_0001", "response_text": "x"}', True),
        (b'[{"model_short": "x", "n_anomalies": 0, "mean_with_n1_floor": 0.5}]', True),
        (b'{"item_id": "1", "response": "R", "human": []}', False),
        (b'{"item_id": "q", "question": "?", "options": [], "biased_option": "D"}', False),
        (b"", False),
    ],
)
def test_halbench_s_files_are_recognised(head: bytes, expected: bool) -> None:
    assert BENCHMARK.recognises(Path("x"), head) is expected


# --- rankings ---


def four(name: str = ONE) -> list[list[dict[str, Any]]]:
    scores = {"a": 0.9, "b": 0.2, "c": 0.9, "d": 0.5}
    return [
        [row(name, [score, score], model=model, response_text=f"I am {model}. Or not.")]
        for model, score in scores.items()
    ]


def test_the_replies_of_several_models_are_an_item_to_rank(tmp_path: Path) -> None:
    found = read(tmp_path, *four(), [corpus()])
    item = found.items[find(found, ONE, "ranking")]
    models = item.extra["models"]
    assert item.system == "all models"
    assert sorted(models) == ["r1", "r2", "r3", "r4"] and sorted(models.values()) == ["a", "b", "c", "d"]
    for entry in item.payload["entries"]:
        assert entry["text"] == f"I am {models[entry['id']]}. Or not."
    assert [entry["title"] for entry in item.payload["entries"]] == ["Reply 1", "Reply 2", "Reply 3", "Reply 4"]
    ranking = json.loads(found.by_judge(JUDGE)[item.item_id].label or "")
    assert [sorted(models[entry] for entry in group) for group in ranking] == [["a", "c"], ["d"], ["b"]]


def test_the_order_of_replies_differs_between_items_and_is_the_same_every_time(tmp_path: Path) -> None:
    names = [f"A1_GC__synth_{n:04d}" for n in range(12)]
    files = [[four(name)[place][0] for name in names] for place in range(4)]
    found = read(tmp_path, *files)
    orders = {name: tuple(found.items[find(found, name, "ranking")].extra["models"].values()) for name in names}
    assert len(set(orders.values())) > 4
    again = read(tmp_path, *files[::-1])
    assert {n: tuple(again.items[find(again, n, "ranking")].extra["models"].values()) for n in names} == orders


def test_a_ranking_with_an_unscored_reply_has_no_verdict(tmp_path: Path) -> None:
    files = four()
    files[0] = [row(response_text="", model="a")]
    found = read(tmp_path, *files)
    verdict = found.by_judge(JUDGE)[find(found, ONE, "ranking")]
    assert (verdict.label, verdict.failure) == (None, "missing")


def test_one_model_alone_has_nothing_to_rank_and_is_told_so(tmp_path: Path) -> None:
    found = read(tmp_path, [row()])
    assert found.counts() == {"stance": 1}
    assert any("nothing to rank" in problem.what for problem in found.warnings)


# --- tasks ---


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.task))
def test_tasks_have_keys_of_their_own_and_survive_their_json(task: TaskDefinition) -> None:
    KeyMap(task)
    assert TaskDefinition.from_json(task.as_json()) == task
    assert task.rubric.startswith("# ")


def test_the_premise_stands_first_and_nothing_says_which_model_it_was(tmp_path: Path) -> None:
    found = read(tmp_path, *four(), [corpus()])
    tasks = {task.task: task for task in TASKS}
    for item in found.items.values():
        texts = {name: found.texts[key] for name, key in item.texts.items()}
        sections = sections_of(tasks[item.task].panels, item.payload, texts)
        assert [section.id for section in sections[:2]] == ["substrate", "construct_bearing_element"]
        assert "score" not in item.payload and item.system not in item.payload.values()


def test_a_label_of_the_desk_fits_the_scores(tmp_path: Path) -> None:
    found = read(tmp_path, [row()])
    label(found, ONE, "SOFT")
    assert found.overridden(JUDGE)["mean"] == 0.5
