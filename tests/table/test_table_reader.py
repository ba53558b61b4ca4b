"""Reading tables: ids and labels exactly as they are, what people and judges said, what stands or falls together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from table_files import read, read_values, row, rows, write_rows

from judges.benchmarks.table import BENCHMARK
from judges.benchmarks.table.rows import read_rows
from store.records import ItemRecord, LabelState, Problem
from tests.imported import Imported


def only(found: Imported) -> ItemRecord:
    (item,) = found.items.values()
    return item


def two(**more: Any) -> list[dict[str, Any]]:
    """A row, and a second so that two labels occur."""
    return [row(0, **more), row(1, "fail", "fail")]


# --- ids ---


def test_ids_of_every_look_survive_as_text(tmp_path: Path) -> None:
    ids = ["30", "0870", "2024-01-02", "96BABAFB-DF79-4D31-8348-62069A6C4027", "12345678901234567890", " x ", "陈"]
    found = read_values(tmp_path, [row(one, "pass" if n else "fail") for n, one in enumerate(ids)])
    assert found.problems == []
    assert [item.natural_key for item in found.items.values()] == [f'["{one}"]' for one in ids]


def test_a_number_is_an_id_too(tmp_path: Path) -> None:
    found = read_values(tmp_path, [{**row(0), "item_id": 30}, {**row(1, "fail"), "item_id": 12345678901234567890}])
    assert [item.natural_key for item in found.items.values()] == ['["30"]', '["12345678901234567890"]']


def test_without_an_id_the_content_names_the_row_whatever_its_place(tmp_path: Path) -> None:
    values = [{name: value for name, value in one.items() if name != "item_id"} for one in rows()]
    first = read_values(tmp_path, values)
    assert first.problems == [] and len(first.items) == 4
    assert set(read_values(tmp_path, values[::-1]).items) == set(first.items)


def test_the_same_row_twice_is_read_once_and_said(tmp_path: Path) -> None:
    found = read_values(tmp_path, [*rows(), rows()[2]])
    assert len(found.items) == 4
    (warning,) = found.problems
    assert (warning.line, warning.fatal) == (5, False)
    assert "line 3" in warning.what


def test_one_id_for_two_rows_is_refused_with_both_lines(tmp_path: Path) -> None:
    found = read_values(tmp_path, [*rows(), row(2, "fail", "fail")])
    (problem,) = found.fatal
    assert (problem.line, "line 3" in problem.what) == (5, True)


def test_rows_without_an_id_that_show_the_same_are_refused_with_the_column_that_would_tell_them_apart(
    tmp_path: Path,
) -> None:
    values = [{name: value for name, value in one.items() if name != "item_id"} for one in rows()]
    found = read_values(tmp_path, [*values, {**values[2], "other": "x"}])
    (problem,) = found.fatal
    assert (problem.line, problem.remedy) == (5, "give every row an id of its own, in a column item_id")
    assert "shows the same as line 3" in problem.what


def test_the_system_is_no_part_of_what_pairs_two_systems(tmp_path: Path) -> None:
    values = [row(0, system="Mem0"), row(0, "fail", "fail", system="Zep")]
    found = read_values(tmp_path, values)
    assert found.problems == []
    assert sorted(found.systems) == ["Mem0", "Zep"]
    assert len({item.pair_key for item in found.items.values()}) == 1
    assert all("system" not in item.payload for item in found.items.values())


def test_key_columns_pair_rows_whose_ids_differ(tmp_path: Path) -> None:
    values = [row(0, system="a", q="1"), row(1, "fail", system="b", q="1")]
    found = read_values(tmp_path, values, '[columns]\nkey = ["q"]\n')
    assert len({item.pair_key for item in found.items.values()}) == 1


def test_a_system_is_named_by_user_file_or_folder(tmp_path: Path) -> None:
    folder = tmp_path / "openqa"
    folder.mkdir()
    assert list(read(write_rows(folder / "items.jsonl", rows())).systems) == ["openqa"]
    assert list(read(write_rows(folder / "zep_v2.jsonl", rows())).systems) == ["zep_v2"]
    assert list(read(folder / "zep_v2.jsonl", system="Zep").systems) == ["Zep"]


# --- labels and verdicts ---


@pytest.mark.parametrize(
    ("given", "text"), [(3, "3"), (3.5, "3.5"), (True, "true"), ("yes ", "yes "), ("3.0", "3.0"), (0, "0")]
)
def test_labels_are_read_exactly(tmp_path: Path, given: Any, text: str) -> None:
    found = read_values(tmp_path, [row(0, given, given), row(1, "other", "other")])
    assert found.problems == []
    assert found.labels[0].state.value == text
    assert [verdict.label for verdict in found.by_judge().values()] == [text, "other"]


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_null_verdict_is_missing_and_a_null_label_is_no_label(tmp_path: Path, nothing: Any) -> None:
    found = read_values(tmp_path, [row(0, nothing, nothing), *rows()[1:]])
    assert found.problems == []
    verdict = found.by_judge()[next(iter(found.items))]
    assert (verdict.label, verdict.failure) == (None, "missing")
    assert [label.item_id for label in found.labels] == list(found.items)[1:]


def test_zero_is_a_label_and_a_score(tmp_path: Path) -> None:
    values = [row(0, 0, 0), row(1, 1, 1)]
    values[0]["judge"][0]["score"] = 0
    found = read_values(tmp_path, values)
    verdict = found.by_judge()[next(iter(found.items))]
    assert (verdict.label, verdict.score, found.labels[0].state.value) == ("0", 0.0, "0")


def test_a_verdict_off_the_menu_is_a_failure_with_its_text(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0, verdict="Pass.")], '[task]\nlabels = ["pass", "fail"]\n')
    (verdict,) = found.verdicts.values()
    assert (verdict.label, verdict.failure) == (None, "off_menu")
    assert "Pass." in verdict.raw


def test_a_person_s_label_off_the_menu_is_a_bad_line(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0), row(1, "maybe")], '[task]\nlabels = ["pass", "fail"]\n')
    (problem,) = found.fatal
    assert problem.line == 2
    assert "A1" in problem.what and "pass, fail" in problem.what
    assert len(found.items) == 1, "a row is taken whole or not at all"


def test_other_spellings_are_read_as_the_task_file_says(tmp_path: Path) -> None:
    tasks = '[task]\nlabels = ["1", "0"]\n[task.also]\npass = "1"\nFAIL = "0"\n'
    found = read_values(tmp_path, [row(0, "pass", "FAIL")], tasks)
    assert found.problems == []
    (verdict,) = found.verdicts.values()
    assert (found.labels[0].state.value, verdict.label) == ("1", "0")


def test_a_null_stands_for_a_label_where_the_task_file_says_so(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0, verdict=None)], '[task]\nlabels = ["pass", "fail"]\nnull = "fail"\n')
    (verdict,) = found.verdicts.values()
    assert (verdict.label, verdict.failure, verdict.route) == ("fail", "", "null")


def test_everything_a_judge_says_is_kept(tmp_path: Path) -> None:
    said = {"judge": "gpt", "label": "pass", "score": "0.25", "confidence": 0.9, "rationale": "因为", "bullet": 2}
    found = read_values(tmp_path, two(judge=[said]))
    verdict = found.by_judge()[next(iter(found.items))]
    assert (verdict.score, verdict.confidence, verdict.rationale) == (0.25, 0.9, "因为")
    assert '"bullet": 2' in verdict.raw


def test_a_judge_that_is_there_twice_answered_twice(tmp_path: Path) -> None:
    twice = [{"judge": "gpt", "label": "pass"}, {"judge": "gpt", "label": "fail"}, {"judge": "other", "label": "fail"}]
    found = read_values(tmp_path, two(judge=twice))
    first = next(iter(found.items))
    assert found.by_judge("gpt")[first].label == "pass"
    assert found.by_judge("gpt", repetition=1)[first].label == "fail"


def test_bare_labels_and_single_entries_are_taken(tmp_path: Path) -> None:
    values = [row(0, human="pass", judge={"label": "fail"})]
    found = read_values(tmp_path, values, judge="gpt-4o")
    assert found.problems == []
    assert (found.labels[0].annotator, found.labels[0].state.value) == ("human", "pass")
    assert [judge.name for judge in found.judges.values()] == ["gpt-4o"]


def test_a_person_s_whole_label_is_taken(tmp_path: Path) -> None:
    entry = {
        "annotator": "dr.li", "label": "fail", "note": "剂量错", "mode": "revised", "tags": ["dose"], "unsure": True,
        "harm": "serious", "reference_wrong": True, "right_answer": "5 mg", "at": "2027-05-01T10:00:00+02:00",
        "evidence": [0, 3],
    }  # fmt: skip
    found = read_values(tmp_path, two(human=[entry]))
    label = found.labels[0]
    assert (label.annotator, label.mode, label.at) == ("dr.li", "revised", "2027-05-01T10:00:00+02:00")
    assert label.state == LabelState(
        "fail", {}, ("dose",), "剂量错", True, "serious", "", True, "5 mg", (0, 3)
    )  # fmt: skip


def test_cannot_judge_stands_instead_of_a_value(tmp_path: Path) -> None:
    found = read_values(tmp_path, two(human=[{"annotator": "A1", "label": None, "cannot_judge": "ambiguous"}]))
    assert (found.labels[0].state.value, found.labels[0].state.cannot_judge) == (None, "ambiguous")


def test_labels_that_say_nothing_of_their_mode_get_the_one_of_the_import(tmp_path: Path) -> None:
    values = two(human=[{"annotator": "A1", "label": "pass", "mode": "assisted"}])
    assert [label.mode for label in read_values(tmp_path, values).labels] == ["assisted", ""]
    assert [label.mode for label in read_values(tmp_path, values, label_mode="blind").labels] == ["assisted", "blind"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"human": [{"annotator": "A1", "label": ["pass"]}]}, "a label is a text"),
        ({"human": [{"annotator": "A1", "label": "pass", "mode": "peeked"}]}, "mode of a label is one of blind"),
        ({"human": [{"annotator": "A1", "label": "pass", "at": "2027-05-01T10:00:00"}]}, "no offset"),
        ({"human": [{"annotator": "A1", "label": "pass", "note": 3}]}, "note of a person's label is not a text"),
        ({"human": [{"annotator": "A1", "label": "pass"}, {"annotator": "A1", "label": "fail"}]}, "two labels of A1"),
        ({"judge": [{"judge": "gpt", "label": "pass", "score": "high"}]}, "score is not a number"),
        ({"judge": [{"judge": "gpt", "label": "pass", "score": "nan"}]}, "score is not a number"),
        ({"judge": [{"judge": "gpt", "label": None, "failure": "tired"}]}, "a failure is one of"),
        ({"item_id": {"a": 1}}, "an id or name is a text"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_with_its_line_and_left_out_whole(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    found = read_values(tmp_path, [*rows(), row(9, **more)])
    (problem,) = found.fatal
    assert (problem.line, problem.column) == (5, 1)
    assert said in problem.what
    assert len(found.items) == 4
    assert len(found.labels) == 4


def test_every_bad_line_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", rows())
    text = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([text[0], '{"item_id": "x", ', text[1], "nonsense", text[2]]), encoding="utf-8")
    found = read(path)
    assert [problem.line for problem in found.fatal] == [2, 4]
    assert len(found.items) == 3


def test_an_entry_that_is_no_object_is_a_bad_line(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text('[{"item_id": "a", "response": "x"},\n1, "a", null]', encoding="utf-8")
    found = list(read_rows(tmp_path / "list.json"))
    told = [(one.line, one.what) for one in found if isinstance(one, Problem)]
    assert told == [(2, "an entry of the array is no object {…}")] * 3 and len(found) == 4


def test_a_cut_last_line_is_no_item(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "run.jsonl", rows())
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    found = read(path)
    assert len(found.items) == 3
    assert "ends in the middle" in found.fatal[0].what


def test_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    assert "cannot be read" in read(tmp_path / "gone.jsonl").fatal[0].what
    assert "no table was given" in read().fatal[0].what


# --- gold ---


def test_gold_beside_people_s_labels_is_the_adjudicated_label(tmp_path: Path) -> None:
    found = read_values(tmp_path, two(gold="fail"))
    adjudicated = [label for label in found.labels if label.adjudicated]
    assert [(label.annotator, label.state.value) for label in adjudicated] == [("gold", "fail")]
    assert all("gold" not in item.payload for item in found.items.values())


def test_gold_that_holds_only_labels_is_never_shown(tmp_path: Path) -> None:
    values = [row(0, gold="fail", human=None), row(1, verdict="fail", gold="pass", human=None)]
    found = read_values(tmp_path, values)
    assert [label.state.value for label in found.labels] == ["fail", "pass"]
    assert all("gold" not in item.payload for item in found.items.values())


def test_gold_that_is_a_text_is_the_reference(tmp_path: Path) -> None:
    values = [row(0, gold="Landover", human=None), row(1, verdict="fail", gold="Oslo", human=None)]
    found = read_values(tmp_path, values)
    assert found.labels == []
    assert [item.payload["gold"] for item in found.items.values()] == ["Landover", "Oslo"]


def test_a_gold_label_off_the_menu_is_a_bad_line(tmp_path: Path) -> None:
    found = read_values(tmp_path, two(gold="maybe"), '[task]\nlabels = ["pass", "fail"]\n')
    assert [problem.line for problem in found.fatal] == [1]


# --- what is shown, and what stands or falls together ---


def test_only_what_is_judged_is_shown(tmp_path: Path) -> None:
    shown = {"context": "C", "question": "Q", "response": "R", "reference": "Ref"}
    found = read_values(tmp_path, two(**shown, model="gpt-4", verdict_text="pass", group="g", cluster="c"))
    assert next(iter(found.items.values())).payload == shown


def test_a_task_file_shows_what_it_names_and_never_a_label(tmp_path: Path) -> None:
    tasks = '[task]\nshow = ["response", "topic", "judge", "human"]\n'
    found = read_values(tmp_path, two(topic="kidneys", context="C"), tasks)
    assert next(iter(found.items.values())).payload == {"response": "Response 0.", "topic": "kidneys"}


def test_a_long_text_is_kept_once(tmp_path: Path) -> None:
    text = "long " * 1000
    found = read_values(tmp_path, [row(0, context=text), row(1, "fail", context=text)])
    items = list(found.items.values())
    assert "context" not in items[0].payload
    assert items[0].texts == items[1].texts and list(found.texts.values()) == [text]
    assert items[0].group == items[1].group != ""


def test_dialogues_and_lists_come_as_they_are(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    values = [row(0, context=turns, reference=["a", "b"]), row(1, "fail", context=turns, reference=["c"])]
    found = read_values(tmp_path, values)
    assert only(read_values(tmp_path, values[:1], '[task]\nlabels=["pass","fail"]\n')).payload["context"] == turns
    assert [item.payload["reference"] for item in found.items.values()] == [["a", "b"], ["c"]]


def test_a_group_is_a_stratum_and_a_cluster_a_cluster(tmp_path: Path) -> None:
    values = [row(n, "pass" if n % 2 else "fail", group="ab"[n % 2], cluster=f"c{n // 4}") for n in range(12)]
    found = read_values(tmp_path, values)
    assert [item.slices["group"] for item in found.items.values()] == ["ab"[n % 2] for n in range(12)]
    assert [item.cluster for item in found.items.values()] == [f"c{n // 4}" for n in range(12)]


def test_a_group_of_many_values_is_what_stands_or_falls_together(tmp_path: Path) -> None:
    values = [row(n, "pass" if n % 2 else "fail", group=str(n // 3)) for n in range(120)]
    found = read_values(tmp_path, values)
    item = list(found.items.values())[7]
    assert (item.cluster, dict(item.slices)) == ("2", {})
    named = read_values(tmp_path, values, '[columns]\nslices = ["group"]\n')
    assert list(named.items.values())[7].slices == {"group": "2"}


def test_without_any_cluster_an_item_stands_alone(tmp_path: Path) -> None:
    clusters = [item.cluster for item in read_values(tmp_path, rows()).items.values()]
    assert len(set(clusters)) == 4


def test_the_systems_of_an_answer_are_kept(tmp_path: Path) -> None:
    found = read_values(tmp_path, two(systems=["DPR", "FiD"]))
    assert [item.extra["systems"] for item in found.items.values()] == [["DPR", "FiD"], []]


# --- several tasks ---


def test_a_task_column_makes_tasks(tmp_path: Path) -> None:
    values = [row(n, label, label, task="Q1" if n < 2 else "Q2") for n, label in enumerate(["yes", "no", "1", "2"])]
    found = read_values(tmp_path, values)
    assert found.counts() == {"Q1": 2, "Q2": 2}
    definitions = BENCHMARK.tasks_for(_source(tmp_path))
    assert [(task.task, task.values, task.level) for task in definitions] == [
        ("Q1", ("no", "yes"), "nominal"),
        ("Q2", ("2", "1"), "ordinal"),
    ]


def test_a_task_column_of_many_values_is_a_cluster(tmp_path: Path) -> None:
    values = [row(n, "pass" if n % 2 else "fail", task=f"{n // 2:02d}") for n in range(24)]
    found = read_values(tmp_path, values)
    assert found.counts() == {"label": 24}
    assert list(found.items.values())[5].cluster == "02"


def test_a_task_that_the_task_file_does_not_have_is_a_bad_line(tmp_path: Path) -> None:
    tasks = (
        '[columns]\ntask = "task"\n[task]\nlabels = ["pass", "fail"]\n[[tasks]]\nname = "a"\n[[tasks]]\nname = "b"\n'
    )
    found = read_values(tmp_path, [row(0, task="a"), row(1, task="c"), row(2)], tasks)
    assert [problem.line for problem in found.fatal] == [2, 3]
    assert "a, b" in found.fatal[0].what


# --- pairs ---


def pair(number: int, first: str, second: str, label: str, **more: Any) -> dict[str, Any]:
    return row(number, label, label, response=None, question="Q", response_1=first, response_2=second, **more)


def test_the_order_of_a_pair_is_noted(tmp_path: Path) -> None:
    values = [pair(0, "A", "B", "1"), pair(1, "B", "A", "2"), pair(2, "A", "B", "tie"), pair(3, "C", "D", "1")]
    found = read_values(tmp_path, values)
    assert [item.slices["order"] for item in found.items.values()] == ["as given", "swapped", "as given", "as given"]
    (task,) = BENCHMARK.tasks_for(_source(tmp_path))
    assert [(panel.kind, panel.field) for panel in task.panels][1:] == [("compare", "response_1,response_2")]
    assert "Which response" in task.question


def test_an_order_that_the_file_says_is_taken(tmp_path: Path) -> None:
    found = read_values(tmp_path, [pair(0, "A", "B", "1", order="BA"), pair(1, "B", "A", "2", order="AB")])
    assert [item.slices["order"] for item in found.items.values()] == ["BA", "AB"]


# --- other files ---


def referring(folder: Path, ids: list[str]) -> list[dict[str, Any]]:
    write_rows(folder / "responses.jsonl", [{"response_id": "d1", "response": "Hello", "topic": "greeting"}])
    values = [row(n, "pass" if n % 2 else "fail", response=None, response_ref=one) for n, one in enumerate(ids)]
    return values


def test_a_response_in_another_file_is_a_shared_text(tmp_path: Path) -> None:
    found = read_values(tmp_path, referring(tmp_path, ["d1", "d1"]))
    assert found.problems == []
    assert list(found.texts.values()) == ["Hello"]
    assert {item.group for item in found.items.values()} == {"response_ref d1"}
    assert {item.cluster for item in found.items.values()} == {"response_ref d1"}


def test_a_reference_to_nothing_is_a_bad_line(tmp_path: Path) -> None:
    found = read_values(tmp_path, referring(tmp_path, ["d1", "d2", "d1"]))
    assert [(problem.line, "responses.jsonl" in problem.what) for problem in found.fatal] == [(2, True)]


def test_a_missing_other_file_is_told_once_by_name(tmp_path: Path) -> None:
    values = referring(tmp_path, ["d1", "d1"])
    (tmp_path / "responses.jsonl").unlink()
    found = read_values(tmp_path, values)
    assert sum("which cannot be read" in problem.what for problem in found.fatal) == 1


def test_an_other_file_with_two_texts_for_one_id_is_told(tmp_path: Path) -> None:
    values = referring(tmp_path, ["d1", "d1"])
    write_rows(tmp_path / "responses.jsonl", [{"response_id": "d1", "response": r} for r in ("Hello", "Bye")])
    assert [problem.line for problem in read_values(tmp_path, values).fatal] == [2]


def test_a_task_file_names_other_files_and_fields(tmp_path: Path) -> None:
    values = [{**one, "doc": "d1"} for one in rows()]
    write_rows(tmp_path / "docs.jsonl", [{"id": "d1", "text": "A note.", "topic": "kidneys"}])
    tasks = '[task]\nshow = ["text", "response", "topic"]\n' + (
        '[references.doc]\nfile = "docs.jsonl"\nid = "id"\nfields = ["text", "topic"]\n'
    )
    found = read_values(tmp_path, values, tasks)
    assert found.problems == []
    item = next(iter(found.items.values()))
    assert {name: found.texts[text] for name, text in item.texts.items()} == {"text": "A note.", "topic": "kidneys"}


# --- hostile texts ---


def test_nul_and_half_emoji_are_replaced_and_told(tmp_path: Path) -> None:
    found = read_values(tmp_path, [])
    path = tmp_path / "run.jsonl"
    lines = [
        '{"item_id": "a\\u0000", "response": "bad \\ud83d end", "human": "pass", "judge": "fail"}',
        '{"item_id": "b", "response": "=cmd|x", "human": "fail", "judge": "fail"}',
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read(path)
    assert found.fatal == [] and len(found.warnings) == 2
    assert [item.payload["response"] for item in found.items.values()] == ["bad \ufffd end", "=cmd|x"]


def _source(folder: Path) -> Any:
    from table_files import source

    return source(folder / "run.jsonl")
