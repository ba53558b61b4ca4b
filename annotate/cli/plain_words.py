"""What the line-by-line desk says: whole sentences that make sense read aloud, one thing a line.

Nothing here is made safe for a terminal yet: whoever writes it out does that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotate.desk.actions import ACTIONS, HARMS, REASONS, KeyMap
from annotate.desk.aids import Side
from annotate.desk.desk import Desk
from annotate.desk.lessons import Lesson
from annotate.desk.reading import headline, names_a_model, response_line
from annotate.desk.review import BlockReview
from annotate.desk.sections import Section, Unit, fold_repeats
from annotate.desk.verdict_view import VerdictView, label_words
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import decisions_of
from store.records import LabelState

ONLY_ON_A_SCREEN = frozenset(
    {
        "find_next",
        "find_previous",
        "fold",
        "scroll_up",
        "scroll_down",
        "page_up",
        "page_down",
        "pager",
        "audit",
        "disagreements",
        "judge_runs",
        "retunes",
    }
)
"""Actions that only move a screen, or open one."""
_MODES = {
    "blind": "Blind: no verdict is shown before your label",
    "revised": "The verdict has been shown to you",
    "assisted": "Assisted: the verdict stands beside the item",
}
_PRACTICE = "Practice: what people settled is shown after your label, never a verdict"
_KINDS = {"checklist": "grid", "ranking": "ranking", "number": "number", "choice": "label"}
_HARM_WORDS = dict(HARMS.values())


def welcome(desk: Desk) -> str:
    """Where one is, at the beginning."""
    return (
        f"Reading desk, line by line. Reader {desk.annotator}. {desk.labelled} of {len(desk.queue)} items are labelled."
        " Type a label or a command and press Enter. A question mark lists what can be typed, q leaves."
    )


def ending(desk: Desk) -> Iterator[str]:
    """What was done, at the end; never of the judge."""
    yield ""
    if desk.phase == "done":
        yield "The time of this sitting is over." if desk.time_is_up else "This is the end of the queue."
    yield from desk.summary()


def sentence(message: str) -> str:
    """A message of the desk as a sentence; the dots between its parts are commas, as they are spoken."""
    spoken = message.replace(" · ", ", ")
    return f"{spoken[:1].upper()}{spoken[1:]}" + ("" if spoken.endswith((".", "?", "!", ":")) else ".")


def item_lines(desk: Desk, sections: Sequence[Section]) -> Iterator[str]:
    """An item to be read: where it is, its texts, the question, the labels, what was said so far."""
    reading = desk.current
    task = reading.task
    yield ""
    mode = _PRACTICE if desk.lessons.explained else _MODES[desk.mode]
    yield f"Item {desk.place + 1} of {len(desk.queue)}. {task.title}. {mode}."
    for section in sections:
        yield from section_lines(section)
    if names_a_model(reading):
        yield "Take care: a text of this item names a model or a system."
    yield task.question
    yield from label_lines(task)
    yield from state_lines(task, reading.state)


def label_lines(task: TaskDefinition) -> Iterator[str]:
    """The labels with their keys, one line a part."""
    for decision in decisions_of(task):
        title = decision.title
        keys = "; ".join(f"{label.key} {label.title}" for label in decision.labels)
        if decision.is_long:
            keys = f"a {_KINDS[decision.kind]}" + ("" if decision.required else ", optional") + "; part opens it"
        yield f"{title} {keys}." if title.endswith("?") else f"{title}: {keys}."


def state_lines(task: TaskDefinition, state: LabelState) -> Iterator[str]:
    """What this person has said of an item so far."""
    if state.decided:
        yield sentence(f"your label: {label_words(task, state)}")
    elif state.skipped:
        yield "You skipped this item earlier."
    facts = [
        f"tags {', '.join(state.tags)}" if state.tags else "",
        f"harm {_HARM_WORDS.get(state.harm, state.harm)}" if state.harm else "",
        "reference wrong" + (f", right is: {state.right_answer}" if state.right_answer else "")
        if state.reference_wrong
        else "",
        f"evidence turns {', '.join(str(turn + 1) for turn in state.evidence)}" if state.evidence else "",
        "flagged for the lead" if state.flagged else "",
        f"note: {state.note}" if state.note else "",
    ]
    for fact in filter(None, facts):
        yield f"Marked: {fact}."


def section_lines(section: Section, *, unfold: bool = False) -> Iterator[str]:
    """A section's texts; of a closed one only what is in it and how to read it."""
    title = section.title + (f" ({section.badge})" if section.badge else "")
    if section.folded and not unfold:
        yield f"{title}: {_amount(section)}, closed; open {section.id} reads it."
    elif section.kind == "text":
        yield f"{title}: {_text(section.units[0])}"
    elif section.kind == "dialogue":
        yield f"{title}, {_amount(section)}:"
        yield from _turn_lines(section.units)
    else:
        yield f"{title}:" if section.units else f"{title}: none."
        for number, unit in enumerate(section.units, start=1):
            yield f"  {unit.head or number}: {_text(unit)}"


