"""`sample`: which items are read, drawn with known chances and journaled before the first label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from judges.drawing import MadeDraw
    from judges.practice import PracticeDraw
    from store.study import Study

FEW_GROUPS = 10
"""Texts below which an interval is wide whatever is labelled in them."""
ALLOCATIONS = ("proportional", "equal", "neyman")
_ESTIMATE_ONLY = "Labels of the stream {stream} teach or check; they enter no agreement and no corrected score."


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("sample")(sample)


def sample(
    context: typer.Context,
    n: Annotated[int, typer.Option("--n", help="How many items (questions with --paired; about so many of texts).")],
    stream: Annotated[str, typer.Option("--stream", help="estimate, learn, check or practice.")] = "estimate",
    by: Annotated[str, typer.Option("--by", help="Strata: task, system, verdict or slices, as task,verdict.")] = "",
    allocation: Annotated[
        str, typer.Option("--allocation", help="Labels over strata: proportional, equal, neyman.")
    ] = "proportional",
    task: Annotated[str, typer.Option("--task", help="Only this task.")] = "",
    system: Annotated[str, typer.Option("--system", help="Only this system.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts, for --by verdict and --stream learn.")] = "",
    two_stage: Annotated[
        bool | None,
        typer.Option("--two-stage/--single", help="Draw shared texts, then items of each; or items one by one."),
    ] = None,
    clustered: Annotated[bool, typer.Option("--clustered", help="Draw whole clusters (users, personas).")] = False,
    within: Annotated[int | None, typer.Option("--within", help="Items of each task in each text; 0 for all.")] = None,
    paired: Annotated[bool, typer.Option("--paired", help="All systems' items of a question, for --compare.")] = False,
    reveal: Annotated[str, typer.Option("--reveal", help="When the verdict comes: item, block, never, assisted.")] = "",
    top_up: Annotated[str, typer.Option("--top-up", help="Continue this draw by --n more items.")] = "",
    abstained: Annotated[
        bool, typer.Option("--abstained", help="learn: what the judge is too unsure of, see `audit --confidence`.")
    ] = False,
    unexplained: Annotated[
        bool, typer.Option("--unexplained", help="practice: unlabelled items at random, in place of settled ones.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the draw; a random one if not said.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Draw items to label. The draw is written down, with every item's chance, before the first label.

    Example: overread sample --n 200 --task qa --by verdict --allocation equal
    """
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.cli.study import tell_notices
    from store.draws import Stream
    from store.study import Study

    _require("stream", stream, get_args(Stream))
    _require("allocation", allocation, ALLOCATIONS)
    if reveal:
        _require("policy", reveal, ("item", "block", "never", "assisted"))
    options = {
        "n": n, "stream": stream, "by": tuple(name.strip() for name in by.split(",") if name.strip()),
        "allocation": allocation, "task": task, "system": system, "within": within, "paired": paired,
        "reveal": reveal, "seed": seed, "together": _together(two_stage, clustered=clustered),
    }  # fmt: skip
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        kind = "abstained" if abstained else "unexplained" if unexplained else ""
        if top_up and kind:
            raise UsageError(f"--{kind} makes a new draw.", "", "Leave --top-up out.")
        made = _continue(study, top_up, options, judge) if top_up else _draw(study, options, judge, kind)
        notes = list(_notes(study, made))
    if as_json:
        print_json({**made.as_json(), "notes": notes})
        return
    for line in [*_lines(made), *notes]:
        say(line)


