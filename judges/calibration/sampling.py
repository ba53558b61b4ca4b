"""Drawing items: seeded orders with known inclusion probabilities."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import NamedTuple

NEVER_SHOWN_SHARE = 0.25
"""Share of items whose verdict an annotator is never shown: measures what seeing it does (anchoring)."""


class Candidate(NamedTuple):
    """An item that may be drawn.

    Attributes:
        group: items of one share a long text; "" for one that shares none. stratum: "" for a single stratum.
        part: within a drawn group so many items are taken of each part (task).
    """

    item_id: str
    group: str = ""
    stratum: str = ""
    part: str = ""


class Place(NamedTuple):
    """An item's place in a draw.

    Attributes:
        group_number: groups are numbered as they are served; items of one number are served together.
        probability: with which the design draws the item.
    """

    item_id: str
    group_number: int
    stratum: str = ""
    probability: float = 1.0


def two_stage_order(units: Sequence[Candidate], seed: int) -> list[Place]:
    """All items in seeded random order, those of a group together: groups at random, items within at random.

    Independent of the order in which the units come. Every served prefix that ends at a group's end is a simple random
    sample of groups.
    """
    groups: dict[str, list[str]] = {}
    for unit in units:
        groups.setdefault(unit.group or f"\0{unit.item_id}", []).append(unit.item_id)
    chooser = random.Random(seed)
    names = sorted(groups)
    chooser.shuffle(names)
    places: list[Place] = []
    for number, name in enumerate(names):
        members = sorted(groups[name])
        chooser.shuffle(members)
        places.extend(Place(member, number) for member in members)
    return places


def is_never_shown(item_id: str, annotator: str, seed: int, share: float = NEVER_SHOWN_SHARE) -> bool:
    """Whether this annotator never sees the verdict on this item: a fixed coin by (item, annotator, seed)."""
    coin = hashlib.sha256(f"{seed}\0{annotator}\0{item_id}".encode()).digest()
    return int.from_bytes(coin[:8], "big") < share * 2**64
