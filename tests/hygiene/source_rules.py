"""Rules about our own source that no linter we use has, read from the syntax tree.

*Encoding*: every text file is opened with a named UTF-8 encoding. *Markup*: no foreign text reaches a place where
Textual or Rich would read it as markup (`[/x]` there ends the app, `[@click=…]` becomes a live link).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("annotate", "judges", "store")


@dataclass(frozen=True, slots=True)
class Finding:
    """A line that breaks a rule."""

    line: int
    what: str


Rule = Callable[[ast.AST], Iterator[Finding]]


def source_files(root: Path, *packages: str) -> list[Path]:
    """The Python files of the packages under `root`."""
    return sorted(file for package in packages for file in (root / package).rglob("*.py"))


def broken_lines(root: Path, files: list[Path], rule: Rule) -> list[str]:
    """`file:line: what` for every place in the files that breaks the rule."""
    return [
        f"{file.relative_to(root)}:{finding.line}: {finding.what}"
        for file in files
        for finding in rule(ast.parse(file.read_text(encoding="utf-8")))
    ]


def calls(tree: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """(owner, name, call) of every call: `path.open()` is ("path", "open"), `open()` is ("", "open")."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield "", node.func.id, node
            elif isinstance(node.func, ast.Attribute):
                yield ast.unparse(node.func.value), node.func.attr, node


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value given for a keyword, or None."""
    return next((word.value for word in call.keywords if word.arg == name), None)


# --- encoding ---

OPENS_NO_TEXT = {"os", "webbrowser", "tarfile", "zipfile", "shelve", "dbm"}
CLASS = re.compile(r"cls|[A-Z]\w*")
"""A class: its `open` is a constructor of ours (`Study.open`)."""
BINARY_UNLESS_ASKED = {"gzip", "bz2", "lzma"}
TEMPORARY = {"NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile"}
ENCODINGS = {"utf-8", "utf-8-sig"}


def text_without_encoding(tree: ast.AST) -> Iterator[Finding]:
    """Text files and pipes opened in the encoding of whatever machine this is."""
    for owner, name, call in calls(tree):
        if _is_text(owner, name, call) and not _names_utf8(name, call):
            yield Finding(call.lineno, f'{name}() of text says encoding="utf-8"')


def _is_text(owner: str, name: str, call: ast.Call) -> bool:
    if name in ("read_text", "write_text", "TextIOWrapper"):
        return True
    if name in ("run", "Popen", "check_output") and "subprocess" in owner:
        return any(_is_true(keyword(call, word)) for word in ("text", "universal_newlines"))
    if name in TEMPORARY:
        return "b" not in _mode(call, 1 if name == "SpooledTemporaryFile" else 0, default="w+b")
    if name == "fdopen":
        return "b" not in _mode(call, 1, default="r")
    if name != "open" or owner in OPENS_NO_TEXT or CLASS.fullmatch(owner):
        return False
    if owner in BINARY_UNLESS_ASKED:
        return "t" in _mode(call, 1, default="rb")
    return "b" not in _mode(call, 1 if owner in ("", "io") else 0, default="r")


def _mode(call: ast.Call, position: int, default: str) -> str:
    given = keyword(call, "mode") or (call.args[position] if len(call.args) > position else None)
    if given is None:
        return default
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""


def _is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _names_utf8(name: str, call: ast.Call) -> bool:
    position = {"read_text": 0, "write_text": 1}.get(name)
    given = keyword(call, "encoding")
    if given is None and position is not None and len(call.args) > position:
        given = call.args[position]
    if isinstance(given, ast.Constant):
        return given.value in ENCODINGS
    return given is not None


# --- markup ---

SAYS_MARKUP = {"Static", "Label", "OptionList"}
"""Widgets that parse markup unless told not to when they are made."""
READS_MARKUP = {
    "Button",
    "Checkbox",
    "Collapsible",
    "Option",
    "RadioButton",
    "Selection",
    "Tab",
    "TabPane",
    "add_column",
    "add_columns",
    "add_leaf",
    "add_option",
    "add_row",
    "with_tooltip",
}
"""What parses markup in a string and cannot be told not to: give it a `Content` or `Text`."""
MARKUP_ATTRIBUTES = {"border_title", "border_subtitle", "tooltip", "label", "prompt"}
MARKUP_MODULES = {"rich.markup", "textual.markup"}


def markup_in_widgets(tree: ast.AST) -> Iterator[Finding]:
    """Strings built from data where a widget would read markup in them. For files that use textual."""
    yield from _unsaid_markup(tree)
    yield from _built_strings(tree)
    yield from _rendered_strings(tree)


def _unsaid_markup(tree: ast.AST) -> Iterator[Finding]:
    for _, name, call in calls(tree):
        said = keyword(call, "markup")
        fixed_text = bool(call.args) and isinstance(call.args[0], ast.Constant)
        if name in SAYS_MARKUP and not (_is_false(said) or (_is_true(said) and fixed_text)):
            yield Finding(call.lineno, f"{name}() says markup=False (or markup=True beside a fixed text)")
        elif name == "notify" and not (_is_false(said) or fixed_text):
            yield Finding(call.lineno, "notify() of anything but a fixed text says markup=False")


def _built_strings(tree: ast.AST) -> Iterator[Finding]:
    for _, name, call in calls(tree):
        if name in READS_MARKUP and any(_is_built_string(argument) for argument in call.args):
            yield Finding(call.lineno, f"{name}() reads markup: give it a Content or Text, not a string of data")
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_built_string(node.value):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in MARKUP_ATTRIBUTES:
                    yield Finding(node.lineno, f"{target.attr} reads markup: give it a Content or Text")


def _rendered_strings(tree: ast.AST) -> Iterator[Finding]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == "render":
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None and _is_built_string(node.value):
                    yield Finding(node.lineno, "render() of a string reads markup: return a Content or Text")


def markup_tools(tree: ast.AST) -> Iterator[Finding]:
    """Consoles that read markup, and the tools to make or escape it. For every file."""
    for _, name, call in calls(tree):
        if name == "Console" and not _is_false(keyword(call, "markup")):
            yield Finding(call.lineno, "Console() says markup=False")
        if name == "from_markup" and not (call.args and isinstance(call.args[0], ast.Constant)):
            yield Finding(call.lineno, "from_markup() of anything but a fixed text")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in MARKUP_MODULES:
            yield Finding(node.lineno, "escaping markup is not enough (`[tag=value: x` still ends the app)")
        elif isinstance(node, ast.ImportFrom) and node.module == "rich" and any(n.name == "print" for n in node.names):
            yield Finding(node.lineno, "rich.print reads markup")


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _is_built_string(node: ast.expr) -> bool:
    """True for f-strings with fields, `+` and `%` on strings, `.format()` and `.join()`."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) for part in node.values)
    if isinstance(node, ast.BinOp):
        return any(_is_stringy(side) for side in (node.left, node.right)) and not _is_fixed(node)
    if isinstance(node, ast.IfExp):
        return _is_built_string(node.body) or _is_built_string(node.orelse)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join"):
        return _is_stringy(node.func.value)
    return False


def _is_stringy(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and isinstance(node.value, str)) or (
        isinstance(node, ast.JoinedStr | ast.BinOp) and (isinstance(node, ast.JoinedStr) or _is_built_string(node))
    )


def _is_fixed(node: ast.expr) -> bool:
    return all(not isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript) for part in ast.walk(node))
