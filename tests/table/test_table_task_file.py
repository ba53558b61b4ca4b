"""Task files: every fault told at once, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from table_files import read_values, rows

from annotate.cli.study import init
from judges.benchmarks.table.task_file import read_task_file
from store.errors import InputError, UsageError


def faults(folder: Path, text: str) -> list[str]:
    path = folder / "tasks.toml"
    path.write_text(text, encoding="utf-8")
    return [fault.what for fault in read_task_file(path).faults]


def test_a_whole_task_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "rubric.md").write_text("# Regeln\nLies genau.\n", encoding="utf-8")
    text = """
    [columns]
    context = "prompt"
    cluster = "doc"
    slices = "domain"
    key = ["qid"]
    human = { a1 = "Anna" }
    judge = { gpt = "gpt_label" }
    [references.response_ref]
    [task]
    name = "coverage"
    level = "ordinal"
    labels = ["full", 1, true]
    keys = { full = "l", 1 = "1" }
    also = { "Fully" = "full" }
    rubric_file = "rubric.md"
    """
    assert faults(tmp_path, text) == []
    file = read_task_file(tmp_path / "tasks.toml")
    assert (file.columns, file.slices, file.key) == ({"context": "prompt", "cluster": "doc"}, ("domain",), ("qid",))
    assert (file.humans, file.judges) == ({"a1": "Anna"}, {"gpt": {"label": "gpt_label"}})
    reference = file.references["response_ref"]
    assert (reference.file, reference.id, reference.fields) == ("responses.jsonl", "response_id", ("response",))
    assert [label.value for label in file.base.labels] == ["full", "1", "true"]
    assert file.base.labels[0].also == ("Fully",)
    assert file.base.rubric.startswith("# Regeln")


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    text = """
    [colums]
    context = "prompt"
    [columns]
    contxt = "prompt"
    system = 3
    [columns.judge.gpt]
    score = "p"
    [references.response_ref]
    fields = [1]
    [task]
    lables = ["a", "b"]
    level = "high"
    labels = ["a", "a"]
    keys = { c = "k" }
    null = "z"
    show = [{ field = "x", kind = "video", role = "hero" }]
    rubric_file = "gone.md"
    """
    told = "\n".join(faults(tmp_path, text))
    for part in (
        "the task file has no 'colums'; did you mean columns?",
        "[columns] has no 'contxt'; did you mean context?",
        "system in [columns] is not the name of a column",
        "[columns.judge.gpt] does not say which column holds the label",
        "fields in [references.response_ref] is not a list of texts",
        "[task] has no 'lables'; did you mean labels?",
        "the level of [task] is not one of nominal, ordinal, interval",
        "labels of [task] are there twice: a",
        "name labels it does not have: c",
        "null of [task] is none of its labels",
        "a kind in show of [task]",
        "a role in show of [task]",
        "the rubric file of [task] cannot be read: gone.md",
    ):
        assert part in told, part


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[task]\nlabels = ["a"]\n', "has one label"),
        ('[task]\nlabels = ["a", "b"]\nkeys = { a = "d" }\n', "key 'd' of label 'a' is an action of the desk; free: a"),
        ('[task]\nlabels = ["a", "b"]\nkeys = { a = "up" }\n', "a key of one letter, one digit, or both"),
        ('[task]\nlabels = ["a", "b"]\nlevel = "interval"\n', "a label of it is no number"),
        ("[task]\nlow = 1\nhigh = 0\n", "a low below a high"),
        ("[task]\nlow = 1\n", "a low below a high"),
        ('[task]\nlabels = ["a", "b"]\nlow = 0\nhigh = 1\n', "not both"),
        ('[[tasks]]\nname = "a"\n', "a column for them"),
        ('[columns]\ntask = "t"\n[[tasks]]\ntitle = "A"\n', "need names"),
        ('[columns]\ntask = "t"\n[[tasks]]\nname = "a"\n[[tasks]]\nname = "a"\n', "tasks are there twice: a"),
        ("tasks = 3\n", "[[tasks]] is not a list of tables"),
        ("[task]\nlabels = 3\n", "the labels of [task] are not a list"),
        ("columns = 3\n", "columns in [columns] is not a table"),
    ],
)  # fmt: skip
def test_single_faults(tmp_path: Path, text: str, said: str) -> None:
    assert any(said in what for what in faults(tmp_path, text))


def test_broken_toml_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text('[task]\nlabels = ["a"\nlevel = 3\n', encoding="utf-8")
    (fault,) = read_task_file(path).faults
    assert fault.line == 3 and "not TOML" in fault.what


@pytest.mark.parametrize("text", ['[task]\nlabels = ["a"\n', '[task]\nlables = ["a"]\n', "\x00", "ÿþ"])
def test_a_broken_task_file_is_told_before_there_is_a_study(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="no study was made"):
        init(Path("s.duckdb"), "table", Path("tasks.toml"))
    assert "tasks.toml" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["tasks.toml"]


def test_a_benchmark_with_tasks_of_its_own_takes_no_task_file(tmp_path: Path) -> None:
    (tmp_path / "tasks.toml").write_text("[task]\n", encoding="utf-8")
    with pytest.raises(UsageError, match="halumem takes no task file"):
        init(tmp_path / "s.duckdb", "halumem", tmp_path / "tasks.toml")


def test_a_faulty_task_file_stops_the_import_before_any_row(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows(), '[task]\nlables = ["a"]\n')
    assert found.items == {}
    assert [problem.file.endswith("tasks.toml") for problem in found.fatal] == [True]


def test_a_task_file_that_is_not_there_or_not_utf8_is_told(tmp_path: Path) -> None:
    (missing,) = read_task_file(tmp_path / "gone.toml").faults
    assert "cannot be read" in missing.what
    path = tmp_path / "latin.toml"
    path.write_bytes('[task]\ntitle = "Größe"\n'.encode("cp1252"))
    (encoding,) = read_task_file(path).faults
    assert "not UTF-8" in encoding.what
