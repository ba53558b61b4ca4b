"""The audit as pages of styled lines, one for each judge of a task: the answer, its numbers, what lies beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from annotate.desk.cells import cell_width
from annotate.report.blocks import ScaleRow, Sign
from annotate.report.facts import Facts, Judged
from annotate.report.numbers import NAMES, coefficients, refusals, scale_of
from annotate.report.part_text import part_lines
from annotate.report.task_section import headline, judge_heading, outcome_words, untested
from annotate.report.trust_words import danger_sentence, gap_sentence, published_sentence, readers_told, told
from annotate.report.words import SHARES_OF_ALL, decimal_words, percent, share_words
from annotate.tui.widgets.spans import Line, Role, Span, cut_line, keys_line, line_width, push_right
from judges.calibration.plain_words import basis
from store.safe_text import safe_line, safe_text

LONGEST_NAME = 60
LONGEST_LINE = 2000
AXIS = 28
"""Cells of an axis."""
KEYS: Final = (
    ("↑ ↓ PgUp PgDn Home End", "Scroll"),
    ("← →", "Another task or judge"),
    ("d", "The disagreements of this judge, with their texts"),
    ("q Esc", "Back"),
    ("? F1", "These keys"),
)
EXPLAINED: Final = (
    "✓ good enough, ✗ falls short, ? undecided. On the axis ● is the value, ━ its interval, ┃ the threshold.",
)
NARROWEST = 76
"""Cells that a page has at least in a window of 80."""
_SIGN_ROLES: Final[Mapping[Sign, Role]] = {"danger": "differs", "safe": "chosen", "note": "warning"}
SIGNS = {"good_enough": "✓", "falls_short": "✗", "undecided": "?"}


@dataclass(frozen=True)
class AuditPage:
    """One judge of a task, its parts below.

    Attributes:
        task, judge: whose disagreements are one key away; "" where there is no judge. answer: the verdict and what it
            rests on with numbers. beside: what there is beside agreement.
    """

    title: str
    task: str
    judge: str
    answer: list[Line]
    beside: list[Line]


def audit_pages(facts: Facts) -> list[AuditPage]:
    """A page for each judge of each task; after them one for each task that has items and no labels or verdicts."""
    tasks = dict.fromkeys([*facts.tasks, *facts.audit.declared])
    pages = [page for task in tasks for page in _pages_of(facts, task)]
    return sorted(pages, key=lambda page: not page.judge)


def _pages_of(facts: Facts, task: str) -> Iterator[AuditPage]:
    audit = facts.audit.tasks.get(task)
    title = safe_line(facts.block_title(task) if task in facts.tasks else task, LONGEST_NAME)
    if audit is not None and not audit.items:
        return
    if audit is None:
        lines = list(_declared(facts, task)) or [[Span("Nothing is labelled yet.")]]
        yield AuditPage(title, task, "", lines, [])
        return
    judged = [one for one in facts.judged if one.task == task]
    judges = list(dict.fromkeys(one.judge for one in judged))
    if not judges:
        words = f"{audit.labelled:,} of {audit.items:,} items labelled"
        rest = "nothing to audit yet" if not audit.labelled else "no verdicts to compare the labels with"
        yield AuditPage(title, task, "", [[Span(f"{words}: {rest}.")], *_gates(facts, task)], [])
    for judge in judges:
        mine = [one for one in judged if one.judge == judge]
        name = f"{title} · {safe_line(judge, LONGEST_NAME)}"
        answer = [line for one in mine for line in _answer(facts, one)]
        yield AuditPage(name, task, judge, answer, list(_beside(facts, mine[0])))


def _declared(facts: Facts, task: str) -> Iterator[Line]:
    """Numbers, rankings and grids, as the terminal prints them."""
    for part, found in facts.audit.declared.get(task, {}).items():
        for block in part_lines(f"{task} / {part}" if part else task, found):
            if isinstance(block, str):
                yield [Span(_safe(block))]
            else:
                yield from ([Span("  " + _safe("  ".join(row)))] for row in block)


def _answer(facts: Facts, one: Judged) -> Iterator[Line]:
    if one.part and (name := judge_heading(facts, one)):
        yield [Span(safe_line(name, LONGEST_NAME), "title")]
    said, counts = headline(one)
    trust = one.audit.trust.judges.get(one.judge) if one.audit.trust else None
    if trust is not None and trust.danger is not None:
        role: Role = "differs" if trust.danger.count else "chosen"
        yield [Span(f"! {_safe(danger_sentence(trust.danger))}.", role)]
    if not one.part:
        yield from _gates(facts, one.task, one.judge)
    outcome = one.assessment.outcome
    yield [Span(f"{SIGNS[outcome]} {_safe(outcome_words(one))}", "chosen" if outcome == "good_enough" else "differs")]
    yield [Span(_safe(said), "title")]
    if trust is not None and (words := gap_sentence(trust.gaps)):
        yield [Span(f"! {_safe(words)}.", "warning")]
    for text in (counts, untested(one), f"{basis(one.audit, one.found)}."):
        if text:
            yield [Span(_safe(text), "muted")]
    yield []
    yield from _scale(scale_of(one).rows)
    yield []
    yield from _coefficients(one)
    yield []
    yield from _labels(one)
    yield []
    yield from _confusion(one)
    yield from ([Span(f"{_safe(text)}", "muted")] for text in (*refusals(one), *one.found.notes))
    yield []


def _gates(facts: Facts, task: str, judge: str = "") -> Iterator[Line]:
    """What the gate says of a task's judges, or of one."""
    for gate in facts.gates:
        if gate.passage["task"] == task and judge in ("", gate.passage["judge"]):
            yield [Span(_safe(gate.callout.text), _SIGN_ROLES[gate.callout.sign])]


