"""How far each judge of a study agrees with people: the computation behind `audit`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.brennan_prediger import brennan_prediger
from judges.calibration.agreement.class_agreement import negative_agreement, positive_agreement
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.confusion import confusion_counts, confusion_shares
from judges.calibration.agreement.design_weighted import DesignWeighted, design_weighted, weighted_pairs
from judges.calibration.agreement.fleiss_kappa import fleiss_kappa
from judges.calibration.agreement.gwet import gwet_ac1, gwet_ac2
from judges.calibration.agreement.kendall import kendall_tau_b
from judges.calibration.agreement.krippendorff_alpha import krippendorff_alpha
from judges.calibration.agreement.macro_f1 import macro_f1, macro_f1_of_pairs
from judges.calibration.agreement.matthews import matthews_correlation
from judges.calibration.agreement.pearson import pearson
from judges.calibration.agreement.per_label import exact_share, f1, precision, recall
from judges.calibration.agreement.prevalence import bias_index, prevalence_index
from judges.calibration.agreement.ratings import PairTable, distinct_rows
from judges.calibration.agreement.raw import raw_agreement, share_agreed
from judges.calibration.agreement.rmse import rmse
from judges.calibration.agreement.sample_design import SampleDesign
from judges.calibration.agreement.scale import FloatArray, IntArray, Scale
from judges.calibration.agreement.scored_pairs import ScoredPairs
from judges.calibration.agreement.scott_pi import scott_pi
from judges.calibration.agreement.spearman import spearman
from judges.calibration.agreement.weighted_kappa import weighted_kappa
from judges.calibration.agreement.weighted_share import weighted_share
from judges.calibration.audit_humans import human_agreement
from judges.calibration.audit_input import (
    FIRST_FAILURE,
    NO_VERDICT,
    NOT_LABELLED,
    OUTSIDE_SET,
    VOTED_CANNOT_JUDGE,
    CodeArray,
    DrawnColumns,
    JudgeColumn,
    SliceColumn,
    TaskColumns,
    columns_of,
)
from judges.calibration.audit_records import TaskRecords
from judges.calibration.audit_result import (
    Audit,
    Dropped,
    JudgeAgreement,
    LabelAgreement,
    Settings,
    SliceAgreement,
    TaskAudit,
    UnreadableCounted,
)
from judges.calibration.statistic import Statistic
from judges.calibration.statistical_label import Adjudication, Resolution, Vote, statistical_label

SLICE_LABEL_ITEMS = 5
"""Below so many items of a label in a slice its recall is not given."""

PARADOX_GAP, PARADOX_PREVALENCE = 0.3, 0.8
"""Raw agreement so far above kappa, with so large a share of one label, is explained to the reader."""

UNRESOLVED = -4
"""Code of an item's statistical label when people's votes do not settle it."""


def audit(tasks: Iterable[TaskRecords | TaskColumns], study: str = "", settings: Settings | None = None) -> Audit:
    """Agreement of every judge with people, and of people with each other, task by task."""
    settings = settings or Settings()
    columns = [columns_of(task) if isinstance(task, TaskRecords) else task for task in tasks]
    return Audit(study, {task.name: audit_task(task, settings) for task in columns}, settings)


def audit_task(task: TaskColumns, settings: Settings) -> TaskAudit:
    """The audit of one task and of its parts."""
    people = people_of(task)
    return TaskAudit(
        titles={label: task.titles.get(label, label) for label in task.scale.labels},
        items=task.items,
        labelled=people.labelled,
        rules=people.rules,
        dropped=people.dropped,
        judges={name: _judge(task, people, column, settings) for name, column in task.judges.items()},
        humans=human_agreement(task, settings),
        parts={part: audit_task(columns, settings) for part, columns in task.parts.items()},
    )


@dataclass(frozen=True)
class People:
    """Statistical labels of a task.

    Attributes:
        codes: shape (items,): a label's code, NOT_LABELLED, VOTED_CANNOT_JUDGE or UNRESOLVED.
    """

    codes: CodeArray
    labelled: int
    rules: dict[str, int]
    dropped: Dropped


def people_of(task: TaskColumns) -> People:
    """The statistical label of every item."""
    votes = np.stack([task.adjudicated, *task.annotators.values()], axis=1)
    given = votes != NOT_LABELLED
    foreign = (votes == OUTSIDE_SET) & task.estimate[:, np.newaxis]
    usable = np.where(task.estimate[:, np.newaxis] & (votes != OUTSIDE_SET), votes, NOT_LABELLED)
    distinct = distinct_rows(usable)
    resolutions = [_resolve(task, row) for row in distinct.rows]
    codes = np.array([_code(task.scale, found) for found in resolutions], dtype=np.int16)
    rules: dict[str, int] = {}
    for found, count in zip(resolutions, distinct.counts.tolist(), strict=True):
        if found.rule != "unlabelled":
            rules[found.rule] = rules.get(found.rule, 0) + count
    dropped = Dropped(
        unresolved_items=int(distinct.counts[codes == UNRESOLVED].sum()),
        cannot_judge_items=int(distinct.counts[codes == VOTED_CANNOT_JUDGE].sum()),
        labels_not_blind=task.not_blind,
        labels_not_estimate=int(given[~task.estimate].sum()),
        labels_outside_set=int(foreign.sum()),
    )
    return People(codes[distinct.inverse], sum(rules.values()), dict(sorted(rules.items())), dropped)


def _resolve(task: TaskColumns, row: IntArray) -> Resolution:
    """The statistical label of one pattern of votes: the adjudication, then each annotator's."""
    decided, *own = row.tolist()
    votes = {
        who: _vote(task.scale, code) for who, code in zip(task.annotators, own, strict=True) if code != NOT_LABELLED
    }
    return statistical_label(votes, None if decided == NOT_LABELLED else Adjudication(_vote(task.scale, decided)))


