"""`open` and `demo`: from files to the desk in one command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from judges.benchmarks.benchmark import Source
    from store.study import Study

HEAD = 65536
"""Bytes of a file that are read to recognise its benchmark."""
DEMO_STUDY = "overread-demo.duckdb"
"""The demo's study; of other benchmarks than the first, with the benchmark's name in it."""


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("open")(open_files)
    app.command("demo")(demo)


def open_files(
    files: Annotated[list[Path], typer.Argument(help="Result files and answer sheets of one system.")],
    system: Annotated[
        str, typer.Option("--system", help="Name of the system measured; else from the file's name.")
    ] = "",
    judge: Annotated[str, typer.Option("--judge", help="Name of the judge that gave the verdicts.")] = "",
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who labels.")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Import the good records of a bad file.")] = False,
    options: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE, as for `import`; see its help.")
    ] = None,
    no_tui: Annotated[bool, typer.Option("--no-tui", help="Print the scores and stop.")] = False,
) -> None:
    """Recognise the benchmark, make a study in this folder, import, print the scores, open the desk.

    Example: overread open run_eval_stat_result.json run_eval_results.jsonl
    """
    from annotate.cli.label import require_terminal, run_desk
    from annotate.cli.loading import load_desk
    from annotate.cli.main import current_folder
    from annotate.cli.output import note
    from annotate.cli.study import (
        create_study,
        import_options,
        print_report,
        read_into,
        refuse_unknown_options,
        require_files,
        tell_notices,
    )
    from store.study import Study

    require_files(files)
    if not no_tui:
        require_terminal()
    load_desk(screen=not no_tui)
    benchmark = recognise(files)
    given = import_options(options or [], None, "")
    refuse_unknown_options(benchmark, given)
    named = system or ("" if names_systems(benchmark) else system_name(files[0]))
    path = current_folder() / f"{file_stem(named or system_name(files[0]))}.duckdb"
    is_new = not path.exists()
    if not is_new:
        note(f"overread: {path.name} is there already; what is new in the files is added to it.")
    with create_study(path, benchmark) if is_new else Study.open(path) as study:
        tell_notices(study)
        refuse_other_benchmark(study, benchmark)
        with discarded_if_it_fails(study) if is_new else nullcontext():
            report = read_into(study, files, [], system=named, judge=judge, skip_bad=skip_bad, options=given)
        print_report(report)
        print_scores(study, named)
        if not no_tui:
            run_desk(study, annotator=annotator)


def demo(
    benchmark: Annotated[str, typer.Option("--benchmark", help="Whose sample data: the benchmark's name.")] = "halumem",
    no_tui: Annotated[bool, typer.Option("--no-tui", help="Print the audit instead of opening the desk.")] = False,
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who labels.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="The desk line by line.")] = False,
) -> None:
    """Try it on sample data that ships with the program: invented people and systems, a judge whose errors are known.

    Example: overread demo --benchmark medmemorybench
    """
    from annotate.cli.audit import print_audit
    from annotate.cli.label import require_terminal, run_desk
    from annotate.cli.loading import load_desk
    from annotate.cli.main import current_folder
    from annotate.cli.output import note, say
    from annotate.cli.study import create_study, tell_notices
    from annotate.sample import label_sample, sample_of, sampled_benchmarks
    from store.study import Study

    if benchmark not in (names := sampled_benchmarks()):
        raise UsageError(f"There is no sample of {benchmark!r}.", f"There are: {', '.join(names)}.", "")
    if not (no_tui or plain):
        require_terminal()
    load_desk(screen=not (no_tui or plain))
    path = current_folder() / demo_name(benchmark)
    is_new = not path.exists()
    with create_study(path, benchmark) if is_new else Study.open(path) as study:
        tell_notices(study)
        if is_new:
            sample = sample_of(benchmark)
            with discarded_if_it_fails(study):
                for source in sample.sources:
                    read_source(study, source)
            note(f"overread: the sample is of {sample.about}.")
            note(f"overread: made {path.name} in this folder; delete it when you are done.")
        if no_tui:
            given = label_sample(study)
            if given:
                say(f"{given} items carry the sample's own truth as labels of the annotator 'sample-truth'.")
            print_audit(study)
        else:
            run_desk(study, annotator=annotator, plain=plain)


def demo_name(benchmark: str) -> str:
    """The file of a benchmark's demo."""
    from annotate.sample import FIRST

    return DEMO_STUDY if benchmark == FIRST else DEMO_STUDY.replace(".", f"-{benchmark}.")


def names_systems(benchmark: str) -> bool:
    """Whether the benchmark's files say themselves which systems they are of."""
    from judges.benchmarks.benchmark import SelfNamingBenchmark, get_benchmark

    found = get_benchmark(benchmark)
    return isinstance(found, SelfNamingBenchmark) and found.names_systems


def read_source(study: Study, source: Source) -> None:
    """Import what a sample names, and print nothing but what is bad."""
    from annotate.cli.study import read_into

    options = dict(source.options)
    sampled = options.pop("sampled", "unknown")
    read_into(
        study, list(source.files), list(source.answers), system=source.system, judge=source.judge, skip_bad=False,
        options=options, sampled=sampled,
    )  # fmt: skip


@contextmanager
def discarded_if_it_fails(study: Study) -> Iterator[None]:
    """The block fills a new study; if it fails the study is taken away again.

    An empty study would be what the next `open` adds to, of whatever benchmark that is.
    """
    try:
        yield
    except BaseException:
        study.discard()
        raise


def refuse_other_benchmark(study: Study, benchmark: str) -> None:
    """Files of one benchmark are not read as another's.

    Raises:
        UsageError: the study holds another benchmark.
    """
    if study.benchmark != benchmark:
        raise UsageError(
            f"{study.path.name} holds {study.benchmark}, these files are {benchmark}.", "Nothing was changed.",
            "Give the files a name of their own: overread open --system NAME FILE…",
        )  # fmt: skip


def print_scores(study: Study, system: str) -> None:
    """The scores of a system ("" for all) by the judges of the study."""
    from annotate.cli.output import say
    from annotate.cli.score import score_lines
    from judges.judge_sets import judge_sets
    from judges.scoring import score_study
    from store.items import systems

    named = system if system in systems(study) else ""
    for judges in judge_sets(study):
        for line in score_lines(score_study(study, judges.names, named, described=False)):
            say(line)


def recognise(files: list[Path]) -> str:
    """The benchmark whose result files these are.

    Raises:
        UsageError: none recognises the first file.
    """
    from judges.benchmarks.benchmark import benchmark_names, get_benchmark

    for path in files:
        with path.open("rb") as source:
            head = source.read(HEAD)
        for name in benchmark_names():
            if get_benchmark(name).recognises(path, head):
                return name
    names = ", ".join(benchmark_names())
    raise UsageError(
        f"{files[0].name} is no result file of a benchmark that is known.", f"Known: {names}.",
        "overread init NAME.duckdb --benchmark B, then overread import FILE",
    )  # fmt: skip


def file_stem(name: str) -> str:
    """A system's name as the name of a file in this folder: letters, digits, dots and dashes; never a path."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._-")[:80] or "study"


def system_name(path: Path) -> str:
    """The system a file is of, by the benchmarks' habit of naming files `<system>_eval_…`."""
    return path.stem.split("_eval_")[0] or path.stem
