"""Reads tables: items, verdicts of every judge, labels of every person, as one stream of records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from judges.benchmarks.benchmark import Source
from judges.benchmarks.table.entries import HumanEntry, JudgeEntry, WrongEntryError, label_text, number
from judges.benchmarks.table.items import GIVEN, SWAPPED, Built, Place, build_item, pair_of
from judges.benchmarks.table.plan import Plan, TaskPlan, plan_of, system_name
from judges.benchmarks.table.references import References
from judges.benchmarks.table.rows import HEAD, Format, Row, format_of, header_of, read_rows
from store.records import (
    FactRecord,
    ItemRecord,
    JudgeRecord,
    LabelRecord,
    LabelState,
    Problem,
    Record,
    SystemRecord,
    TextRecord,
    VerdictRecord,
    canonical_json,
)

GOLD = "gold"
"""Who gives the adjudicated labels of a `gold` column."""


def read(source: Source) -> Iterator[Record]:
    """The records of a source; nothing is raised for content or for files that cannot be read."""
    plan = plan_of(source)
    yield from plan.problems
    if plan.tasks:
        yield from _Reading(source, plan).records()
    elif not plan.files:
        yield Problem("", 0, 0, "no table was given", "give a JSONL, CSV or Parquet file")
    else:
        yield from _unreadable_rows(plan.files)


def _unreadable_rows(paths: Iterable[Path]) -> Iterator[Problem]:
    for path in paths:
        try:
            yield from (row for row in read_rows(path) if isinstance(row, Problem))
        except OSError as error:
            yield _unreadable(path, error)


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(str(path), 0, 0, f"the file cannot be read: {error.strerror}", "check the path and its permissions")


class _Known(NamedTuple):
    """An item that was yielded: the line it stands on, and a fingerprint that tells the same row again."""

    line: int
    says: int


class _Judged(NamedTuple):
    """What labels and verdicts attach to. The hash of an item's content is computed each time it is asked for."""

    item_id: str
    content_hash: str
    position: int


class _Reading:
    """One import."""

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.system = system_name(source)
        self.references = References(plan.references, plan.others, plan.folders)
        self.known: dict[str, _Known] = {}
        self.pairs: dict[str, str] = {}
        self.systems: set[str] = set()
        self.judges: dict[str, str] = {}
        self.texts: set[str] = set()
        self.items = 0

    def records(self) -> Iterator[Record]:
        yield from self.references.problems
        for path in self.plan.files:
            try:
                yield from self._file(path)
            except OSError as error:
                yield _unreadable(path, error)
        yield from self._facts()

    def _file(self, path: Path) -> Iterator[Record]:
        for row in read_rows(path):
            if isinstance(row, Problem):
                yield row
                continue
            try:
                # A row is taken whole or not at all.
                records = list(self._row(path, row))
            except WrongEntryError as error:
                yield Problem(str(path), row.line, row.column, str(error), "correct the row")
            else:
                yield from records

    # One row

    def _row(self, path: Path, row: Row) -> Iterator[Record]:
        task = self._task(row)
        system = self.plan.columns.text(row, "system") or self.system
        place = Place(path.name, self.items, system, self._order(row))
        built = build_item(row, task, self.plan, self.references, place)
        item = built.item
        judged = _Judged(item.item_id, item.content_hash, item.position)
        people = [self._label(entry, task, judged) for entry in self.plan.columns.people(row)]
        gold = self._gold(row, task, judged)
        verdicts = list(_verdicts(self.plan.columns.verdicts(row), task, judged))
        if (again := self._again(path, row, item)) is not None:
            yield again
            return
        self.known[item.item_id] = _Known(row.line, _fingerprint(item))
        self.items += 1
        yield from self._introduce(built)
        yield item
        for judge, verdict in verdicts:
            if verdict.judge_id not in self.judges:
                self.judges[verdict.judge_id] = judge.name
                yield judge
            yield verdict
        yield from (label for label in (*people, gold) if label is not None)

    def _task(self, row: Row) -> TaskPlan:
        if not self.plan.by_task_column:
            return self.plan.tasks[""]
        name = self.plan.columns.text(row, "task")
        if name not in self.plan.tasks:
            column = self.plan.columns.of["task"]
            raise WrongEntryError(f"{column} is none of the tasks {', '.join(self.plan.tasks)}")
        return self.plan.tasks[name]

    def _order(self, row: Row) -> str:
        """The order of a pair: what the file says, else whether the same pair came the other way round before."""
        said = self.plan.columns.text(row, "order")
        pair = pair_of(row, self.plan.columns)
        if pair is None or said:
            return said
        what, order = pair
        return GIVEN if self.pairs.setdefault(what, order) == order else SWAPPED

    def _again(self, path: Path, row: Row, item: ItemRecord) -> Problem | None:
        known = self.known.get(item.item_id)
        if known is None:
            return None
        if known.says == _fingerprint(item):
            what = f"this row is the same as the one of line {known.line} and was read once"
            return Problem(str(path), row.line, row.column, what, "nothing, or delete it", fatal=False)
        columns = self.plan.columns
        named = bool(self.plan.key or columns.text(row, "item_id"))
        what = f"this row {'has the id of' if named else 'shows the same as'} line {known.line} and says something else"
        remedy = "give every row an id of its own" + ("" if named else f", in a column {columns.of['item_id']}")
        return Problem(str(path), row.line, row.column, what, remedy)

    def _introduce(self, built: Built) -> Iterator[Record]:
        if built.item.system not in self.systems:
            self.systems.add(built.item.system)
            yield SystemRecord(built.item.system, built.item.system)
        for text in built.texts:
            if text.text_hash not in self.texts:
                self.texts.add(text.text_hash)
                yield TextRecord(text.text_hash, text.text)

    # What was said

    def _label(self, entry: HumanEntry, task: TaskPlan, item: _Judged) -> LabelRecord | None:
        if entry.label is None and not entry.state.cannot_judge:
            return None
        value = None if entry.label is None else _value(entry.label, task)
        if entry.label is not None and value is None:
            raise WrongEntryError(f"a label of {entry.annotator} is none of {_menu(task)}")
        mode = entry.mode or self.source.options.get("label_mode", "")
        state = replace(entry.state, value=value)
        return LabelRecord(item.item_id, item.content_hash, entry.annotator, state, mode, at=entry.at)

    def _gold(self, row: Row, task: TaskPlan, item: _Judged) -> LabelRecord | None:
        text = label_text(self.plan.columns.value(row, "gold")) if self.plan.gold_is_label else None
        if text is None:
            return None
        value = _value(text, task)
        if value is None:
            raise WrongEntryError(f"{self.plan.columns.of['gold']} is none of {_menu(task)}")
        mode = self.source.options.get("label_mode", "")
        return LabelRecord(item.item_id, item.content_hash, GOLD, LabelState(value=value), mode, adjudicated=True)

    def _facts(self) -> Iterator[Record]:
        """What scoring and writing need of the tasks and files, for each system."""
        for system in sorted(self.systems):
            for number_, task in enumerate(self.plan.tasks.values()):
                about = {"labels": list(task.definition.values), "level": task.definition.level}
                yield FactRecord(system, "table_task", task.spec.name, about | {"reading": task.reading}, number_)
            for number_, path in enumerate(self.plan.files):
                yield FactRecord(system, "table_file", path.name, self._layout(path), number_)

    def _layout(self, path: Path) -> dict[str, object]:
        """How a file looks, for its writer."""
        columns = self.plan.columns
        roles = {"id": columns.of["item_id"], "human": columns.of["human"], "judge": columns.of["judge"]}
        about = {"humans": dict(columns.humans), "unnamed_judge": columns.unnamed_judge, "judges": self.judges}
        return _format(path) | roles | about


