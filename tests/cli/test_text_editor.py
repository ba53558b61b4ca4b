"""What a person's editor, or a file in its place, may leave behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from annotate.editor import MOST_BYTES, edited_text
from store.errors import UsageError

LEAVES = {
    "bytes": ("open(f, 'wb').write(b'ab\\xff')", "byte 3 is no UTF-8"),
    "no file": ("os.remove(f)", "cannot be read"),
    "a folder": ("os.remove(f); os.mkdir(f)", "no ordinary file"),
    "a pipe": ("os.remove(f); os.mkfifo(f)", "no ordinary file"),
    "a device": ("os.remove(f); os.symlink('/dev/zero', f)", "no ordinary file"),
    "far too much": (f"open(f, 'w').write('x' * {MOST_BYTES + 1})", "longer than a megabyte"),
    "NUL": ("open(f, 'w').write('a' + chr(0))", "NUL"),
    "a failure": ("sys.exit(3)", "ended with 3"),
}


@pytest.mark.parametrize("what", LEAVES)
def test_what_is_no_text_is_told_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    code, words = LEAVES[what]
    script = tmp_path / "editor.py"
    script.write_text(f"import os, sys\nf = sys.argv[1]\n{code}\n", encoding="utf-8")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    with pytest.raises(UsageError) as raised:
        edited_text("before", "rubric.md")
    assert words in f"{raised.value.title} {raised.value.detail}"


@pytest.mark.parametrize("editor", ["nano 'half", "", "   ", "/no/such/editor", "/"])
def test_an_editor_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch, editor: str) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    with pytest.raises(UsageError):
        edited_text("before", "rubric.md")


def test_a_text_comes_back_without_marks_and_foreign_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys\nopen(sys.argv[1], 'wb').write(b'\\xef\\xbb\\xbf\\r\\nBe kind.\\r\\nBe fair.\\r\\n')\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    assert edited_text("half a pair: \ud83d", "rubric.md") == "Be kind.\nBe fair."
