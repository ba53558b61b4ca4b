"""Has a judge changed? The labelled items are its anchors: judged again, and compared with before, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judges.collect import blind_labels
from store.errors import NotEnoughError
from store.judging import labels_of_judge
from store.study import Study

MOST_ANCHORS = 200
ALPHA = 0.05
FEWEST_ANCHORS = 6
"""With fewer, McNemar's exact test finds nothing though all of them changed: 2 · 0.5⁵ > 0.05."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Two judges on the same items.

    Attributes:
        both: items that both gave a label. same: of these, with the same label.
        failed: items that both were asked about, where one or both gave no label.
        anchors: items with a person's blind label that both judged.
        right_before, right_after: of the anchors.
        only_before, only_after: right under one of them alone. p: exact McNemar test of the two being alike, None
            without anchors.
    """

    both: int
    same: int
    anchors: int
    right_before: int
    right_after: int
    only_before: int
    only_after: int
    p: float | None
    failed: int = 0

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        failed = f"; not counted: {self.failed} where one of them gave no label" if self.failed else ""
        if not self.both:
            return f"no item has a label of both{failed}"
        said = f"same label on {self.same} of {self.both} items{failed}"
        if not self.anchors:
            return f"{said}; none of them has a person's label"
        said += (
            f"; right on {self.right_before} of {self.anchors} labelled items before and {self.right_after} after"
            f" ({self.only_before} got worse, {self.only_after} better"
        )
        assert self.p is not None
        verdict = "a change" if self.p < ALPHA else "no change that could not be chance"
        if self.anchors < FEWEST_ANCHORS:
            verdict = f"too few to show a change: it takes {FEWEST_ANCHORS}"
        shown = f"p = {self.p:.3f}" if self.p >= 0.001 else "p < 0.001"
        return f"{said}; McNemar {shown}, {verdict})"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "words": self.words}


def anchors_of(study: Study, task: str, judge_ids: Sequence[str]) -> list[str]:
    """Labelled items of the task that these judges gave a label: at most 200, always the same ones."""
    labelled = _statistical(study, task)
    judged = _first_labels(study, judge_ids)
    found = sorted(item for item in labelled if judged.get(item) is not None)
    return found[:MOST_ANCHORS]


def compare_judges(study: Study, task: str, before: Sequence[str], after: Sequence[str]) -> Drift:
    """Compare two judges, each given by the ids of its identities, over what both labelled."""
    from judges.calibration.agreement.binomial import mcnemar_exact

    first_said, second_said = _all_labels(study, task, before), _all_labels(study, task, after)
    asked = first_said.keys() & second_said.keys()
    first, second = (
        {item: label for item, label in said.items() if label is not None} for said in (first_said, second_said)
    )
    both = [item for item in first if item in second]
    people = _statistical(study, task)
    anchors = [item for item in both if item in people]
    right = [(first[item] == people[item], second[item] == people[item]) for item in anchors]
    only_before = sum(a and not b for a, b in right)
    only_after = sum(b and not a for a, b in right)
    return Drift(
        both=len(both), same=sum(first[item] == second[item] for item in both), anchors=len(anchors),
        right_before=sum(a for a, _ in right), right_after=sum(b for _, b in right), only_before=only_before,
        only_after=only_after, p=mcnemar_exact(only_before, only_after) if anchors else None,
        failed=len(asked) - len(both),
    )  # fmt: skip


def require_labels(study: Study, tasks: Sequence[str]) -> None:
    """Refuse to judge labelled items again where there are none.

    Raises:
        NotEnoughError: nobody's label of these tasks counts.
    """
    if not any(_statistical(study, task) for task in tasks):
        raise NotEnoughError(
            "Nobody's label tells whether a judge has changed.", "Drift is told on items that people labelled blind.",
            "Label some first: overread label",
        )  # fmt: skip


def _statistical(study: Study, task: str) -> Mapping[str, str]:
    """Item → the label on which its blind readers agree, or the adjudicator's."""
    from judges.calibration.statistical_label import Adjudication, statistical_label

    tasks = dict(study.rows("SELECT item_id, task FROM current_items WHERE task = ?", [task]))
    found: dict[str, str] = {}
    for item, said in blind_labels(study).items():
        if item not in tasks:
            continue
        decision = None if said.adjudicated is None else Adjudication(said.adjudicated.value)
        value = statistical_label({name: label.value for name, label in said.people.items()}, decision).label
        if value is not None:
            found[item] = value
    return found


def _first_labels(study: Study, judge_ids: Sequence[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for judge_id in judge_ids:
        found |= {item: label for item, label in labels_of_judge(study, judge_id).items() if label is not None}
    return found


def _all_labels(study: Study, task: str, judge_ids: Sequence[str]) -> dict[str, str | None]:
    """Item → the label that one of these judges gave; None where they only failed."""
    rows = study.rows(
        """SELECT v.item_id, max(v.label) FROM verdicts v
        JOIN (SELECT item_id, content_hash FROM current_items WHERE task = ?) i USING (item_id, content_hash)
        WHERE v.repetition = 0 AND v.judge_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY v.item_id""",
        [task, list(judge_ids)],
    )
    return dict(rows)