def _turn_lines(turns: Sequence[Unit]) -> Iterator[str]:
    """Turns by number; what only repeats an earlier turn says so."""
    for entry in fold_repeats(turns).entries:
        turn = turns[entry.first]
        if entry.original == entry.first:
            yield turn_line(entry.first, turn)
        elif entry.last > entry.first:
            yield f"  Turns {entry.first + 1} to {entry.last + 1} repeat earlier ones."
        else:
            yield f"  Turn {entry.first + 1} repeats turn {entry.original + 1}."


def turn_line(number: int, turn: Unit) -> str:
    """One turn, 0-based number."""
    who = f", {turn.head}" if turn.head else ""
    return f"  Turn {number + 1}{who}: {_text(turn)}"


def _amount(section: Section) -> str:
    count = len(section.units)
    if section.kind == "text":
        return section.units[0].note or f"{len(section.units[0].text)} characters"
    what = "turn" if section.kind == "dialogue" else "text"
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _text(unit: Unit) -> str:
    return unit.text or unit.note


def verdict_lines(views: Sequence[VerdictView], system: str = "") -> Iterator[str]:
    """What the judges said; only for verdicts that may be shown."""
    for view in views:
        judge = f"Judge {view.judge}" + (f" ({view.detail})" if view.detail else "")
        differs = {True: " It differs from yours.", False: " It agrees with yours.", None: ""}[view.differs]
        yield sentence(f"{judge} says: {view.headline}") + differs
        yield from (f"{title}: {told}." for title, told in (*view.compared, *view.derived))
        yield f"Because: {view.rationale}" if view.rationale else "The judge gave no reason."
    if system and views:
        yield f"The system is {system}."


def lesson_lines(lesson: Lesson) -> Iterator[str]:
    """What people settled on an item of a practice draw; only once it has the own label."""
    if not lesson.label:
        yield "This item is settled no longer: people differ on it now, or it was imported anew."
        return
    yield f"Settled: {lesson.label}, {lesson.by}. {'It agrees with' if lesson.agrees else 'It differs from'} yours."
    if lesson.apart:
        yield f"Other than yours: {', '.join(lesson.apart)}."
    yield from (f"Because: {note}" for note in lesson.notes)
    if not lesson.notes:
        yield "Nobody wrote why."


def review_head(review: BlockReview) -> Iterator[str]:
    """What a block came to."""
    yield ""
    hidden = f", {review.hidden} stay hidden" if review.hidden else ""
    yield f"Review of a block: {review.labelled} labelled, {review.differing} differ{hidden}."
    yield "Enter keeps your label and goes on, a label key changes it, n says why, u takes the last act back."


def review_lines(review: BlockReview) -> Iterator[str]:
    """The line at the review's cursor."""
    line = review.line
    reading = line.reading
    yield ""
    yield f"Line {review.place + 1} of {len(review.lines)}. {reading.task.title}. {headline(reading, 200)}"
    if said := response_line(reading, 200):
        yield f"The response: {said}"
    yield from state_lines(reading.task, reading.state)
    yield from (f"{title}: {told}." for title, told in line.derived)
    yield from verdict_lines(line.views, reading.item.system)
    if review.place == 0 or review.lines[review.place - 1].reading.task.task != reading.task.task:
        yield from label_lines(reading.task)


def difference_lines(sides: Sequence[Side]) -> Iterator[str]:
    """What one text has and the other has not, in words."""
    for side in sides:
        if side.marks:
            found = "; ".join(f"{mark.kind} {side.text[mark.start : mark.end]}" for mark in side.marks)
            yield f"Only in {side.title}: {found}."


def menu_line(title: str, key: str, options: Sequence[tuple[str, str]]) -> str:
    """The second keys of a command, when it was typed alone."""
    return f"{title}: " + "; ".join(f"{key} {second} {words}" for second, words in options) + "."


def second_keys(menu: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """A menu's keys and words."""
    return [(key, title) for key, (_, title) in menu.items()]


def help_lines(task: TaskDefinition, keymap: KeyMap) -> Iterator[str]:
    """All that can be typed at an item of this task."""
    yield from label_lines(task)
    for label in task.labels:
        if label.hint:
            yield f"  {label.title}: {label.hint}"
    yield "A label is its key, its digit or its name. A capital letter, or the word unsure, says that you are unsure."
    for action in ACTIONS:
        if action.id not in ONLY_ON_A_SCREEN:
            keys = [key for key in keymap.keys_of[action.id] if len(key) == 1 or key == "enter"]
            yield f"{' or '.join([*keys, action.id.replace('_', ' ')])}: {action.description}."
    yield "open and a panel's name: read a closed panel."
    yield menu_line("Reasons", _key(keymap, "cannot_judge"), second_keys(REASONS))
    yield menu_line("Harm", _key(keymap, "harm"), second_keys(HARMS))


def _key(keymap: KeyMap, action: str) -> str:
    return keymap.keys_of[action][0]
