"""The protocol a benchmark implements, and the task definitions it declares as data.

A benchmark is one folder: reader, rubrics, panels, scoring, writer. Nothing outside the folder names it: the registry
below finds the folders that are here, and those that other distributions offer as entry points.

`Benchmark` is what every one has. The other protocols are optional: a benchmark offers what it has to say, and the
commands ask for it (`isinstance`).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from judges.benchmarks.stages import Tracing
from store.records import LabelState, Problem, Record, VerdictRecord

Level = Literal["nominal", "ordinal", "interval"]
PanelKind = Literal["text", "list", "dialogue", "compare"]
"""text: paragraphs; list: numbered short texts; dialogue: turns with speakers; compare: several fields side by side."""


@dataclass(frozen=True, slots=True)
class Label:
    """One label of a set. `value` is stored; `key` and `digit` are how a person gives it, never derived from it.

    Attributes:
        value: what is stored and compared ("2", "Correct").
        title: what the screen says.
        key: one lower-case ASCII letter; its upper case means the same, unsure.
        digit: one ASCII digit.
        hint: one line of the rubric.
    """

    value: str
    title: str
    key: str
    digit: str
    hint: str = ""


DecisionKind = Literal["choice", "number", "checklist", "ranking"]
"""How a decision is given and stored, always as one string.

choice: one of the labels, its value. number: a decimal between `low` and `high`, as its shortest decimal text.
checklist: rows × columns, every cell one of the labels' values; canonical JSON {row id: {column id: value}}.
ranking: the entries best first, ties together; canonical JSON [[entry id, …], …].
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A further decision of the same label, with its own labels and keys.

    Attributes:
        labels: the options of a choice, or what a checklist's cells take.
        columns: of a checklist: (id, title) pairs.
        rows_field: of a checklist or ranking: the payload field that lists rows or entries as
            [{"id", "title", "text"?}, …].
        low, high: bounds of a number.
    """

    id: str
    title: str
    labels: tuple[Label, ...] = ()
    required: bool = True
    kind: DecisionKind = "choice"
    columns: tuple[tuple[str, str], ...] = ()
    rows_field: str = ""
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Panel:
    """One field of an item on the desk.

    Attributes:
        field: the payload field, or the name in `ItemRecord.texts`; for `compare` a comma-separated list.
        judge_saw: False marks a panel the judge never had; opening it is recorded.
        role: `reference` and `response` are compared by `d`; `gold` is what evidence jumps look for; "" for the rest.
        folded: closed until opened.
    """

    kind: PanelKind
    field: str
    title: str
    judge_saw: bool = True
    role: Literal["", "question", "reference", "response", "gold"] = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class TaskDefinition:
    """One kind of judgement: its question, label set, parts, panels and rubric. Stored in the study, versioned by hash.

    Attributes:
        labels: in rubric order; for ordinal tasks best first.
        level: how `value`s compare; ordinal values are ranked in the order of `labels`, reversed.
        tags: failure kinds offered by `t` + digit.
        rubric: Markdown, our own words.
        kind: how the value itself is given; `labels` are empty for a number or a ranking.
        rows_field, low, high: as for a `Part`.
    """

    task: str
    title: str
    question: str
    level: Level
    labels: tuple[Label, ...]
    panels: tuple[Panel, ...]
    parts: tuple[Part, ...] = ()
    tags: tuple[str, ...] = ()
    rubric: str = ""
    kind: DecisionKind = "choice"
    rows_field: str = ""
    low: float = 0.0
    high: float = 1.0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TaskDefinition:
        def labels(rows: Iterable[Mapping[str, Any]]) -> tuple[Label, ...]:
            return tuple(Label(**row) for row in rows)

        parts = tuple(
            Part(**{**part, "labels": labels(part["labels"]), "columns": tuple(map(tuple, part.get("columns", ())))})
            for part in data["parts"]
        )
        panels = tuple(Panel(**panel) for panel in data["panels"])
        return cls(
            **{**data, "labels": labels(data["labels"]), "parts": parts, "panels": panels, "tags": tuple(data["tags"])}
        )

    @property
    def values(self) -> tuple[str, ...]:
        """The declared label set, in rubric order. Statistics always use it whole."""
        return tuple(label.value for label in self.labels)


@dataclass(frozen=True, slots=True)
class Source:
    """What the user asked to import."""

    files: tuple[Path, ...]
    answers: tuple[Path, ...] = ()
    system: str = ""
    judge: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    """What only some benchmarks ask for, by name (`tasks`: a task file; `label_mode`, `sampled`, `regime` …)."""


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """An item as scoring sees it: what it is, the judge's verdict on it, and the person's final label if any.

    Attributes:
        texts: the long texts themselves by field, read when asked for.
        extra: fields of the benchmark's own record that nobody is shown.
    """

    item_id: str
    task: str
    cluster: str
    group: str
    weight: float
    payload: Mapping[str, Any]
    slices: Mapping[str, str]
    verdict: VerdictRecord | None
    label: LabelState | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undefined:
    """A number that is not there, and why. Serialised as {"value": null, "status", "why"}."""

    status: str
    why: str


Scores = dict[str, Any]
"""Nested mapping of metric name to float, int or `Undefined`, in the benchmark's own nesting."""


