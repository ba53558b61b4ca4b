"""The audit of numbers, rankings and grids as text: what was compared, on how many, and why a number is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotate.report.statistic_rows import Row, reasons, statistic_row
from judges.calibration.measured_result import GridAudit, MeasuredAgreement, MeasuredAudit, PartAudit
from judges.calibration.statistic import Statistic
from judges.part_audit import COLUMN

NAMES = {
    "pearson": "Pearson's correlation", "spearman": "Spearman's correlation", "kendall_tau": "Kendall's tau-b",
    "rmse": "root mean square error", "mean_difference": "judge less people, mean",
    "share_at_least_0.5": "items with tau of .5 or more", "share_above_0": "items with tau above 0",
    "share_at_most_-0.5": "items with tau of -.5 or less",
}  # fmt: skip
_DROPPED = {
    "labels_not_estimate": "labels of another stream", "labels_outside_bounds": "labels out of bounds",
}  # fmt: skip


def part_lines(name: str, part: PartAudit) -> Iterator[str | list[Row]]:
    """Sentences and tables of one decision; nothing of one that nobody has given."""
    if isinstance(part, GridAudit):
        yield from _grid(name, part) if part.labelled else ()
    elif part.labelled:
        yield from _measured(name, part)


def _measured(name: str, part: MeasuredAudit) -> Iterator[str | list[Row]]:
    what = "a ranking" if part.kind == "ranking" else "a number"
    yield f"{name}, {what}: {part.labelled} of {part.items:,} items labelled ({_rules(part.rules)})."
    left_out = [f"{count} {_DROPPED.get(rule, rule)}" for rule, count in part.dropped.items()]
    if left_out:
        yield f"  left out: {', '.join(left_out)}."
    for judge, found in part.judges.items():
        left = f"{found.unreadable} unreadable, {found.no_verdict} without a verdict"
        yield f"  judge {judge}: compared on {found.n} items, {left}"
        yield [statistic_row(NAMES.get(key, key), value) for key, value in found.statistics.items()]
        yield from reasons({NAMES.get(key, key): value for key, value in found.statistics.items()})
        yield from _ties(found)
    yield f"  labelled by: {', '.join(f'{who} {count}' for who, count in part.humans.annotators.items())}"
    for names, statistics in part.humans.pairs.items():
        yield f"  people, {names.replace('|', ' and ')}:"
        yield [statistic_row(NAMES.get(key, key), value) for key, value in statistics.items()]
        yield from reasons({NAMES.get(key, key): value for key, value in statistics.items()})
    yield ""


def _ties(found: MeasuredAgreement) -> Iterator[str]:
    if counts := found.counts:
        all_tied = f"people tied all in {counts['people_tied_all']}, the judge in {counts['judge_tied_all']}"
        yield f"  ties: in {counts['with_ties']} items; {all_tied}"
    yield from (f"  {note}" for note in found.notes)


def _rules(rules: Mapping[str, int]) -> str:
    words = {
        "one_annotator": "one person", "adjudicated": "adjudicated", "mean_of_several": "mean of several people",
        "each_of_several": "several people, each compared",
    }  # fmt: skip
    return ", ".join(f"{words.get(rule, rule)} {count}" for rule, count in rules.items())


def _grid(name: str, part: GridAudit) -> Iterator[str | list[Row]]:
    cells = part.cells
    yield f"{name}, a grid: {cells.labelled} cells of {part.labelled} items labelled ({part.items:,} items in all)."
    yield "  Cells are nominal units, resampled by item or by the cluster it belongs to."
    for judge, found in cells.judges.items():
        left = f"{found.unreadable} unreadable, {found.no_verdict} it says nothing of"
        yield f"  judge {judge}: compared on {found.n} cells, {left}"
        statistics: dict[str, Statistic] = {
            "raw agreement": found.raw_agreement, "Cohen's kappa": found.cohen_kappa,
            "Krippendorff's alpha": found.krippendorff_alpha, "Gwet's AC1": found.gwet_ac1,
        }  # fmt: skip
        yield [statistic_row(key, value) for key, value in statistics.items()]
        yield from reasons(statistics)
        by_column = found.slices.get(COLUMN, {})
        if by_column:
            yield [statistic_row(f"agreement, {title}", value.raw_agreement) for title, value in by_column.items()]
    humans = cells.humans
    yield f"  cells by: {', '.join(f'{who} {count}' for who, count in humans.annotators.items())}"
    if len(humans.annotators) > 1:
        own = {"people: raw agreement": humans.raw_agreement, "people: alpha": humans.krippendorff_alpha}
        yield [statistic_row(key, value) for key, value in own.items()]
        yield from reasons(own)
    yield ""
