"""`score`: the benchmark's metrics, as coded and with people's labels put in."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from judges.calibration.correction.result import CorrectedMetric
    from judges.comparing import SystemComparison
    from judges.correcting import Corrections
    from judges.deciding import SelectiveScores
    from judges.scoring import StudyScores, SystemScores


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("score")(score)


def score(
    context: typer.Context,
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts, if there are several judges.")] = "",
    system: Annotated[str, typer.Option("--system", help="Only this system.")] = "",
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="Two systems, or two judges: the difference A less B."),
    ] = None,
    calibrated_on: Annotated[
        str, typer.Option("--calibrated-on", help="Carry the judge's error rates on this system over to the others.")
    ] = "",
    selective: Annotated[
        bool, typer.Option("--selective", help="The judge decides only where it is sure enough, people the rest.")
    ] = False,
    details: Annotated[bool, typer.Option("--details", help="Every number, table and doubtful verdict.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON: it always has everything.")] = False,
) -> None:
    """Compute the benchmark's scores: as its own script would, as its paper says, and with people's labels.

    Then what to read them with: warnings, where wrong results come from, tables by user, type and the like, and what
    takes several systems at once: paired tests, means over runs, losses from one regime to the other.

    --selective counts a verdict only where the judge's confidence reaches what `audit --confidence --keep` found, and
    tells no score that rests on an item which still waits for people.

    Example: overread score --json
    """
    from annotate.cli.export import pick
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.cli.study import tell_notices
    from judges.correcting import Corrections
    from judges.judge_sets import judge_set
    from judges.scoring import score_study
    from store.items import systems
    from store.study import Study

    with Study.open(study_path(context)) as study:
        tell_notices(study)
        if compare is not None and selective:
            raise UsageError("--selective does not go with --compare.", "", "Leave one of them out.")
        if system:
            pick("system", system, systems(study))
        if calibrated_on:
            pick("system", calibrated_on, systems(study))
        corrections = Corrections(study)
        if compare is not None and not set(compare) & set(systems(study)):
            _judges(corrections, compare, as_json=as_json)
            return
        chosen = judge_set(study, judge).names
        difference = _systems(corrections, compare, chosen) if compare is not None else None
        if difference is not None and not as_json:
            lines = list(system_comparison_lines(difference))
        else:
            found = score_study(
                study, chosen, system, calibrated_on=calibrated_on, corrections=corrections, selective=selective
            )
            lines = [] if as_json else list(score_lines(found, details=details))
    if as_json:
        print_json({**found.as_json(), **({"compare": difference.as_json()} if difference else {})})
        return
    for line in lines:
        say(line)


def _systems(corrections: Corrections, compare: tuple[str, str], judge: Sequence[str]) -> SystemComparison:
    from annotate.cli.export import pick
    from judges.comparing import compare_systems_of
    from store.items import systems

    a, b = (pick("system", name, systems(corrections.study)) for name in compare)
    if a == b:
        raise UsageError("A system is not compared with itself.", "", "Name two: --compare A B")
    return compare_systems_of(corrections, a, b, judge)


def _judges(corrections: Corrections, compare: tuple[str, str], *, as_json: bool) -> None:
    """Two judges on the same labels."""
    from annotate.cli.output import print_json, say
    from annotate.report.compare_text import judge_comparison_lines
    from judges.comparing import compare_judges_of, judges_json
    from store.items import judges, systems

    study = corrections.study
    known = judges(study)
    if missing := [name for name in compare if name not in known]:
        detail = f"Systems: {', '.join(systems(study)) or 'none'}. Judges: {', '.join(known) or 'none'}."
        raise UsageError(f"There is no system and no judge {missing[0]!r}.", detail)
    if compare[0] == compare[1]:
        raise UsageError("A judge is not compared with itself.", "", "Name two: --compare A B")
    found = compare_judges_of(corrections, *compare)
    if as_json:
        print_json({"benchmark": study.benchmark, "compare": judges_json(*compare, found)})
        return
    for block in judge_comparison_lines(*compare, found):
        for line in _laid_out([block]):
            say(line)


def system_comparison_lines(difference: SystemComparison) -> Iterator[str]:
    """Two systems, metric by metric."""
    from annotate.report.compare_text import comparison_lines

    yield from _laid_out(comparison_lines(difference))


MOST_SYSTEMS, MOST_ROWS, MOST_IN_ALL = 8, 45, 150
"""Systems, rows of one table and rows of all systems that are printed without being asked for."""


def score_lines(scores: StudyScores, *, details: bool = False) -> Iterator[str]:
    """The scores as tables: one row a metric, as coded beside overridden; then what the benchmark says beside.

    What must not be overlooked comes first. Without `details` long tables are cut to their headline, and a study of
    many systems, or of more rows than anybody reads, to what compares them.
    """
    from annotate.report.compare_text import leaderboard_lines, transported_lines
    from annotate.report.score_text import alarm_lines, remark_lines, side_by_side

    yield from (line for passage in scores.gate if (line := gate_line(passage)))
    yield from alarm_lines({name: found.alarms for name, found in scores.systems.items()})
    yield from remark_lines(scores.remarks)
    short = not details and _is_long(scores)
    if short:
        yield from _summary_lines(scores)
    else:
        for name, found in scores.systems.items():
            yield from _system_lines(name, scores, found, details=details)
            if found.transported is not None:
                yield from _laid_out(transported_lines(found.transported))
            yield from _beside(found, details=details)
            yield ""
    yield from _laid_out(leaderboard_lines(scores.leaderboard))
    if scores.plan is not None:
        yield from scores.plan.lines()
    said = {name: found.description for name, found in scores.systems.items() if found.description is not None}
    yield from _laid_out(side_by_side(said))
    yield from _compared_lines(scores, details=details, short=short and bool(scores.headline))


_GATES = {
    "open": "",
    "forced": "FORCED: all of {task} was judged through a gate that was not open",
    "closed": "the gate of {task} is closed for this judge",
    "undecided": "the gate of {task} is undecided for this judge",
    "changed": "the gate of {task} was open and is not any more: {why}",
    "unlooked": "",
}


def gate_line(passage: Mapping[str, Any]) -> str:
    """What a score has to say of its judge's gate; "" where it is open, or nobody has looked."""
    said = _GATES[passage["state"]].format(task=passage["task"], why=passage["why"])
    if not passage["forced"] or passage["state"] == "forced":
        return said
    earlier = (
        f"{passage['task']} was first judged through a gate that was not open, by force on {passage['forced'][:10]}"
    )
    return f"{said}; {earlier}" if said else earlier


