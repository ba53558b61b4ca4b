"""Disagreements as cases to read: the item's panels, both labels, the judge's reason, what people noted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from annotate.desk.actions import HARMS
from annotate.desk.ledger import Reading
from annotate.desk.reading import headline
from annotate.desk.sections import EMPTY, Section, sections_of
from annotate.desk.verdict_view import label_words, titles
from annotate.exchange.entries import LabelEntry
from annotate.report.blocks import Case, Panel, Passage
from annotate.report.disagreements import Disagreement
from annotate.report.facts import Facts
from judges.benchmarks.benchmark import Panel as PanelDefinition
from judges.benchmarks.benchmark import TaskDefinition
from store.items import StoredItem, get_items, get_texts, verdicts_by_item
from store.records import LabelState

TEXT_LIMIT: Final = 1500
"""Characters of a text that are printed; the rest stays in the study."""
ENTRY_LIMIT: Final = 500
LIST_LIMIT: Final = 12
"""Characters of a list's entry, and entries of a list."""
_TITLE_LIMIT: Final = 110
_HARM_WORDS: Final = dict(HARMS.values())


def cases(facts: Facts, shown: Sequence[Disagreement], judge: str) -> list[Case]:
    """The disagreements as cases, their items and texts read in one pass."""
    items = get_items(facts.study, [one.item_id for one in shown])
    entries = {one.item_id: facts.entries.get(one.item_id, []) for one in shown}
    texts = _long_texts(facts, items.values(), entries) if facts.options.texts else {}
    reasons = _rationales(facts, items.values(), judge) if facts.options.texts else {}
    return [
        _case(
            facts,
            one,
            items[one.item_id],
            entries[one.item_id],
            {name: texts[key] for name, key in items[one.item_id].texts.items() if key in texts},
            reasons.get(one.item_id, ""),
        )
        for one in shown
        if one.item_id in items
    ]


def _case(
    facts: Facts,
    one: Disagreement,
    item: StoredItem,
    entries: Sequence[LabelEntry],
    texts: Mapping[str, str],
    rationale: str,
) -> Case:
    task, with_texts = facts.tasks[one.task], facts.options.texts
    panels = [*_panels(task, item, entries, texts)] if with_texts else []
    if rationale:
        panels.append(Panel("The judge's reason", (_passage(rationale, TEXT_LIMIT),)))
    return Case(
        title=headline(Reading(item, task, LabelState(), ()), _TITLE_LIMIT) if with_texts else f"item {item.item_id}",
        people=_words(task, one.people) + (f" ({', '.join(one.by)})" if one.by else ""),
        judge=_words(task, one.judge),
        where=f"{item.system}, item {item.item_id}",
        remark=_why_early(one),
        urgent=one.dangerous,
        panels=tuple(panels),
        remarks=(
            *_other_voices(task, one, entries),
            *(remark for entry in entries for remark in _remarks(task, entry, with_texts=with_texts)),
        ),
    )


def _words(task: TaskDefinition, said: Mapping[str, str]) -> str:
    return titles(task, said.get(""), {part: label for part, label in said.items() if part})


def _other_voices(task: TaskDefinition, one: Disagreement, entries: Sequence[LabelEntry]) -> Iterator[str]:
    """Blind labels of people who said something else than the majority."""
    for entry in entries:
        if one.by and entry.annotator not in one.by and entry.blind is not None and entry.blind[0].decided:
            yield f"{entry.annotator} said: {label_words(task, entry.blind[0])}"


def _why_early(one: Disagreement) -> str:
    if one.dangerous:
        harm = _HARM_WORDS.get(one.harm, one.harm)
        return f"Harm if believed: {harm}{'; the judge passed it' if one.passed else ''}"
    return "wrong, passed" if one.passed else ""


def _panels(
    task: TaskDefinition, item: StoredItem, entries: Sequence[LabelEntry], texts: Mapping[str, str]
) -> Iterator[Panel]:
    """What the judge saw, shortened; of a dialogue the turns that people marked as evidence."""
    for definition, section in zip(task.panels, sections_of(task.panels, item.payload, texts), strict=True):
        if definition.kind == "dialogue":
            yield from _evidence(section, entries, seen=definition.judge_saw and not definition.folded)
        elif _is_shown(definition):
            yield _panel(section)


def _is_shown(panel: PanelDefinition) -> bool:
    return panel.judge_saw and not panel.folded and panel.kind != "dialogue"


def _panel(section: Section) -> Panel:
    limit = TEXT_LIMIT if len(section.units) == 1 else ENTRY_LIMIT
    passages = [_passage(unit.text, limit, unit.head, unit.note) for unit in section.units[:LIST_LIMIT]]
    if (left := len(section.units) - LIST_LIMIT) > 0:
        passages.append(Passage("", note=f"{left:,} more entries are in the study"))
    if not passages:
        passages.append(Passage("", note=EMPTY))
    return Panel(section.title, tuple(passages), numbered=section.kind == "list" and len(section.units) > 1)


def _evidence(section: Section, entries: Sequence[LabelEntry], *, seen: bool) -> Iterator[Panel]:
    marked = sorted({turn for entry in entries for turn in entry.state.evidence if turn < len(section.units)})
    turns = [(turn, section.units[turn]) for turn in marked]
    if turns:
        passages = (_passage(unit.text, ENTRY_LIMIT, f"Turn {turn + 1}, {unit.head}") for turn, unit in turns)
        yield Panel(f"{section.title}: marked as evidence", tuple(passages))
    elif seen:
        yield Panel(section.title, (Passage("", note="not printed here; it is in the study"),))


def _passage(text: str, limit: int, head: str = "", note: str = "") -> Passage:
    """A text, cut at a blank before `limit`, with a note that says how much is left out."""
    if len(text) <= limit:
        return Passage(text, head, note)
    end = text.rfind(" ", limit // 2, limit)
    kept = text[: end if end > 0 else limit].rstrip()
    return Passage(f"{kept} …", head, f"{len(text) - len(kept):,} more characters are in the study")


def _remarks(task: TaskDefinition, entry: LabelEntry, *, with_texts: bool) -> Iterator[str]:
    """What one person marked on the item, beside the label."""
    state, who = entry.state, entry.annotator
    marks = [
        "unsure" if state.unsure else "",
        f"harm if believed: {_HARM_WORDS.get(state.harm, state.harm)}" if state.harm else "",
        "reference wrong" if state.reference_wrong else "",
        f"tags: {', '.join(state.tags)}" if state.tags else "",
        "flagged" if state.flagged else "",
    ]
    if found := [mark for mark in marks if mark]:
        yield f"{who}: {'; '.join(found)}"
    if with_texts and state.right_answer:
        yield f"{who} on the right answer: {state.right_answer}"
    if with_texts and state.note:
        yield f"{who} notes: {state.note}"
    if is_changed(entry):
        yield f"{who} changed the label after the verdict was seen, to {label_words(task, state)}"


def is_changed(entry: LabelEntry) -> bool:
    """Whether a person's decision is another one now than it was before the verdict was seen."""
    if entry.blind is None or entry.shown is None:
        return False
    before, after = entry.blind[0], entry.state
    return (before.value, before.parts, before.cannot_judge) != (after.value, after.parts, after.cannot_judge)


def _long_texts(
    facts: Facts, items: Iterable[StoredItem], entries: Mapping[str, Sequence[LabelEntry]]
) -> dict[str, str]:
    """The long texts the cases print, by hash: a dialogue only where turns of it are marked."""
    wanted: set[str] = set()
    for item in items:
        marked = any(entry.state.evidence for entry in entries[item.item_id])
        for panel in facts.tasks[item.task].panels:
            if _is_shown(panel) or (panel.kind == "dialogue" and marked):
                names = (name.strip() for name in panel.field.split(","))
                wanted.update(item.texts[name] for name in names if name in item.texts)
    return get_texts(facts.study, wanted)


def _rationales(facts: Facts, items: Iterable[StoredItem], judge: str) -> dict[str, str]:
    """The judge's own reason by item, of its first repetition."""
    found: dict[str, str] = {}
    for item_id, verdicts in verdicts_by_item(facts.study, list(items)).items():
        for verdict in verdicts:
            if verdict.judge == judge and verdict.record.repetition == 0:
                found[item_id] = verdict.record.rationale
    return found