def _scale(rows: Sequence[ScaleRow]) -> Iterator[Line]:
    """Each check on its axis: ● the value, ━ its interval, ┃ the threshold; what it comes to beside it or below."""
    yield [Span("Threshold ┃ and interval ━ on one axis", "muted")]
    wide = max((cell_width(_safe(row.title)) for row in rows), default=0)
    for row in rows:
        title = _safe(row.title)
        told: Line = [Span(f"{title}{' ' * (wide - cell_width(title))}  "), *axis(row), Span(f"  {row.number}  ")]
        role: Role = "chosen" if row.answer == "met" else "differs" if row.answer == "missed" else "muted"
        answer: Line = [Span(row.words, role)]
        if line_width([*told, *answer]) <= NARROWEST:
            yield [*told, *answer]
        else:
            yield from (told, [Span(" " * (wide + 2)), *answer])


def axis(row: ScaleRow, cells: int = AXIS) -> Line:
    """A number with its interval and its threshold, from `row.lowest` to 1."""

    def place(value: float) -> int:
        share = (value - row.lowest) / (1 - row.lowest)
        return min(max(round(share * (cells - 1)), 0), cells - 1)

    drawn = ["·"] * cells
    if row.low is not None and row.high is not None:
        for cell in range(place(row.low), place(row.high) + 1):
            drawn[cell] = "━"
    if row.value is not None:
        drawn[place(row.value)] = "●"
    if row.threshold is not None:
        at = place(row.threshold)
        drawn[at] = "╋" if drawn[at] == "━" else "◉" if drawn[at] == "●" else "┃"
    return [Span("".join(drawn))]


def _coefficients(one: Judged) -> Iterator[Line]:
    shown = coefficients(one.found)
    names = {name: NAMES.get(name, name) for name in shown}
    wide = max(map(cell_width, names.values()))
    for name, statistic in shown.items():
        title = names[name]
        yield [
            Span(f"{title}{' ' * (wide - cell_width(title))}  ", "muted"),
            Span(f"{decimal_words(statistic, 3)}   n {statistic.n:,}"),
        ]