def _require(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise UsageError(f"There is no {what} {given!r}.", f"There are: {', '.join(known)}.")


def _together(two_stage: bool | None, *, clustered: bool) -> str | None:
    if clustered:
        if two_stage is not None:
            raise UsageError("--clustered and --two-stage are two designs.", "", "Leave one of them out.")
        return "clusters"
    return None if two_stage is None else "texts" if two_stage else "items"


_KIND_OF = {"abstained": "learn", "unexplained": "practice"}
"""Options that choose another kind of items, and the stream each is of."""


def _draw(study: Study, options: dict[str, Any], judge: str, kind: str) -> MadeDraw:
    from annotate.cli.export import pick
    from annotate.cli.label import user_name
    from judges.collect import verdict_slices
    from judges.deciding import selective_of
    from judges.drawing import Wish, draw_estimate
    from judges.learning_draws import draw_check, draw_learn, draw_unexplained
    from judges.practice import draw_practice
    from store.items import judges

    if kind and options["stream"] != _KIND_OF[kind]:
        raise UsageError(f"--{kind} is of the stream {_KIND_OF[kind]}.", "", f"Add --stream {_KIND_OF[kind]}.")
    by_verdict = {"verdict", *verdict_slices(study)} & set(options["by"])
    needs_judge = bool(by_verdict) or options["allocation"] == "neyman" or kind == "abstained"
    named = pick("judge", judge, judges(study, options["task"])) if judge or needs_judge else ""
    wish = Wish(**options, judge=named)
    who = user_name()
    if wish.stream == "learn":
        return draw_learn(study, wish, who, selective_of(study, [named]) if kind == "abstained" else None)
    if wish.stream == "check":
        return draw_check(study, wish, who)
    if wish.stream == "practice":
        return (draw_unexplained if kind == "unexplained" else draw_practice)(study, wish, who)
    return draw_estimate(study, wish, who)


def _continue(study: Study, named: str, options: dict[str, Any], judge: str) -> MadeDraw:
    from annotate.cli.label import user_name
    from judges.drawing import top_up
    from judges.made_draws import find_draw

    plain: dict[str, Any] = {
        "stream": "estimate", "by": (), "allocation": "proportional", "task": "", "system": "", "within": None,
        "paired": False, "reveal": "", "seed": None, "together": None,
    }  # fmt: skip
    if judge or any(options[name] != value for name, value in plain.items()):
        raise UsageError(
            "A draw that is topped up keeps its terms.", "", "Say --top-up DRAW --n MORE and nothing else."
        )
    return top_up(study, find_draw(study, named), options["n"], user_name())


_DESIGNS = {"simple": "one by one at random", "two_stage": "by shared text, then items of each", "chosen": "chosen"}
_SHOWN = {
    "item": "shown after each label",
    "block": "shown at the end of each block of ten or shared text",
    "never": "never shown",
    "assisted": "shown from the start: such labels enter no agreement and no corrected score",
}


def _lines(made: MadeDraw) -> Iterator[str]:
    draw = made.draw
    count = f"{len(made.items):,} items" + (f", {made.before:,} of them drawn before" if made.before else "")
    yield f"Draw {draw.draw_id}: {count}, of {draw.task or 'all tasks'}, for {draw.stream}."
    how = "whole clusters at random" if draw.settings.get("together") == "clusters" else _DESIGNS[draw.design]
    within = draw.settings.get("within")
    if made.groups:
        what = "clusters" if draw.settings.get("together") == "clusters" else "texts"
        how += f": {made.groups} {what}" + (f", up to {within} items of each task in each" if within else ", all items")
    if made.strata:
        by = ", ".join(draw.settings["by"])
        how += f"; {len(made.strata)} strata by {by}, {draw.settings['allocation']}; the order tells no stratum"
    yield f"Drawn {how}; seed {draw.seed}. The verdict is {_SHOWN[draw.reveal]}."
    yield f"Next: overread label --draw {draw.draw_id[:6]}"


def _notes(study: Study, made: MadeDraw) -> Iterator[str]:
    """What one must know of the draw; nothing that a verdict decides."""
    from judges.made_draws import extended
    from judges.practice import PracticeDraw
    from store.draws import list_draws

    draw = made.draw
    if isinstance(made, PracticeDraw):
        yield _of_settled(made)
    if draw.stream != "estimate":
        yield _ESTIMATE_ONLY.format(stream=draw.stream)
        return
    draws = list_draws(study)
    gone = extended(draws) | {draw.draw_id}
    others = [
        one.draw_id[:6]
        for one in draws
        if one.stream == "estimate" and one.task == draw.task and one.draw_id not in gone
        and one.settings.get("made_by") == draw.settings["made_by"]
    ]  # fmt: skip
    if others:
        yield (
            f"There are other estimate draws of the same items ({', '.join(others)}). They are not pooled: numbers rest"
            " on the one with the most labels. --top-up continues one instead."
        )
    if draw.settings.get("together") != "items" and made.groups < FEW_GROUPS:
        yield (
            f"{made.groups} texts or clusters are few for an interval (it counts them, not items): expect a wide one."
        )


def _of_settled(made: PracticeDraw) -> str:
    """What a practice draw was made of. Nothing that tells one item's label."""
    return (
        f"People have settled {made.settled:,} items. Of the {len(made.items):,} drawn {made.noted:,} have a note that"
        f" says why, and on {made.hard:,} people differed at first. What was settled is shown after each label. Whoever"
        " labelled an item, or has it in a queue they have begun, is not served it."
    )
