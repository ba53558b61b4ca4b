"""`rubric`: what people and judges of this study are told; read it, edit it, look at its versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from judges.benchmarks.benchmark import TaskDefinition
    from store.judge_rubrics import StoredRubric
    from store.study import Study


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("rubric")(rubric)


def rubric(
    context: typer.Context,
    task: Annotated[str, typer.Option("--task", help="Of which task; needed where there are several.")] = "",
    language: Annotated[str, typer.Option("--language", help="en or zh.")] = "en",
    edit: Annotated[bool, typer.Option("--edit", help="Open it in $EDITOR; what is saved is a new version.")] = False,
    file: Annotated[Path | None, typer.Option("--file", help="Take the text from a file instead.")] = None,
    history: Annotated[bool, typer.Option("--history", help="List its versions.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="No screen: print it.")] = False,
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who looks.")] = "",
    role: Annotated[str, typer.Option("--as", help="lead: look although you still label; it is recorded.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show or change the rubric that a judge of this study gets. Every version is kept; a changed one is another judge.

    In a terminal a screen shows every version, of the judge's rubric and of the people's, and what changed between
    them; `e` edits there. --plain, --edit, --file and --history do without it, for the judge's rubric. That is closed
    to an annotator in the middle of a queue: a retuned one says where the judge errs.

    Example: overread rubric --task qa --edit
    """
    from annotate.cli.label import can_draw, has_terminal, user_name
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.cli.study import tell_notices
    from annotate.desk.closed import require_open
    from annotate.editor import edited_text, text_of_file
    from judges.setup import study_rubric
    from store.judge_rubrics import rubric_versions
    from store.study import Study

    with Study.open(study_path(context)) as study:
        tell_notices(study)
        asked = edit or file is not None or history or plain or as_json
        if not asked and has_terminal() and can_draw():
            _look(study, task, annotator, role)
            return
        definition = _one_task(study, task)
        require_open(study, annotator.strip() or user_name(), role, "rubric")
        current = study_rubric(study, definition)
        if edit or file is not None:
            text = text_of_file(file) if file is not None else edited_text(current.texts.get(language, ""), "rubric.md")
            current = _changed(study, current, language, text)
        versions = rubric_versions(study, definition.task)
        if as_json:
            print_json({"task": definition.task, "versions": [
                {"version": v.version, "origin": v.origin, "at": v.at, "texts": dict(v.texts)} for v in versions
            ]})  # fmt: skip
            return
        if history:
            for version in versions:
                say(f"{version.version}  {version.origin}  {version.at}")
            return
        if language not in current.texts:
            raise UsageError(f"There is no rubric of {definition.task} in {language!r}.", "", "Write one: --edit")
        say(f"{definition.task}, version {current.version}, {current.origin}")
        for line in ["", *current.texts[language].splitlines()]:
            say(line)


def _look(study: Study, task: str, annotator: str, role: str) -> None:
    """The rubric screen, at a task; without the judge's rubrics for somebody in the middle of a queue.

    Raises:
        UsageError: there is no such task. SaveError: an edited rubric was not saved.
        typer.Exit: a signal ended the screen.
    """
    from annotate.cli.label import user_name
    from annotate.desk.closed import closed_words, require_open
    from annotate.tui.rubric_app import run_rubrics
    from annotate.tui.screens.rubric.state import RubricState
    from judges.collect import task_definitions

    if task:
        _one_task(study, task)
    who = annotator.strip() or user_name()
    closed = "" if role and require_open(study, who, role, "rubric") else closed_words(study, who)
    if code := run_rubrics(RubricState(study, list(task_definitions(study).values()), task, closed)):
        raise typer.Exit(code)


def _one_task(study: Study, name: str) -> TaskDefinition:
    from judges.collect import task_definitions

    definitions = task_definitions(study)
    if name in definitions:
        return definitions[name]
    if not name and len(definitions) == 1:
        return next(iter(definitions.values()))
    what = f"There is no task {name!r}." if name else "Which task?"
    raise UsageError(what, "", f"Say --task, one of: {', '.join(definitions)}.")


def _changed(study: Study, current: StoredRubric, language: str, text: str) -> StoredRubric:
    """The text as a new version.

    Raises:
        UsageError: an unknown language, or the text cannot take the place of the present one.
    """
    from annotate.cli.output import note
    from judges.collect import task_definitions
    from judges.rubric import LANGUAGES
    from judges.rubric_edit import AsItWasError, placeholders, require_edited
    from store.judge_rubrics import add_rubric
    from store.study import now

    if language not in LANGUAGES:
        raise UsageError(f"There is no language {language!r}.", "", f"Say {' or '.join(LANGUAGES)}.")
    try:
        edited = require_edited(text, current.texts.get(language, ""), task_definitions(study)[current.task])
    except AsItWasError as error:
        note(f"overread: {error.title}")
        return current
    if named := placeholders(edited):
        note(f"overread: {', '.join(named)} will stand as it is: the item comes in a message of its own.")
    texts = {**current.texts, language: edited}
    changed = add_rubric(study, current.task, texts, "edited", now().isoformat())
    if others := sorted(set(texts) - {language}):
        note(f"overread: the rubric in {', '.join(others)} is as it was; change it too if items are in that language.")
    return changed
