"""Reads MedMemoryBench runs: answers with verdicts, results, checkpoints and the benchmark's queries, as records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from judges.benchmarks.benchmark import Source
from judges.benchmarks.medmemorybench.answers import Shared, read_answers
from judges.benchmarks.medmemorybench.questions import Questions
from judges.benchmarks.medmemorybench.recognise import FileKind, kind_of_file
from judges.benchmarks.medmemorybench.run_file import RunFile, read_frame
from judges.benchmarks.medmemorybench.runs import ResultFile, describe, read_result
from judges.benchmarks.medmemorybench.shapes import DEFAULT_JUDGE, RULE, RULE_TASKS, TYPE_OF_TASK
from store.records import JudgeRecord, Problem, Record

RUN_KINDS: tuple[FileKind, ...] = ("answers", "checkpoint")

REFUSALS: dict[FileKind, tuple[str, str]] = {
    "build_log": ("this is the log of building memories, without answers", "give the *_query_answer.json beside it"),
    "other_benchmark": (
        "this file is of another data set that the same harness runs",
        "give a run of MedMemoryBench itself",
    ),
    "": (
        "this is no MedMemoryBench file",
        "give *_query_answer.json, *_result.json, checkpoint.json or generated_queries.json",
    ),
}


def read(source: Source) -> Iterator[Record]:
    """The records of a source: per run its system, then judges, then items with their verdicts in file order.

    Folders stand for the benchmark's files anywhere in them. Nothing is raised for content or for files that cannot be
    read. Options: `duplicates` (first, last), `regime` (Efficient, Mixed), `language`, `architecture`.
    """
    opened = _Opened()
    yield from opened.load(source)
    yield from _without_answers(opened)
    abouts, problems = describe(opened.runs, opened.results, source)
    yield from problems
    judges = judges_of(source.judge or DEFAULT_JUDGE)
    for about in abouts:
        yield about.record
        yield about.fact
    shared = Shared(source, opened.questions, judges)
    for task in (task for task in TYPE_OF_TASK if abouts and task not in RULE_TASKS):
        yield from shared.judge(task)
    for about in abouts:
        try:
            yield from read_answers(about, shared)
        except OSError as error:
            yield _unreadable(about.run.path, error)
    yield from opened.questions.unplaced()


def judges_of(name: str) -> dict[str, JudgeRecord]:
    """By task the named judge, and by "task/rule" the string rule."""
    judges = {task: JudgeRecord(task, name) for task in TYPE_OF_TASK}
    rules = {f"{task}/{RULE}": JudgeRecord(task, RULE, prompt_version="as coded") for task in RULE_TASKS}
    return judges | rules


class _Opened:
    """The files of a source by what they are."""

    def __init__(self) -> None:
        self.runs: list[RunFile] = []
        self.results: list[ResultFile] = []
        self.questions = Questions()

    def load(self, source: Source) -> Iterator[Record]:
        for path, named in dict(_files(source)).items():
            try:
                yield from self._load(path, named=named)
            except OSError as error:
                yield _unreadable(path, error)

    def _load(self, path: Path, *, named: bool) -> Iterator[Record]:
        kind = kind_of_file(path)
        if kind in RUN_KINDS:
            self.runs.append(read_frame(path, kind))
        elif kind == "queries":
            yield from self.questions.add(path)
        elif kind == "result":
            result = read_result(path)
            yield from result.problems
            self.results.append(result)
        elif named:
            yield Problem(str(path), 0, 0, *REFUSALS[kind])


def _files(source: Source) -> Iterator[tuple[Path, bool]]:
    """Every file once, and whether the user named it himself."""
    for path in (*source.files, *source.answers):
        if path.is_dir():
            yield from ((child, False) for child in sorted(path.rglob("*.json")))
        else:
            yield path, True


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(str(path), 0, 0, f"the file cannot be read: {error.strerror}", "check the path and its permissions")


def _without_answers(opened: _Opened) -> Iterator[Problem]:
    """Results and queries alone hold nothing to judge."""
    if opened.runs:
        return
    kinds = Counter({"*_result.json": len(opened.results), "generated_queries.json": int(bool(opened.questions))})
    for name, count in kinds.items():
        if count:
            path = opened.results[0].path if opened.results else ""
            what = f"there is no answer to judge: only {name} was given"
            yield Problem(str(path), 0, 0, what, "give the run's *_query_answer.json with it")
            return
