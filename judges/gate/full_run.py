"""The gate before a full run: who may go through, who was let through by force, and what every output says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from judges.gate.bindings import gate_state
from store.errors import OverreadError
from store.gates import gate_looks
from store.records import JudgeRecord

if TYPE_CHECKING:
    from store.study import Study

FORCED: Final = "forced_run"


class GateClosedError(OverreadError):
    """The gate is not open for this judge."""


@dataclass(frozen=True, slots=True)
class Passage:
    """How a judge came to score everything.

    Attributes:
        state: open; forced; or unlooked, when nobody has looked at this judge yet. why: a sentence, "" when open.
    """

    task: str
    judge: str
    judge_id: str
    state: str
    why: str = ""
    certificate: str = ""

    def as_json(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def words(self) -> str:
        """A line for an output; "" when the gate was open."""
        if self.state == "forced":
            return f"FORCED: {self.judge} judged all of {self.task} through a gate that is not open: {self.why}"
        return f"{self.task}: {self.why}" if self.why else ""


def pass_gate(study: Study, judges: Sequence[JudgeRecord], *, force: bool, at: str) -> list[Passage]:
    """Let judges through that may score everything; a forced passage is journaled.

    A judge that nobody has looked at yet is let through, and that is said: the gate closes for what was looked at.

    Raises:
        GateClosedError: a look did not open the gate, or what it rested on has changed, and nobody forces it.
    """
    passages = [_passage(study, judge) for judge in judges]
    shut = [passage for passage in passages if passage.state == "forced"]
    if shut and not force:
        raise GateClosedError(
            f"The gate is not open for {shut[0].judge}.",
            "; ".join(passage.why for passage in shut) + ".",
            "Look again: overread gate. Judge less: --items drawn. Or --force, which every output will say.",
        )
    if shut:
        study.record([{"type": FORCED, **passage.as_json(), "at": at} for passage in shut])
    return passages


def _passage(study: Study, judge: JudgeRecord) -> Passage:
    looked = any(one.judge_id == judge.judge_id for one in gate_looks(study, judge.task))
    state = gate_state(study, judge.task, judge.judge_id)
    if state.open:
        return Passage(judge.task, judge.name, judge.judge_id, "open", certificate=state.certificate)
    if not looked:
        return Passage(judge.task, judge.name, judge.judge_id, "unlooked", state.why)
    return Passage(judge.task, judge.name, judge.judge_id, "forced", state.why, state.certificate)


def passages_of(study: Study, judge: str = "") -> list[dict[str, Any]]:
    """For each task what a score by this judge has to say of its gate: open, forced, closed, undecided, changed or
    unlooked, with the newest certificate."""
    forced = {(one["task"], one["judge_id"]): one for one in study.journal_records(FORCED)}
    rows = study.rows(
        """SELECT task, name, judge_id FROM judges WHERE ? IN ('', name)
        AND judge_id IN (SELECT judge_id FROM verdicts) ORDER BY rowid""",
        [judge],
    )
    newest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for task, name, judge_id in rows:
        state = gate_state(study, task, judge_id)
        looks = [one for one in gate_looks(study, task) if one.judge_id == judge_id]
        outcome = "unlooked" if not looks else looks[-1].outcome
        if outcome == "open" and not state.open:
            outcome = "changed"
        if (task, judge_id) in forced:
            outcome = "forced"
        newest[task, name] = {
            "task": task, "judge": name, "judge_id": judge_id, "state": outcome, "why": state.why,
            "certificate": state.certificate,
        }  # fmt: skip
    return [dict(one) for one in newest.values()]
