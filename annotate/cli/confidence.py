"""The section `audit --confidence`: what a judge's confidence is worth, and which verdicts may stand alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from store.errors import UsageError

if TYPE_CHECKING:
    from judges.selecting import TaskConfidence
    from store.study import Study


def print_confidence(
    study: Study, *, task: str, judge: str, alpha: float, delta: float, keep: bool, seed: int, as_json: bool
) -> bool:
    """Print it for one judge; False when no labelled verdict has a confidence.

    Args:
        keep: write the thresholds into the study, for `sample --stream learn --abstained`.

    Raises:
        UsageError: several judges and none named, or a share that is none.
    """
    from annotate.cli.export import pick
    from annotate.cli.output import print_json, say, table
    from judges.selecting import keep_thresholds, study_confidence
    from store.items import judges

    if not (0 < alpha < 1 and 0 < delta < 1):
        raise UsageError("--alpha and --delta lie between 0 and 1.", "", "As in: --alpha 0.05 --delta 0.1")
    chosen = pick("judge", judge, judges(study, task))
    found = study_confidence(study, chosen, task=task, alpha=alpha, delta=delta, seed=seed)
    kept = keep_thresholds(study, found) if keep else {}
    if as_json:
        print_json({
            "study": study.path.name, "judge": chosen, "alpha": alpha, "delta": delta,
            "tasks": {one.task: one.as_json() for one in found}, "kept": kept,
        })  # fmt: skip
    else:
        for one in found:
            for block in confidence_lines(one):
                for line in [block] if isinstance(block, str) else table(block, indent="    "):
                    say(line)
        if keep:
            said = ", ".join(f"{name} {threshold:.3f}" for name, threshold in kept.items()) or "none"
            say(f"Kept in the study: {said}.")
    return any(one.found is not None for one in found)


def confidence_lines(found: TaskConfidence) -> Iterator[str | list[list[str]]]:
    """One task's confidence in words and tables."""
    yield f"{found.task}, {found.judge}: confidence from {found.source}, on {found.labelled - found.without} labels"
    if found.without:
        yield f"  {found.without} labelled verdicts have none and are left out"
    if found.linked:
        yield f"  {found.linked} copies of items of other systems, labelled at once and judged the same, are left out"
    if found.outside:
        yield f"  {found.outside} labelled items are left out: what each of them stands for is not known"
    if found.weighted:
        yield "  each label counts for the items it stands for (1/π): they were drawn with unequal chances"
    if found.found is not None:
        yield from _measures(found)
        rows = [["confidence", "verdicts", "mean confidence", "people agree"]]
        rows += [
            [f"{one.low:.3f} to {one.high:.3f}", str(one.n), f"{one.confidence:.3f}", f"{one.agreement:.3f}"]
            for one in found.found.bins
        ]
        yield rows
    yield _selection_line(found)


def _measures(found: TaskConfidence) -> Iterator[str | list[list[str]]]:
    rows = [["", "as stated", "95 % interval", "calibrated"]]
    names = {"brier": "Brier score", "log_loss": "log loss", "ece": "calibration error (ECE)", "gap": "overconfidence"}
    for name, title in names.items():
        one = getattr(found.found, name)
        after = getattr(found.calibrated, name).value if found.calibrated else None
        interval = f"{one.low:.3f} to {one.high:.3f}" if one.low is not None and one.high is not None else ""
        rows.append([title, _three(one.value), interval, _three(after)])
    yield rows
    if found.calibrated_why:
        yield f"  not calibrated: {found.calibrated_why}"
    else:
        yield f"  calibrated by people's labels ({found.method}), each by a model that had not seen it"


def _selection_line(found: TaskConfidence) -> str:
    chosen = found.selection
    if chosen is None or chosen.threshold is None:
        return f"  The judge may decide nothing alone: {found.selection_why}"
    return (
        f"  At a confidence of {chosen.threshold:.3f} or more the judge may decide alone: {chosen.errors} errors in"
        f" {chosen.selected} labels, at most {chosen.alpha:.0%} with probability {1 - chosen.delta:.0%}. That is"
        f" {found.above or 0:.0%} of its verdicts; the others are for people."
    )


def _three(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
