"""An audit in plain words: what the judge misses first, then on how many labels that rests."""

from __future__ import annotations

from collections.abc import Mapping

from judges.calibration.audit_result import Audit, Dropped, JudgeAgreement, TaskAudit, UnreadableCounted

LABEL_ITEMS = 5
"""Below so many items of a label nothing is said about the judge's misses of it."""
NAMED_LABELS = 4
"""Of more labels only the one that an unreadable verdict is best taken for is named."""
FIRST_ANSWER = 20
"""Below so many items no verdict on the judge is given in words."""

SEEN_APART = 0.005
"""A share of all items that lies closer to that of the labelled ones is not told beside it."""


def plain_words(audit: Audit) -> list[str]:
    """Two lines for each task, part and judge: the finding, and its n, what was left out and by which rule.

    Tasks and judges are named where there are several.
    """
    lines: list[str] = []
    several = sum(1 + len(task.parts) for task in audit.tasks.values()) > 1
    for name, task in audit.tasks.items():
        parts = {f"{name} / {part}": found for part, found in task.parts.items() if found.judges}
        blocks = {name: task} | parts
        for title, block in blocks.items():
            lines += _block(title if several else "", block)
    return lines


def _block(title: str, task: TaskAudit) -> list[str]:
    if not task.judges:
        return [_named([title], f"No verdicts yet: {task.labelled} of {_count(task.items, 'item')} labelled")]
    lines: list[str] = []
    for judge, found in task.judges.items():
        name = [title, judge if len(task.judges) > 1 else ""]
        lines += [_named(name, finding(task, found)), _named(name, basis(task, found))]
    return lines


def finding(task: TaskAudit, judge: JudgeAgreement) -> str:
    """One sentence on the judge: the label it misses most often, or how often it agrees, or too few labels to say."""
    agreed = sum(judge.confusion[label][label] for label in judge.confusion)
    if judge.n < FIRST_ANSWER:
        return _too_few(task, judge, agreed)
    if agreed == judge.n:
        return f"The judge agreed with people on all {_count(judge.n, 'item')}"
    worst = _worst(judge)
    if worst is None:
        return f"The judge agreed with people on {agreed:,} of {_count(judge.n, 'item')}"
    return _misses(task, judge, worst)


def basis(task: TaskAudit, judge: JudgeAgreement) -> str:
    """What the finding rests on: n, what was left out, and the rule."""
    left_out = _left_out(task.dropped, judge)
    parts = [f"n = {judge.n:,} of {task.labelled:,} labelled ({_count(task.items, 'item')} in all)"]
    parts.append(f"left out: {', '.join(left_out)}" if left_out else "nothing left out")
    parts.append("counted are blind labels of the stream estimate on items with a readable verdict")
    counted = judge.unreadable_counted
    if counted and counted.raw_agreement.value is not None and judge.raw_agreement.value is not None:
        parts.append(_treatments(task, judge.raw_agreement.value, counted))
    return "; ".join(parts)


def _treatments(task: TaskAudit, left_out: float, counted: UnreadableCounted) -> str:
    """Agreement by what is made of unreadable verdicts: left out, a disagreement, or one of the labels."""
    as_label = {label: raw.value for label, (raw, _) in counted.as_label.items() if raw.value is not None}
    if len(as_label) > NAMED_LABELS:
        most = max(as_label, key=lambda label: as_label[label])
        as_label = {most: as_label[most]}
    named = "".join(f", {value:.1%} as {_shown(task, label)}" for label, value in as_label.items())
    assert counted.raw_agreement.value is not None
    return (
        f"with unreadable verdicts counted as disagreement, agreement is {counted.raw_agreement.value:.1%} instead of "
        f"{left_out:.1%}{named}"
    )


def _too_few(task: TaskAudit, judge: JudgeAgreement, agreed: int) -> str:
    resolved = judge.n + judge.unreadable + judge.no_verdict
    if resolved >= FIRST_ANSWER:
        said = f"Too few readable verdicts to say: {judge.n} on {_count(resolved, 'labelled item')}"
    else:
        said = f"Too few labels to say: {task.labelled:,} of {task.items:,} labelled"
    if judge.n:
        said += f"; the judge agreed with people on {agreed} of {_count(judge.n, 'item')}"
    missing = FIRST_ANSWER - resolved
    if 0 < missing <= task.items - task.labelled:
        said += f"; {_count(missing, 'more label')} would give a first answer"
    return said


def _worst(judge: JudgeAgreement) -> str | None:
    """The label with the lowest recall among those with enough items; of equals the one with more misses."""
    recalls = {
        label: found.recall.value
        for label, found in judge.per_label.items()
        if found.n >= LABEL_ITEMS and found.recall.value is not None
    }
    missed = {label: share for label, share in recalls.items() if share < 1}
    return min(missed, key=lambda label: (missed[label], -judge.per_label[label].n)) if missed else None


def _misses(task: TaskAudit, judge: JudgeAgreement, label: str) -> str:
    row = judge.confusion[label]
    n, hits = sum(row.values()), row[label]
    title = _shown(task, label)
    instead = _instead(task, {other: count for other, count in row.items() if other != label and count})
    agreed = f"agreed on {hits:,}" if hits else "agreed on none"
    share = judge.per_label[label].recall.value
    weighed = ""
    if share is not None and abs(share - hits / n) >= SEEN_APART:
        weighed = f"; as items were drawn with unequal chances, of all {title} items it misses about {1 - share:.0%}"
    return (
        f"The judge misses {n - hits:,} of {n:,} {title} items "
        f"(people called {_count(n, 'item')} {title}; the judge {agreed} and called {instead}){weighed}"
    )


def _instead(task: TaskAudit, others: Mapping[str, int]) -> str:
    ranked = sorted(others, key=lambda label: -others[label])
    named = [f"{others[label]:,} {_shown(task, label)}" for label in ranked]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _shown(task: TaskAudit, label: str) -> str:
    """The label's title; a bare number or sign in quotes, so that "98 3" does not read as one number."""
    title = task.titles[label]
    return title if any(letter.isalpha() for letter in title) else f'"{title}"'


def _left_out(dropped: Dropped, judge: JudgeAgreement) -> list[str]:
    counts = {
        "unreadable verdict": judge.unreadable,
        "item without a verdict": judge.no_verdict,
        "item on which people disagree": dropped.unresolved_items,
        "item people cannot judge": dropped.cannot_judge_items,
        "label given after a verdict was seen": dropped.labels_not_blind,
        "label of another stream": dropped.labels_not_estimate,
        "label outside the label set": dropped.labels_outside_set,
    }
    return [_count(count, noun) for noun, count in counts.items() if count]


def _count(count: int, noun: str) -> str:
    """ "1 item", "2 items": the first word that is a thing takes the plural."""
    if count == 1:
        return f"1 {noun}"
    words = noun.split()
    for place, word in enumerate(words):
        if word in _THINGS:
            words[place] = f"{word}s"
            break
    return f"{count:,} {' '.join(words)}"


_THINGS = frozenset({"item", "verdict", "label"})


def _named(names: list[str], sentence: str) -> str:
    known = [name for name in names if name]
    return f"{' · '.join(known)}: {sentence}" if known else sentence
