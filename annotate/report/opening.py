"""The first page: may this judge score the full benchmark, what does it get wrong, how much does that matter?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from annotate.report.beside import alarm_blocks
from annotate.report.blocks import Block, Callout, Heading, LinkLine, Listing, Overview, Paragraph, Section, Verdict
from annotate.report.disagreements import danger
from annotate.report.facts import Facts, Judged
from annotate.report.numbers import NAMES
from annotate.report.scores import Change, alarms_to_report, greatest_changes
from annotate.report.task_section import danger_words, headline, outcome_words
from annotate.report.trust_words import published_sentence, worst_slice_sentence
from annotate.report.words import count, counted, decimal, listed, percent
from judges.calibration.checks import Outcome
from judges.judge_sets import judges_by_task
from judges.scoring import StudyScores

_ANSWERS: Final[Mapping[Outcome, tuple[str, str]]] = {
    "good_enough": ("Yes", "This judge is good enough to score {}."),
    "falls_short": ("No", "This judge should not score {} as it is."),
    "undecided": ("Not yet", "The labels do not say yet whether this judge may score {}."),
}


def opening_section(facts: Facts, scores: list[StudyScores]) -> Section:
    """The answer on every judge, each task in a line, and the metric that people's labels move furthest."""
    blocks: list[Block] = []
    blocks += alarm_blocks(alarms_to_report(facts, scores))
    for judge in facts.judges:
        blocks += _judge_blocks(facts, judge)
    blocks += _how_much(scores)
    if not facts.judges:
        blocks.append(Paragraph("There are labels, and no verdicts yet to compare them with."))
    if facts.audit.published:
        lines = tuple(f"{published_sentence(facts.audit, one, NAMES)}." for one in facts.audit.published)
        blocks += [Heading("What is published of this judge", 2), Listing(lines)]
    blocks.append(Paragraph(_NOT_FOR_ANNOTATORS, "small"))
    return Section("answer", "", tuple(blocks), page=False)


_NOT_FOR_ANNOTATORS = (
    "This report shows verdicts, also such as annotators are never shown. Keep it from everybody who still labels."
)


def scored(facts: Facts) -> str:
    """What the judge would score: the benchmark, or the one task that is reported on."""
    return f"the task {facts.tasks[facts.options.task].title}" if facts.options.task else "the full benchmark"


def _judge_blocks(facts: Facts, judge: str) -> Iterator[Block]:
    judged = [one for one in facts.judged if one.judge == judge]
    judges = judges_by_task(facts.study)
    own = [task for task in facts.audit.tasks if judge in judges.get(task, ())]
    unlabelled = [task for task in own if not facts.audit.tasks[task].labelled]
    if len(facts.judges) > 1:
        yield Heading(f"Judge {judge}", 2)
    gates = [gate for gate in facts.gates if gate.passage["judge"] == judge]
    is_shut = any(gate.is_shut for gate in gates)
    outcome = "falls_short" if is_shut else overall(judged, unlabelled)
    word, said = _ANSWERS[outcome]
    what = scored(facts) if len(own) == len(facts.audit.tasks) else _named(facts, own)
    yield Verdict(outcome, word, said.format(what), _why(judged, unlabelled, outcome))
    for one in judged:
        found = None if one.part else danger(facts, one.task, judge)
        if found is not None and found.passed.n:
            where = f" ({one.title})" if len(facts.tasks) > 1 else ""
            yield Callout("danger" if found.count else "safe", f"{danger_words(found)}{where}.")
    for one in judged:
        trust = one.audit.trust.judges.get(judge) if one.audit.trust and not one.part else None
        if trust is not None and (words := worst_slice_sentence(trust)):
            yield Callout("note", f"{one.title}: {words}." if len(facts.tasks) > 1 else f"{words}.")
    yield from (gate.callout for gate in gates)
    yield Overview(tuple(_line(facts, one) for one in sorted(judged, key=_worst_first)))
    if unlabelled:
        names = [facts.block_title(task) for task in unlabelled]
        yield Paragraph(f"Nothing is labelled in {listed(names)}.")
    yield Paragraph(_rule(facts), "small")


def _named(facts: Facts, tasks: Sequence[str]) -> str:
    """The tasks a judge has verdicts on, when it does not judge all."""
    titles = [facts.block_title(task) for task in tasks]
    return f"the {'task' if len(titles) == 1 else 'tasks'} {listed(titles)}"