def _is_long(scores: StudyScores) -> bool:
    rows = sum(
        len(_shown(list(flat(found.as_coded)), scores.headline, details=False)) for found in scores.systems.values()
    )
    return len(scores.systems) > MOST_SYSTEMS or (len(scores.systems) > 1 and rows > MOST_IN_ALL)


def _summary_lines(scores: StudyScores) -> Iterator[str]:
    """One row a system: the headline as coded, and below it with people's labels where they change it."""
    from annotate.cli.output import table

    yield f"{len(scores.systems)} systems, judged by {scores.judge}; each by itself: --system NAME, or --details"
    if scores.headline:
        rows = [["as coded", *scores.headline.values()]]
        for name, found in scores.systems.items():
            coded, overridden = ([number(dict(flat(s)).get(path)) for path in scores.headline]
                                 for s in (found.as_coded, found.overridden))  # fmt: skip
            rows += [[name, *coded], *([["  with people's labels", *overridden]] if overridden != coded else [])]
        yield from table(rows)
    for name, found in scores.systems.items():
        if found.selective is not None:
            yield name
            yield from selective_lines(found.selective)
        if found.equals_file is False:
            yield f"{name}: {_EQUALITY[False]}"
    doubtful = sum(len(found.doubts) for found in scores.systems.values())
    if doubtful:
        yield f"{doubtful} verdicts are doubtful on the face of it: --details"
    yield ""


def _compared_lines(scores: StudyScores, *, details: bool, short: bool) -> Iterator[str]:
    """What takes several systems at once; with people's labels put in, where there are some."""
    from annotate.report.score_text import TABLES_IN_SHORT, TABLES_SHOWN, nested_blocks

    most = TABLES_IN_SHORT if short else TABLES_SHOWN
    if scores.compared:
        yield "side by side, as coded:"
        yield from _laid_out(nested_blocks(scores.compared, details=details, most=most))
    if scores.compared_overridden and scores.compared_overridden != scores.compared:
        yield "side by side, with people's final labels put in:" + (" --details, or --json" if short else "")
        if short:
            return
        yield from _laid_out(nested_blocks(scores.compared_overridden, details=details))


def _beside(found: SystemScores, *, details: bool) -> Iterator[str]:
    from annotate.report.nested import beyond
    from annotate.report.score_text import description_lines, doubt_blocks, nested_blocks, warning_lines

    yield from warning_lines(found.warnings)
    told = beyond(found.overridden, found.as_coded)
    if told and details:
        yield "what people's labels tell besides:"
        yield from _laid_out(nested_blocks(told, details=True))
    yield from _laid_out(doubt_blocks(found.doubts, details=details))
    if found.description is not None:
        yield from _laid_out(description_lines(found.description))


def _laid_out(blocks: Iterable[str | list[list[str]]]) -> Iterator[str]:
    from annotate.cli.output import table

    for block in blocks:
        yield from [block] if isinstance(block, str) else table(block)


_EQUALITY = {
    True: "as coded equals the file's own scores, number for number",
    False: "as coded DIFFERS from the file's own scores",
    None: "the file states no scores of its own",
}