def _labels(one: Judged) -> Iterator[Line]:
    for label, row in one.found.per_label.items():
        title = safe_line(one.audit.titles.get(label, label), LONGEST_NAME)
        yield [
            Span(title, "title"), Span("  recall ", "muted"), Span(share_words(row.recall)),
            Span("  precision ", "muted"), Span(share_words(row.precision)),
            Span(f"  people {row.n:,}, judge {row.called:,}", "muted"),
        ]  # fmt: skip


def _confusion(one: Judged) -> Iterator[Line]:
    counts, shares = one.found.confusion, one.found.confusion_shares
    yield from _crossed(one, "people down, judge across", [[f"{n:,}" for n in row.values()] for row in counts.values()])
    if shares is not None:
        yield from _crossed(one, SHARES_OF_ALL, [[percent(n, 1) for n in row.values()] for row in shares.values()])


def _crossed(one: Judged, heading: str, cells: list[list[str]]) -> Iterator[Line]:
    """A table of the labels people gave by those the judge gave."""
    yield [Span(heading, "muted")]
    titles = [safe_line(one.audit.titles.get(label, label), 16) for label in one.found.confusion]
    widths = [max(cell_width(text) for text in (title, *(row[n] for row in cells))) for n, title in enumerate(titles)]
    first = max(map(cell_width, titles))

    def right(text: str, width: int) -> str:
        return " " * (width - cell_width(text)) + text

    yield [Span(" " * first + "".join(f"  {right(t, w)}" for t, w in zip(titles, widths, strict=True)), "muted")]
    for number, (title, row) in enumerate(zip(titles, cells, strict=True)):
        line: Line = [Span(title + " " * (first - cell_width(title)), "muted")]
        for place, (text, width) in enumerate(zip(row, widths, strict=True)):
            line.append(Span(f"  {right(text, width)}", "chosen" if place == number else "plain"))
        yield line


def _beside(facts: Facts, one: Judged) -> Iterator[Line]:
    people = one.audit.humans
    yield [Span("People", "title")]
    given = ", ".join(f"{safe_line(who, LONGEST_NAME)} {number:,}" for who, number in people.annotators.items())
    yield [Span(f"  labels by {given}")]
    for name, statistic in (
        ("raw agreement", people.raw_agreement), ("α", people.krippendorff_alpha), ("Fleiss' κ", people.fleiss_kappa),
        ("AC1", people.gwet_ac1),
    ):  # fmt: skip
        if statistic.value is not None:
            yield [Span(f"  people with each other, {name}  ", "muted"), Span(decimal_words(statistic, 3))]
    if people.raw_agreement.value is None:
        yield [Span(f"  people with each other: {_safe(people.raw_agreement.why)}", "muted")]
    sections = [*told(one.audit, one.judge)]
    if (habits := readers_told(one.audit)) is not None:
        sections.append(habits)
    for section in sections:
        yield []
        yield [Span(section.heading, "title")]
        yield from ([Span(f"  {_safe(line)}.")] for line in section.lines)
    for published in facts.audit.published:
        yield []
        yield [Span(f"{_safe(published_sentence(facts.audit, published, NAMES))}.")]


def audit_header(benchmark: str, page: AuditPage, place: int, of: int, width: int) -> Line:
    """Which judge of which task, and which page of how many."""
    left = cut_line([Span(f" overread  {benchmark}   Audit: {page.title}", "title")], max(width - 10, 1))
    return push_right(left, [Span(f"{place + 1} / {of} ", "title")], width)


def audit_footer(page: AuditPage, several: bool, width: int) -> Line:
    """The keys of the audit."""
    keys = [("↑ ↓", "scroll"), *([("← →", "other task or judge")] if several else [])]
    keys += [("d", "disagreements")] if page.judge else []
    keys += [("?", "keys"), ("q", "back")]
    return keys_line(keys, width)


def _safe(text: str) -> str:
    return safe_text(text)[:LONGEST_LINE]
