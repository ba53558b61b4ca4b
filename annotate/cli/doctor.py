"""`doctor`: health, repair, rebuild."""

from __future__ import annotations

from typing import Annotated

import typer

from store.errors import EXIT_STUDY, UsageError


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("doctor")(doctor)


def doctor(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Mend journal, log and paid calls in place.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the study anew from its journal and its paid calls.")
    ] = False,
) -> None:
    """Examine a study: is everything there, is anything damaged? Nothing damaged is ever deleted.

    Example: overread --study run.duckdb doctor --repair
    """
    from annotate.cli.main import study_path
    from annotate.cli.output import say
    from store import repair as repairing

    if repair and rebuild:
        raise UsageError(
            "Choose one of --repair and --rebuild.", "", "--repair first; --rebuild if that is not enough."
        )
    path = study_path(context).absolute()
    if repair or rebuild:
        for sentence in repairing.repair(path) if repair else repairing.rebuild(path):
            say(sentence)
        return
    health = repairing.examine(path)
    for what, how in health.facts:
        say(f"{what:9} {how}")
    if health.trouble:
        say(f"trouble   {health.trouble}")
        say(f"remedy    {health.remedy}")
        raise typer.Exit(EXIT_STUDY)
    say("healthy")