def _vote(scale: Scale, code: int) -> Vote:
    return None if code == VOTED_CANNOT_JUDGE else scale.labels[code]


def _code(scale: Scale, found: Resolution) -> int:
    if found.label is not None:
        return scale.codes[found.label]
    if found.cannot_judge:
        return VOTED_CANNOT_JUDGE
    return UNRESOLVED if found.rule == "unresolved" else NOT_LABELLED


def _judge(task: TaskColumns, people: People, judge: JudgeColumn, settings: Settings) -> JudgeAgreement:
    resolved = people.codes >= 0
    verdicts = np.where(resolved, judge.codes, NO_VERDICT)
    failures = {kind: int((verdicts == FIRST_FAILURE - k).sum()) for k, kind in enumerate(judge.failures)}
    failures = {kind: count for kind, count in failures.items() if count}
    unreadable = sum(failures.values())
    no_verdict = int(resolved.sum()) - int((verdicts >= 0).sum()) - unreadable
    dropped = _some(
        unreadable=unreadable,
        no_verdict=no_verdict,
        unresolved=people.dropped.unresolved_items,
        cannot_judge=people.dropped.cannot_judge_items,
    )
    pairs = PairTable.of_codes(task.scale, people.codes, verdicts, task.clusters, dropped)
    bootstrap = Bootstrap.of_pairs(pairs, settings.seed, settings.resamples, settings.level)
    raw, kappa = raw_agreement(pairs, settings.level), cohen_kappa(pairs, bootstrap)
    alpha = krippendorff_alpha(pairs.label_counts(), bootstrap)
    found = JudgeAgreement(
        n=pairs.n,
        unreadable=unreadable,
        no_verdict=no_verdict,
        failures=failures,
        raw_agreement=raw,
        cohen_kappa=kappa,
        krippendorff_alpha=alpha,
        gwet_ac1=gwet_ac1(pairs.label_counts(), bootstrap),
        confusion=confusion_counts(pairs),
        per_label={label: _label(pairs, label, bootstrap, settings) for label in task.scale.labels},
        slices={
            name: _slice(pairs, people.codes, verdicts, column, settings)
            for name, column in _slices_of(task, judge).items()
        },
        weighted_kappa=weighted_kappa(pairs, bootstrap=bootstrap) if task.scale.ordered else None,
        correlations=_correlations(task, people.codes, judge, settings),
        unreadable_counted=_counted(pairs, people.codes, verdicts, task.clusters, settings) if unreadable else None,
        more=_more(task, people.codes, judge, pairs, bootstrap) if settings.all_statistics else {},
        notes=_notes(pairs, raw, (kappa, alpha)),
    )
    if task.drawn is None:
        return found
    return _of_all_items(task, people.codes, verdicts, judge, found, settings)


