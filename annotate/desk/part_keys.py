"""What a key means while a grid, a ranking or a number is open; what means nothing there keeps its usual meaning."""

from __future__ import annotations

from annotate.desk.actions import ACTIONS, PART_ACTS, PART_SCOPES, KeyMap, PartAct, normalise_key
from annotate.desk.entries import Entry, Grid, Number, Ranking

CLOSE = "escape"
"""The desk's own key: what is open is closed, what was given of it stays."""


def part_act(entry: Entry, keymap: KeyMap, key: str) -> PartAct | None:
    """What a key does to the open entry; None when it is not about it."""
    pressed = normalise_key(key)
    if pressed == CLOSE:
        return PartAct("close")
    if isinstance(entry, Grid) and (act := _cell_act(entry, pressed)) is not None:
        return act
    action = keymap.part_keys(entry.decision.kind).get(pressed)  # type: ignore[arg-type]
    if action == "show_entry":
        return PartAct("show", number=keymap.keys_of[action].index(pressed) + 1)
    if action is not None:
        return PART_ACTS[action]
    if isinstance(entry, Ranking) and (placed := entry.letters.get(pressed)) is not None:
        return PartAct("place", placed)
    if isinstance(entry, Number) and len(pressed) == 1 and entry.add(pressed) != entry:
        return PartAct("type", pressed)
    return None


def taken_actions(entry: Entry, keymap: KeyMap) -> set[str]:
    """The desk's actions whose first key means something else while this entry is open: a reminder of it would lie."""
    usual = (action.id for action in ACTIONS if action.scope not in PART_SCOPES)
    return {action for action in usual if part_act(entry, keymap, keymap.keys_of[action][0]) is not None}


def _cell_act(entry: Grid, pressed: str) -> PartAct | None:
    for label in entry.decision.labels:
        if pressed in (label.key, label.digit):
            return PartAct("answer", label.value)
        if pressed == label.key.upper():
            return PartAct("fill", label.value)
    return None
