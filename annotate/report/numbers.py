"""An audit's numbers as blocks: scales with thresholds, tables with intervals, and why a number is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from annotate.report.blocks import Block, Cell, Fold, Listing, Paragraph, Row, Scale, ScaleRow, Table
from annotate.report.facts import Judged
from annotate.report.words import (
    NO_NUMBER,
    SHARES_OF_ALL,
    answer_words,
    count,
    decimal,
    decimal_words,
    percent,
    share_words,
)
from judges.calibration.audit_result import HumanAgreement, JudgeAgreement, SliceAgreement, TaskAudit
from judges.calibration.checks import Check
from judges.calibration.statistic import Statistic

FEW_ITEMS: Final = 20
"""Below so many items a slice is greyed: its numbers can be anything."""
SLICE_VALUES: Final = 30
"""Values of one slice that are shown, those with the lowest agreement first."""

NAMES: Final = {
    "raw_agreement": "raw agreement",
    "cohen_kappa": "Cohen's κ",
    "weighted_kappa": "weighted κ",
    "krippendorff_alpha": "Krippendorff's α",
    "gwet_ac1": "Gwet's AC1",
    "kendall_tau": "Kendall's τ-b",
    "spearman": "Spearman's ρ",
    "pearson": "Pearson's r",
    "weighted_kappa_linear": "linearly weighted κ",
    "gwet_ac2": "Gwet's AC2",
    "pabak": "PABAK (Brennan–Prediger)",
    "scott_pi": "Scott's π",
    "fleiss_kappa": "Fleiss' κ",
    "matthews_correlation": "Matthews correlation",
    "macro_f1": "macro-F1 (HealthBench)",
    "positive_agreement": "positive agreement",
    "negative_agreement": "negative agreement",
    "prevalence_index": "prevalence index",
    "bias_index": "bias index",
    "rmse": "root mean square error",
    "kendall_tau_of_labels": "Kendall's τ-b of labels",
    "spearman_of_labels": "Spearman's ρ of labels",
    "pearson_of_labels": "Pearson's r of labels",
    "rmse_of_labels": "root mean square error of labels",
}


def coefficients(found: JudgeAgreement) -> dict[str, Statistic]:
    """The coefficients of a judge by name, those that apply."""
    return found.statistics


def scale_of(one: Judged) -> Scale:
    """Every check on an axis of its own."""
    rows = tuple(_scale_row(one, check) for check in one.assessment.checks if not _is_silent(one, check))
    return Scale(f"What the judge has to reach, {one.title}", rows)


def _is_silent(one: Judged, check: Check) -> bool:
    """A label that nobody used is named once, in the verdict."""
    return check.label in one.assessment.untested


def _scale_row(one: Judged, check: Check) -> ScaleRow:
    found, title = check.statistic, one.audit.titles.get(check.label, check.label)
    if check.name == "kappa":
        return _row(check, "Beyond chance", f"Cohen's κ, {count(found.n, 'item')}", decimal_words(found))
    hits = one.found.confusion[check.label][check.label]
    words = {"recall": f"Finds “{title}”", "precision": f"When it says “{title}”"}
    return _row(check, words[check.name], f"{check.name}, {hits:,} of {found.n:,}", share_words(found))


def _row(check: Check, title: str, detail: str, number: str) -> ScaleRow:
    found = check.statistic
    lowest = -1.0 if min(found.low or 0.0, found.value or 0.0) < 0 else 0.0
    return ScaleRow(
        title, detail, number, answer_words(check), found.value, found.low, found.high, check.threshold, check.answer,
        lowest, "plain" if check.name == "kappa" else "percent",
    )  # fmt: skip


def confusion_table(one: Judged) -> Table:
    """People down, judge across; filled by the share of the row."""
    labels = list(one.found.confusion)
    titles = [one.audit.titles.get(label, label) for label in labels]
    rows = []
    for label, title in zip(labels, titles, strict=True):
        row = one.found.confusion[label]
        total = sum(row.values())
        cells = [_heat_cell(row.get(other, 0), total, same=other == label) for other in labels]
        rows.append(Row((Cell(title), *cells, Cell(f"{total:,}", value=total))))
    columns = ("people say ↓   judge says →", *titles, "all")
    return Table(f"Confusion, {one.title}: items by what people and the judge said", columns, tuple(rows))


def shares_table(one: Judged) -> Table | None:
    """The confusion as shares of all items; None where every label counts the same."""
    shares = one.found.confusion_shares
    if shares is None:
        return None
    titles = [one.audit.titles.get(label, label) for label in shares]
    rows = [
        Row((Cell(title), *(
            Cell(percent(share, 1), value=share, heat=share / (sum(shares[label].values()) or 1), marked=other == label)
            for other, share in shares[label].items()
        ), Cell(percent(sum(shares[label].values()), 1), value=sum(shares[label].values()))))
        for label, title in zip(shares, titles, strict=True)
    ]  # fmt: skip
    return Table(
        f"Confusion as {SHARES_OF_ALL}, {one.title}", ("people say ↓   judge says →", *titles, "all"), tuple(rows)
    )


def _heat_cell(items: int, total: int, *, same: bool) -> Cell:
    share = items / total if total else 0.0
    text = f"{items:,} ({percent(share)})" if items else "0"
    return Cell(text, value=items, heat=share, marked=same)


def label_table(one: Judged) -> Table:
    """Recall, precision and F1 of each label with their intervals."""
    rows = [
        Row((
            Cell(one.audit.titles.get(label, label)), Cell(f"{row.n:,}", value=row.n),
            Cell(f"{row.called:,}", value=row.called), share_cell(row.recall), share_cell(row.precision),
            share_cell(row.f1),
        ))
        for label, row in one.found.per_label.items()
    ]  # fmt: skip
    columns = ("label", "people", "judge", "recall", "precision", "F1")
    return Table(f"Each label, {one.title}: items people and the judge gave it, and shares", columns, tuple(rows))


def share_cell(statistic: Statistic) -> Cell:
    """A share with its interval."""
    return Cell(share_words(statistic), value=statistic.value)


def decimal_cell(statistic: Statistic) -> Cell:
    """A coefficient with its interval."""
    return Cell(decimal_words(statistic, 3), value=statistic.value)


def all_numbers(one: Judged) -> Fold:
    """Coefficients and labels with intervals, and the reason for every number or interval that is not there."""
    found = one.found
    rows = tuple(
        Row((Cell(NAMES.get(name, name)), decimal_cell(value), Cell(f"{value.n:,}", value=value.n)))
        for name, value in coefficients(found).items()
    )
    level = percent(found.raw_agreement.level or 0.95)
    blocks: list[Block] = [
        Table(f"Coefficients, {one.title} ({level} intervals)", ("coefficient", "value (interval)", "items"), rows),
        label_table(one),
    ]
    if reasons := tuple(refusals(one)):
        blocks.append(Listing(reasons))
    blocks += [Paragraph(f"{note}.") for note in found.notes]
    return Fold("All numbers", tuple(blocks))


def refusals(one: Judged) -> Iterator[str]:
    """Why a number or an interval is not there, or what qualifies it: each reason once, with what it is of."""
    reasons: dict[str, list[str]] = {}
    for name, statistic in coefficients(one.found).items():
        if statistic.why:
            reasons.setdefault(statistic.why, []).append(NAMES.get(name, name))
    for label, row in one.found.per_label.items():
        title = one.audit.titles.get(label, label)
        for name, statistic in (("recall", row.recall), ("precision", row.precision), ("F1", row.f1)):
            if statistic.why:
                reasons.setdefault(statistic.why, []).append(f"{name} of {title}")
    yield from (f"{', '.join(names)}: {why}." for why, names in reasons.items())


def slice_tables(one: Judged) -> Iterator[Block]:
    """The judge on each value of each slice."""
    for name, values in one.found.slices.items():
        if len(values) > 1:
            yield from _slice_table(one, name.replace("_", " "), values)


def _slice_table(one: Judged, name: str, values: Mapping[str, SliceAgreement]) -> Iterator[Block]:
    ranked = sorted(values.items(), key=lambda pair: (pair[1].n < FEW_ITEMS, pair[1].raw_agreement.value or 0.0))
    labels = [label for label, row in one.found.per_label.items() if row.n]
    columns = (name, "items", "agreement", "", *(f"finds {one.audit.titles.get(label, label)}" for label in labels))
    rows = tuple(_slice_row(value, found, labels) for value, found in ranked[:SLICE_VALUES])
    yield Table(f"By {name}, {one.title}: how often judge and people agree", columns, rows)
    if (left := len(ranked) - SLICE_VALUES) > 0:
        yield Paragraph(
            f"{left:,} more values of {name}, with higher agreement or fewer items, are not shown.", "small"
        )


def _slice_row(value: str, found: SliceAgreement, labels: list[str]) -> Row:
    agreed = found.raw_agreement
    few = found.n < FEW_ITEMS
    bar = ScaleRow(value, "agreement", share_words(agreed), "", agreed.value, agreed.low, agreed.high)
    head = Cell(f"{value} (few items)" if few else value)
    recalls = (share_cell(found.recall[label]) for label in labels)
    cells = (head, Cell(f"{found.n:,}", value=found.n), share_cell(agreed), Cell("", bar=bar), *recalls)
    return Row(cells, muted=few)


def people_blocks(audit: TaskAudit) -> Iterator[Block]:
    """People among each other beside each judge: what a judge can reach at best."""
    people = audit.humans
    given = ", ".join(f"{who} {number:,}" for who, number in people.annotators.items())
    yield Paragraph(f"Labels by: {given}.")
    if len(people.annotators) < 2:
        yield Paragraph(
            "One person labelled, so nobody can say how far people agree with each other on these items: a difference "
            "from the judge may be that person's own reading."
        )
        return
    yield Paragraph(_beside(audit))
    rows = [*_pair_rows(people), _all_people_row(people)]
    rows += [_judge_row(name, found) for name, found in audit.judges.items()]
    columns = ("who", "items", "raw agreement", "Cohen's κ", "Krippendorff's α", "Fleiss' κ", "Gwet's AC1")
    yield Table("Agreement of people with each other, and of the judge with people", columns, tuple(rows))
    reasons = dict.fromkeys(one.why for one in (people.raw_agreement, people.krippendorff_alpha) if one.why)
    if lines := (*(f"{note}." for note in people.notes), *(f"People: {why}." for why in reasons)):
        yield Listing(lines)


def _beside(audit: TaskAudit) -> str:
    people = audit.humans.raw_agreement
    if people.value is None:
        return f"How far people agree with each other is not known: {people.why}."
    said = f"People agree with each other on {percent(people.value)} of the items that two or more labelled"
    if (alpha := audit.humans.krippendorff_alpha.value) is not None:
        said += f" (α {decimal(alpha)})"
    judges = [
        f"{name if len(audit.judges) > 1 else 'the judge'} agrees with them on {percent(found.raw_agreement.value)}"
        for name, found in audit.judges.items()
        if found.raw_agreement.value is not None
    ]
    return f"{'; '.join([said, *judges])}."


def _pair_rows(people: HumanAgreement) -> Iterator[Row]:
    for names, pair in people.pairs.items():
        yield Row((
            Cell(names.replace("|", " and ")), Cell(f"{pair.n:,}", value=pair.n), share_cell(pair.raw_agreement),
            decimal_cell(pair.cohen_kappa), decimal_cell(pair.krippendorff_alpha), Cell(NO_NUMBER),
            decimal_cell(pair.gwet_ac1),
        ))  # fmt: skip


def _all_people_row(people: HumanAgreement) -> Row:
    n = people.krippendorff_alpha.n
    return Row((
        Cell("all people"), Cell(f"{n:,}", value=n), share_cell(people.raw_agreement), Cell(NO_NUMBER),
        decimal_cell(people.krippendorff_alpha), decimal_cell(people.fleiss_kappa), decimal_cell(people.gwet_ac1),
    ))  # fmt: skip


def _judge_row(name: str, found: JudgeAgreement) -> Row:
    return Row((
        Cell(f"judge {name} with people", marked=True), Cell(f"{found.n:,}", value=found.n),
        share_cell(found.raw_agreement), decimal_cell(found.cohen_kappa), decimal_cell(found.krippendorff_alpha),
        Cell(NO_NUMBER), decimal_cell(found.gwet_ac1),
    ))  # fmt: skip
