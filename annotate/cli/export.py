"""`export`: labels and verdicts for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from store.study import Study

FORMATS = ("native", "jsonl", "csv", "bugs", "verdicts", "scores", "inspect", "mlflow")
SELECTIVE = ("verdicts", "scores", "inspect", "mlflow")
_BY_SUFFIX = {".jsonl": "jsonl", ".csv": "csv", ".json": "native"}


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("export")(export)


def export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    file_format: Annotated[
        str, typer.Option("--format", help=f"{', '.join(FORMATS)}; else by the file's ending.")
    ] = "",
    system: Annotated[str, typer.Option("--system", help="Which system, if there are several.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts, if there are several judges.")] = "",
    task: Annotated[str, typer.Option("--task", help="verdicts, inspect, mlflow: only this task.")] = "",
    selective: Annotated[
        bool, typer.Option("--selective", help="But native, jsonl, csv: leave to people what the judge is unsure of.")
    ] = False,
    excel: Annotated[bool, typer.Option("--excel", help="csv: begin with a byte-order mark for Excel.")] = False,
) -> None:
    """Write labels and verdicts; `native` is the benchmark's own file with people's labels put in.

    Beside a native file stand NAME.changes.jsonl (what was changed, by whom, when and why) and, if people marked
    references wrong, NAME.reference_wrong.jsonl. `bugs` writes those of all systems as one list for the benchmark's
    authors: FILE.jsonl, or FILE.md to read.
    `verdicts` are calibrated: for each item who decided, how far to trust it, under which certificate. `scores` are the
    scores as coded, overridden and corrected. `inspect` and `mlflow` are read by those tools.

    Example: overread export patched_eval_stat_result.json --format native
    """
    from annotate.cli.main import study_path
    from annotate.cli.output import note, say
    from annotate.cli.study import tell_notices
    from annotate.exchange.bugs import export_bugs
    from annotate.exchange.exporting import export_csv, export_jsonl
    from store.study import Study

    chosen = file_format or _BY_SUFFIX.get(file.suffix, "")
    if chosen not in FORMATS:
        raise UsageError(f"There is no format {chosen or file.suffix!r}.", "", f"Say --format {', '.join(FORMATS)}.")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {file.parent}.", "", "Make the folder first.")
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        refuse_imported(study, file)
        if selective and chosen not in SELECTIVE:
            raise UsageError(f"--selective goes with --format {', '.join(SELECTIVE)}.", "", "Leave one of them out.")
        for line in _forced_lines(study, judge):
            note(line)
        if chosen == "jsonl":
            say(f"{file}: {export_jsonl(study, file):,} items")
        elif chosen == "csv":
            say(f"{file}: {export_csv(study, file, excel=excel):,} labels")
        elif chosen == "bugs":
            say(f"{file}: {export_bugs(study, file):,} references that people marked wrong")
        elif chosen != "native":
            say(export_calibrated(study, file, chosen, system, judge, task, selective=selective))
        else:
            for line in export_native(study, file, system, judge):
                say(line)


def _forced_lines(study: Study, judge: str) -> list[str]:
    """What whoever passes an export on has to know of its judges."""
    from annotate.cli.score import gate_line
    from judges.gate.full_run import passages_of

    return [f"overread: {one['judge']}: {gate_line(one)}." for one in passages_of(study, judge) if one["forced"]]


def export_calibrated(
    study: Study, file: Path, chosen: str, system: str, judge: str, task: str, *, selective: bool = False
) -> str:
    """Write calibrated verdicts, corrected scores, or either for another tool; says what was written.

    Raises:
        UsageError: several judges and none named, or no such judge, system or task.
    """
    from annotate.exchange.calibrated import corrected_scores_text, verdict_lines
    from annotate.exchange.inspect_scores import inspect_lines
    from annotate.exchange.mlflow_assessments import mlflow_lines
    from judges.collect import task_definitions
    from store.files import write_atomically
    from store.items import judges, systems

    judge = pick("judge", judge, judges(study))
    if system:
        pick("system", system, systems(study))
    if task:
        pick("task", task, list(task_definitions(study)))
    if chosen == "scores":
        write_atomically(file, [corrected_scores_text(study, judge, system, selective=selective)])
        return f"{file}: scores as coded, overridden and corrected, by {judge}"
    writers: dict[str, Callable[..., Iterator[str]]] = {
        "verdicts": verdict_lines, "inspect": inspect_lines, "mlflow": mlflow_lines
    }  # fmt: skip
    count = 0

    def counted() -> Iterator[str]:
        nonlocal count
        for line in writers[chosen](study, judge, system, task, selective=selective):
            count += 1
            yield line

    write_atomically(file, counted())
    what = {"verdicts": "lines of calibrated verdicts", "inspect": "scores", "mlflow": "assessments"}[chosen]
    return f"{file}: {count:,} {what}, by {judge}"


def export_native(study: Study, file: Path, system: str, judge: str) -> list[str]:
    """Write the benchmark's own files, the first one as `file`, others beside it.

    Raises:
        UsageError: several systems or judges and none named, or no such one; or `file` is one that was imported.
    """
    from judges.benchmarks.benchmark import get_benchmark
    from judges.collect import final_labels, provenance, scored_items
    from judges.judge_sets import judge_set
    from store.files import write_atomically
    from store.items import facts_of, judges, systems

    chosen_system = pick("system", system, systems(study))
    chosen_judges = judge_set(study, judge).names if judge or judges(study) else ()
    refuse_imported(study, file)
    labels = final_labels(study)
    items = scored_items(study, chosen_system, chosen_judges, labels)
    written = []
    native = get_benchmark(study.benchmark).write_native(items, facts_of(study, chosen_system), provenance(labels))
    first = ""
    for output in native:
        target = target_beside(file, first, output.name) if first else file
        first = first or output.name
        refuse_imported(study, target)
        write_atomically(target, output.chunks)
        written.append(f"{target}: {output.about}")
    return written


def target_beside(file: Path, first: str, name: str) -> Path:
    """Where a further file of an export goes.

    It differs from the file the user named as the benchmark's names for the two differ: beside `a.json`, written for
    `r_query_answer.json`, `r_query_answer.changes.jsonl` is `a.changes.jsonl`, and `r_result.json` is `a_result.json`.

    Args:
        first, name: the benchmark's names of the first file and of this one.
    """
    stem = first.rpartition(".")[0] or first
    if name.startswith(f"{stem}."):
        return file.with_name(file.stem + name[len(stem) :])
    of_first, of_this = stem.split("_"), name.split("_")
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(of_first, of_this, strict=False)))
    kind, ours = "_".join(of_first[shared:]), "_".join(of_this[shared:])
    return file.with_name(f"{file.stem.removesuffix(f'_{kind}')}_{ours}")


def pick(what: str, wanted: str, there: list[str]) -> str:
    """The one wanted, or the only one there is.

    Raises:
        UsageError: none, no such one, or several and none named.
    """
    if wanted:
        if wanted not in there:
            raise UsageError(f"There is no {what} {wanted!r}.", f"There are: {', '.join(there) or 'none'}.")
        return wanted
    if len(there) == 1:
        return there[0]
    if not there:
        raise UsageError(f"The study has no {what} yet.", "", "Import result files first.")
    raise UsageError(f"There are several {what}s: {', '.join(there)}.", "", f"Say --{what} NAME.")


def refuse_imported(study: Study, file: Path) -> None:
    """Never write over a file that was imported, or over the study itself, its journal or its log.

    Raises:
        UsageError: it is one of them.
    """
    from store.call_log import calls_path
    from store.journal import journal_path

    own = (study.path, journal_path(study.path), calls_path(study.path), study.path.with_name(f"{study.path.name}.wal"))
    if any(_same_file(file, path) for path in own):
        raise UsageError(f"{file} is part of the study; it is not overwritten.", "", "Choose another name.")
    imported = [Path(record["path"]) for record in study.journal_records("import")]
    if any(_same_file(file, path) for path in imported):
        raise UsageError(f"{file} was imported; it is not overwritten.", "", "Choose another name.")


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, through links of either kind or another spelling."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()
