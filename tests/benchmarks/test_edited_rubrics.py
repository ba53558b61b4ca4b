"""A rubric that people edited in a study, and files that are imported afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotate.cli.study import TASK_FILE as TASK_FILE_SETTING
from annotate.cli.study import create_study, read_into
from store.applying import SETTING
from store.study import Study, now
from store.tasks import current_tasks, revise_task

TASK_FILE = (
    '[task]\nname = "t"\nquestion = "?"\nlabels = {labels}\nrubric = "{rubric}"\nshow = [{{ field = "response" }}]\n'
)


def read(study: Study, file: Path, *labels: str) -> None:
    """Import a file of one item a label."""
    rows = [
        {"item_id": f"{file.stem}{n}", "response": f"{file.stem} {n}", "human": [{"annotator": "A", "label": label}]}
        for n, label in enumerate(labels)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read_into(study, [file], [], system="", judge="", skip_bad=False, options={}, sampled="census")


def edit(study: Study, text: str) -> None:
    revise_task(study, {**current_tasks(study)[0].definition, "rubric": text}, now().isoformat())


def test_an_edited_rubric_outlives_imports_until_the_task_file_says_something_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = tmp_path / "tasks.toml"

    def write(rubric: str, *labels: str) -> None:
        tasks.write_text(TASK_FILE.format(labels=json.dumps(labels), rubric=rubric), encoding="utf-8")

    def present() -> tuple[str, int]:
        [task] = current_tasks(study)
        return task.definition["rubric"], len(task.definition["labels"])

    write("As it was.", "ok", "bad")
    with create_study(tmp_path / "s.duckdb", "table") as study:
        study.record([{"type": SETTING, "key": TASK_FILE_SETTING, "value": str(tasks)}])
        read(study, tmp_path / "a.jsonl", "ok")
        edit(study, "As people want it.")
        read(study, tmp_path / "b.jsonl", "ok")
        assert present() == ("As people want it.", 2)
        write("As it was.", "ok", "bad", "new")
        read(study, tmp_path / "c.jsonl", "ok")
        assert present() == ("As people want it.", 3), "the rest of the definition is the file's"
        assert "the rubric of task t is another" not in capsys.readouterr().err
        write("Anew.", "ok", "bad", "new")
        read(study, tmp_path / "d.jsonl", "ok")
        assert present() == ("Anew.", 3)
        assert "the rubric of task t is another one from now on" in capsys.readouterr().err


def test_a_rubric_of_inferred_labels_outlives_a_file_with_a_new_label(tmp_path: Path) -> None:
    with create_study(tmp_path / "s.duckdb", "table") as study:
        read(study, tmp_path / "a.jsonl", "ok", "bad")
        edit(study, "As people want it.")
        read(study, tmp_path / "b.jsonl", "ok", "odd", "bad")
        [task] = current_tasks(study)
    assert task.definition["rubric"] == "As people want it."
