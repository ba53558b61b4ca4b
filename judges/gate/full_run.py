"""The gate before a full run: who may go through, who was let through by force, and what every output says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from judges.gate.bindings import GateState, gate_state, is_renamed
from judges.gate.recheck import Recheck, certified_of, differences, recheck
from judges.served import is_of_family
from store.errors import OverreadError
from store.gates import GateLook, gate_looks
from store.judging import judges_of_task
from store.records import JudgeRecord

if TYPE_CHECKING:
    from store.study import Study

FORCED: Final = "forced_run"
_REMEDY: Final = "Judge less: --items drawn. Or --force, which every output will say."


class GateClosedError(OverreadError):
    """The gate is not open for this judge."""


@dataclass(frozen=True, slots=True)
class Passage:
    """How a judge came to score everything.

    Attributes:
        state: open; forced; shut; unlooked, when nobody looked at any judge of the task; changed, when it was opened
            for another one, and this one's anchors have to be judged first.
        why: a sentence, "" when open. act: what to do before looking again, "" for looking again itself.
    """

    task: str
    judge: str
    judge_id: str
    state: str
    why: str = ""
    certificate: str = ""
    act: str = ""

    def as_json(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "act"}

    @property
    def words(self) -> str:
        """A line for an output; "" when the gate was open."""
        if self.state == "forced":
            return f"FORCED: {self.judge} judged all of {self.task} through a gate that is not open: {self.why}"
        return f"{self.task}: {self.why}" if self.why else ""


def pass_gate(
    study: Study, judges: Sequence[JudgeRecord], *, force: bool, at: str, anchors_first: bool = False
) -> list[Passage]:
    """Let judges through that may score everything; a forced passage is journaled.

    While nobody has looked at any judge of its task a judge is let through, and that is said.

    Args:
        anchors_first: the caller judges the labelled items of a changed judge before anything else, then asks
            `pass_changed`. Without it a changed judge does not pass.

    Raises:
        GateClosedError: a look did not open the gate, or what it rested on has changed, and nobody forces it.
    """
    passages = [_passage(study, judge) for judge in judges]
    shut = [one for one in passages if one.state == "shut" or (one.state == "changed" and not anchors_first)]
    if shut and not force:
        raise _closed(shut[0].judge, [one.why for one in shut], shut[0].act)
    forced = {id(one): replace(one, state="forced") for one in shut}
    _note_forced(study, list(forced.values()), at)
    return [forced.get(id(one), one) for one in passages]


def pass_changed(study: Study, judge: JudgeRecord, *, force: bool, at: str) -> tuple[Passage, Recheck | None]:
    """Whether a changed judge may go on, now that it has judged the labelled items: open, forced, or shut.

    The recheck is None where the gate was opened for no judge of the task.
    """
    certified = certified_of(study, judge.task)
    if certified is None:
        before = _passage(study, judge)
        if before.state != "shut" or not force:
            return before, None
        _note_forced(study, [before], at)
        return replace(before, state="forced"), None
    found = recheck(study, judge, certified, at=at)
    if found.outcome == "open":
        return Passage(judge.task, judge.name, judge.judge_id, "open", certificate=found.certificate), found
    why = f"the gate of {judge.task} is {found.outcome} for this judge: {found.why}"
    passage = Passage(judge.task, judge.name, judge.judge_id, "forced" if force else "shut", why, found.certificate)
    if force:
        _note_forced(study, [passage], at)
    return passage, found


def closed_error(passage: Passage, found: Recheck | None) -> GateClosedError:
    """The refusal of a judge whose labelled items were just judged again."""
    compared = [found.drift.words] if found is not None else []
    return _closed(passage.judge, [passage.why, *compared], found.next if found is not None else passage.act)


def _closed(judge: str, whys: Sequence[str], act: str = "") -> GateClosedError:
    first = f"{act[0].upper()}{act[1:]}." if act else "Look again: overread gate."
    return GateClosedError(f"The gate is not open for {judge}.", "; ".join(whys) + ".", f"{first} {_REMEDY}")


def _note_forced(study: Study, passages: Sequence[Passage], at: str) -> None:
    if passages:
        study.record([{"type": FORCED, **passage.as_json(), "at": at} for passage in passages])


def _passage(study: Study, judge: JudgeRecord) -> Passage:
    looks = gate_looks(study, judge.task)
    state = gate_state(study, judge.task, judge.judge_id)
    if (became := _refused_identity(study, judge)) is not None:
        return became
    if state.open:
        return Passage(judge.task, judge.name, judge.judge_id, "open", certificate=state.certificate)
    if any(one.judge_id == judge.judge_id for one in looks):
        return Passage(judge.task, judge.name, judge.judge_id, "shut", state.why, state.certificate)
    if (certified := certified_of(study, judge.task)) is None:
        return _of_others(looks, judge) or Passage(judge.task, judge.name, judge.judge_id, "unlooked", state.why)
    what = ", ".join(differences(certified.judge, judge))
    why = f"the gate of {judge.task} was opened for {certified.judge.name}, from which this judge differs in {what}"
    return Passage(judge.task, judge.name, judge.judge_id, "changed", why, certified.look.gate_id)


def _of_others(looks: Sequence[GateLook], judge: JudgeRecord) -> Passage | None:
    """Where the gate let no judge of the task through it lets none through that nobody looked at."""
    if not looks:
        return None
    why = f"the gate of {judge.task} is {looks[-1].outcome} for {looks[-1].judge}, and nobody has looked at this judge"
    act = "judge the labelled items (--items labelled), then look: overread gate"
    return Passage(judge.task, judge.name, judge.judge_id, "shut", why, act=act)


def _refused_identity(study: Study, judge: JudgeRecord) -> Passage | None:
    """What a look did not let through: this judge under another name, or a server that came up behind its own."""
    newest = {look.judge_id: look for look in gate_looks(study, judge.task)}
    for judge_id, record in judges_of_task(study, judge.task).items():
        look = newest.get(judge_id)
        if judge.judge_id in newest or look is None or look.outcome == "open" or not is_renamed(record, judge):
            continue
        why = f"it is {record.name} under another name, for which the gate of {judge.task} is {look.outcome}"
        return Passage(judge.task, judge.name, judge.judge_id, "shut", why, look.gate_id)
    for judge_id, record in judges_of_task(study, judge.task).items():
        look = newest.get(judge_id)
        if judge_id == judge.judge_id or look is None or look.outcome == "open" or not is_of_family(record, judge):
            continue
        why = f"its server became {record.name}, for which the gate of {judge.task} is {look.outcome}"
        return Passage(judge.task, judge.name, judge.judge_id, "shut", why, look.gate_id)
    return None


def forced_judges(study: Study) -> dict[str, str]:
    """Judge id → when it was let through a gate that was not open, the last time, for those that were."""
    return {one["judge_id"]: one["at"] for one in study.journal_records(FORCED)}


def passages_of(study: Study, judge: str = "") -> list[dict[str, Any]]:
    """For each task what a score by this judge has to say of its gate: `state` open, forced, closed, undecided, changed
    or unlooked, with the newest look as `certificate`.

    What was forced and is open by a later look is open; `forced` says when it was, ever after ("" where it was not).
    """
    forced = forced_judges(study)
    rows = study.rows(
        """SELECT task, name, judge_id FROM judges WHERE ? IN ('', name)
        AND judge_id IN (SELECT judge_id FROM verdicts) ORDER BY rowid""",
        [judge],
    )
    newest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for task, name, judge_id in rows:
        state = gate_state(study, task, judge_id)
        looks = [one for one in gate_looks(study, task) if one.judge_id == judge_id]
        by_force = forced.get(judge_id, "")
        newest[task, name] = {
            "task": task, "judge": name, "judge_id": judge_id, "state": _standing(looks, state, by_force),
            "why": state.why, "certificate": state.certificate, "forced": by_force,
        }  # fmt: skip
    return [dict(one) for one in newest.values()]


def _standing(looks: Sequence[GateLook], state: GateState, by_force: str) -> str:
    """How a judge that scored everything stands: by force, or as its newest look says."""
    opened = [datetime.fromisoformat(look.at) for look in looks if look.outcome == "open"]
    if by_force and not any(at > datetime.fromisoformat(by_force) for at in opened):
        return "forced"
    if not looks:
        return "unlooked"
    return "changed" if looks[-1].outcome == "open" and not state.open else looks[-1].outcome
