"""What an audit finds, and its JSON. Numbers only; words are in `plain_words`, rendering is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judges.calibration.statistic import Statistic

if TYPE_CHECKING:
    from judges.calibration.measured_result import PartAudit
    from judges.calibration.published import PublishedAgreement
    from judges.calibration.trust import TaskTrust

SCHEMA_VERSION = 1
"""Rises when a key that `audit --json` has printed changes its meaning or goes."""

Confusion = dict[str, dict[str, int]]
"""{label people gave: {label the judge gave: items}} over the declared label set."""
ConfusionShares = dict[str, dict[str, float]]
"""The same as shares of all items."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """One label: `n` items people gave it, `called` items the judge gave it; `agreement` on it when asked for."""

    recall: Statistic
    precision: Statistic
    f1: Statistic
    n: int
    called: int
    agreement: Statistic | None = None

    def as_json(self) -> dict[str, Any]:
        statistics = {"recall": self.recall, "precision": self.precision, "f1": self.f1}
        if self.agreement is not None:
            statistics["agreement"] = self.agreement
        return {**_json(statistics), "n": self.n, "called": self.called}


@dataclass(frozen=True, slots=True)
class SliceAgreement:
    """The judge on one value of a slice: `n` items, agreement on them, kappa if asked for, the recall of each label."""

    n: int
    raw_agreement: Statistic
    recall: Mapping[str, Statistic]
    cohen_kappa: Statistic | None = None

    def as_json(self) -> dict[str, Any]:
        kappa = {"cohen_kappa": self.cohen_kappa.as_json()} if self.cohen_kappa is not None else {}
        return {"n": self.n, "raw_agreement": self.raw_agreement.as_json(), **kappa, "recall": _json(self.recall)}


@dataclass(frozen=True, slots=True)
class UnreadableCounted:
    """The same agreement when unreadable verdicts are kept.

    Attributes:
        raw_agreement, cohen_kappa: as a further answer that no person ever gives.
        recall: of each label, likewise.
        as_label: as if the judge had given this label: (raw agreement, kappa) by label.
    """

    raw_agreement: Statistic
    cohen_kappa: Statistic
    recall: Mapping[str, Statistic] = field(default_factory=dict)
    as_label: Mapping[str, tuple[Statistic, Statistic]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        fields = _json({"raw_agreement": self.raw_agreement, "cohen_kappa": self.cohen_kappa})
        fields["recall"] = _json(self.recall)
        fields["as_label"] = {
            label: _json({"raw_agreement": raw, "cohen_kappa": kappa}) for label, (raw, kappa) in self.as_label.items()
        }
        return fields


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """One judge against people's statistical labels.

    Attributes:
        n: items with a statistical label and a readable verdict; every number is on them.
        unreadable, no_verdict: items with a statistical label whose verdict could not be read, or is not there.
        failures: the unreadable ones by kind.
        confusion_shares: the confusion as shares of all items, each label counting for those it stands for (1/π); None
            where all count the same. `confusion` itself always counts items as they were labelled.
        weighted_kappa, weighted_kappa_linear, gwet_ac2: on ordered scales only.
        correlations: kendall_tau, spearman, pearson where there are scores.
        unreadable_counted: None when every verdict could be read.
        more: further coefficients when asked for, by name.
        notes: what a reader should know to read the numbers right.
    """

    n: int
    unreadable: int
    no_verdict: int
    failures: Mapping[str, int]
    raw_agreement: Statistic
    cohen_kappa: Statistic
    krippendorff_alpha: Statistic
    gwet_ac1: Statistic
    confusion: Confusion
    per_label: Mapping[str, LabelAgreement]
    slices: Mapping[str, Mapping[str, SliceAgreement]]
    weighted_kappa: Statistic | None = None
    correlations: Mapping[str, Statistic] = field(default_factory=dict)
    unreadable_counted: UnreadableCounted | None = None
    more: Mapping[str, Statistic] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    confusion_shares: ConfusionShares | None = None

    @property
    def statistics(self) -> dict[str, Statistic]:
        """The coefficients that apply, by the names they have in JSON."""
        weighted = {"weighted_kappa": self.weighted_kappa} if self.weighted_kappa else {}
        return {
            "raw_agreement": self.raw_agreement,
            "cohen_kappa": self.cohen_kappa,
            **weighted,
            "krippendorff_alpha": self.krippendorff_alpha,
            "gwet_ac1": self.gwet_ac1,
            **self.correlations,
            **self.more,
        }

    def named(self, name: str) -> Statistic | None:
        """The coefficient of that name, if it applies."""
        return self.statistics.get(name)

    def as_json(self) -> dict[str, Any]:
        counts = {"n": self.n, "unreadable": self.unreadable, "no_verdict": self.no_verdict}
        fields: dict[str, Any] = {**counts, "failures": dict(self.failures), **_json(self.statistics)}
        fields["confusion"] = self.confusion
        if self.confusion_shares is not None:
            fields["confusion_shares"] = self.confusion_shares
        fields["per_label"] = {label: found.as_json() for label, found in self.per_label.items()}
        if self.unreadable_counted:
            fields["unreadable_counted"] = self.unreadable_counted.as_json()
        fields["slices"] = {
            name: {value: found.as_json() for value, found in values.items()} for name, values in self.slices.items()
        }
        fields["notes"] = list(self.notes)
        return fields


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two people on the items both labelled."""

    n: int
    raw_agreement: Statistic
    cohen_kappa: Statistic
    krippendorff_alpha: Statistic
    gwet_ac1: Statistic
    confusion: Confusion
    weighted_kappa: Statistic | None = None

    def as_json(self) -> dict[str, Any]:
        weighted = {"weighted_kappa": self.weighted_kappa} if self.weighted_kappa else {}
        statistics = {
            "raw_agreement": self.raw_agreement,
            "cohen_kappa": self.cohen_kappa,
            **weighted,
            "krippendorff_alpha": self.krippendorff_alpha,
            "gwet_ac1": self.gwet_ac1,
        }
        return {"n": self.n, **_json(statistics), "confusion": self.confusion}


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """People among each other, on their blind labels of stream estimate: what a judge can reach at best.

    Attributes:
        annotators: labels of each. pairs: by the two names joined with "|".
    """

    annotators: Mapping[str, int]
    pairs: Mapping[str, PairAgreement]
    raw_agreement: Statistic
    krippendorff_alpha: Statistic
    fleiss_kappa: Statistic
    gwet_ac1: Statistic
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        statistics = {
            "raw_agreement": self.raw_agreement,
            "krippendorff_alpha": self.krippendorff_alpha,
            "fleiss_kappa": self.fleiss_kappa,
            "gwet_ac1": self.gwet_ac1,
        }
        pairs = {names: pair.as_json() for names, pair in self.pairs.items()}
        return {"annotators": dict(self.annotators), "pairs": pairs, **_json(statistics), "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was left out of a task's numbers before any judge is looked at; items or labels, as the names say.

    Attributes:
        unresolved_items: people conflict, none of the rules decides. cannot_judge_items: they come out at that.
        labels_not_blind: given after a verdict was seen. labels_not_estimate: on items of another stream.
        labels_outside_set: not one of the labels the task declares.
    """

    unresolved_items: int = 0
    cannot_judge_items: int = 0
    labels_not_blind: int = 0
    labels_not_estimate: int = 0
    labels_outside_set: int = 0

    def as_json(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class TaskAudit:
    """One task, or one part of it.

    Attributes:
        titles: what the screen calls each label, by label.
        items: of the task, of every stream. labelled: items with a blind label or adjudication in stream estimate.
        rules: labelled items by the rule that gave their statistical label.
        parts: audits of the task's parts by id.
        trust: what there is beside agreement; None where it was not asked for, and for parts.
    """

    titles: Mapping[str, str]
    items: int
    labelled: int
    rules: Mapping[str, int]
    dropped: Dropped
    judges: Mapping[str, JudgeAgreement]
    humans: HumanAgreement
    parts: Mapping[str, TaskAudit] = field(default_factory=dict)
    trust: TaskTrust | None = None

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "items": self.items,
            "labelled": self.labelled,
            "rules": dict(self.rules),
            "dropped": self.dropped.as_json(),
            "judges": {judge: found.as_json() for judge, found in self.judges.items()},
            "humans": self.humans.as_json(),
        }
        if self.parts:
            fields["parts"] = {part: found.as_json() for part, found in self.parts.items()}
        return fields | self._trust_json(fields["judges"])

    def _trust_json(self, judges: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
        if self.trust is None:
            return {}
        of = self.trust.judges
        for name, found in of.items() if self.trust.complete else ():
            judges[name].update(found.as_json())
        fields: dict[str, Any] = {
            "annotator_test": {name: found.annotator_test.as_json() for name, found in of.items()},
            "anchoring": {name: found.seen.as_json() for name, found in of.items()},
            "dangerous": {name: found.danger.as_json() for name, found in of.items() if found.danger is not None},
        }
        if self.trust.complete:
            repeats = {who: found.as_json() for who, found in self.trust.self_consistency.items()}
            fields["self_consistency"] = repeats
        return fields


@dataclass(frozen=True, slots=True)
class Settings:
    """How an audit is computed: the interval level, the resamples and their seed, and whether rarer coefficients are
    wanted too."""

    level: float = 0.95
    resamples: int = 2000
    seed: int = 0
    all_statistics: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"level": self.level, "resamples": self.resamples, "seed": self.seed}


@dataclass(frozen=True, slots=True)
class Audit:
    """What people's labels say about the judges of a study."""

    study: str
    tasks: Mapping[str, TaskAudit]
    settings: Settings = Settings()
    published: Sequence[PublishedAgreement] = ()
    declared: Mapping[str, Mapping[str, PartAudit]] = field(default_factory=dict)
    """Task → decision ("" the value) → its audit, for numbers, rankings and grids."""

    def ours(self, published: PublishedAgreement) -> dict[str, dict[str, Statistic]]:
        """The study's own number beside a published one: task → judge → statistic."""
        from judges.calibration.measured_result import MeasuredAudit

        name = published.statistic
        chosen = {
            task: {judge: own for judge, one in found.judges.items() if (own := one.named(name)) is not None}
            for task, found in self.tasks.items()
            if found.labelled and published.concerns(task)
        }
        for task, parts in self.declared.items():
            value = parts.get("")
            if value is not None and value.labelled and published.concerns(task) and isinstance(value, MeasuredAudit):
                own_of = {judge: one.statistics[name] for judge, one in value.judges.items() if name in one.statistics}
                chosen[task] = {**chosen.get(task, {}), **own_of}
        return {task: found for task, found in chosen.items() if found}

    def as_json(self) -> dict[str, Any]:
        published = [
            {**one.as_json(), "ours": {task: _json(found) for task, found in self.ours(one).items()}}
            for one in self.published
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            "study": self.study,
            "settings": self.settings.as_json(),
            "tasks": self._tasks_json(),
            **({"published": published} if published else {}),
        }

    def _tasks_json(self) -> dict[str, Any]:
        """Tasks by name; a number or a ranking as value stands for the task, one as part among its parts."""
        fields = {task: found.as_json() for task, found in self.tasks.items()}
        for task, found in self.declared.items():
            if (value := found.get("")) is not None:
                fields[task] = {**value.as_json(), **fields.get(task, {})}
            parts = {part: one.as_json() for part, one in found.items() if part}
            if parts:
                whole = fields.setdefault(task, {})
                whole["parts"] = {**whole.get("parts", {}), **parts}
        return fields


def _json(statistics: Mapping[str, Statistic]) -> dict[str, Any]:
    return {name: statistic.as_json() for name, statistic in statistics.items()}
