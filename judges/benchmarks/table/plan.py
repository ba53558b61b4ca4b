"""Settles how a table is read: what its task file says, and for the rest what the data show, in sentences to print."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judges.benchmarks.benchmark import Source, TaskDefinition
from judges.benchmarks.table.columns import Columns
from judges.benchmarks.table.definitions import DEFAULT_TASK, Meaning, definition_of
from judges.benchmarks.table.label_sets import LabelSetError, complete, same_set
from judges.benchmarks.table.specs import Reference, TaskFile, TaskSpec
from judges.benchmarks.table.survey import Survey, survey
from judges.benchmarks.table.task_file import read_task_file
from store.records import Problem

MOST_TASKS = 9
"""More values of a `task` column than that are no kinds of judgement, unless the task file says so."""

MOST_SLICES, FEWEST_IN_SLICE = 30, 5
"""A group of more values, or of fewer rows a value, is no stratum to report by: rows of one value belong together."""

REFERENCE_FILES = {"response_ref": "responses.jsonl", "context_ref": "contexts.jsonl"}
"""Columns that name a row of another file even without a task file, and that file."""

GENERIC_NAMES = ("items", "data", "table", "rows", "train", "test")
"""File names that say nothing; the folder's name does."""


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task, settled. `reading` maps every accepted spelling of a label to its value."""

    spec: TaskSpec
    definition: TaskDefinition
    reading: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a source is read.

    Attributes:
        files: the tables. others: files that only references name.
        tasks: by the value of the task column; by "" when all rows are of one task.
        gold_is_label: `gold` is an adjudicated label, else a reference text.
        cluster: the column whose values stand or fall together; "" for none.
        slices: columns to report by. key: columns that pair two systems' items.
        folders: where references are looked for: beside the task file, then beside the table.
        sentences: what was found out, for the user. problems: why it cannot be read.
    """

    files: tuple[Path, ...]
    others: tuple[Path, ...]
    columns: Columns
    tasks: Mapping[str, TaskPlan]
    gold_is_label: bool
    cluster: str
    slices: tuple[str, ...]
    key: tuple[str, ...]
    references: Mapping[str, Reference]
    folders: tuple[Path, ...]
    sentences: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def by_task_column(self) -> bool:
        return "" not in self.tasks

    @property
    def definitions(self) -> tuple[TaskDefinition, ...]:
        return tuple(task.definition for task in self.tasks.values())


def plan_of(source: Source) -> Plan:
    """Read the task file and survey the tables. What is wrong is in `problems`; nothing is raised for content.

    The plan of the last source is remembered while its files stay as they are: tasks, sentences and records of one
    import are asked for one after the other.
    """
    key = _state_of(source)
    if key not in _last:
        plan = _plan(source)
        _last.clear()
        _last[key] = plan
    return _last[key]


_last: dict[Hashable, Plan] = {}


def _state_of(source: Source) -> Hashable:
    """The source and the state of its files."""
    paths = [path for given in (*source.files, *source.answers) for path in _inside(given)]
    paths += [Path(named)] if (named := source.options.get("tasks")) else []
    files = [(str(path), *_stamp(path)) for path in paths]
    return (tuple(files), source.system, source.judge, tuple(sorted(source.options.items())))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError:
        return (0, 0)
    return (state.st_mtime_ns, state.st_size)


def _plan(source: Source) -> Plan:
    named = source.options.get("tasks", "")
    file = read_task_file(Path(named)) if named else TaskFile()
    columns = Columns.from_file(file, source.judge)
    tables, others = _tables_and_others(source, file)
    planning = _Planning(file, survey(tables, columns), columns)
    tasks = planning.tasks() if planning.found.rows and not file.faults else {}
    slices, cluster = planning.strata()
    return Plan(
        files=tables,
        others=others,
        columns=columns,
        tasks=tasks,
        gold_is_label=planning.gold_is_label(),
        cluster=cluster,
        slices=slices,
        key=file.key,
        references=planning.references(),
        folders=tuple(path.parent for path in (file.path, *tables[:1]) if path is not None) or (Path(),),
        sentences=(*planning.said, *_label_modes(planning.found, source)),
        problems=(*file.faults, *planning.problems),
    )


def system_name(source: Source) -> str:
    """The system of rows that name none: what the user said, else the file's name, else its folder's."""
    if source.system or not source.files:
        return source.system or "system"
    path = source.files[0].absolute()
    return (path.parent.name if path.stem in GENERIC_NAMES else path.stem) or "system"


def _tables_and_others(source: Source, file: TaskFile) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    paths = [path for given in source.files for path in _inside(given)]
    named = {Path(reference.file).name for reference in file.references.values()}
    names = named | set(REFERENCE_FILES.values())
    tables = tuple(path for path in paths if path.name not in names)
    return tables, (*(path for path in paths if path.name in names), *source.answers)


