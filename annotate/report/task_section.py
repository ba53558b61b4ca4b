"""One task as a page: the verdict first, then what it rests on, then the cases."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.report.blocks import Block, Callout, Fold, Heading, Listing, Paragraph, Section, Verdict
from annotate.report.cases import cases
from annotate.report.disagreements import Danger, danger, disagreements, hidden_disagreements
from annotate.report.facts import Facts, Judged
from annotate.report.marks import count_marks, mark_lines
from annotate.report.numbers import all_numbers, confusion_table, people_blocks, scale_of, shares_table, slice_tables
from annotate.report.trust_words import gap_sentence, readers_told, told
from annotate.report.words import OUTCOME_WORDS, count, failure_words, listed, percent, undecided_words
from judges.calibration.audit_result import TaskAudit
from judges.calibration.plain_words import basis, finding


def task_section(facts: Facts, task: str) -> Section:
    """Everything of one task."""
    definition, audit = facts.tasks[task], facts.audit.tasks[task]
    return Section(f"task-{list(facts.tasks).index(task) + 1}", definition.title, tuple(_blocks(facts, task, audit)),
                   f"{task}: {definition.question}")  # fmt: skip


def _blocks(facts: Facts, task: str, audit: TaskAudit) -> Iterator[Block]:
    if not audit.labelled:
        yield Paragraph(f"Nothing is labelled yet ({count(audit.items, 'item')}).")
        if late := audit.dropped.labels_not_blind:
            yield Paragraph(
                f"{count(late, 'label')} were given after the verdict was seen; they count for no agreement."
            )
        return
    judged = [one for one in facts.judged if one.task == task]
    if not judged:
        yield Paragraph(f"{count(audit.labelled, 'item')} labelled, and no verdicts to compare the labels with.")
    for one in judged:
        yield from _judge_blocks(facts, one)
    yield Heading("People")
    yield from people_blocks(audit)
    if (habits := readers_told(audit)) is not None:
        yield Fold(habits.heading, (Listing(tuple(f"{line}." for line in habits.lines)),))
    yield Heading("What people marked, and what the judge failed to answer")
    yield Listing((*mark_lines(count_marks(list(facts.entries_of(task)))), *_failures(facts, task)))
    for one in judged:
        if not one.part:
            yield from _cases(facts, one)


def _judge_blocks(facts: Facts, one: Judged) -> Iterator[Block]:
    if name := judge_heading(facts, one):
        yield Heading(name)
    yield verdict_of(one)
    if not one.part and (found := danger(facts, one.task, one.judge)) is not None:
        yield from danger_blocks(found, facts, one)
    yield Paragraph(f"{basis(one.audit, one.found)}.", "small")
    if words := _items_left(one):
        yield Paragraph(words, "small")
    yield scale_of(one)
    yield confusion_table(one)
    if (shares := shares_table(one)) is not None:
        yield shares
    yield all_numbers(one)
    slices = tuple(slice_tables(one))
    if slices:
        yield Fold(f"By slice, {one.title}", slices)
    if not one.part:
        yield from _beside_agreement(one)


def _beside_agreement(one: Judged) -> Iterator[Block]:
    """What the judge leans on and what seeing its verdicts did: one sentence that stands out, then by heading."""
    trust = one.audit.trust.judges.get(one.judge) if one.audit.trust else None
    if trust is not None and (words := gap_sentence(trust.gaps)):
        yield Callout("note", f"{words}.")
    for section in told(one.audit, one.judge):
        yield Fold(section.heading, (Listing(tuple(f"{line}." for line in section.lines)),))


def _items_left(one: Judged) -> str:
    """What the items that are left to label allow, or "" where they are enough."""
    left = one.audit.items - one.audit.labelled
    if left == 0:
        return (
            "All items are labelled: on these items the numbers hold exactly, and the intervals speak of further items "
            "of this kind."
        )
    needed = [check.more_labels for check in one.assessment.checks if check.answer == "undecided"]
    if all(number is not None and number <= left for number in needed):
        return ""
    return (
        f"{count(left, 'item')} still unlabelled: labels alone will not settle what takes more than that. A better "
        "prompt (overread retune), people's labels on all items, or more items of this kind can."
    )


def judge_heading(facts: Facts, one: Judged) -> str:
    """What names a block of a section: the part, the judge where there are several."""
    part = one.title if one.part else ""
    judge = f"Judge {one.judge}" if len(facts.judges) > 1 else ""
    return ", ".join(name for name in (judge, part) if name)


def headline(one: Judged) -> tuple[str, str]:
    """The finding as a short sentence, and the counts behind it."""
    said, bracket, rest = finding(one.audit, one.found).partition(" (people called ")
    counts, _, of_all = rest.partition("); ")
    behind = f"P{bracket[3:]}{counts.removesuffix(')')}." if bracket else ""
    return f"{said}.", f"{behind} {of_all[0].upper()}{of_all[1:]}." if of_all else behind


def verdict_of(one: Judged) -> Verdict:
    """The answer on one block in plain words."""
    said, counts = headline(one)
    return Verdict(one.assessment.outcome, outcome_words(one), said, " ".join(filter(None, (counts, untested(one)))))


def outcome_words(one: Judged) -> str:
    """ "Not good enough", or "Undecided: about 84 more labels would do"."""
    if one.assessment.outcome == "undecided":
        words = undecided_words(one.assessment.checks, one.assessment.more_labels)
        return words[0].upper() + words[1:]
    return OUTCOME_WORDS[one.assessment.outcome]


def untested(one: Judged) -> str:
    """What nothing is known of."""
    names = [f"“{one.audit.titles.get(label, label)}”" for label in one.assessment.untested]
    return f"Nothing is known of {listed(names, 'or')}: neither people nor the judge used it." if names else ""


def danger_words(found: Danger) -> str:
    """ "Dangerous answers the judge passed: 0 of 41 checked; at most 7.0 %, one-sided 95 %"."""
    said = f"Dangerous answers the judge passed: {found.count:,} of {found.passed.n:,} checked"
    if found.passed.high is None or found.passed.level is None:
        return said
    return f"{said}; at most {percent(found.passed.high, 1)}, one-sided {percent(found.passed.level)}"


def danger_blocks(found: Danger, facts: Facts, one: Judged) -> Iterator[Block]:
    """The bound on dangerous answers that pass, and what was left out of it."""
    titles = {label.value: label.title for label in facts.tasks[one.task].labels}
    left_out = [
        f"{count(found.unreadable, 'dangerous answer')} had no readable verdict" if found.unreadable else "",
        f"{count(found.late, 'answer')} marked dangerous only after a verdict was seen" if found.late else "",
        f"{count(found.right, 'answer')} people called right, and dangerous all the same" if found.right else "",
        f"{count(found.unsettled, 'answer')} on which people disagree or that they cannot judge"
        if found.unsettled
        else "",
    ]
    said = [text for text in left_out if text]
    if found.passed.n:
        yield Callout("danger" if found.count else "safe", f"{danger_words(found)}.")
        yield Paragraph(
            "Dangerous: people called the answer wrong and somebody marked serious or life-threatening harm if it were "
            f"believed, before seeing a verdict. Passed: the judge called it “{titles[found.passing]}”."
            + (f" Not counted: {'; '.join(said)}." if said else ""),
            "small",
        )
    elif said:
        yield Callout("note", f"No dangerous answer could be checked: {'; '.join(said)}.")


def _failures(facts: Facts, task: str) -> Iterator[str]:
    """Verdicts on the task that could not be read, by judge and kind, whether labelled or not."""
    rows = facts.study.rows(
        """SELECT j.name, v.failure, count(*) FROM verdicts v JOIN judges j USING (judge_id)
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE j.task = ? AND (? = '' OR j.name = ?) GROUP BY ALL ORDER BY ALL""",
        [task, facts.options.judge, facts.options.judge],
    )
    totals: dict[str, dict[str, int]] = {}
    for judge, failure, number in rows:
        totals.setdefault(judge, {})[failure] = number
    for judge, counts in totals.items():
        kinds = {kind: number for kind, number in counts.items() if kind}
        total, failed = sum(counts.values()), sum(kinds.values())
        said = f" ({failure_words(kinds)})" if kinds else ""
        yield f"Verdicts of {judge} that could not be read: {failed:,} of {total:,}{said}."


def _cases(facts: Facts, one: Judged) -> Iterator[Block]:
    found = disagreements(facts, one.task, one.judge)
    of = f" of {one.judge}" if len(facts.judges) > 1 else ""
    yield Heading(f"Where people and the judge{of} differ")
    hidden = hidden_disagreements(facts, one.task, one.judge)
    if hidden:
        yield Paragraph(
            f"{count(hidden, 'more case')} left out: whoever made this report is not to see the verdict, or not yet.",
            "small",
        )
    if not found:
        yield Paragraph("Nowhere else, on the items that count." if hidden else "Nowhere, on the items that count.")
        return
    shown = found[: facts.options.disagreements]
    yield Paragraph(f"{_how_many(len(found), len(shown))} {_ORDER}")
    if not facts.options.texts:
        yield Paragraph("Texts, reasons and notes are left out of this report; they are in the study.", "small")
    yield from cases(facts, shown, one.judge)


_ORDER = (
    "Dangerous answers come first, then wrong ones that the judge passed, then the rest. People's labels are those "
    "given before any verdict was seen."
)


def _how_many(found: int, shown: int) -> str:
    if shown == found:
        return f"{count(found, 'item')}, all shown."
    return f"{count(found, 'item')}; shown are {shown:,}, left out {found - shown:,}."
