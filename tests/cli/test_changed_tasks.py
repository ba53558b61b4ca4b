"""Label sets that change in the middle of a project: labels stay as given, what changed is told, and it can go back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotate.cli.study import create_study, read_into
from annotate.desk.opening import make_draw, sit_down
from judges.auditing import audit_study
from store.importing import BadInputError, ImportReport
from store.study import Study
from store.tasks import current_tasks
from tests.desk.desk_studies import Clock, current_labels


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Six rows; the judge says pass and fail in turn."""
    path = tmp_path / "run.jsonl"
    rows = [
        {"item_id": f"i{number}", "question": f"Q{number}?", "response": "R", "judge": [{"judge": "g", "label": label}]}
        for number, label in enumerate(["pass", "fail"] * 3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def task_file(folder: Path, *labels: str) -> str:
    path = folder / f"{'-'.join(labels)}.toml"
    path.write_text(f'[task]\nname = "verdict"\nlabels = {json.dumps(labels)}\n', encoding="utf-8")
    return str(path)


def take(study: Study, run: Path, tasks: str, **options: Any) -> ImportReport:
    return read_into(
        study, [run], [], system="s", judge="", skip_bad=options.get("skip_bad", False), options={"tasks": tasks}
    )


@pytest.fixture
def study(tmp_path: Path, run: Path) -> Any:
    """Labels `fail` on three items and `pass` on three."""
    with create_study(tmp_path / "s.duckdb", "table") as made:
        take(made, run, task_file(tmp_path, "pass", "fail"))
        make_draw(made, "", "never", 7, "dr.li")
        desk = sit_down(made, "dr.li", clock=Clock())
        for value in ("fail", "pass") * 3:
            desk.choose(next(choice for choice in choices(desk) if choice.value == value))
        yield made


def choices(desk: Any) -> list[Any]:
    from annotate.desk.actions import Choice, KeyMap

    keymap = KeyMap(desk.current.task)
    found = [keymap.resolve(label.key) for label in desk.current.task.labels]
    return [choice for choice in found if isinstance(choice, Choice)]


def counted(study: Study) -> int:
    """How many labels the audit's agreement rests on."""
    return audit_study(study).as_json()["tasks"]["verdict"]["judges"]["g"]["n"]


def test_a_refused_import_changes_no_task(study: Study, run: Path, tmp_path: Path) -> None:
    before = current_tasks(study)
    with pytest.raises(BadInputError):
        take(study, run, task_file(tmp_path, "pass", "broken"))
    assert current_tasks(study) == before and study.rows("SELECT count(*) FROM tasks") == [(1,)]
    assert counted(study) == 6


def test_labels_survive_a_renamed_value_and_its_return(
    study: Study, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = current_labels(study)
    assert len(labels) == 6
    take(study, run, task_file(tmp_path, "pass", "broken"), skip_bad=True)
    said = capsys.readouterr().err
    assert "task verdict is defined anew: gone fail, new broken" in said and "Labels with what is gone: 3" in said
    assert current_labels(study) == labels, "kept as they were given"
    assert counted(study) < 6
    versions = {row[0] for row in study.rows("SELECT DISTINCT rubric_version FROM label_events")}
    assert len(versions) == 1 and current_tasks(study)[0].version not in versions, "a label names what it was given by"
    desk = sit_down(study, "dr.li", clock=Clock())
    assert desk.labelled == 6, "nobody has to start again"
    take(study, run, task_file(tmp_path, "pass", "fail"), skip_bad=True)
    assert {current_tasks(study)[0].version} == versions
    assert current_labels(study) == labels and counted(study) == 6


def test_added_values_take_nothing_away(
    study: Study, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take(study, run, task_file(tmp_path, "pass", "fail", "partly"))
    assert "defined anew" not in capsys.readouterr().err
    assert counted(study) == 6
    assert len(choices(sit_down(study, "dr.wu", clock=Clock()))) == 3


def test_changed_tasks_come_back_from_the_journal_alone(study: Study, run: Path, tmp_path: Path) -> None:
    from store.repair import rebuild

    take(study, run, task_file(tmp_path, "pass", "fail", "partly"))
    tasks = current_tasks(study)
    study.close()
    study.path.unlink()
    rebuild(study.path)
    with Study.open(study.path) as again:
        assert current_tasks(again) == tasks
