"""`label`: the reading desk, full screen or line by line."""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from annotate.desk.desk import Desk
    from judges.benchmarks.benchmark import TaskDefinition
    from store.study import Study

_PLAIN = "Use `overread label --plain`: it asks line by line."
MODES = ("item", "block", "never", "assisted")


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("label")(label)


def label(
    context: typer.Context,
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who labels.")] = "",
    task: Annotated[str, typer.Option("--task", help="Only this task.")] = "",
    mode: Annotated[str, typer.Option("--mode", help="When the verdict is shown: item, block, never, assisted.")] = "",
    minutes: Annotated[float | None, typer.Option("--minutes", help="End at the first boundary after so long.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the draw that is made now.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Line by line, for screen readers.")] = False,
    draw: Annotated[str, typer.Option("--draw", help="This draw (the beginning of its id); see `status`.")] = "",
    keys: Annotated[Path | None, typer.Option("--keys", help='A TOML file: action = "key" or ["key", …].')] = None,
) -> None:
    """Open the reading desk. A draw is made before the first label if there is none.

    Of several draws the oldest that `sample` made and that still has items for you is served; --draw picks another.

    Example: overread label --annotator dr.li --minutes 60
    """
    from annotate.cli.loading import load_desk
    from annotate.cli.main import study_path

    path = study_path(context)
    if not plain:
        require_terminal()
    load_desk(screen=not plain)
    from annotate.cli.study import tell_notices
    from store.study import Study

    with Study.open(path) as study:
        tell_notices(study)
        run_desk(
            study, annotator=annotator, task=task, mode=mode, minutes=minutes, seed=seed, plain=plain, draw=draw,
            keys=keys,
        )  # fmt: skip


def run_desk(
    study: Any,
    *,
    annotator: str = "",
    task: str = "",
    mode: str = "",
    minutes: float | None = None,
    seed: int | None = None,
    plain: bool = False,
    draw: str = "",
    keys: Path | None = None,
) -> None:
    """Sit down at an open study and label until the person leaves.

    Raises:
        UsageError: an unknown mode, task, draw or key, or nothing to label.
        SaveError: the person left although the last act could not be saved.
        typer.Exit: a signal ended the desk; its code is 128 and the signal's number.
    """
    from annotate.cli.loading import keep_loaded, loading
    from annotate.desk.opening import sit_down, task_definitions

    if mode and mode not in MODES:
        raise UsageError(f"There is no mode {mode!r}.", f"There are: {', '.join(MODES)}.")
    remapped = load_keys(keys)
    check_keys(keys_file(keys), remapped, [definition for definition, _ in task_definitions(study).values()])
    who = annotator.strip() or user_name()
    desk = sit_down(study, who, task=task, mode=mode or None, seed=seed, minutes=minutes, draw=draw)  # type: ignore[arg-type]
    tell_absent(study, desk)
    tell_draw(study, desk)
    if plain:
        run_plain(desk, remapped)
        return
    with loading():
        from annotate.tui.app import run_app

    keep_loaded()
    if code := run_app(desk, remapped):
        raise typer.Exit(code)
    for sentence in desk.summary():
        typer.echo(sentence)


def tell_draw(study: Study, desk: Desk) -> None:
    """Say which draw is served, where there are several."""
    from annotate.cli.output import note
    from store.draws import list_draws

    if len(list_draws(study)) > 1:
        draw = desk.draw
        note(
            f"overread: draw {draw.draw_id[:6]}, {len(desk.queue):,} items for {draw.stream}. Another one: --draw ID,"
            " see overread status"
        )


def tell_absent(study: Study, desk: Desk) -> None:
    """Say when drawn items are not in the study (any more): a queue that cannot be shown is not one that is done.

    Raises:
        UsageError: none of them is there.
    """
    from annotate.cli.output import note
    from store.draws import count_absent

    absent = count_absent(study, desk.draw.draw_id)
    if not absent:
        return
    files = list(dict.fromkeys(record["path"] for record in study.journal_records("import")))
    again = f"Import them again: {', '.join(files) or 'the result files'}"
    if not desk.queue.items:
        raise UsageError(
            "The items to label are not in the study.",
            f"{absent} items were drawn; none of them is here. Labels given before are kept.", again,
        )  # fmt: skip
    note(f"overread: {absent} drawn items are not in the study and are left out; labels on them are kept. {again}")


