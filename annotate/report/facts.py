"""Everything of a study that a report speaks of, read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from annotate.exchange.entries import LabelEntry, label_entries
from annotate.report.gates import GateOf, gates_of
from annotate.report.options import ReportOptions
from judges.auditing import audit_study
from judges.benchmarks.benchmark import TaskDefinition
from judges.calibration.audit_records import AuditItem, HumanLabel, LabelSet, TaskRecords
from judges.calibration.audit_result import Audit, JudgeAgreement, TaskAudit
from judges.calibration.checks import Assessment, assess
from judges.calibration.statistical_label import CANNOT_JUDGE, Adjudication, Resolution, Vote, statistical_label
from judges.collect import audit_records, task_definitions
from store.events import NOT_PRACTICE, PRACTICE
from store.study import Study


class Judged(NamedTuple):
    """One judge on one block: a task, or a part of one (`part` "" for the task itself)."""

    task: str
    part: str
    judge: str
    title: str
    audit: TaskAudit
    found: JudgeAgreement
    assessment: Assessment


@dataclass(frozen=True)
class Facts:
    """What a report is made of.

    Attributes:
        tasks: the definitions reported on, in the benchmark's order; those that agreement is computed for.
        records: what the audit read, by task: the items with blind labels.
        entries: every label of every person by item, of those tasks.
        task_of: item → task, for labelled items.
        gates: those that somebody looked through.
    """

    study: Study
    options: ReportOptions
    tasks: Mapping[str, TaskDefinition]
    audit: Audit
    records: Mapping[str, TaskRecords]
    entries: Mapping[str, list[LabelEntry]]
    task_of: Mapping[str, str]
    gates: Sequence[GateOf]

    @cached_property
    def judged(self) -> list[Judged]:
        """Every judge on every task and part that has labels, in reading order."""
        return [one for task in self.tasks for one in self._judged_of(task)]

    @cached_property
    def judges(self) -> list[str]:
        """The judges that are reported on, in order of their first appearance."""
        return list(dict.fromkeys(one.judge for one in self.judged))

    @property
    def labelled(self) -> int:
        """Items with a blind label in the stream estimate, over all tasks."""
        return sum(task.labelled for task in self.audit.tasks.values())

    def block_title(self, task: str, part: str = "") -> str:
        """What a reader calls a task, or a part of one."""
        definition = self.tasks[task]
        titles = {one.id: one.title for one in definition.parts}
        return f"{definition.title}: {titles[part]}" if part else definition.title

    def entries_of(self, task: str) -> Iterator[LabelEntry]:
        """Every label of a task."""
        return (entry for item, found in self.entries.items() if self.task_of[item] == task for entry in found)

    def _judged_of(self, task: str) -> Iterator[Judged]:
        whole = self.audit.tasks[task]
        for part, block in [("", whole), *whole.parts.items()]:
            for judge, found in block.judges.items() if block.labelled else ():
                checked = assess(found, self.options.thresholds, self.options.settings.level)
                yield Judged(task, part, judge, self.block_title(task, part), block, found, checked)


def gather(study: Study, options: ReportOptions) -> Facts:
    """Audit the study and read what else is reported."""
    wanted = {name: task for name, task in task_definitions(study).items() if options.task in ("", name)}
    records = {record.task: record for record in audit_records(study, wanted, options.judge)}
    task_of = dict(
        study.rows(
            f"""SELECT item_id, task FROM current_items
            WHERE item_id IN (SELECT item_id FROM label_events WHERE {NOT_PRACTICE})
                AND task IN (SELECT unnest(?::VARCHAR[]))""",
            [list(wanted)],
        )
    )
    entries: dict[str, list[LabelEntry]] = {}
    for entry in label_entries(study):
        if entry.item_id in task_of and entry.round != PRACTICE:
            entries.setdefault(entry.item_id, []).append(entry)
    audit = audit_study(
        study, task=options.task, judge=options.judge, settings=options.settings, depth="whole", epsilon=options.epsilon
    )
    wanted = {name: task for name, task in wanted.items() if name in audit.tasks}
    gates = gates_of(study, {name: task.title for name, task in wanted.items()}, options.judge)
    return Facts(study, options, wanted, audit, records, entries, task_of, gates)


def resolve(item: AuditItem, labels: LabelSet, part: str = "") -> Resolution:
    """The statistical label of an item, or of one of its parts, by the audit's own rules."""
    votes = {who: vote for who, label in item.labels.items() for vote in _votes(label, labels, part)}
    adjudicated = None if item.adjudicated is None else list(_votes(item.adjudicated, labels, part))
    return statistical_label(votes, Adjudication(adjudicated[0]) if adjudicated else None)


def _votes(label: HumanLabel, labels: LabelSet, part: str) -> Iterable[Vote]:
    """A label's vote on the value or the part: none where it says nothing of it or something outside the set."""
    value = label.value if label.value is CANNOT_JUDGE or not part else label.parts.get(part)
    if label.value is CANNOT_JUDGE:
        return (CANNOT_JUDGE,)
    return (value,) if value in labels.labels else ()