def overall(judged: Sequence[Judged], unlabelled: Sequence[str]) -> Outcome:
    """No where one block falls short, yes where all are good enough and none is unlabelled."""
    outcomes = {one.assessment.outcome for one in judged}
    if "falls_short" in outcomes:
        return "falls_short"
    return "good_enough" if outcomes == {"good_enough"} and not unlabelled else "undecided"


def _why(judged: Sequence[Judged], unlabelled: Sequence[str], outcome: Outcome) -> str:
    """How many blocks came to what."""
    counts = Counter(one.assessment.outcome for one in judged)
    counts["undecided"] += len(unlabelled)
    total = sum(counts.values())
    words: dict[Outcome, str] = {
        "falls_short": "falls short in",
        "undecided": "is undecided in",
        "good_enough": "is good enough in",
    }
    said = [f"{words[outcome]} {counts[outcome]}" for outcome in words if counts[outcome]]
    parts = f"It {listed(said)} of {total} tasks or parts of tasks." if total > 1 else ""
    return f"{parts} {_more_labels(judged, unlabelled) if outcome == 'undecided' else ''}".strip()


def _more_labels(judged: Sequence[Judged], unlabelled: Sequence[str]) -> str:
    """How many labels would decide all that is open: a label of a task counts for its parts too."""
    needed: dict[str, list[int | None]] = {}
    for one in judged:
        if one.assessment.outcome == "undecided":
            needed.setdefault(one.task, []).append(one.assessment.more_labels)
    known = [[number for number in numbers if number is not None] for numbers in needed.values()]
    if unlabelled or sum(map(len, known)) < sum(map(len, needed.values())):
        return ""
    return f"About {count(sum(map(max, known)), 'more label')} would tell."


def _rule(facts: Facts) -> str:
    limits, level = facts.options.thresholds, percent(facts.options.settings.level)
    return (
        f"Asked of it: recall {percent(limits.recall)} and precision {percent(limits.precision)} for every label, and "
        f"κ {decimal(limits.kappa)}, with the whole {level} interval of each."
    )


def _worst_first(one: Judged) -> int:
    return ("falls_short", "undecided", "good_enough").index(one.assessment.outcome)


def _line(facts: Facts, one: Judged) -> LinkLine:
    anchor = f"task-{list(facts.tasks).index(one.task) + 1}"
    said, _ = headline(one)
    text = f"{said[:-1]} ({one.found.n:,} checked)."
    if more := _also_wrong(one):
        text += f" Also: {listed(more)}."
    return LinkLine(anchor, one.assessment.outcome, outcome_words(one), one.title, text)


def _also_wrong(one: Judged) -> list[str]:
    """What else falls short for certain, in counts, beside the label it misses most, which the headline says."""
    missed = [check for check in one.assessment.checks if check.answer == "missed" and check.label]
    recalls = sorted(
        (check for check in missed if check.name == "recall"), key=lambda check: check.statistic.value or 0
    )
    confusion, titles = one.found.confusion, one.audit.titles
    found = [
        f"it finds {confusion[check.label][check.label]:,} of {sum(confusion[check.label].values()):,}"
        f" {titles[check.label]} items"
        for check in recalls[1:]
    ]
    found += [
        f"when it says {titles[check.label]}, people agree on {confusion[check.label][check.label]:,} of"
        f" {sum(row[check.label] for row in confusion.values()):,}"
        for check in missed
        if check.name == "precision"
    ]
    return found


def _how_much(scores: Sequence[StudyScores]) -> Iterator[Block]:
    for found in scores:
        of_judge = f", judged by {found.judge}" if len(scores) > 1 else ""
        if changes := greatest_changes(found):
            labelled = {name: system.overridden_items for name, system in found.systems.items()}
            yield Heading(f"How much it matters{of_judge}", 2)
            yield Paragraph(
                "The scores that change most when people's labels are put in place of the judge's verdicts (items with "
                f"a label: {counted(labelled)}):"
            )
            yield Listing(tuple(map(_change_words, changes)))


def _change_words(change: Change) -> str:
    before, after = decimal(change.before, 3), decimal(change.after, 3)
    return f"{change.system}, {change.metric}: {before} as the judge has it, {after} with people's labels."
