"""A judge that is not the one the gate was opened for: compared with it on people's labels, and looked at anew.

Another model, prompt, rubric or parameter makes another judge, and nothing that was measured of the old one holds for
it. Its labelled items are judged first; what it gets right there is compared with before (McNemar), and the gate is
looked through under the thresholds it was opened with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from judges.gate.bindings import JudgeOf, judges_of
from store.gates import GateLook, gate_looks
from store.records import JudgeRecord

if TYPE_CHECKING:
    from judges.drift import Drift
    from store.study import Study

RECHECKED: Final = "recheck"


@dataclass(frozen=True, slots=True)
class Certified:
    """The judge that a task's gate was opened for last, and that look."""

    judge: JudgeOf
    look: GateLook


@dataclass(frozen=True, slots=True)
class Recheck:
    """What came of looking at a changed judge.

    Attributes:
        before: the certified judge's name. differs: in what, words such as "model" or "temperature".
        drift: both on the items that both labelled. outcome: of the look. why: what keeps the gate shut, "" when open.
        next: the most useful act.
    """

    task: str
    judge: str
    judge_id: str
    before: str
    before_id: str
    differs: tuple[str, ...]
    drift: Drift
    outcome: str
    certificate: str
    why: str = ""
    next: str = ""

    @property
    def words(self) -> str:
        """The comparison in a sentence."""
        what = ", ".join(self.differs)
        return (
            f"{self.task}: {self.judge} differs from {self.before}, which the gate was opened for, in {what};"
            f" {self.drift.words}; the gate is {self.outcome}"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task, "judge": self.judge, "judge_id": self.judge_id, "before": self.before,
            "before_id": self.before_id, "differs": list(self.differs), "drift": self.drift.as_json(),
            "outcome": self.outcome, "certificate": self.certificate, "why": self.why, "next": self.next,
        }  # fmt: skip


def certified_of(study: Study, task: str) -> Certified | None:
    """The judge whose newest look is open, the latest of them; None while the gate was opened for none."""
    newest = {look.judge_id: look for look in gate_looks(study, task)}
    known = {judge.judge_id: judge for judge in judges_of(study, task)}
    opened = [look for look in newest.values() if look.outcome == "open" and look.judge_id in known]
    if not opened:
        return None
    last = max(opened, key=lambda look: look.at)
    return Certified(known[last.judge_id], last)


def differences(before: JudgeOf, now: JudgeRecord) -> tuple[str, ...]:
    """In what two judges of a task differ: model, prompt (its rubric too), and parameters by name."""
    found = [
        *(["model"] if before.model != now.model else []),
        *(["prompt"] if before.prompt_version != now.prompt_version else []),
    ]
    then: Mapping[str, Any] = json.loads(before.parameters)
    missing = object()
    found += [
        name.replace("_", " ")
        for name in sorted({*then, *now.parameters})
        if then.get(name, missing) != now.parameters.get(name, missing)
    ]
    return tuple(found) or ("name",)


def recheck(study: Study, judge: JudgeRecord, certified: Certified, *, at: str) -> Recheck:
    """Compare a judge that has judged the labelled items with the certified one, and look at it. Both are journaled."""
    from judges.drift import compare_judges
    from judges.gate.gate import look
    from judges.gate.thresholds import thresholds_from

    own = next(one for one in judges_of(study, judge.task) if one.judge_id == judge.judge_id)
    limits = thresholds_from(certified.look.document["thresholds"])
    gate = look(study, [own], {judge.task: limits}, at=at).tasks[0]
    drift = compare_judges(study, judge.task, [certified.judge.judge_id], [judge.judge_id])
    newest = [one for one in gate_looks(study, judge.task) if one.judge_id == judge.judge_id][-1]
    deciding = "failed" if gate.outcome == "closed" else "undecided"
    found = Recheck(
        judge.task, judge.name, judge.judge_id, certified.judge.name, certified.judge.judge_id,
        differences(certified.judge, judge), drift, gate.outcome, newest.gate_id,
        "; ".join(f"{one.title}: {one.why}" for one in gate.checks if one.status == deciding),
        next(iter(gate.next), ""),
    )  # fmt: skip
    study.record([{"type": RECHECKED, **found.as_json(), "at": at}])
    return found
