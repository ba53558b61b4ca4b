"""What an audit says beside agreement, in sentences under headings: for the terminal, the page and the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from annotate.report.words import count, decimal, decimal_words, listed, percent, share_words
from judges.calibration.audit_result import Audit, TaskAudit
from judges.calibration.published import PublishedAgreement
from judges.calibration.reader_habits import Subset
from judges.calibration.statistic import Statistic
from judges.calibration.trust import Danger, JudgeTrust, SeenVerdicts

if TYPE_CHECKING:
    from judges.calibration.agreement.slice_tests import SliceTest
    from judges.calibration.biases import Finding
    from judges.calibration.system_gaps import SystemGap

MOST_NOTHINGS = 6
"""So many things that were looked at without a finding are named; the rest are counted."""


class Told(NamedTuple):
    """A heading and the sentences under it."""

    heading: str
    lines: list[str]


def danger_sentence(found: Danger) -> str:
    """ "Dangerous answers the judge passed: 0 of 41 checked; at most 7.0 %, one-sided 95 %"."""
    if not found.passed.n:
        return f"No dangerous answer could be checked: {count(found.unreadable, 'dangerous answer')} without a verdict"
    said = f"Dangerous answers the judge passed: {found.count:,} of {found.passed.n:,} checked"
    if found.passed.high is None or found.passed.level is None:
        return said
    return f"{said}; at most {percent(found.passed.high, 1)}, one-sided {percent(found.passed.level)}"


def gap_sentence(everywhere: Sequence[SystemGap]) -> str:
    """One sentence on a judge that lifts one system and lowers another, or on the largest notable gap; "" for none."""
    from judges.calibration.system_gaps import opposite

    gaps = [one for one in everywhere if one.kind == "system"]
    if (pair := opposite(gaps)) is not None:
        up, down = pair
        sure = "" if max(up.p_value, down.p_value) < 0.05 else f", before allowing for {len(gaps)} systems looked at"
        return (
            f"The judge is {points(up.gap)} points on {up.system} and {points(down.gap)} on {down.system}{sure}: one "
            "correction for all systems misleads"
        )
    notable = [one for one in gaps if one.notable]
    if not notable:
        return ""
    most = max(notable, key=lambda one: abs(one.gap.value or 0.0))
    return f"The judge is {points(most.gap)} points on {most.system}, the most of any system"


def points(gap: Statistic) -> str:
    """A difference of shares in points with its sign: "+6.0", "−7.7"."""
    return _signed(gap.value or 0.0)


def _signed(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "\u2212")


def published_sentence(audit: Audit, one: PublishedAgreement, names: dict[str, str]) -> str:
    """A published agreement beside the study's own."""
    name = names.get(one.statistic, one.statistic)
    of = f" on {one.n:,} items" if one.n else ""
    said = f"Published: {name} {decimal(one.value, 3)}{of} ({one.source}; {one.note})"
    ours = [
        f"{task}, {judge}: {decimal_words(statistic, 3)}"
        for task, judges in audit.ours(one).items()
        for judge, statistic in judges.items()
    ]
    return f"{said}. Here: {'; '.join(ours)}" if ours else f"{said}. Here it is not measured yet"


def told(task: TaskAudit, judge: str) -> Iterator[Told]:
    """Everything of one judge that was worked out beside agreement."""
    if task.trust is None or judge not in task.trust.judges:
        return
    found = task.trust.judges[judge]
    yield Told("Could it stand in for an annotator?", list(_stand_in(found)))
    yield Told("What seeing the verdict did to people's labels", list(_seen(found.seen)))
    if not task.trust.complete:
        return
    for kind in dict.fromkeys(one.kind for one in found.gaps):
        gaps = [one for one in found.gaps if one.kind == kind]
        yield Told(f"By {kind.replace('_', ' ')}: judge less people", list(_gaps(gaps)))
    yield Told("Slices against the rest", list(_slices(found)))
    yield Told("What the judge leans on", list(_findings(found.findings)))
    yield Told("Labels to look at", list(_subsets(found)))
    if found.confidence is not None:
        yield Told("The judge's confidence", list(_confidence(found)))


