"""`init`, `import`, `status`: studies and what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperCommand

from store.errors import EXIT_NO, InputError, UsageError

if TYPE_CHECKING:
    from annotate.exchange.own_exports import LabelImport
    from store.importing import ImportReport
    from store.study import Study
    from store.tasks import StoredTask

IMPORT_HELP = """Read a benchmark's own result files into the study: items and verdicts. Labels are never touched.

Example: overread import run_eval_stat_result.json --answers run_eval_results.jsonl --system Mem0
"""


class ImportCommand(TyperCommand):
    """`import`, whose help lists what each benchmark asks for: read from the benchmarks only when help is wanted."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        for line in option_lines():
            formatter.write(f"{line}\n")


def option_lines() -> list[str]:
    """The options of every benchmark's reader, for `import --help`."""
    from judges.benchmarks.benchmark import benchmark_names

    lines = ["", "What --option NAME=VALUE takes, by benchmark:"]
    for name in benchmark_names():
        lines += [f"  {name}: {option}: {words}" for option, words in options_of(name).items()]
    return lines


def options_of(benchmark: str) -> Mapping[str, str]:
    """What a benchmark's reader takes: name → what it decides."""
    from judges.benchmarks.benchmark import AskingBenchmark, get_benchmark

    found = get_benchmark(benchmark)
    return found.options if isinstance(found, AskingBenchmark) else {}


def refuse_unknown_options(benchmark: str, given: Mapping[str, str]) -> None:
    """Refuse an option that the benchmark's reader would not look at.

    Raises:
        UsageError: names it, and those there are.
    """
    known = options_of(benchmark)
    if unknown := [name for name in given if name not in known]:
        there = "; ".join(f"{name} ({words})" for name, words in known.items()) or "none"
        raise UsageError(
            f"{benchmark} takes no option {unknown[0]!r}.", f"It takes: {there}.", "overread import --help"
        )


TASK_FILE = "task_file"
"""The setting that names the task file given to `init`."""
SAMPLED = ("srs", "census", "unknown")
"""How the items whose labels come with a file were chosen: a simple random sample, all of them, nobody says."""


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("init")(init)
    app.command("import", help=IMPORT_HELP, cls=ImportCommand)(import_files)
    app.command("status")(status)


def init(
    file: Annotated[Path, typer.Argument(help="The study file to make, NAME.duckdb.")],
    benchmark: Annotated[str, typer.Option("--benchmark", help="The benchmark it holds.")],
    tasks: Annotated[Path | None, typer.Option("--tasks", help="table: a task file, FILE.toml.")] = None,
) -> None:
    """Make an empty study.

    Example: overread init run.duckdb --benchmark halumem
    """
    from annotate.cli.output import say
    from store.applying import SETTING

    if tasks is not None:
        _require_tasks(benchmark, tasks)
    with create_study(file, benchmark) as study:
        if tasks is not None:
            study.record([{"type": SETTING, "key": TASK_FILE, "value": str(tasks.absolute())}])
        say(f"Made {study.path.name} for {benchmark}. Next: overread --study {file} import FILE…")


def _require_tasks(benchmark: str, tasks: Path) -> None:
    """Refuse a task file that the benchmark could not read, before there is a study.

    Raises:
        UsageError: the file is not there, or the benchmark takes none.
        InputError: it is broken; every place is printed.
    """
    from annotate.cli.output import print_problems
    from judges.benchmarks.benchmark import TaskFileBenchmark, benchmark_names, get_benchmark

    require_files([tasks])
    if benchmark not in benchmark_names():
        return  # which is told when the study is made
    found = get_benchmark(benchmark)
    if not isinstance(found, TaskFileBenchmark):
        raise UsageError(f"{benchmark} takes no task file.", "Its tasks are its own.", "Leave --tasks out.")
    if faults := found.faults_of_tasks(tasks):
        print_problems(faults)
        raise InputError("The task file is broken; no study was made.", str(tasks), "Mend it and say init again.")


