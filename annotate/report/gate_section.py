"""What the gate says of the judges that are reported on: outcome, what keeps it shut, what to do, and who forced it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.report.blocks import Block, Cell, Heading, Listing, Paragraph, Row, Section, Table
from annotate.report.facts import Facts
from annotate.report.gate_text import bound_text, title_of, value_text
from annotate.report.gates import GateOf
from judges.gate.recheck import RECHECKED
from store.gates import GateLook


def gate_section(facts: Facts) -> Section | None:
    """Each gate with what keeps it shut; None while nobody has looked through any."""
    if not facts.gates:
        return None
    blocks = tuple(block for one in facts.gates for block in _blocks(one, facts))
    return Section("gate", "The gate before the full run", blocks)


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