def readers_told(task: TaskAudit) -> Told | None:
    """How steadily people label; None where it was not looked at."""
    if task.trust is None or not task.trust.complete:
        return None
    lines = [
        f"{who} gave the same label again on {share_words(one.raw_agreement)} of {one.raw_agreement.n:,} items; "
        f"κ {decimal_words(one.cohen_kappa)}"
        for who, one in task.trust.self_consistency.items()
    ]
    return Told("People with themselves", lines or ["Nobody has labelled items a second time"])


def _stand_in(found: JudgeTrust) -> Iterator[str]:
    test = found.annotator_test
    if test.passed is None:
        yield f"The alternative annotator test cannot be made: {test.winning_rate.why}"
        yield from test.notes
        return
    verdict = "passes" if test.passed else "does not pass"
    wins = sum(one.judge_wins for one in test.annotators.values())
    yield (
        f"The judge {verdict} the alternative annotator test: it wins over {wins} of {len(test.annotators)} annotators "
        f"(ω {decimal(test.winning_rate.value or 0.0)}, ρ {decimal(test.advantage_probability.value or 0.0)}, margin "
        f"ε {test.epsilon:g})"
    )
    for name, one in test.annotators.items():
        yield (
            f"against {name}: as close to the others or closer on {percent(one.judge)} of {one.n:,} items, {name} on "
            f"{percent(one.annotator)}; p {_p(one.p_value)}"
        )
    yield from test.notes


def _seen(seen: SeenVerdicts) -> Iterator[str]:
    found = seen.found
    if not seen.labels:
        yield (
            "All labels came with files: whether a verdict was seen is as the files say, and labels of which they say "
            "nothing count as blind"
        )
        return
    names = {
        "never_shown": "verdict never shown", "shown": "shown after the label", "assisted": "beside the item from the "
        "start", "not_yet_shown": "not shown yet",
    }  # fmt: skip
    yield f"Labels: {', '.join(f'{number:,} {names[name]}' for name, number in seen.labels.items())}"
    looked = False
    for statistic, when in ((found.assisted, "beside the verdict"), (found.revealed, "after a reveal")):
        if statistic.value is not None:
            looked = True
            yield f"Of the disagreements to be expected, {share_words(statistic)} follow the verdict {when}"
        elif statistic.status != "no_visible_labels":
            yield f"Labels {when}: {statistic.why}"
    for label, statistic in found.by_verdict.items():
        yield f"where the verdict is “{label}”: {share_words(statistic)}"
    if found.by_reveals is not None and found.by_reveals.value is not None:
        low, high = found.by_reveals.low or 0.0, found.by_reveals.high or 0.0
        yield (
            f"Per ten verdicts seen before, agreement of first labels with the judge changes by "
            f"{_signed(found.by_reveals.value)} points ({_signed(low)} to {_signed(high)})"
        )
    if found.flips is not None and found.flips.differed + found.flips.against:
        flips = found.flips
        yield (
            f"After a verdict that differed, {flips.toward:,} of {flips.differed:,} labels changed to it and "
            f"{flips.away:,} to something else; {flips.against:,} changed although it agreed"
        )
        if flips.p_value is not None:
            yield (
                f"By adjudication {flips.wrong_to_right:,} changes were from wrong to right and "
                f"{flips.right_to_wrong:,} from right to wrong; p {_p(flips.p_value)}"
            )
    if seen.de_anchored is not None and seen.de_anchored.value is not None:
        yield f"Share of the favourable label without the verdict's pull: {share_words(seen.de_anchored)}"
    if looked:
        yield f"This is {seen.scope}"


