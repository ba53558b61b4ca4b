"""Where people and a judge differ, the worst first, and the dangerous answers among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from annotate.exchange.entries import LabelEntry
from annotate.report.facts import Facts, resolve
from judges.calibration.audit_records import AuditItem, JudgeVerdict, TaskRecords
from judges.calibration.dangerous import DANGEROUS, dangerous_passed
from judges.calibration.statistic import Statistic
from judges.favourable import favourable_label
from judges.linked_labels import linked_items, told_twice


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which people's statistical label and the judge's verdict differ, in the value or a required part.

    Attributes:
        people, judge: value and parts of each ("" the value), where both gave one.
        differs: the parts that differ ("" the value).
        by: who said what people say.
        passed: people found it wrong and the judge gave it the best label.
        harm: the worst harm marked on it while blind.
    """

    item_id: str
    system: str
    task: str
    people: Mapping[str, str]
    judge: Mapping[str, str]
    differs: tuple[str, ...]
    by: tuple[str, ...]
    passed: bool
    harm: str

    @property
    def dangerous(self) -> bool:
        return self.harm in DANGEROUS

    @property
    def urgency(self) -> int:
        """0 dangerous and passed, 1 dangerous, 2 passed, 3 the rest."""
        return (0 if self.passed else 1) if self.dangerous else (2 if self.passed else 3)


@dataclass(frozen=True, slots=True)
class Danger:
    """The dangerous answers of one task under one judge.

    Attributes:
        passed: how many of those with a readable verdict the judge passed, with the one-sided bound.
        passing: the label that counts as passing.
        unreadable: dangerous answers without a readable verdict. late: marked dangerous only after a verdict was seen.
        right: answers that people called right and marked as dangerous all the same. unsettled: answers marked
            dangerous on which people disagree, or which they cannot judge.
    """

    passed: Statistic
    count: int
    passing: str
    unreadable: int
    late: int
    right: int
    unsettled: int


@dataclass(frozen=True, slots=True)
class _Reading:
    """An item with what people and one judge say of its value ("") and its parts."""

    item: AuditItem
    people: dict[str, str]
    judge: dict[str, str]
    by: tuple[str, ...] = field(default=())


def hidden_disagreements(facts: Facts, task: str, judge: str) -> int:
    """Disagreements that are left out because their verdict stays hidden from whoever asked."""
    return sum(
        reading.item.item_id in facts.options.hidden
        and any(part in reading.judge and reading.judge[part] != label for part, label in reading.people.items())
        for reading in _readings(facts.records[task], judge)
    )


def disagreements(facts: Facts, task: str, judge: str) -> list[Disagreement]:
    """All disagreements of a task that may be shown, the most urgent first, else in the benchmark's order."""
    best = favourable_label(facts.tasks[task])
    found = []
    for reading in _readings(facts.records[task], judge):
        differs = tuple(p for p, label in reading.people.items() if p in reading.judge and reading.judge[p] != label)
        if differs and reading.item.item_id not in facts.options.hidden:
            item, people, verdict = reading.item, reading.people, reading.judge
            passed = best is not None and people.get("", best) != best and verdict.get("") == best
            harm = worst_harm(facts.entries.get(item.item_id, ()), item)
            found.append(
                Disagreement(item.item_id, item.system, task, people, verdict, differs, reading.by, passed, harm)
            )
    return sorted(found, key=lambda one: one.urgency)


def danger(facts: Facts, task: str, judge: str) -> Danger | None:
    """Dangerous answers and what the judge did with them; None where no label of the task says "right"."""
    best = favourable_label(facts.tasks[task])
    if best is None:
        return None
    checked = passed = unreadable = right = unsettled = 0
    readings = list(_readings(facts.records[task], judge))
    verdicts = {one.item.item_id: one.judge.get("") for one in readings}
    again = told_twice(linked_items(facts.study, task), verdicts)
    for reading in readings:
        if reading.item.item_id in again:
            continue
        if worst_harm(facts.entries.get(reading.item.item_id, ()), reading.item) not in DANGEROUS:
            continue
        if "" not in reading.people:
            unsettled += 1
        elif reading.people[""] == best:
            right += 1
        elif "" not in reading.judge:
            unreadable += 1
        else:
            checked += 1
            passed += reading.judge[""] == best
    bound = dangerous_passed(passed, checked, facts.options.settings.level)
    return Danger(bound, passed, best, unreadable, _late(facts, task), right, unsettled)


def worst_harm(entries: Iterator[LabelEntry] | list[LabelEntry] | tuple[()], item: AuditItem) -> str:
    """The worst harm that one of the item's blind labels carries."""
    marked = {entry.blind[0].harm for entry in entries if entry.blind is not None and entry.annotator in item.labels}
    return next((harm for harm in ("life_threatening", "serious", "minor", "none") if harm in marked), "")


def _late(facts: Facts, task: str) -> int:
    """Items on which somebody marked serious harm only after a verdict had been seen."""
    late = {
        entry.item_id
        for entry in facts.entries_of(task)
        if entry.state.harm in DANGEROUS and (entry.blind is None or entry.blind[0].harm not in DANGEROUS)
    }
    return len(late)


def _readings(records: TaskRecords, judge: str) -> Iterator[_Reading]:
    """The items of the stream estimate with what people and the judge say of them; nothing where they say nothing."""
    sets = {"": records.label_set, **records.parts}
    for item in records.items:
        if item.stream != "estimate":
            continue
        resolved = {part: resolve(item, labels, part) for part, labels in sets.items()}
        people = {part: one.label for part, one in resolved.items() if one.label is not None}
        verdict = item.verdicts.get(judge)
        said = {part: _said(verdict, part) for part in sets}
        readable = {part: label for part, label in said.items() if label in sets[part].labels}
        yield _Reading(item, people, {part: label for part, label in readable.items() if label}, resolved[""].by)


def _said(verdict: JudgeVerdict | None, part: str) -> str | None:
    if verdict is None:
        return None
    return verdict.parts.get(part) if part else verdict.label
