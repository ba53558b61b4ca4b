"""The gates of the judges that are reported on as they stand now, each with its newest look and a forced run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotate.report.blocks import Callout, Sign
from judges.gate.full_run import FORCED, passages_of
from store.gates import GateLook, gate_looks
from store.study import Study

_WORDS: Final[Mapping[str, tuple[Sign, str]]] = {
    "open": ("safe", "The gate is open: {judge} may score all of {task}"),
    "closed": ("danger", "The gate is closed: {judge} may not score all of {task}"),
    "undecided": ("note", "The gate is undecided for {judge} on {task}: the labels do not settle it yet"),
    "changed": ("note", "The gate was open for {judge} on {task} and is not any more: {why}"),
    "forced": ("danger", "FORCED: {judge} judged all of {task} through a gate that was not open"),
}


@dataclass(frozen=True, slots=True)
class GateOf:
    """A judge's gate on one task as it stands now: one of `passages_of`, its newest look, a forced run.

    Attributes:
        look: None where all of it was judged by force before anybody looked.
    """

    passage: Mapping[str, Any]
    title: str
    look: GateLook | None
    forced: Mapping[str, Any] | None

    @property
    def is_shut(self) -> bool:
        """Whether its newest look closed it; a run by force changes nothing about that."""
        return self.look is not None and self.look.outcome == "closed"

    @property
    def callout(self) -> Callout:
        """Its outcome in a line."""
        sign, words = _WORDS[self.passage["state"]]
        said = words.format(judge=self.passage["judge"], task=self.title, why=self.passage["why"])
        if self.passage["forced"] and self.passage["state"] != "forced":
            said += f"; before that it was forced, on {self.passage['forced'][:10]}"
        return Callout(sign, f"{said}.")


def gates_of(study: Study, titles: Mapping[str, str], judge: str = "") -> list[GateOf]:
    """The gates of a judge, or all, on these tasks; those that nobody looked through are left out."""
    forced = {(one["task"], one["judge_id"]): one for one in study.journal_records(FORCED)}
    newest = {(look.task, look.judge_id): look for look in gate_looks(study)}
    if not forced and not newest:
        return []
    return [
        GateOf(
            one, titles[one["task"]], newest.get((one["task"], one["judge_id"])),
            forced.get((one["task"], one["judge_id"])),
        )
        for one in passages_of(study, judge)
        if one["task"] in titles and one["state"] in _WORDS
    ]  # fmt: skip