def _gaps(gaps: Sequence[SystemGap]) -> Iterator[str]:
    for one in gaps:
        low, high = one.gap.low or 0.0, one.gap.high or 0.0
        yield (
            f"{one.system}: {points(one.gap)} points ({_signed(low)} to {_signed(high)}), people "
            f"{decimal(one.people, 3)}, judge {decimal(one.judge, 3)}, n {one.gap.n:,}, p {_p(one.p_value)}"
        )


def _slices(found: JudgeTrust) -> Iterator[str]:
    tests = found.slice_tests
    if not tests:
        yield "No slice has enough items inside and outside to be tested"
        return
    differ = [one for one in tests if one.differs]
    # After an unequal draw `slice_tests` compares weighted shares instead.
    how = "t test of weighted shares" if "1/π" in tests[0].difference.method else "Fisher's exact test"
    yield f"{len(differ)} of {count(len(tests), 'test')} differ ({how}, adjusted over all by Holm)"
    for one in differ:
        yield _slice_words(one)


def worst_slice_sentence(found: JudgeTrust) -> str:
    """The slice in which the judge is worse than elsewhere by most; "" where no test differs that way."""
    worse = [one for one in found.slice_tests if one.differs and (one.difference.value or 0.0) < 0]
    if not worse:
        return ""
    worst = min(worse, key=lambda one: one.difference.value or 0.0)
    return f"Worse than elsewhere in {_slice_words(worst)}: one number over all does not show it"


def _slice_words(one: SliceTest) -> str:
    value = one.difference.value or 0.0
    return (
        f"{one.kind} {one.value}: {one.what} {_signed(value)} points ({_signed(one.difference.low or 0.0)} to "
        f"{_signed(one.difference.high or 0.0)}), n {one.difference.n:,}, p {_p(one.p_value)}"
    )


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    flagged = [one for one in findings if one.flagged]
    for one in flagged:
        yield f"{one.words}{_size(one)}"
    quiet = [one for one in findings if not one.flagged]
    if not flagged:
        yield "None of what follows is shown to sway it"
    for one in quiet[:MOST_NOTHINGS]:
        yield one.words
    if len(quiet) > MOST_NOTHINGS:
        yield f"and {len(quiet) - MOST_NOTHINGS} more things without a finding (audit --all --json names them)"


def _size(one: Finding) -> str:
    if one.statistic.value is None:
        return ""
    p = f"; p {_p(one.p_value)}" if one.p_value is not None else ""
    return f" ({one.statistic.method.split(';')[0]}: {decimal_words(one.statistic)}{p})"


def _subsets(found: JudgeTrust) -> Iterator[str]:
    subsets = {
        "that people were unsure of": found.unsure,
        "labelled within two seconds": found.hurried,
        "with a reference that people marked as wrong": found.wrong_reference,
    }
    known: dict[str, Subset] = {what: one for what, one in subsets.items() if one is not None}
    for what, one in known.items():
        yield (
            f"{count(one.n, 'item')} {what}: the judge agrees on {share_words(one.inside)}, on the others "
            f"{share_words(one.outside)}"
        )
    if missing := [what for what in subsets if what not in known]:
        yield f"No items {listed(missing, 'or')}"


def _confidence(found: JudgeTrust) -> Iterator[str]:
    said, chosen = found.confidence, found.selection
    assert said is not None
    yield (
        f"Brier score {decimal_words(said.brier, 3)}, calibration error {decimal_words(said.ece, 3)}, mean confidence "
        f"less agreement {decimal_words(said.gap, 3)}, n {said.brier.n:,}"
    )
    if chosen is None:
        yield (
            "From which confidence on it may decide alone is not said: the exact bound needs items drawn one by one "
            "with equal chances"
        )
    elif chosen.threshold is None:
        yield f"There is no confidence at which it may decide alone: {chosen.why}"
    else:
        yield (
            f"From confidence {chosen.threshold:g} on it disagrees with people on at most {percent(chosen.alpha)} "
            f"(wrong with probability {percent(chosen.delta)}): that is {percent(chosen.coverage)} of the items"
        )


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