def open_here(study: Path | None) -> None:
    """`overread` alone: the desk on the study in this folder, or how to begin.

    Raises:
        UsageError: several studies lie here.
    """
    from annotate.cli.loading import load_desk
    from annotate.cli.main import studies_here

    here = [study] if study is not None else studies_here()
    if len(here) > 1:
        names = ", ".join(path.name for path in here)
        raise UsageError(f"There are {len(here)} studies in this folder: {names}.", "", "overread --study FILE label")
    if not here:
        typer.echo("There is no study in this folder.\n")
        typer.echo("  overread demo                 try it on the sample data")
        typer.echo("  overread open FILE…           open a benchmark's result files")
        typer.echo("  overread --help               everything else")
        return
    require_terminal()
    load_desk(screen=True)
    from annotate.cli.study import tell_notices
    from store.study import Study

    with Study.open(here[0]) as opened:
        tell_notices(opened)
        run_desk(opened)


def require_terminal(what: str = "The desk", remedy: str = _PLAIN) -> None:
    """Refuse to draw where nothing can be drawn.

    Args:
        what: the screen that is asked for. remedy: what to do without it.

    Raises:
        UsageError: no terminal, or one that cannot place a cursor.
    """
    if not has_terminal():
        raise UsageError(f"{what} needs a terminal.", "Input, output or errors go to a pipe or a file.", remedy)
    if not can_draw():
        raise UsageError("This terminal cannot draw a screen (TERM=dumb).", "", remedy)


def has_terminal() -> bool:
    """Whether a person sits at input, output and errors."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def can_draw() -> bool:
    """Whether the terminal can place a cursor."""
    return os.name == "nt" or os.environ.get("TERM", "") not in ("", "dumb")


def run_plain(desk: Any, remapped: Mapping[str, Sequence[str]]) -> None:
    """The desk line by line on standard input and output, whatever characters they can take.

    Raises:
        UsageError: there is no input or no output.
    """
    from annotate.cli.plain import PlainDesk

    if sys.stdin is None or sys.stdout is None:
        raise UsageError("There is nothing to read keys from, or nowhere to write to.", "", "Leave both open.")
    for stream in (sys.stdin, sys.stdout):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    PlainDesk(desk, sys.stdin, sys.stdout, remapped).run()


def user_name() -> str:
    """Who is logged in, for want of `--annotator`.

    Raises:
        UsageError: the system does not know.
    """
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError) as error:
        raise UsageError("Nobody knows who labels.", "", "Say it: --annotator dr.li") from error


def keys_file(given: Path | None) -> Path | None:
    """The key file to use: the given one, else the one of the configuration folder if there is one."""
    if given is not None:
        return given
    try:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    except RuntimeError:  # nobody has a home, as in some containers
        return None
    file = folder / "overread" / "keys.toml"
    return file if file.is_file() else None


def load_keys(path: Path | None) -> dict[str, list[str]]:
    """The user's keys by action, from `--keys`, else from the configuration folder when there is such a file.

    Raises:
        UsageError: the file cannot be read; names the place.
    """
    file = keys_file(path)
    if file is None:
        return {}
    import tomllib

    from judges.toml_text import read_toml

    try:
        table = read_toml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"The key file {file} cannot be read.", str(error), 'It looks like: skip = "k"') from error
    keys = {}
    for action, given in table.items():
        listed = [given] if isinstance(given, str) else given
        if not isinstance(listed, list) or not all(isinstance(key, str) for key in listed):
            raise UsageError(f"{file}: {action} must be a key or a list of keys.", "", 'As in: skip = ["k", "K"]')
        keys[action] = listed
    return keys


def check_keys(file: Path | None, remapped: Mapping[str, Sequence[str]], tasks: Iterable[TaskDefinition]) -> None:
    """Refuse keys that two want, before the desk opens.

    Raises:
        UsageError: names both owners, and the key file if there is one.
    """
    from annotate.desk.actions import KeyMap

    for task in tasks:
        try:
            KeyMap(task, remapped)
        except UsageError as error:
            where = f"{file}: " if file is not None else ""
            raise UsageError(f"{where}{error.title}", error.detail, error.hint) from error
