"""What stands beside a label: tags, note, harm, evidence, a wrong reference, a flag. Each a new state and its words."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from annotate.desk.actions import HARMS
from judges.benchmarks.benchmark import TaskDefinition
from store.records import LabelState


class Change(NamedTuple):
    """The state after a mark was set, and what to tell the person; the same state when nothing changed."""

    state: LabelState
    words: str


def what_differs(before: LabelState, after: LabelState) -> str:
    """In words what one act changed of a person's label: "note", "label and tags"; "" when nothing did."""
    value = ("value", "parts", "unsure", "cannot_judge")
    fields = {
        "label": value, "note": ("note",), "tags": ("tags",), "harm": ("harm",), "evidence": ("evidence",),
        "wrong reference": ("reference_wrong", "right_answer"), "flag": ("flagged",), "skip": ("skipped",),
    }  # fmt: skip
    changed = [
        what for what, names in fields.items() if any(getattr(before, name) != getattr(after, name) for name in names)
    ]
    if "label" in changed and "skip" in changed:
        changed.remove("skip")  # a label takes the skip along
    return " and ".join(changed)


def harm(state: LabelState, key: str) -> Change:
    """Harm if the response were believed, by its degree's key."""
    if key not in HARMS:
        return Change(state, "harm: no such degree, nothing changed")
    degree, words = HARMS[key]
    return Change(replace(state, harm=degree), f"harm: {words}")


def tag(state: LabelState, task: TaskDefinition, digit: str) -> Change:
    """Set or unset the tag of that digit, 1-based."""
    if not (digit.isascii() and digit.isdecimal() and 1 <= int(digit) <= len(task.tags)):
        return Change(state, "tag: no such digit, nothing changed")
    name = task.tags[int(digit) - 1]
    if name in state.tags:
        return Change(replace(state, tags=tuple(t for t in state.tags if t != name)), f"tag {name}: off")
    return Change(replace(state, tags=(*state.tags, name)), f"tag {name}: on")


def note(state: LabelState, text: str) -> Change:
    """The note as it stands; "" takes it off."""
    written = storable(text)
    if written == state.note:
        return Change(state, "")
    return Change(replace(state, note=written), "note saved" if written else "note removed")


def reference_wrong(state: LabelState, right_answer: str) -> Change:
    """The reference is wrong, and what it should say ("" when the person does not know)."""
    changed = replace(state, reference_wrong=True, right_answer=storable(right_answer))
    return Change(changed, "reference marked wrong" if changed != state else "")


def reference_right(state: LabelState) -> Change:
    """Take that mark off again."""
    return Change(replace(state, reference_wrong=False, right_answer=""), "reference no longer marked wrong")


def evidence(state: LabelState, turn: int) -> Change:
    """Mark or unmark a dialogue turn, 0-based."""
    if turn < 0:
        return Change(state, "there is no such turn")
    words = "no longer evidence" if turn in state.evidence else "marked as evidence"
    return Change(replace(state, evidence=tuple(sorted({turn} ^ set(state.evidence)))), f"turn {turn + 1}: {words}")


def flag(state: LabelState) -> Change:
    """Flag for the lead, or take the flag off."""
    words = "flag taken off" if state.flagged else "flagged for the lead"
    return Change(replace(state, flagged=not state.flagged), words)


def storable(text: str) -> str:
    """What a person wrote, as it can be stored: half characters (lone surrogates) become U+FFFD, NUL goes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "")
