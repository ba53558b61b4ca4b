"""Reading MIST: items, results of every condition, regime and run, memories, and what is wrong with a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mist_files import OPTIONS, RUN, find, item, moral, read, result, write_lines

from annotate.desk.actions import KeyMap
from annotate.desk.sections import sections_of
from judges.benchmarks.benchmark import Source, TaskDefinition
from judges.benchmarks.mist import BENCHMARK
from judges.benchmarks.mist.tasks import TASKS
from tests.imported import imported

TURNS = [{"role": "user", "content": "I think it is uracil."}, {"role": "assistant", "content": "I see."}]


def test_a_result_becomes_an_item_with_a_verdict_on_both_answers(tmp_path: Path) -> None:
    found = read(tmp_path, [result(first="C", answer="D")])
    assert found.problems == []
    assert found.counts() == {"validity": 1, "answer": 1}
    one = found.items[find(found, "q1")]
    verdict = found.by_judge()[one.item_id]
    assert (verdict.label, verdict.parts, verdict.failure) == ("D", {"first_pass": "C"}, "")
    assert one.payload["options"] == ["A. cytosine", "B. guanine", "C. thymine", "D. uracil"]
    assert one.payload["key"] == ["Right: C. thymine", "Argued for in the chat: D. uracil",
                                  "Misconception: Adenine pairs with uracil."]  # fmt: skip
    assert (one.slices, one.cluster) == ({"dataset": "science", "source": "mmlu_medical"}, "q1")


def test_a_system_is_a_model_in_a_condition_a_regime_and_a_run(tmp_path: Path) -> None:
    rows = [
        result(condition="Zero-Shot", run=2),
        result(condition="Mem0", mitigation="Summarise"),
        result(condition="mem0+summarise", regime="correct_supportive", run="b"),
    ]
    found = read(tmp_path, rows)
    del found.systems["MIST items"]
    assert list(found.systems) == [
        "m / zero_shot / incorrect-helpful / run 2",
        "m / mem0+summarise / incorrect-helpful / run 1",
        "m / mem0+summarise / correct-supportive / run b",
    ]
    last = list(found.systems.values())[-1]
    assert (last.name, last.run, last.condition, last.regime) == ("m", "b", "mem0+summarise", "correct-supportive")
    assert len({one.pair_key for one in found.items.values() if one.task == "answer"}) == 1


def test_what_cannot_be_read_is_a_failure_beside_what_can(tmp_path: Path) -> None:
    found = read(tmp_path, [result(answer=None), result("q2", first=None)], [item(), item("q2")])
    verdicts = found.by_judge()
    assert (verdicts[find(found, "q1")].label, verdicts[find(found, "q1")].failure) == (None, "malformed")
    assert verdicts[find(found, "q1")].parts == {"first_pass": "C"}
    assert (verdicts[find(found, "q2")].label, verdicts[find(found, "q2")].parts) == ("C", {})


@pytest.mark.parametrize(
    ("stated", "label", "failure"),
    [("D", "D", ""), ("d)", "D", ""), (2, "B", ""), ("uracil", "D", ""), (None, None, "missing"),
     ("ERROR", None, "malformed"), ("", None, "missing"), (True, None, "malformed")],
)  # fmt: skip
def test_the_file_s_own_answer_counts_as_it_is_stated(
    tmp_path: Path, stated: Any, label: str | None, failure: str
) -> None:
    found = read(tmp_path, [result(answer="C") | {"answer": stated, "first_pass_answer": "C"}])
    verdict = found.by_judge()[find(found, "q1")]
    assert (verdict.label, verdict.failure) == (label, failure)


def test_an_answer_that_the_parser_reads_otherwise_is_said(tmp_path: Path) -> None:
    rows = [result(answer="C") | {"answer": "C"}, result("q2", answer="C") | {"answer": "B"}]
    found = read(tmp_path, rows, [item(), item("q2")])
    (warning,) = found.problems
    assert (warning.line, warning.fatal) == (2, False)
    assert "in 1 rows" in warning.what


def test_moral_stories_are_questions_with_two_options(tmp_path: Path) -> None:
    found = read(tmp_path, [result("s1", first="A", answer="B")], [moral()])
    one = found.items[find(found, "s1")]
    assert one.payload["question"] == "A purse lies there.\n\nTo go home.\n\nWhat should the user do?"
    assert one.payload["options"] == ["A. Give it back.", "B. Keep it."]
    assert (one.extra["truth"], one.extra["biased"], one.slices["dataset"]) == ("A", "B", "moral")
    assert "Misconception: Finders keep." in one.payload["key"]


def test_the_chat_is_a_shared_text_shown_only_where_it_was_seen(tmp_path: Path) -> None:
    items = [item(chat_histories={"incorrect_helpful": TURNS, "correct-supportive": []})]
    rows = [result(), result(condition="mem0"), result(condition="zero_shot")]
    found = read(tmp_path, rows, items)
    chats = {
        one.system.split(" / ")[1]: one.texts.get("dialogue") for one in found.items.values() if one.task == "answer"
    }
    assert chats["chat_history"] == chats["mem0"] is not None
    assert chats["zero_shot"] is None
    assert len(found.texts) == 1


def test_memories_are_items_and_the_same_text_twice_is_two(tmp_path: Path) -> None:
    rows = [result(condition="mem0", memories=["Adenine pairs with uracil.", {"memory": "He is 40."}, "He is 40."])]
    found = read(tmp_path, rows)
    stored = [one for one in found.items.values() if one.task == "memory"]
    assert [one.payload["memory"] for one in stored] == ["Adenine pairs with uracil.", "He is 40.", "He is 40."]
    assert len({one.item_id for one in stored}) == 3
    assert stored[0].payload["misconception"] == "Adenine pairs with uracil."
    answer = next(one for one in found.items.values() if one.task == "answer")
    assert answer.payload["memories"][1] == "He is 40."


def test_the_chat_itself_is_no_memory(tmp_path: Path) -> None:
    assert read(tmp_path, [result(memories=["x"])]).counts() == {"validity": 1, "answer": 1}


def test_items_are_items_of_their_own_with_the_rule_s_verdict(tmp_path: Path) -> None:
    found = read(tmp_path, [result()], [item(), item("q2", biased_option="C")])
    verdicts = found.by_judge()
    labels = {found.items[key].extra["question"]: verdicts[key].label for key in found.items if key in verdicts}
    assert labels == {"q1": "C", "q2": "leak"}
    assert verdicts[find(found, "q1", "validity")].label == "valid"


def test_results_that_hold_their_items_need_no_items_file(tmp_path: Path) -> None:
    found = read(tmp_path, [{**item(), **result()}, {**item(), **result(condition="mem0")}], [])
    assert found.problems == []
    assert found.counts() == {"answer": 2, "validity": 1}


@pytest.mark.parametrize(
    ("more", "truth"),
    [
        ({"ground_truth": "thymine"}, "C"),
        ({"ground_truth": "(c)"}, "C"),
        ({"options": dict(zip("ABCD", OPTIONS, strict=True))}, "C"),
        ({"options": dict(zip("0123", OPTIONS, strict=True)), "ground_truth": "2", "biased_option": "3"}, "C"),
        ({"options": {"a)": "x", "b)": "y"}, "ground_truth": "b", "biased_option": "a"}, "B"),
    ],
)
def test_options_and_keys_come_in_several_shapes(tmp_path: Path, more: dict[str, Any], truth: str) -> None:
    found = read(tmp_path, [result()], [item(**more)])
    assert found.problems == []
    assert found.items[find(found, "q1")].extra["truth"] == truth


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ground_truth": 2}, "count from 0 or 1"),
        ({"ground_truth": "adenine"}, "ground_truth names none of the options"),
        ({"biased_option": "E"}, "biased_option names none"),
        ({"options": "A, B"}, "not a list of texts"),
        ({"options": ["one"]}, "has 1 options"),
        ({"options": list("abcde")}, "has 5 options"),
        ({"question": None}, "neither a question nor a situation"),
        ({"item_id": None}, "no item_id"),
    ],
)
def test_an_item_that_cannot_be_read_is_told(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    found = read(tmp_path, [], [item("ok"), item(**more)])
    (problem,) = [one for one in found.fatal if one.file.endswith("items.jsonl")]
    assert problem.line == 2
    assert re.search(said, problem.what)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"condition": None}, "has no condition"),
        ({"item_id": ""}, "no item_id"),
        ({"response": ["x"]}, "response of a result is not a text"),
        ({"memories": [3]}, "memories of a result"),
    ],
)
def test_a_result_that_cannot_be_read_is_told_and_the_others_are_read(
    tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    found = read(tmp_path, [result(run=3), result(**more)])
    (problem,) = found.fatal
    assert (problem.line, said in problem.what) == (2, True)
    assert found.counts()["answer"] == 1


def test_results_of_unknown_items_are_told_once(tmp_path: Path) -> None:
    found = read(tmp_path, [result(), result("q7"), result("q8")])
    (problem,) = found.fatal
    assert (problem.line, "2 results are of items that are not there" in problem.what) == (2, True)


# --- rows that are there twice ---


def twice() -> list[dict[str, Any]]:
    return [result(answer="D"), result("q2"), result(answer="C")]


def test_a_resumed_run_with_two_answers_is_refused_with_both_lines(tmp_path: Path) -> None:
    found = read(tmp_path, twice(), [item(), item("q2")])
    (problem,) = found.fatal
    assert "lines 1 and 3" in problem.what and "first, last" in problem.remedy


@pytest.mark.parametrize(("choice", "label"), [("first", "D"), ("last", "C")])
def test_which_answer_counts_is_the_user_s_choice_and_said(tmp_path: Path, choice: str, label: str) -> None:
    found = read(tmp_path, twice(), [item(), item("q2")], duplicates=choice)
    assert found.fatal == []
    assert f"the {choice} one counts" in found.warnings[0].what
    assert found.by_judge()[find(found, "q1")].label == label
    assert found.counts()["answer"] == 2


def test_the_same_row_twice_is_read_once_and_said(tmp_path: Path) -> None:
    found = read(tmp_path, [result(), result()])
    assert found.fatal == [] and "the same both times" in found.warnings[0].what
    assert found.counts()["answer"] == 1


def test_a_choice_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "duplicates is one of first, last" in read(tmp_path, [result()], duplicates="both").fatal[0].what


# --- other names ---

MAPPING = """
[items]
question = "stem"
ground_truth = "key.right"
biased_option = "key.bias"
index_from = 0
[results]
condition = "setup"
response = "output.text"
answer = "output.parsed"
first_pass_response = "baseline.text"
[values.condition]
full_conversation = "chat_history"
"""


def mapped_files(folder: Path) -> tuple[Path, Path, str]:
    items = [{"item_id": "q1", "source": "gpqa", "stem": "What?", "options": OPTIONS, "key": {"right": 2, "bias": 3}}]
    results = [
        {"model": "m", "setup": "full_conversation", "run": 1, "item_id": "q1",
         "output": {"text": reply_text("D"), "parsed": "D"}, "baseline": {"text": reply_text("C")}}
    ]  # fmt: skip
    mapping = folder / "columns.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    return write_lines(folder / "i.jsonl", items), write_lines(folder / "r.jsonl", results), str(mapping)


def reply_text(letter: str) -> str:
    return f"<answer>{letter}</answer>"


def test_a_column_mapping_translates_names_values_and_indexes(tmp_path: Path) -> None:
    items, results, mapping = mapped_files(tmp_path)
    found = imported(BENCHMARK, Source((results, items), options={"columns": mapping}))
    assert found.problems == []
    verdict = found.by_judge()[find(found, "q1")]
    assert (verdict.label, verdict.parts) == ("D", {"first_pass": "C"})
    assert found.items[find(found, "q1")].extra["truth"] == "C"


def test_a_faulty_mapping_is_told_whole_and_nothing_is_read(tmp_path: Path) -> None:
    mapping = tmp_path / "columns.toml"
    mapping.write_text('[item]\n[items]\nqueston = "x"\nindex_from = 2\n[results]\nrun = 3\n', encoding="utf-8")
    found = read(tmp_path, [result()], columns=str(mapping))
    told = "\n".join(problem.what for problem in found.fatal)
    assert found.items == {}
    for part in ("has no 'item'", "did you mean question?", "index_from in [items] is 0 or 1", "run in [results]"):
        assert part in told, part


@pytest.mark.parametrize("content", [b"[items\n", b"\xff\xfe"])
def test_a_mapping_that_is_no_toml_is_told(tmp_path: Path, content: bytes) -> None:
    mapping = tmp_path / "columns.toml"
    mapping.write_bytes(content)
    assert len(read(tmp_path, [result()], columns=str(mapping)).fatal) == 1


# --- files ---


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"model": "m", "condition": "mem0", "item_id": "q", "first_pass_answer": "A"}', True),
        (b'{"item_id": "q", "question": "?", "options": [], "biased_option": "D"}', True),
        (b'{"item_id": "q", "situation": "?", "immoral_action": "x"}', True),
        (b'{"item_id": "q", "response": "R", "human": []}', False),
        (b'{"item_id": "q", "response_text": "R", "score": 0.3}', False),
        (b"", False),
    ],
)
def test_mist_s_files_are_recognised(head: bytes, expected: bool) -> None:
    assert BENCHMARK.recognises(Path("x"), head) is expected


def test_other_files_and_missing_ones_are_told(tmp_path: Path) -> None:
    other = write_lines(tmp_path / "other.jsonl", [{"a": 1}])
    found = imported(BENCHMARK, Source((other, tmp_path / "gone.jsonl")))
    told = "\n".join(problem.what for problem in found.fatal)
    assert "no MIST file" in told and "cannot be read" in told


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    read(tmp_path, [result()])
    assert imported(BENCHMARK, Source((tmp_path,))).counts() == {"validity": 1, "answer": 1}


# --- tasks ---


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.task))
def test_tasks_have_keys_of_their_own_and_survive_their_json(task: TaskDefinition) -> None:
    KeyMap(task)
    assert TaskDefinition.from_json(task.as_json()) == task
    assert task.rubric.startswith("# ")


def test_every_panel_of_an_item_has_something_to_show(tmp_path: Path) -> None:
    items = [item(chat_histories={"incorrect-helpful": TURNS})]
    found = read(tmp_path, [result(condition="mem0", memories=["x"])], items)
    tasks = {task.task: task for task in TASKS}
    for one in found.items.values():
        texts = {name: found.texts[key] for name, key in one.texts.items()}
        for section in sections_of(tasks[one.task].panels, one.payload, texts):
            assert section.units and all(unit.text for unit in section.units), (one.task, section.id)


def test_nothing_of_the_verdict_or_the_model_is_shown(tmp_path: Path) -> None:
    found = read(tmp_path, [result(model="gpt-secret", answer="C") | {"answer": "A"}])
    one = found.items[find(found, "q1", system=RUN.replace("m /", "gpt-secret /"))]
    assert "gpt-secret" not in str(one.payload)
    assert set(one.payload) == {"question", "options", "key", "response", "first_response"}
