"""Our source keeps the rules of `source_rules`, and the rules find what they are for."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from tests.commands import ROOT
from tests.hygiene.source_rules import (
    PACKAGES,
    Finding,
    broken_lines,
    markup_in_widgets,
    markup_tools,
    source_files,
    text_without_encoding,
)


def test_every_text_file_is_opened_as_utf8() -> None:
    files = source_files(ROOT, *PACKAGES, "tests", ".ci")
    assert broken_lines(ROOT, files, text_without_encoding) == []


def test_no_string_of_data_is_read_as_markup() -> None:
    assert broken_lines(ROOT, source_files(ROOT, "annotate/tui"), markup_in_widgets) == []
    assert broken_lines(ROOT, source_files(ROOT, *PACKAGES), markup_tools) == []


def markup_findings(code: str) -> list[Finding]:
    tree = ast.parse(code)
    return [*markup_in_widgets(tree), *markup_tools(tree)]


def test_no_line_silences_the_rule_against_naive_times() -> None:
    silenced = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in source_files(ROOT, *PACKAGES)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"noqa(?:\s*$|:.*\bDTZ)", line)
    ]
    assert silenced == []


@pytest.mark.parametrize(
    "code",
    [
        "open(p)",
        "open(p, 'w')",
        "open(p, mode='a')",
        "io.open(p)",
        "path.open()",
        "Path(name).open()",
        "self.folder.path.open('w')",
        "path.read_text()",
        "path.write_text(text)",
        "path.read_text(encoding='latin-1')",
        "open(p, encoding=None)",
        "os.fdopen(fd, 'w')",
        "tempfile.NamedTemporaryFile('w')",
        "gzip.open(p, 'rt')",
        "subprocess.run(command, text=True)",
        "io.TextIOWrapper(stream)",
    ],
)
def test_text_without_encoding_is_found(code: str) -> None:
    assert len(list(text_without_encoding(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "open(p, encoding='utf-8')",
        "open(p, 'rb')",
        "path.open('wb')",
        "path.read_text('utf-8')",
        "path.write_text(text, encoding='utf-8', newline='')",
        "path.read_text(encoding=chosen)",
        "os.open(p, os.O_RDONLY)",
        "Study.open(p)",
        "os.fdopen(fd, 'wb')",
        "tempfile.NamedTemporaryFile()",
        "gzip.open(p)",
        "subprocess.run(command, encoding='utf-8')",
    ],
)
def test_named_encodings_and_bytes_pass(code: str) -> None:
    assert list(text_without_encoding(ast.parse(code))) == []


@pytest.mark.parametrize(
    "code",
    [
        "Static(f'{name}')",
        "Static(name)",
        "Static(id='later')",
        "Static(name, markup=True)",
        "Label('fixed')",
        "Console()",
        "self.notify(f'saved {name}')",
        "self.app.notify(message)",
        "Button(f'Open {name}')",
        "Option('a ' + name)",
        "table.add_row('fixed', '%s' % name)",
        "tree.add_leaf(', '.join(names))",
        "Checkbox('{}'.format(name))",
        "Option(f'{name}' if name else 'none')",
        "pane.border_title = f'Item {name}'",
        "def render(self):\n    return f'{self.name}'",
        "Content.from_markup(text)",
        "from rich.markup import escape",
        "from rich import print",
    ],
)
def test_markup_from_data_is_found(code: str) -> None:
    assert len(markup_findings(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "Static(name, markup=False)",
        "Static('[b]Keys[/b]', markup=True)",
        "Console(markup=False, stderr=True)",
        "self.notify('Saved')",
        "self.notify(f'saved {name}', markup=False)",
        "Button('Open')",
        "Option(Content(name))",
        "table.add_row(Text(name), Text(f'{count}'))",
        "Button('a ' + 'b')",
        "seen.add(f'{name}: {count}')",
        "pane.border_title = Content(name)",
        "def render(self):\n    return Content(f'{self.name}')",
        "Content.from_markup('[b]fixed[/b]')",
    ],
)
def test_fixed_texts_and_content_pass(code: str) -> None:
    assert markup_findings(code) == []


def test_no_two_test_files_bear_one_name() -> None:
    """Folders of tests are no packages: pytest then takes the second file for the first."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []
