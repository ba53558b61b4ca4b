"""A panel of judges: the label of more than half of them, and how many agree as its confidence.

A panel is a judge like any other, made of verdicts that are there; it calls nobody. Each member stays a judge of its
own, so that an audit says how far each can be trusted (Verga et al. 2024, "Replacing Judges with Juries").
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judges.backends.answer import short_name
from judges.served import free_name
from store.errors import UsageError
from store.items import StoredItem, verdicts_by_item
from store.judged_rows import Call, Judged
from store.judging import PageKey, Which, add_judge, items_page, judges_of_task, write_judged
from store.records import JudgeRecord, VerdictRecord
from store.study import Study, now

AGREEMENT = "panel_agreement"
"""Source of a panel's confidence: the share of members that gave the label."""

DIVIDED, ABSENT = "divided", "missing"
"""No label has more than half of the members; not all of them judged the item."""

ROUTE = PANEL = "panel"
"""Route of a panel's verdicts; the parameter that holds its members."""
_PAGE = 512


@dataclass(frozen=True, slots=True)
class PanelResult:
    """What a panel came to: items with its label, items it is divided on, items that lack a member's verdict."""

    task: str
    judge: str
    members: tuple[str, ...]
    decided: int
    divided: int
    absent: int

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"members": list(self.members)}


def run_panel(study: Study, task: str, members: Sequence[str], which: Which = "all", name: str = "") -> PanelResult:
    """Give the panel's verdict on every item that all its members judged.

    Args:
        members: names of judges of this task, at least two.

    Raises:
        UsageError: there are fewer than two, one is named twice, is a panel itself or did not judge the task, or there
            is no such item.
    """
    known = judges_of_task(study, task)
    by_name: dict[str, list[str]] = {}
    for judge_id, record in known.items():
        by_name.setdefault(record.name, []).append(judge_id)
    panels = {record.name for record in known.values() if PANEL in record.parameters}
    _require_members(task, members, [judge for judge in by_name if judge not in panels], panels)
    wanted = short_name(name or f"panel of {', '.join(members)}")
    judge = JudgeRecord(task, wanted, parameters={PANEL: [sorted(by_name[m]) for m in members]})
    judge = replace(judge, name=free_name(wanted, [judge], known.values()))
    if not items_page(study, task, which, PageKey(), 1):
        raise UsageError(f"There is no {'' if which == 'all' else f'{which} '}item of {task}.", "", "Say --items all.")
    add_judge(study, judge)
    run_id, after = secrets.token_hex(8), PageKey()
    counts: Counter[str] = Counter()
    while items := items_page(study, task, which, after, _PAGE):
        after = PageKey(items[-1].system, items[-1].position, items[-1].item_id)
        given = _votes(study, items, by_name, members)
        verdicts = [_verdict(item, judge, members, given[item.item_id]) for item in items if given[item.item_id]]
        counts.update(verdict.failure or "decided" for verdict in verdicts)
        counts["absent"] += sum(not given[item.item_id] for item in items)
        whole = [verdict for verdict in verdicts if verdict.failure != ABSENT]
        write_judged(study, run_id, [Judged(v, Call(at=now().isoformat())) for v in whole]).result()
    return PanelResult(
        task, judge.name, tuple(members), counts["decided"], counts[DIVIDED], counts["absent"] + counts[ABSENT]
    )


def _require_members(task: str, members: Sequence[str], judges: Sequence[str], panels: Collection[str]) -> None:
    """Refuse members that cannot have one vote each."""
    there = f"{task} was judged by: {', '.join(judges) or 'none'}."
    if len(members) < 2:
        raise UsageError("A panel has at least two judges.", "", there)
    for member, count in Counter(members).items():
        if count > 1:
            raise UsageError(f"{member!r} is named {count} times; each judge has one vote.", "", there)
        if member in panels:
            raise UsageError(f"{member!r} is a panel itself.", "Its judges would vote twice.", there)
        if member not in judges:
            raise UsageError(f"{member!r} did not judge {task}.", "", there)


def _votes(
    study: Study, items: Sequence[StoredItem], by_name: Mapping[str, Sequence[str]], members: Sequence[str]
) -> dict[str, dict[str, VerdictRecord]]:
    """Item → member → its first verdict."""
    member_of = {judge_id: member for member in members for judge_id in by_name[member]}
    found: dict[str, dict[str, VerdictRecord]] = {item.item_id: {} for item in items}
    for item_id, verdicts in verdicts_by_item(study, items).items():
        for verdict in (stored.record for stored in verdicts):
            member = member_of.get(verdict.judge_id)
            if member is not None and verdict.repetition == 0:
                found[item_id][member] = verdict
    return found


def _verdict(
    item: StoredItem, judge: JudgeRecord, members: Sequence[str], votes: Mapping[str, VerdictRecord]
) -> VerdictRecord:
    labels = Counter(vote.label for vote in votes.values() if vote.label is not None)
    best, count = labels.most_common(1)[0] if labels else (None, 0)
    failure = ABSENT if len(votes) < len(members) else "" if 2 * count > len(votes) else DIVIDED
    agreeing = [vote for vote in votes.values() if vote.label == best] if not failure else []
    said = "; ".join(
        f"{member}: {votes[member].label or votes[member].failure}" for member in members if member in votes
    )
    return VerdictRecord(
        item_id=item.item_id, content_hash=item.content_hash, judge_id=judge.judge_id,
        label=None if failure else best, parts=_parts(agreeing), failure=failure, route=ROUTE,
        confidence=count / len(votes) if not failure else None, confidence_source=AGREEMENT if not failure else "",
        rationale=said, position=item.position,
    )  # fmt: skip


def _parts(agreeing: Sequence[VerdictRecord]) -> dict[str, str]:
    """Each part as more than half of the members with the label have it; a part they are divided on is left out."""
    found: dict[str, str] = {}
    for part in sorted({name for vote in agreeing for name in vote.parts}):
        value, count = Counter(vote.parts.get(part) for vote in agreeing).most_common(1)[0]
        if value is not None and 2 * count > len(agreeing):
            found[part] = value
    return found
