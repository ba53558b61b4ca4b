"""What an audit reads of a task, item by item: people's labels, verdicts, the declared label sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judges.calibration.statistical_label import Vote

if TYPE_CHECKING:
    from judges.calibration.agreement.scale import Level, Scale


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """One person's label of one item: its value or CANNOT_JUDGE, and its parts by id."""

    value: Vote
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """One judge's verdict on one item.

    Attributes:
        label: a label, or None when it could not be read; then `failure` says why.
        failure: "" or the kind of failure.
        score: the judge's number where it gives one; higher is better.
        parts: the labels of the task's parts.
        slices: strata of the verdict itself, as far as it falls into any.
    """

    label: str | None
    failure: str = ""
    score: float | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    slices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditItem:
    """One item of a task with what people and judges said of it.

    Attributes:
        cluster: items of one cluster stand or fall together; "" to use `group`, then the item itself.
        group: items of one group share a long text.
        labels: blind labels by annotator; others do not belong here and are counted in `TaskRecords.not_blind`.
        adjudicated: what an adjudicator who was blind to every verdict decided.
        verdicts: by judge.
        stream: only `estimate` enters the numbers.
        weight: items it stands for, 1/π of its draw; None where all count the same, or it is in no sample.
        stratum: what was drawn apart. drawn_with: the text or cluster that was drawn and the item with it.
    """

    item_id: str
    labels: Mapping[str, HumanLabel] = field(default_factory=dict)
    verdicts: Mapping[str, JudgeVerdict] = field(default_factory=dict)
    adjudicated: HumanLabel | None = None
    cluster: str = ""
    group: str = ""
    system: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)
    stream: str = "estimate"
    weight: float | None = None
    stratum: str = ""
    drawn_with: str = ""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of a task or of one of its parts, in declared order, and what the screen calls them.

    Attributes:
        optional: of a part that may be left out: a judge that says nothing of it has not failed at it.
    """

    labels: tuple[str, ...]
    level: Level = "nominal"
    titles: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False

    @property
    def scale(self) -> Scale:
        """The labels as a scale; a title without a letter is quoted, so that "has 3 2" is not read as one number."""
        from judges.calibration.agreement.scale import Scale

        titles = [self.titles.get(label, label) for label in self.labels]
        if titles == list(self.labels):
            return Scale(self.labels, self.level)
        return Scale(self.labels, self.level, tuple(title if _has_letter(title) else f"“{title}”" for title in titles))


def _has_letter(text: str) -> bool:
    return any(letter.isalpha() for letter in text)


@dataclass(frozen=True, slots=True)
class TaskRecords:
    """Everything of one task that an audit reads.

    Attributes:
        parts: the parts to audit on their own, by id.
        not_blind: labels of the task left out by the caller because a verdict had been seen.
        unequal: items have weights, or would have if their draw were a sample still.
        left_out: draws whose labels do not count, and why, in words.
    """

    task: str
    label_set: LabelSet
    items: Sequence[AuditItem]
    parts: Mapping[str, LabelSet] = field(default_factory=dict)
    not_blind: int = 0
    unequal: bool = False
    left_out: tuple[str, ...] = ()