def _system_lines(name: str, scores: StudyScores, found: SystemScores, *, details: bool) -> Iterator[str]:
    from annotate.cli.output import table

    yield f"{name}, judged by {scores.judge}"
    yield _EQUALITY[found.equals_file]
    yield f"overridden: {found.overridden_items} items have a person's final label"
    if found.selective is not None:
        yield from selective_lines(found.selective)
    overridden = dict(flat(found.overridden))
    chosen = dict(flat(found.selective.scores)) if found.selective is not None else {}
    corrected = found.corrected.metrics if found.corrected is not None else {}
    coded = list(flat(found.as_coded))
    shown = _shown(coded, scores.headline, details=details)
    columns = [
        ["metric", "as coded", "overridden", *(["selective"] if chosen else [])],
        *(
            [metric, number(value), number(overridden.get(metric)), *([number(chosen.get(metric))] if chosen else [])]
            for metric, value in shown
        ),
    ]
    more = [["corrected", "95 % interval", "by"], *(_correction(corrected, metric) for metric, _ in shown)]
    rows = [[*row, *beside] for row, beside in zip(columns, more, strict=True)] if corrected else columns
    yield from table(rows)
    if len(shown) < len(coded):
        yield f"  … and {len(coded) - len(shown)} more: --details, or --json"
    if corrected:
        yield from _correction_notes(found)
    yield from _described_lines(found.as_described, dict(coded), details=details)
    yield from (f"  {metric}: {value.why}" for metric, value in shown if hasattr(value, "why"))


def selective_lines(found: SelectiveScores) -> Iterator[str]:
    """Who decided how much, what is promised of the judge's part, and what waits for people."""
    for task, counts in found.decided.items():
        said = [f"{counts[by]} {word}" for by, word in _DECIDERS.items() if counts.get(by)]
        promise = found.promises.get(task)
        sure = (
            f"where the judge is at least {promise['threshold']:.3f} sure, at most {100 * promise['alpha']:g} % of its"
            f" verdicts differ from people's ({100 * (1 - promise['delta']):g} % certain)"
            if promise
            else "the judge may decide nothing of it alone"
        )
        yield f"selective, {task}: {', '.join(said)}; {sure}"
        if waiting := found.waiting.get(task):
            yield (
                f"  what rests on the {waiting} has no selective score yet: overread sample --stream learn --abstained"
                f" --task {task} --n {math.ceil(waiting * 3 / 2)}, then overread label"
            )


_DECIDERS = {"people": "by people", "judge": "by the judge", "queue": "wait for people", "nobody": "not judged"}


def _shown(coded: Sequence[tuple[str, Any]], headline: Collection[str], *, details: bool) -> list[tuple[str, Any]]:
    """All metrics; of too many, the outer ones and the headline."""
    if details or len(coded) <= MOST_ROWS:
        return list(coded)
    return [(path, value) for path, value in coded if path.count(" / ") < 2 or path in headline]


def _described_lines(described: Mapping[str, Any], coded: Mapping[str, Any], *, details: bool) -> Iterator[str]:
    from annotate.cli.output import table
    from annotate.report.score_text import nested_blocks

    if not described:
        return
    numbers = list(flat(described))
    if len(numbers) <= MOST_ROWS:
        other = [(metric, value) for metric, value in numbers if metric not in coded or coded[metric] != value]
        if other or details:
            yield "where the paper says otherwise (as described):"
            yield from table([[metric, number(value)] for metric, value in (numbers if details else other)])
        if not details and len(other) < len(numbers):
            yield f"  as described, {len(numbers) - len(other)} more come to the same as coded: --details, or --json"
        return
    yield "where the paper says otherwise (as described):"
    if details:
        yield from _laid_out(nested_blocks(described, details=True))
        return
    yield from table([[metric, number(value)] for metric, value in numbers if " / " not in metric])
    inner = [name.replace("_", " ") for name, value in described.items() if isinstance(value, Mapping)]
    yield f"  and tables of {', '.join(inner)}: --details, or --json"


_BY = {"corrected": "judge + labels", "humans_only": "labels alone", "inverted": "error rates", "exact": "exact"}


def _correction(corrected: Mapping[str, CorrectedMetric], metric: str) -> list[str]:
    """What people would have scored on all items: value, interval, and what it was made of."""
    found = corrected.get(metric)
    if found is None:
        return ["", "", ""]
    value = found.statistic
    if value.value is None:
        return ["none", "", found.refusal.replace("_", " ")]
    interval = f"{value.low:.4f} to {value.high:.4f}" if value.low is not None and value.high is not None else ""
    return [f"{value.value:.4f}", interval, _BY.get(found.used, found.used)]


_TARGETS = {"finite": "all of these items", "population": "items like these"}


def _correction_notes(found: SystemScores) -> Iterator[str]:
    """What the corrected numbers speak of, and each reason why one is not corrected, once."""
    result = found.corrected
    if result is None:
        return
    labels = ", ".join(f"{task} {count} of {result.items[task]}" for task, count in result.labels.items())
    yield f"corrected: what people would have scored on {_TARGETS[result.target]}; labels used: {labels}"
    reasons: dict[str, int] = {}
    for metric in result.metrics.values():
        if metric.statistic.why:
            reasons[metric.statistic.why] = reasons.get(metric.statistic.why, 0) + 1
    yield from (f"  {count} metrics: {why}" for why, count in reasons.items())


def flat(scores: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested scores as (path, value)."""
    for name, value in scores.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name} / ")
        else:
            yield f"{prefix}{name}", value


def number(value: Any) -> str:
    """A number for reading; JSON carries it whole."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value) if isinstance(value, int) else "n/a"