def import_files(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Result files.")],
    answers: Annotated[list[Path] | None, typer.Option("--answers", help="The answer sheet; may be repeated.")] = None,
    system: Annotated[str, typer.Option("--system", help="Name of the system measured.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="Name of the judge that gave the verdicts.")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Import the good records of a bad file.")] = False,
    tasks: Annotated[Path | None, typer.Option("--tasks", help="table: a task file; else that of `init`.")] = None,
    label_mode: Annotated[str, typer.Option("--label-mode", help="How labels in the file were given: blind …")] = "",
    sampled: Annotated[str, typer.Option("--sampled", help="How labelled items were chosen: srs, census.")] = "unknown",
    options: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE, for what only some benchmarks ask: see below.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """See IMPORT_HELP."""
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.exchange.own_exports import is_own_export
    from store.study import Study

    require_files([*files, *(answers or [])])
    own = [path for path in files if is_own_export(path)]
    if own and len(own) != len(files):
        raise UsageError(
            "Exports of overread and benchmark files cannot be imported together.", "", "Import them in turn."
        )
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        if own:
            outcome = read_labels_into(study, own, skip_bad=skip_bad)
            if as_json:
                print_json(outcome.as_json())
            else:
                say("\n".join(outcome.lines()))
            raise typer.Exit(EXIT_NO if outcome.rejected else 0)
        named = import_options(options or [], tasks, label_mode)
        report = read_into(
            study, files, answers or [], system=system, judge=judge, skip_bad=skip_bad, options=named, sampled=sampled
        )
        if as_json:
            print_json(report.as_json())
        else:
            print_report(report)
        if any(problem.fatal for problem in report.problems):
            raise typer.Exit(EXIT_NO)


def status(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say what the study holds and how far labelling is.

    Example: overread status
    """
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.report.status import status_lines, study_status
    from store.study import Study

    with Study.open(study_path(context)) as study:
        tell_notices(study)
        found = study_status(study)
        if as_json:
            print_json(found)
        else:
            for line in status_lines(found):
                say(line)


def create_study(file: Path, benchmark: str) -> Study:
    """Make a study with the benchmark's tasks in it, and open it.

    Raises:
        UsageError: unknown benchmark, wrong ending, or the file is there.
    """
    from judges.benchmarks.benchmark import benchmark_names, get_benchmark
    from store.study import Study, now
    from store.tasks import add_tasks

    if benchmark not in benchmark_names():
        raise UsageError(f"There is no benchmark {benchmark!r}.", f"There are: {', '.join(benchmark_names())}.")
    if file.suffix != ".duckdb":
        raise UsageError(
            f"A study file ends in .duckdb, not {file.suffix or 'nothing'!r}.", "", f"Say {file.stem}.duckdb."
        )
    study = Study.create(file, benchmark)
    try:
        add_tasks(study, [task.as_json() for task in get_benchmark(benchmark).tasks()], now().isoformat())
    except BaseException:
        study.discard()
        raise
    return study


def import_options(given: list[str], tasks: Path | None, label_mode: str) -> dict[str, str]:
    """The options of a reader by name.

    Raises:
        UsageError: one of them is not NAME=VALUE, or the task file is not there.
    """
    if bad := [option for option in given if "=" not in option]:
        raise UsageError(f"--option {bad[0]} is not NAME=VALUE.", "", "As in: --option duplicates=last")
    named = dict(option.split("=", 1) for option in given)
    if tasks is not None:
        require_files([tasks])
        named["tasks"] = str(tasks)
    return named | ({"label_mode": label_mode} if label_mode else {})


def read_into(
    study: Study,
    files: list[Path],
    answers: list[Path],
    *,
    system: str,
    judge: str,
    skip_bad: bool,
    options: Mapping[str, str] | None = None,
    sampled: str = "unknown",
) -> ImportReport:
    """Import benchmark files; bad places are printed before the error is raised.

    What the benchmark finds out about its tasks from the files is printed to standard error.

    Raises:
        BadInputError: bad places, and `skip_bad` is off.
    """
    from annotate.cli.output import Progress, note, print_problems
    from judges.benchmarks.benchmark import InferringBenchmark, Source, get_benchmark
    from judges.benchmarks.meter import Meter, watched_by
    from store.importing import BadInputError, ImportedFile, import_records
    from store.study import now
    from store.tasks import current_tasks, task_records

    if sampled not in SAMPLED:
        raise UsageError(f"--sampled {sampled} says nothing.", "", f"Say {', '.join(SAMPLED)}.")
    benchmark = get_benchmark(study.benchmark)
    refuse_unknown_options(study.benchmark, options or {})
    task_file = study.setting(TASK_FILE)
    named = ({"tasks": task_file} if task_file else {}) | dict(options or {})
    source = Source(tuple(files), tuple(answers), system, judge, named)
    inferring = cast(InferringBenchmark, benchmark) if hasattr(benchmark, "tasks_for") else None
    definitions = inferring.tasks_for(source) if inferring else benchmark.tasks()
    for sentence in inferring.inference(source) if inferring else ():
        note(sentence)
    at = now().isoformat()
    inferred = inferring is not None and "tasks" not in named
    before = current_tasks(study)
    tasks = task_records(study, [task.as_json() for task in definitions], at, bring_back=not inferred)
    described = [ImportedFile(path, "results", system, judge) for path in files]
    described += [ImportedFile(path, "answers", system, judge) for path in answers]
    meter = Meter([*files, *answers], lambda: progress.show())
    progress = Progress("reading", then="storing", share=lambda: meter.share)
    records = progress.over(benchmark.read(source))
    try:
        with watched_by(meter):
            report = import_records(study, records, described, skip_bad=skip_bad, at=at, sampled=sampled, tasks=tasks)
    except BadInputError as error:
        print_problems(error.problems)
        raise
    print_problems(report.problems)
    for sentence in changed_tasks(study, before):
        note(f"overread: {sentence}")
    return report


def changed_tasks(study: Study, before: list[StoredTask]) -> Iterator[str]:
    """What tasks defined anew mean for labels that were given before."""
    from judges.benchmarks.benchmark import TaskDefinition
    from store.tasks import current_tasks

    before_of = {stored.task: stored.definition for stored in before}
    old = {stored.task: TaskDefinition.from_json(stored.definition) for stored in before}
    for stored in current_tasks(study):
        if stored.task not in old:
            continue
        if stored.definition.get("rubric") != before_of[stored.task].get("rubric"):
            yield (
                f"the rubric of task {stored.task} is another one from now on: what people are told before their label."
                " overread rubric shows both"
            )
        values, earlier = ([label.value for label in task.labels] for task in
                           (TaskDefinition.from_json(stored.definition), old[stored.task]))  # fmt: skip
        gone = [value for value in earlier if value not in values]
        added = [value for value in values if value not in earlier]
        if not gone:
            continue
        outside = study.rows(
            """SELECT count(*) FROM current_labels JOIN current_items i USING (item_id)
            WHERE i.task = ? AND list_contains(?, value)""",
            [stored.task, gone],
        )[0][0]
        new = f", new {', '.join(added)}" if added else ""
        yield (
            f"task {stored.task} is defined anew: gone {', '.join(gone)}{new}. Labels with what is gone: {outside};"
            " they are kept as they were given, and no agreement counts them."
        )


def read_labels_into(study: Study, files: list[Path], *, skip_bad: bool) -> LabelImport:
    """Import our own exports; bad places are printed before the error is raised.

    Raises:
        BadInputError: bad places, and `skip_bad` is off.
    """
    from annotate.cli.output import Progress, print_problems
    from annotate.exchange.own_exports import import_labels
    from store.importing import BadInputError

    try:
        outcome = import_labels(
            study, files, skip_bad=skip_bad,
            watch=lambda labels: Progress("writing labels", total=len(labels)).over(labels),
        )  # fmt: skip
    except BadInputError as error:
        print_problems(error.problems)
        raise
    print_problems(outcome.problems)
    return outcome


def print_report(report: ImportReport) -> None:
    """What an import did, as a table."""
    from annotate.cli.output import say, table
    from store.importing import Tally

    rows = [["", "new", "same", "changed", "rejected"]]
    for task, tally in report.items.items():
        rows.append([f"{task} items", *(f"{n:,}" for n in tally.as_json().values())])
    rows.append(["verdicts", *(f"{n:,}" for n in report.verdicts.as_json().values())])
    if report.labels.as_json() != Tally().as_json():
        rows.append(["labels", *(f"{n:,}" for n in report.labels.as_json().values())])
    for line in table(rows):
        say(line)
    if report.stale_labels:
        say(f"{report.stale_labels} labels are stale: their item changed. They are kept and enter no number.")


def require_files(paths: list[Path]) -> None:
    """Refuse paths that are no readable files, before anything is done.

    Raises:
        UsageError: names the first one.
    """
    for path in paths:
        if not path.is_file():
            raise UsageError(f"There is no file {path}.", "", "Check the name.")


def tell_notices(study: Study) -> None:
    """Say on standard error what opening the study repaired."""
    from annotate.cli.output import note

    for notice in study.notices:
        note(f"overread: {notice}")