@dataclass(frozen=True, slots=True)
class NativeFile:
    """One file a native export writes: a name, its text in chunks, and what the file is, for whoever asked for it."""

    name: str
    chunks: Iterable[str] = field(repr=False)
    about: str = "the patched file"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something about one item that a person should look at.

    Attributes:
        kind: one word for what is doubtful.
        cells: what there is to see, by column title; all of a list have the same columns.
    """

    item_id: str
    kind: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Alarm:
    """One sentence on safety that comes before every other number.

    Attributes:
        count: how often it happened; 0 is said too, with its bound.
    """

    count: int
    sentence: str


Truth = Callable[[str, str, Sequence[Any], Mapping[str, Any]], LabelState | None]
"""(system, task, natural key, extra of the item) → its true label; None where nothing is known to be true."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Sample data that ships with the program.

    Attributes:
        about: what it is, in a few words.
        sources: what is imported, one by one.
        truth: the known truth of its items; None when the files carry people's labels already.
    """

    about: str
    sources: tuple[Source, ...]
    truth: Truth | None = None


class Benchmark(Protocol):
    """What a benchmark's package offers under the name `BENCHMARK`."""

    name: str

    def tasks(self) -> Sequence[TaskDefinition]:
        """The task definitions, in the order the desk offers them."""
        ...

    def recognises(self, path: Path, head: bytes) -> bool:
        """True when the file (its first 64 kB given) is one of this benchmark's result files."""
        ...

    def read(self, source: Source) -> Iterator[Record]:
        """Stream the records of a source. Bad places come as `Problem`s among them; nothing is raised for content."""
        ...

    def as_coded(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Scores:
        """The official metrics over the judge's verdicts, official operations in the official order.

        `items` come in verdict position order and may be consumed once; `facts` are kind → key → payload of the system.
        """
        ...

    def as_described(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Scores:
        """The metrics where the paper says something else than the code does; only those that differ."""
        ...

    def overridden(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Scores:
        """`as_coded` with people's final labels in place of the verdicts they decided."""
        ...

    def stated_scores(self, facts: Mapping[str, Mapping[str, Any]], judge: str) -> Mapping[str, Any] | None:
        """The scores that the imported file states of itself under this judge; None when it states none."""
        ...

    def write_native(
        self,
        items: Iterable[ScoredItem],
        facts: Mapping[str, Mapping[str, Any]],
        provenance: Mapping[str, Mapping[str, Any]],
    ) -> Iterator[NativeFile]:
        """The benchmark's own files, patched with people's labels.

        `provenance` maps item id to {"annotator", "at", "note", …} of the final label. The judge's own verdict stays in
        the record beside the person's.
        """
        ...


@runtime_checkable
class CorrectableBenchmark(Benchmark, Protocol):
    """A benchmark whose metrics are functions of totals over items, and so can be corrected for the judge's errors.

    It may also offer `shares()`: metric → (numerator, denominator) where 0 ≤ numerator ≤ denominator item by item; and
    `bounded()`: the metrics that lie between 0 and 1; and `lower_is_better()`: those in which less is better.
    """

    def needs(self) -> Mapping[str, frozenset[str]]:
        """Metric path ("memory_integrity / recall(all)") → what must be labelled for it: a task, or "task/part"."""
        ...

    def terms(self, item: ScoredItem, state: LabelState | None) -> Mapping[str, float]:
        """What one item adds to the totals when its label is `state`; None: as the code counts a failed verdict."""
        ...

    def combine(self, sums: Mapping[str, float]) -> Mapping[str, float | Undefined]:
        """Metric path → value, from the sums of `terms` over all items."""
        ...


@runtime_checkable
class TaskFileBenchmark(Benchmark, Protocol):
    """A benchmark whose tasks a file of the user's may say."""

    def faults_of_tasks(self, path: Path) -> Sequence[Problem]:
        """What is wrong with such a file by itself, without the data; nothing is raised for its content."""
        ...


class InferringBenchmark(Benchmark, Protocol):
    """A benchmark whose tasks depend on what is read; its `tasks()` are only those that every source has."""

    def tasks_for(self, source: Source) -> Sequence[TaskDefinition]:
        """The tasks of a source.

        Raises:
            InputError: they cannot be told; says every reason.
        """
        ...

    def inference(self, source: Source) -> Sequence[str]:
        """What was found out about a source that nobody said, as sentences to print.

        Column names and labels in them are the file's own: foreign text.
        """


@runtime_checkable
class DescribingBenchmark(Benchmark, Protocol):
    """A benchmark that says more of its scores than the official script does.

    Attributes:
        headline: metric path → short name: the metrics that a table shows when it cannot show all.
    """

    headline: Mapping[str, str]

    def breakdowns(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Scores]:
        """Table name → {row: {variant: scores in the official nesting}}, or {row: scores} where there is one variant.

        As for the next two, `items` come as for `as_coded`, with people's final labels, and may be consumed once.
        """
        ...

    def warnings(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
        """What one must know to read the scores as coded, in sentences; only what applies to this system."""
        ...

    def tracing(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Tracing:
        """Where wrong results come from, by the verdicts and, where people labelled, by final labels."""
        ...


@runtime_checkable
class ComparingBenchmark(Benchmark, Protocol):
    """A benchmark some of whose numbers need the items of several systems at once: paired tests, means over runs."""

    def compared(
        self,
        systems: Mapping[str, Iterable[ScoredItem]],
        facts: Mapping[str, Mapping[str, Mapping[str, Any]]],
        *,
        overridden: bool = False,
    ) -> Scores:
        """The numbers over the verdicts, or with people's final labels put in.

        Args:
            systems: items by system, those of a system that only stands for the benchmark's own items among them; each
                is gone through once, in verdict order. facts: system → kind → key → payload.
        """
        ...


@runtime_checkable
class RemarkingBenchmark(Benchmark, Protocol):
    """A benchmark whose numbers are misread without a word beside them."""

    def remarks(self) -> Sequence[str]:
        """Sentences for the score screen and the report."""
        ...


@runtime_checkable
class ContradictingBenchmark(Benchmark, Protocol):
    """A benchmark that can tell when a judge's answer contradicts itself: such items teach more than others."""

    def contradicts(self, item: ScoredItem) -> bool:
        """Whether the verdict's own fields do not agree with each other; the item has a verdict."""
        ...


@runtime_checkable
class VerdictSlicingBenchmark(Benchmark, Protocol):
    """A benchmark whose judge's answers fall into slices by what they show of themselves.

    They belong to the verdict and are made of it where an audit or a draw asks for them. On an item they would hint at
    the verdict before the label, and another verdict would make another item.

    Attributes:
        verdict_slices: the names of these slices.
    """

    verdict_slices: Sequence[str]

    def slices_of_verdict(self, item: ScoredItem) -> Mapping[str, str]:
        """Slice → value; {} where nothing follows from the item's verdict, or there is none."""
        ...


@runtime_checkable
class HeadliningBenchmark(Benchmark, Protocol):
    """A benchmark with so many metrics that a screen cannot show all.

    Attributes:
        headline: metric path → short name: those that are shown in any case.
    """

    headline: Mapping[str, str]


@runtime_checkable
class SampledBenchmark(Benchmark, Protocol):
    """A benchmark that ships sample data: `demo` shows it."""

    def sample(self, folder: Path) -> Sample:
        """The sample.

        Args:
            folder: where its files lie.
        """
        ...


@runtime_checkable
class SelfNamingBenchmark(Benchmark, Protocol):
    """A benchmark whose files say which systems they are of: `open` gives them no name of its own."""

    names_systems: bool


@runtime_checkable
class AskingBenchmark(Benchmark, Protocol):
    """A benchmark whose reader takes options that only the user can give.

    Attributes:
        options: name in `Source.options` → what it decides and what it may be.
    """

    options: Mapping[str, str]


@runtime_checkable
class DoubtingBenchmark(Benchmark, Protocol):
    """A benchmark some of whose verdicts are doubtful on the face of them."""

    def doubts(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Iterator[Doubt]:
        """The doubtful items of a system, in their order."""
        ...


@runtime_checkable
class ClinicalBenchmark(Benchmark, Protocol):
    """A benchmark some of whose mistakes could hurt somebody."""

    def alarms(self, items: Iterable[ScoredItem], facts: Mapping[str, Mapping[str, Any]]) -> Sequence[Alarm]:
        """What comes first in a report of a system, with people's final labels put in."""
        ...


@runtime_checkable
class DerivingBenchmark(Benchmark, Protocol):
    """A benchmark that derives something from a label's parts (a composite, the verdict by a published rule)."""

    def derived(self, task: str, payload: Mapping[str, Any], state: LabelState) -> Sequence[tuple[str, str]]:
        """(title, words) lines to show once the label is given."""
        ...

    def derived_of_verdict(
        self, task: str, payload: Mapping[str, Any], verdict: VerdictRecord
    ) -> Sequence[tuple[str, str]]:
        """The same of what a judge said, to show beside its verdict; [] when nothing follows from it."""
        ...


ENTRY_POINTS = "overread.benchmarks"
"""The group under which another distribution offers a benchmark: name = package that has `BENCHMARK`."""


def benchmark_names() -> list[str]:
    """The benchmarks this installation has: folders here, and those that other distributions offer."""
    return sorted(_own() | _offered().keys())


def _own() -> set[str]:
    import judges.benchmarks as home

    return {module.name for module in pkgutil.iter_modules(home.__path__) if module.ispkg}


def _offered() -> dict[str, str]:
    """Benchmarks of other distributions: name → package."""
    from importlib.metadata import entry_points  # here: reading what is installed costs more than a benchmark

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}


def get_benchmark(name: str) -> Benchmark:
    """The benchmark of that name.

    Raises:
        KeyError: there is no such benchmark.
    """
    package = f"judges.benchmarks.{name}" if name in _own() else _offered()[name]
    benchmark: Benchmark = importlib.import_module(package).BENCHMARK
    return benchmark
