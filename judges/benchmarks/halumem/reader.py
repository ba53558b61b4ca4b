"""Reads a HaluMem run: answer sheets, verdict files, or both, as one stream of records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from judges.benchmarks.benchmark import Source
from judges.benchmarks.halumem.answers import read_answers
from judges.benchmarks.halumem.ledger import Ledger
from judges.benchmarks.halumem.recognise import FileKind, kind_of_file
from judges.benchmarks.halumem.tasks import TASKS
from judges.benchmarks.halumem.verdicts import read_verdicts
from store.records import JudgeRecord, Problem, Record, SystemRecord

FILE_NAME = re.compile(r"(.+?)_eval_(?:results|stat_result)(?:\..*)?\Z")
DEFAULT_JUDGE = "judge"

REFUSALS: dict[FileKind, tuple[str, str]] = {
    "input": ("this is HaluMem's input data, not a run of it", "give the answer sheet (*_eval_results.jsonl)"),
    "": (
        "this is no HaluMem file: neither an answer sheet nor a verdict file",
        "give *_eval_results.jsonl, *_eval_stat_result.json or tmp2/*.json",
    ),
}


def read(source: Source) -> Iterator[Record]:
    """The records of a source: system and judges, then answer sheets, then verdict files whatever order they came in.

    Folders stand for the files in them. Nothing is raised for content or for files that cannot be read.
    """
    paths = list(dict.fromkeys(_files((*source.files, *source.answers))))
    kinds: dict[Path, FileKind] = {}
    for path in paths:
        try:
            kinds[path] = kind_of_file(path)
        except OSError as error:
            yield _unreadable(path, error)
    system = source.system or system_name(paths)
    judges = {task.task: JudgeRecord(task.task, source.judge or DEFAULT_JUDGE) for task in TASKS}
    ledger = Ledger(system, source.judge or DEFAULT_JUDGE, {task: judge.judge_id for task, judge in judges.items()})
    yield SystemRecord(system, system, regime=source.options.get("regime", ""))
    if "verdicts" in kinds.values():
        yield from judges.values()
    yield from _refuse(kinds)
    for wanted, reader in (("answers", read_answers), ("verdicts", read_verdicts)):
        for path in (path for path, kind in kinds.items() if kind == wanted):
            try:
                yield from reader(path, ledger)
            except OSError as error:
                yield _unreadable(path, error)
    if "verdicts" in kinds.values():
        yield from _without_verdicts(ledger)


def _files(paths: tuple[Path, ...]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(child for child in path.iterdir() if child.suffix in (".json", ".jsonl"))
        else:
            yield path


def system_name(paths: list[Path]) -> str:
    """The system a run's files are of, by their names: `<frame>_eval_…`, else the folder of `tmp2`, else the file."""
    for path in paths:
        match = FILE_NAME.match(path.name)
        if match:
            return match.group(1)
    if not paths:
        return "system"
    folder = paths[0].absolute().parent
    return (folder.parent.name if folder.name == "tmp2" else paths[0].stem) or "system"


def _refuse(kinds: dict[Path, FileKind]) -> Iterator[Problem]:
    for path, kind in kinds.items():
        if kind in REFUSALS:
            yield Problem(str(path), 0, 0, *REFUSALS[kind])


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(str(path), 0, 0, f"the file cannot be read: {error.strerror}", "check the path and its permissions")


def _without_verdicts(ledger: Ledger) -> Iterator[Problem]:
    """Users of the answer sheet of whom verdicts are missing."""
    for uuid, user in ledger.users.items():
        if user.verdicts < user.items:
            what = f"{user.items - user.verdicts} of {user.items} records of user {uuid} have no verdict"
            yield Problem(
                user.file, user.line, 0, what, "judge them, or give the verdict file of this user", fatal=False
            )
