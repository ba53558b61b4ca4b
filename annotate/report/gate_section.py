"""What the gate says of the judges that are reported on: outcome, what keeps it shut, what to do, and who forced it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotate.report.blocks import Block, Callout, Cell, Heading, Listing, Paragraph, Row, Section, Sign, Table
from annotate.report.facts import Facts
from annotate.report.gate_text import bound_text, title_of, value_text
from judges.gate.full_run import FORCED, passages_of
from judges.gate.recheck import RECHECKED
from store.gates import GateLook, gate_looks

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
    def callout(self) -> Callout:
        """Its outcome in a line."""
        sign, words = _WORDS[self.passage["state"]]
        said = words.format(judge=self.passage["judge"], task=self.title, why=self.passage["why"])
        if self.passage["forced"] and self.passage["state"] != "forced":
            said += f"; before that it was forced, on {self.passage['forced'][:10]}"
        return Callout(sign, f"{said}.")


def gates_of(facts: Facts) -> list[GateOf]:
    """The gates of all judges and tasks that are reported on; those that nobody looked through are left out."""
    study, only = facts.study, facts.options.judge
    forced = {(one["task"], one["judge_id"]): one for one in study.journal_records(FORCED)}
    newest = {(look.task, look.judge_id): look for look in gate_looks(study)}
    return [
        GateOf(
            one, facts.block_title(one["task"]), newest.get((one["task"], one["judge_id"])),
            forced.get((one["task"], one["judge_id"])),
        )
        for one in passages_of(study, only)
        if one["task"] in facts.tasks and one["state"] in _WORDS
    ]  # fmt: skip


def gate_section(facts: Facts) -> Section | None:
    """Each gate with what keeps it shut; None while nobody has looked through any."""
    found = gates_of(facts)
    if not found:
        return None
    return Section(
        "gate", "The gate before the full run", tuple(block for one in found for block in _blocks(one, facts))
    )


def _blocks(gate: GateOf, facts: Facts) -> Iterator[Block]:
    yield Heading(f"{gate.title}, judge {gate.passage['judge']}")
    yield gate.callout
    if gate.forced is not None:
        yield Paragraph(f"It was forced on {gate.forced['at'][:10]}: {gate.forced['why']}.")
    for one in facts.study.journal_records(RECHECKED):
        if (one["task"], one["judge_id"]) == (gate.passage["task"], gate.passage["judge_id"]):
            yield Paragraph(
                f"It was judged anew on {one['at'][:10]}, since it differs from {one['before']} in "
                f"{', '.join(one['differs'])}: {one['drift']['words']}."
            )
    if gate.look is not None:
        yield from _look_blocks(gate.look)


def _look_blocks(look: GateLook) -> Iterator[Block]:
    document = look.document
    shut = [check for check in document["checks"] if check["status"] in ("failed", "undecided")]
    if shut:
        yield Table(
            "What keeps it shut",
            ("check", "outcome", "value", "has to be", "found"),
            tuple(map(_row, shut)),
            words=True,
        )
    if document["next"]:
        yield Paragraph("What to do next:")
        yield Listing(tuple(document["next"]))
    yield Paragraph(
        f"Look {document['look']} of {document['looks']} at this judge, {look.at[:10]}; its certificate says look_id"
        f" {look.gate_id}.",
        "small",
    )


def _row(check: Mapping[str, Any]) -> Row:
    value = value_text(check["value"], check["low"], check["high"])
    texts = (title_of(check), check["status"], value, bound_text(check["bound"], check["side"]), check["why"])
    return Row(tuple(Cell(text) for text in texts))