def _fingerprint(item: ItemRecord) -> int:
    """Equal for equal rows, within one process."""
    return hash((item.extra["row"], canonical_json(dict(item.payload)), tuple(item.texts.values())))


def _verdicts(entries: list[JudgeEntry], task: TaskPlan, item: _Judged) -> Iterator[tuple[JudgeRecord, VerdictRecord]]:
    """Each judge's answers in order; a judge that is there twice answered twice."""
    repetitions: dict[str, int] = {}
    for entry in entries:
        judge, judge_id = _judge(task.spec.name, entry.judge)
        repetition = repetitions[entry.judge] = repetitions.get(entry.judge, -1) + 1
        yield judge, _verdict(entry, judge_id, task, item, repetition)


@lru_cache(maxsize=256)
def _judge(task: str, name: str) -> tuple[JudgeRecord, str]:
    """A judge and its id, which takes a hash to tell."""
    judge = JudgeRecord(task, name)
    return judge, judge.judge_id


def _verdict(entry: JudgeEntry, judge_id: str, task: TaskPlan, item: _Judged, repetition: int) -> VerdictRecord:
    stands_for = task.spec.null if entry.label is None and not entry.failure else ""
    value = stands_for or None if entry.label is None or entry.failure else _value(entry.label, task)
    failure = entry.failure or ("" if value is not None else "missing" if entry.label is None else "off_menu")
    return VerdictRecord(
        item_id=item.item_id,
        content_hash=item.content_hash,
        judge_id=judge_id,
        label=value,
        failure=failure,
        raw=entry.raw,
        route="null" if stands_for else "judged",
        repetition=repetition,
        score=entry.score,
        confidence=entry.confidence,
        confidence_source="file" if entry.confidence is not None else "",
        rationale=entry.rationale,
        position=item.position,
    )


def _value(label: str, task: TaskPlan) -> str | None:
    """The label's value; of a number its shortest text. None when it is not on the menu."""
    if task.definition.kind != "number":
        return task.reading.get(label)
    try:
        found = number(label, "the label")
    except WrongEntryError:
        return None
    if found is None or not task.definition.low <= found <= task.definition.high:
        return None
    return str(int(found)) if found == int(found) else repr(found)


def _menu(task: TaskPlan) -> str:
    definition = task.definition
    if definition.kind == "number":
        return f"the numbers from {definition.low:g} to {definition.high:g}"
    return f"{', '.join(definition.values)} (task {definition.task})"


def _format(path: Path) -> dict[str, object]:
    try:
        kind: Format = format_of(path)
        if kind == "csv":
            header, delimiter = header_of(path)
            return {"format": kind, "header": header, "delimiter": delimiter}
        with path.open("rb") as stream:
            return {"format": kind, "array": stream.read(HEAD).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")}
    except (OSError, UnicodeDecodeError):
        return {"format": "json"}