def _inside(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    kinds = (".jsonl", ".csv", ".tsv", ".parquet")
    return sorted(child for child in path.iterdir() if child.suffix in kinds)


def _label_modes(found: Survey, source: Source) -> Iterator[str]:
    if found.without_mode and not source.options.get("label_mode"):
        yield (
            f"{found.without_mode:,} labels of people do not say whether a verdict had been seen: they count as blind."
        )


class _Planning:
    """Decisions over one survey; `said` collects them in words."""

    def __init__(self, file: TaskFile, found: Survey, columns: Columns) -> None:
        self.file, self.found, self.columns = file, found, columns
        self.said: list[str] = []
        self.problems: list[Problem] = []
        self._task_is_cluster = False
        self._gold_is_label: bool | None = None
        people, judges = _counted(found.annotators), _counted(found.judges)
        self.said.append(f"{found.rows:,} rows; labels of people: {people}; judges: {judges}.")

    # Tasks

    def tasks(self) -> dict[str, TaskPlan]:
        """The tasks by value of the task column; {} when their labels cannot be told, which `problems` says."""
        specs = self._specs()
        completed: dict[str, TaskSpec] = {}
        for value, spec in specs.items():
            counts = self.found.labels.get(value) if value else self.found.merged()
            try:
                completed[value], sentences = complete(spec, counts, with_gold=self.gold_is_label())
                self.said += sentences
            except LabelSetError as error:
                remedy = "name the labels in a task file (--tasks FILE.toml)"
                self.problems.append(Problem(str(self.file.path or ""), 0, 0, str(error), remedy))
        if len(completed) > 1:
            completed = same_set(completed, {v: s for v, s in specs.items() if not s.labels}, self.said)
        meaning = Meaning(self.found, self.columns, self.gold_is_label(), self.references())
        return {value: self._plan(spec, meaning) for value, spec in completed.items()}

    def _plan(self, spec: TaskSpec, meaning: Meaning) -> TaskPlan:
        reading = {label.value: label.value for label in spec.labels}
        reading |= {spelling: label.value for label in spec.labels for spelling in label.also}
        definition, sentences = definition_of(spec, meaning)
        self.said += sentences
        return TaskPlan(spec, definition, reading)

    def _specs(self) -> dict[str, TaskSpec]:
        """What is said of each task, before the data fill it up."""
        base = self.file.base
        if not self._has_task_column():
            return {"": replace(base, name=base.name or DEFAULT_TASK)}
        own = {task.name: task for task in self.file.tasks}
        values = list(own) or sorted(value for value in self.found.tasks if value)
        return {value: own.get(value, TaskSpec()).over(replace(base, name=value)) for value in values}

    def _has_task_column(self) -> bool:
        if "task" in self.file.columns:
            return True
        column = self.columns.of["task"]
        values = [value for value in self.found.tasks if value]
        one_named = self.file.path is not None and bool(self.file.base.labels or self.file.base.name)
        if not values or one_named:
            return False
        if len(values) > MOST_TASKS:
            self._task_is_cluster = True
            self.said.append(
                f"`{column}` has {len(values)} values, too many for kinds of judgement: all rows are one task, and "
                f"rows of one `{column}` stand or fall together. A task file can say otherwise."
            )
            return False
        self.said.append(f"`{column}` names the tasks: {', '.join(sorted(values))}.")
        return True

    # Gold

    def gold_is_label(self) -> bool:
        """Whether `gold` is an adjudicated label, not a reference text."""
        if self._gold_is_label is None:
            self._gold_is_label = self._decide_gold()
        return self._gold_is_label

    def _decide_gold(self) -> bool:
        whole, column = self.found.merged(), self.columns.of["gold"]
        if not whole.gold:
            return False
        if whole.people:
            self.said.append(f"`{column}` stands beside people's labels: it is read as the adjudicated label.")
            return True
        declared = {spelling for task in (self.file.base, *self.file.tasks) for spelling in _spellings(task)}
        if set(whole.gold) <= (declared or set(whole.judges)):
            self.said.append(f"`{column}` holds only labels: it is read as the adjudicated label.")
            return True
        self.said.append(f"`{column}` is read as the reference text.")
        return False

    # Strata

    def strata(self) -> tuple[tuple[str, ...], str]:
        """The columns to report by, and the one whose values stand or fall together."""
        cluster = self.file.columns.get("cluster", "")
        if not cluster and self.found.filled[self.columns.of["cluster"]]:
            cluster = self.columns.of["cluster"]
        slices = list(self.file.slices) if self.file.slices is not None else []
        group = self.columns.of["group"]
        if self.file.slices is None and self.found.groups:
            if self._is_stratum(self.found.groups):
                slices.append(group)
            elif not cluster:
                cluster = group
                self.said.append(
                    f"`{group}` has {len(self.found.groups):,} values: rows of one value stand or fall together; it is "
                    "no stratum to report by."
                )
        if not cluster and self._task_is_cluster:
            cluster = self.columns.of["task"]
        return tuple(slices), cluster

    def _is_stratum(self, groups: Mapping[str, int]) -> bool:
        return len(groups) <= MOST_SLICES and sum(groups.values()) >= FEWEST_IN_SLICE * len(groups)

    # References

    def references(self) -> dict[str, Reference]:
        """Columns that name a row of another file."""
        found = dict(self.file.references)
        for column, name in REFERENCE_FILES.items():
            if self.found.filled[column]:
                stem = column.removesuffix("_ref")
                found.setdefault(column, Reference(name, f"{stem}_id", (stem,)))
        return found


def _counted(names: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in sorted(names.items())) or "none"


def _spellings(task: TaskSpec) -> Sequence[str]:
    return [spelling for label in task.labels for spelling in (label.value, *label.also)]