def _slices_of(task: TaskColumns, judge: JudgeColumn) -> dict[str, SliceColumn]:
    """The strata of the items, and those of the judge's own verdicts."""
    return {**task.slices, **judge.slices}


UNEQUAL_NOTE = (
    "items were drawn with unequal chances, or texts with all of theirs, or identical items were labelled at once: "
    "agreement, slices, effects of form, confidence and what the judge favours count each labelled item for those it "
    "stands for (1/π) and speak of all items; the counts of the confusion, the annotator test, dangerous "
    "answers and people's habits (hurried labels, repeats) are of the labelled items as they are"
)

UNWEIGHED_NOTE = (
    "items were drawn with unequal chances and what each stands for is not known any more: every number is of the "
    "labelled items as they are, and may be far from that of all items"
)


@dataclass(frozen=True)
class _Weighing:
    """A task's drawn items with what each stands for; those in no sample have no label here.

    Attributes:
        people: codes, shape (items,).
    """

    task: TaskColumns
    people: CodeArray
    design: SampleDesign
    settings: Settings

    @classmethod
    def of(cls, task: TaskColumns, people: CodeArray, drawn: DrawnColumns, settings: Settings) -> _Weighing:
        inside = np.isfinite(drawn.weights)
        design = SampleDesign(
            np.where(inside, drawn.weights, 1.0), task.clusters, drawn.strata, drawn.groups,
            settings.seed, settings.resamples, settings.level,
        )  # fmt: skip
        return cls(task, np.where(inside, people, np.int16(NOT_LABELLED)), design, settings)

    def agreement(self, scale: Scale, answers: CodeArray) -> DesignWeighted:
        return design_weighted(scale, self.people, answers, self.design)

    def table(self, answers: CodeArray) -> tuple[PairTable, Bootstrap]:
        return weighted_pairs(self.task.scale, self.people, answers, self.design)

    def slice(self, answers: CodeArray, column: SliceColumn) -> dict[str, SliceAgreement]:
        paired = (self.people >= 0) & (answers >= 0)
        places = {value: paired & (column.codes == code) for code, value in enumerate(column.values)}
        return {value: self._slice_value(answers, rows) for value, rows in places.items() if rows.any()}

    def _slice_value(self, answers: CodeArray, rows: NDArray[np.bool_]) -> SliceAgreement:
        scale = self.task.scale
        hits = self.people == answers
        recalls = {
            label: self._slice_recall(scale.shown[code], hits, rows & (self.people == code))
            for code, label in enumerate(scale.labels)
        }
        kappa = None
        if self.settings.all_statistics:
            inside = replace(self, people=np.where(rows, self.people, np.int16(NOT_LABELLED)))
            kappa = cohen_kappa(*inside.table(answers))
        return SliceAgreement(int(rows.sum()), self._share("raw agreement", hits, rows), recalls, kappa)

    def _slice_recall(self, label: str, hits: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Statistic:
        n, name = int(rows.sum()), f"recall of {label}"
        if n == 0:
            return Statistic.undefined("label_not_used", f"people gave {label} to no item", 0, method=name)
        return _too_few(label, n) if n < SLICE_LABEL_ITEMS else self._share(name, hits, rows)

    def _share(self, name: str, hits: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Statistic:
        design = self.design
        groups = None if design.groups is None else design.groups[rows]
        return weighted_share(name, hits[rows], design.weights[rows], groups, design.level)

    def counted(self, verdicts: CodeArray) -> UnreadableCounted:
        """`_counted` of all items."""
        scale = self.task.scale
        unreadable = verdicts <= FIRST_FAILURE
        whole = self.agreement(_with_unreadable(scale), np.where(unreadable, scale.size, verdicts))
        as_label = {}
        for code, label in enumerate(scale.labels):
            found = self.agreement(scale, np.where(unreadable, code, verdicts))
            as_label[label] = (found.raw_agreement, found.cohen_kappa)
        recalls = {label: whole.recall[label] for label in scale.labels}
        return UnreadableCounted(whole.raw_agreement, whole.cohen_kappa, recalls, as_label)


def _of_all_items(
    task: TaskColumns, people: CodeArray, verdicts: CodeArray, judge: JudgeColumn, found: JudgeAgreement,
    settings: Settings,
) -> JudgeAgreement:  # fmt: skip
    """The same agreement with every item counting for those it stands for: a draw that takes many of the judge's fails
    would else show few of the fails that it misses."""
    drawn = task.drawn
    assert drawn is not None
    inside = np.isfinite(drawn.weights)
    outside = int((~inside & (people >= 0) & (verdicts >= 0)).sum())
    if outside == found.n:
        return replace(found, notes=(*found.notes, UNWEIGHED_NOTE))
    weighing = _Weighing.of(task, people, drawn, settings)
    own, weights = weighing.people, weighing.design.weights
    weighted = weighing.agreement(task.scale, verdicts)
    pairs, bootstrap = weighing.table(verdicts)

    def counted(statistic: Statistic, before: Statistic) -> Statistic:
        return replace(statistic, dropped=before.dropped | _some(not_in_the_sample=outside))

    return replace(
        found,
        raw_agreement=counted(weighted.raw_agreement, found.raw_agreement),
        cohen_kappa=counted(weighted.cohen_kappa, found.cohen_kappa),
        krippendorff_alpha=counted(weighted.krippendorff_alpha, found.krippendorff_alpha),
        gwet_ac1=counted(weighted.gwet_ac1, found.gwet_ac1),
        weighted_kappa=weighted.weighted_kappa and counted(weighted.weighted_kappa, found.raw_agreement),
        per_label={
            label: replace(
                one,
                recall=counted(weighted.recall[label], one.recall),
                precision=counted(weighted.precision[label], one.precision),
                f1=counted(weighted.f1[label], one.f1),
                agreement=one.agreement and positive_agreement(pairs, label, bootstrap),
            )
            for label, one in found.per_label.items()
        },
        slices={name: weighing.slice(verdicts, column) for name, column in _slices_of(task, judge).items()},
        correlations=_correlations(task, own, judge, settings, weights),
        unreadable_counted=found.unreadable_counted and weighing.counted(verdicts),
        more=found.more and _more(task, own, judge, pairs, bootstrap, weights),
        notes=(*found.notes, UNEQUAL_NOTE, *drawn.left_out),
        confusion_shares=confusion_shares(pairs) if np.ptp(weights[(own >= 0) & (verdicts >= 0)]) > 1e-9 else None,
    )


def _label(pairs: PairTable, label: str, bootstrap: Bootstrap, settings: Settings) -> LabelAgreement:
    found, called = recall(pairs, label, bootstrap.level), precision(pairs, label, bootstrap.level)
    on_it = positive_agreement(pairs, label, bootstrap) if settings.all_statistics else None
    return LabelAgreement(found, called, f1(pairs, label, bootstrap), n=found.n, called=called.n, agreement=on_it)


def _slice(
    pairs: PairTable, people: CodeArray, verdicts: CodeArray, column: SliceColumn, settings: Settings
) -> dict[str, SliceAgreement]:
    q = pairs.scale.size
    kept = (people >= 0) & (verdicts >= 0) & (column.codes >= 0)
    cells = (column.codes[kept] * q + people[kept]) * q + verdicts[kept]
    tables = np.bincount(cells, minlength=len(column.values) * q * q).reshape(-1, q, q)
    return {
        value: _slice_value(pairs.scale, table, settings)
        for value, table in zip(column.values, tables, strict=True)
        if table.any()
    }


def _slice_value(scale: Scale, table: IntArray, settings: Settings) -> SliceAgreement:
    n, level = int(table.sum()), settings.level
    hits = np.diagonal(table)
    recalls = {
        label: _slice_recall(scale.shown[code], int(hits[code]), int(table[code].sum()), level)
        for code, label in enumerate(scale.labels)
    }
    kappa = None
    if settings.all_statistics:
        pairs = PairTable.of_confusion(scale, table)
        kappa = cohen_kappa(pairs, Bootstrap.of_pairs(pairs, settings.seed, settings.resamples, level))
    return SliceAgreement(n, share_agreed(int(hits.sum()), n, {}, level), recalls, kappa)


def _slice_recall(label: str, hits: int, n: int, level: float) -> Statistic:
    name = f"recall of {label}"
    return _too_few(label, n) if 0 < n < SLICE_LABEL_ITEMS else exact_share(hits, n, name, "people", label, level)


def _too_few(label: str, n: int) -> Statistic:
    why = f"people gave {label} to {n} of the slice's items; {SLICE_LABEL_ITEMS} are needed"
    return Statistic.undefined("too_few", why, n, method=f"recall of {label}")


def _counted(
    pairs: PairTable,
    people: CodeArray,
    verdicts: CodeArray,
    clusters: NDArray[np.integer] | None,
    settings: Settings,
) -> UnreadableCounted:
    """Agreement with unreadable verdicts as one further answer, which no person gave."""
    scale = _with_unreadable(pairs.scale)
    answers = np.where(verdicts <= FIRST_FAILURE, pairs.scale.size, verdicts)
    dropped = {rule: count for rule, count in pairs.dropped.items() if rule != "unreadable"}
    whole = PairTable.of_codes(scale, people, answers, clusters, dropped)
    bootstrap = Bootstrap.of_pairs(whole, settings.seed, settings.resamples, settings.level)
    as_label = {
        label: _as_label(pairs.scale, people, np.where(verdicts <= FIRST_FAILURE, code, verdicts), clusters, settings)
        for code, label in enumerate(pairs.scale.labels)
    }
    recalls = {label: recall(whole, label, settings.level) for label in pairs.scale.labels}
    return UnreadableCounted(raw_agreement(whole, settings.level), cohen_kappa(whole, bootstrap), recalls, as_label)


def _with_unreadable(scale: Scale) -> Scale:
    name = "unreadable"
    while name in scale.labels:
        name += "_"
    return Scale((*scale.labels, name), titles=(*scale.shown, name))


def _as_label(
    scale: Scale, people: CodeArray, answers: CodeArray, clusters: NDArray[np.integer] | None, settings: Settings
) -> tuple[Statistic, Statistic]:
    """Raw agreement and kappa when every unreadable verdict stands for one label."""
    pairs = PairTable.of_codes(scale, people, answers, clusters, {})
    raw = raw_agreement(pairs, settings.level)
    if not settings.all_statistics:
        return raw, cohen_kappa(pairs).without_interval("its interval is worked out with --all")
    bootstrap = Bootstrap.of_pairs(pairs, settings.seed, settings.resamples, settings.level)
    return raw, cohen_kappa(pairs, bootstrap)


def _correlations(
    task: TaskColumns, people: CodeArray, judge: JudgeColumn, settings: Settings, weights: FloatArray | None = None
) -> dict[str, Statistic]:
    """Rank and linear correlation of people's labels with the judge's scores, or with its labels where those are
    numbers; none on a nominal scale."""
    values = task.scale.values
    scores = judge.scores
    if scores is None and task.scale.level in ("interval", "ratio"):
        scores = _numbers(judge.codes, values)
    if scores is None or not task.scale.ordered:
        return {}
    labels = _numbers(people, values)
    unscored = int((np.isfinite(labels) & ~np.isfinite(scores)).sum())
    pairs = ScoredPairs.of_values(labels, scores, task.clusters, _some(no_score=unscored), weights)
    bootstrap = pairs.bootstrap(settings.seed, settings.resamples, settings.level)
    found = {"kendall_tau": kendall_tau_b(pairs, bootstrap), "spearman": spearman(pairs, bootstrap)}
    if task.scale.level in ("interval", "ratio"):
        found["pearson"] = pearson(pairs, bootstrap)
    return found


def _numbers(codes: NDArray[np.integer], values: FloatArray) -> FloatArray:
    return np.where(codes >= 0, values[np.maximum(codes, 0)], np.nan)


def _more(
    task: TaskColumns,
    people: CodeArray,
    judge: JudgeColumn,
    pairs: PairTable,
    bootstrap: Bootstrap,
    weights: FloatArray | None = None,
) -> dict[str, Statistic]:
    """The coefficients that are shown only when asked for."""
    counts, labels = pairs.label_counts(), pairs.scale.labels
    more = {
        "pabak": brennan_prediger(counts, bootstrap=bootstrap),
        "scott_pi": scott_pi(pairs, bootstrap),
        "fleiss_kappa": fleiss_kappa(counts, bootstrap),
        "matthews_correlation": matthews_correlation(pairs, bootstrap),
        "macro_f1": macro_f1(
            pairs.scale, judge.codes, people, task.clusters, bootstrap.seed, bootstrap.resamples, bootstrap.level
        )
        if weights is None
        else macro_f1_of_pairs(pairs, bootstrap),
    }
    if pairs.scale.ordered:
        more["weighted_kappa_linear"] = weighted_kappa(pairs, "linear", bootstrap)
        more["gwet_ac2"] = gwet_ac2(counts, bootstrap=bootstrap)
        more |= _by_numbers(task, people, judge, bootstrap, weights)
    if pairs.scale.size == 2:
        more["positive_agreement"] = positive_agreement(pairs, labels[0], bootstrap)
        more["negative_agreement"] = negative_agreement(pairs, labels[0], bootstrap)
        more["prevalence_index"], more["bias_index"] = prevalence_index(pairs), bias_index(pairs)
    return more


def _by_numbers(
    task: TaskColumns, people: CodeArray, judge: JudgeColumn, like: Bootstrap, weights: FloatArray | None
) -> dict[str, Statistic]:
    """Correlations and distance of labels, and of scores where there are some, as the numbers that labels are written
    as; ranks stand for words. Pearson's r and the distance take the steps of an ordinal scale as equal."""
    numbers = own_numbers(task.scale)
    theirs, its = _numbers(people, numbers), _numbers(judge.codes, numbers)
    pairs = ScoredPairs.of_values(theirs, its, task.clusters, weights=weights)
    bootstrap = pairs.bootstrap(like.seed, like.resamples, like.level)
    found = {"rmse_of_labels": rmse(pairs, bootstrap), "pearson_of_labels": pearson(pairs, bootstrap)}
    found["spearman_of_labels"], found["kendall_tau_of_labels"] = (
        spearman(pairs, bootstrap),
        kendall_tau_b(pairs, bootstrap),
    )
    if judge.scores is None:
        return found
    scored = ScoredPairs.of_values(theirs, judge.scores, task.clusters, weights=weights)
    bootstrap = scored.bootstrap(like.seed, like.resamples, like.level)
    return {"pearson": pearson(scored, bootstrap), "rmse": rmse(scored, bootstrap), **found}


def own_numbers(scale: Scale) -> FloatArray:
    """What each label says when it is read as a number, shape (q,); where one is none, the scale's ranks."""
    try:
        return np.array([float(label) for label in scale.labels])
    except ValueError:
        return scale.values


def _notes(pairs: PairTable, raw: Statistic, corrected: Iterable[Statistic]) -> tuple[str, ...]:
    """Why kappa or alpha is low while agreement is high: the labels are skewed (Feinstein & Cicchetti 1990)."""
    values = [statistic.value for statistic in corrected if statistic.value is not None]
    if raw.value is None or not values or raw.value - min(values) < PARADOX_GAP:
        return ()
    people = pairs.confusion.sum(axis=1)
    code = int(people.argmax())
    share = people[code] / pairs.n
    if share < PARADOX_PREVALENCE:
        return ()
    return (
        f"kappa and alpha are low beside {raw.value:.0%} raw agreement because people gave {share:.0%} of the items "
        f"one label, {pairs.scale.shown[code]}: most of that agreement is expected by chance. Read AC1 beside them, "
        "and recall and precision of the other labels",
    )


def _some(**counts: int) -> dict[str, int]:
    """The counts that are not 0."""
    return {name: count for name, count in counts.items() if count}
