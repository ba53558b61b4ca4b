"""Make the pictures of the README from the running program: `python -m tests.tools.make_screenshots [FOLDER]`.

The program runs in a pseudo-terminal on the sample data, keys are pressed, and the screen is written as SVG, so that a
picture never shows what the program does not do. The pictures load nothing from anywhere. Needs the `test` extra.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby
from pathlib import Path

from pyte.screens import Char
from rich.cells import cell_len
from rich.color import Color, ColorParseError
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.commands import ROOT, overread_command, overread_environment
from tests.sample_study import make_sample_study
from tests.terminal.harness import Terminal

WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""What rich puts into a picture to load its font from somewhere."""
OTHER_NAMES = {"brown": "yellow", "brightbrown": "bright_yellow"}
"""pyte's names of colours that rich names otherwise."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture.

    Attributes:
        name: file name without `.svg`.
        arguments: of `overread`, on a fresh study of the sample data.
        steps: ("wait", regular expression) or ("press", key), in order.
    """

    name: str
    arguments: Sequence[str]
    steps: Sequence[tuple[str, str]]
    columns: int = 140
    rows: int = 32


SHOTS = (
    Shot(
        "screenshot",
        ("label", "--annotator", "dr.li", "--task", "qa", "--seed", "2"),
        (("wait", r"BLIND"), ("press", "v"), ("wait", r"▾ Dialogue"), ("press", "1"), ("wait", r"VERDICT SHOWN")),
    ),
)


def svg(cells: Sequence[Sequence[Char]], title: str, name: str) -> str:
    """A screen as an SVG that needs nothing else. `name` makes its inner ids unique and the same each time."""
    columns = len(cells[0])
    console = Console(
        record=True, width=columns, file=StringIO(), force_terminal=True, color_system="truecolor", markup=False
    )
    for row in cells:
        console.print(_line(row), no_wrap=True, overflow="crop", crop=True)
    picture = WEB_FONT.sub("", console.export_svg(title=title, unique_id=name))
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def _line(row: Sequence[Char]) -> Text:
    """A row cut into pieces that rich places exactly: words of one style, blanks, single wide characters.

    Viewers trim the blanks at the ends of a piece, and rich counts a wide character as one cell when it fits a piece.
    """
    line = Text(end="")
    for _, cells in groupby(enumerate(row), key=lambda place: _piece(*place)):
        piece = [cell for _, cell in cells]
        line.append("".join(cell.data for cell in piece), _style(piece[0]))
    return line


def _piece(column: int, cell: Char) -> tuple[Char, bool, int]:
    """What neighbouring cells of one piece have in common."""
    return cell._replace(data=""), cell.data == " ", column if cell_len(cell.data) == 2 else -1


def _style(cell: Char) -> Style:
    return Style(
        color=_color(cell.fg),
        bgcolor=_color(cell.bg),
        bold=cell.bold,
        italic=cell.italics,
        underline=cell.underscore,
        strike=cell.strikethrough,
        reverse=cell.reverse,
    )


def _color(name: str) -> Color:
    """pyte's colour: `default`, a name such as `brightred`, or six hex digits."""
    if re.fullmatch("[0-9a-f]{6}", name):
        return Color.parse(f"#{name}")
    try:
        return Color.parse(OTHER_NAMES.get(name, name.replace("bright", "bright_", 1)))
    except ColorParseError:
        return Color.default()


def take(shot: Shot) -> str:
    """Run the program up to the moment of the shot.

    Raises:
        AssertionError: something waited for never came; shows the screen.
    """
    with tempfile.TemporaryDirectory(prefix="overread-shot-") as name:
        folder = Path(name)
        command = overread_command("--study", str(make_sample_study(folder)), *shot.arguments)
        env = {"PYTHONPATH": overread_environment()["PYTHONPATH"], "HOME": name}
        with Terminal(command, columns=shot.columns, rows=shot.rows, cwd=folder, env=env) as terminal:
            for action, what in shot.steps:
                terminal.wait_quiet(0.5)
                if action == "wait":
                    terminal.wait_for(what)
                else:
                    terminal.send(what)
            terminal.wait_quiet(0.5)
            return svg(terminal.display.cells, "overread", shot.name)


def main(folder: Path) -> None:
    """Write every picture into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for shot in SHOTS:
        file = folder / f"{shot.name}.svg"
        file.write_text(take(shot), encoding="utf-8")
        print(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs")
