"""Comparisons as lines and tables of text: two systems, two judges, several systems in order, carried-over scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judges.calibration.correction.comparison import Difference, JudgeComparison
    from judges.calibration.correction.leaderboard import Rank
    from judges.calibration.correction.power import Power
    from judges.calibration.statistic import Statistic
    from judges.comparing import SystemComparison, Transported

Blocks = Iterator[str | list[list[str]]]
_TRANSPORT = {
    "transports": "may be carried over",
    "does_not_transport": "may NOT be carried over",
    "undecided": "undecided whether they may be carried over",
    "out_of_range": "may NOT be carried over",
}


def comparison_lines(found: SystemComparison) -> Blocks:
    """a − b in every metric that labels speak of, then why others have no number."""
    yield f"{found.a} less {found.b}, as people would score them"
    yield f"  paired on tasks: {', '.join(found.paired) or 'none'}"
    yield from (f"  {task}: not paired, {why}" for task, why in found.apart.items())
    rows = [["metric", "as coded", "people", "95 % interval", "p", "finds ±", "by"]]
    reasons: dict[str, list[str]] = {}
    for name, one in found.metrics.items():
        value = one.found.statistic
        if value.value is None:
            reasons.setdefault(value.why or "undefined", []).append(name)
        elif one.found.used != "exact":
            rows.append(_difference_row(name, one))
    if len(rows) > 1:
        yield rows
        yield '  "finds ±": a true difference as large is found four times in five with these labels'
    yield from (f"  {len(names)} metrics have no difference: {why}" for why, names in reasons.items())
    if needed := _labels_needed(found):
        yield needed


def _difference_row(name: str, one: Difference) -> list[str]:
    used = {"corrected": "judge + labels", "humans_only": "labels alone"}.get(one.found.used, one.found.used)
    return [
        name,
        _signed(one.found.as_coded),
        _signed(one.found.statistic.value),
        _interval(one.found.statistic),
        "" if one.p_value is None else f"{one.p_value:.3f}",
        _detectable(one.power),
        f"{used}, {'paired' if one.paired else 'apart'}",
    ]


def _labels_needed(found: SystemComparison) -> str:
    needs = [one.power.labels for one in found.metrics.values() if one.power and one.power.labels]
    if not needs:
        return ""
    return f"  a difference of 0.05 needs {min(needs):,} to {max(needs):,} labels, by metric, to be found so often"


def judge_comparison_lines(a: str, b: str, found: Mapping[str, JudgeComparison | str]) -> Blocks:
    """Two judges by task."""
    yield f"{a} less {b}, against the same labels"
    rows = [["task", "measure", "difference", "95 % interval", f"only {a} right", f"only {b} right", "p", "finds ±"]]
    for task, one in found.items():
        if isinstance(one, str):
            continue
        for name, value in (("agreement", one.accuracy), ("informedness", one.informedness)):
            counts = [str(one.only_first), str(one.only_second), f"{one.p_value:.3f}", _detectable(one.power)]
            tail = counts if name == "agreement" else ["", "", "", ""]
            rows.append([task, name, _signed(value.value) or "none", _interval(value), *tail])
    if len(rows) > 1:
        yield rows
    yield from (f"  {task}: {one}" for task, one in found.items() if isinstance(one, str))


def leaderboard_lines(boards: Mapping[str, list[Rank]]) -> Blocks:
    """Systems in order by each metric; ranks that labels cannot tell apart are said."""
    for metric, ranks in boards.items():
        yield f"systems by {metric}, as people would score them"
        rows = [["system", "rank", "may be", "value", "95 % interval", "not separable from"]]
        for one in ranks:
            if one.rank is None:
                rows.append([one.system, "", "", "none", "", one.statistic.why or ""])
                continue
            may = f"{one.best}" if one.best == one.worst else f"{one.best} to {one.worst}"
            rows.append([
                one.system, str(one.rank), may, f"{one.statistic.value:.4f}", _interval(one.statistic),
                ", ".join(one.not_separable) or "none",
            ])  # fmt: skip
        yield rows


def transported_lines(found: Transported) -> Blocks:
    """Scores by another system's calibration, and whether that holds."""
    yield f"by the judge's error rates on {found.calibrated_on} (no labels of this system enter):"
    for task, one in found.checks.items():
        more = f"; {one.labels_needed:,} labels here would decide" if one.labels_needed else ""
        yield f"  {task}: {_TRANSPORT[one.verdict]}: {one.why}{more}"
    rows = [["metric", "carried over", "95 % interval"]]
    reasons: dict[str, int] = {}
    for name, value in found.metrics.items():
        if isinstance(value, str):
            reasons[value] = reasons.get(value, 0) + 1
        else:
            rows.append([name, f"{value[0]:.4f}", f"{value[1]:.4f} to {value[2]:.4f}"])
    if len(rows) > 1:
        yield rows
    elif not reasons:
        yield "  this benchmark has no yes/no share of one task: nothing is carried over"
    yield from (f"  {count} metrics: {why}" for why, count in reasons.items())


def _interval(value: Statistic) -> str:
    return f"{value.low:.4f} to {value.high:.4f}" if value.low is not None and value.high is not None else ""


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.4f}"


def _detectable(power: Power | None) -> str:
    return "" if power is None else f"{power.detectable:.3f}"
