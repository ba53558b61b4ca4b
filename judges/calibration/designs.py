"""Draws of items with known inclusion probabilities, that can be topped up and stopped.

Every unit has one fixed random number, by (seed, its name); a draw takes the smallest. So a draw of twenty is the first
twenty of a draw of fifty with the same seed, topping up changes nobody's chance but raises all alike, and the order in
which items are served is random (permanent random numbers, Ohlsson 1995).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judges.calibration.correction.records import Design, Draw
from judges.calibration.sampling import Candidate, Place

Allocation = Literal["proportional", "equal", "neyman"]
"""How labels are spread over strata: by size, alike, or by size times spread (Neyman 1934)."""

LEAST_IN_STRATUM = 2
"""A stratum with one label shows no spread."""


@dataclass(frozen=True, slots=True)
class DrawnPlan:
    """A draw in the order it is served. `design` is what the correction is told."""

    design: Design
    places: tuple[Place, ...]
    seed: int

    @property
    def items(self) -> list[str]:
        return [place.item_id for place in self.places]


def draw_simple(candidates: Sequence[Candidate], n: int, seed: int) -> DrawnPlan:
    """n items at random, each alike."""
    chosen = _ranked(candidates, seed)[:n]
    chance = len(chosen) / len(candidates) if candidates else 0.0
    places = tuple(Place(one.item_id, number, "", chance) for number, one in enumerate(chosen))
    return DrawnPlan("simple", places, seed)


def draw_stratified(
    candidates: Sequence[Candidate],
    n: int,
    seed: int,
    allocation: Allocation = "proportional",
    spread: Mapping[str, float] | None = None,
) -> DrawnPlan:
    """Items at random within each stratum, served in an order that says nothing of the stratum.

    The order is shuffled over all strata: were they served in turn, a reader who knows of some items which stratum they
    were in (the verdict, say) could tell the next one's. Within a stratum a beginning of the order is still a simple
    random sample.

    Args:
        spread: standard deviation of each stratum's labels, for `neyman`; 1 where none is given.
    """
    strata: dict[str, list[Candidate]] = {}
    for one in _ranked(candidates, seed):
        strata.setdefault(one.stratum, []).append(one)
    counts = allocate({name: len(members) for name, members in strata.items()}, n, allocation, spread)
    drawn = [
        Place(one.item_id, 0, name, counts[name] / len(members))
        for name, members in strata.items()
        for one in members[: counts[name]]
    ]
    ordered = sorted(drawn, key=lambda place: uniform(seed, "order", place.item_id))
    return DrawnPlan("simple", tuple(place._replace(group_number=k) for k, place in enumerate(ordered)), seed)


def draw_two_stage(
    candidates: Sequence[Candidate],
    groups: int,
    seed: int,
    within: int | None = None,
    allocation: Allocation = "proportional",
) -> DrawnPlan:
    """Groups at random (within each stratum of groups), then items at random within each, served group by group.

    Args:
        candidates: those of one group have one stratum.
        groups: how many groups. within: items of each part of each, all of smaller ones; None for all (a cluster
            sample). allocation: of groups over strata; their spread is not known, so `neyman` is by size.

    Raises:
        ValueError: a group lies in two strata.
    """
    members: dict[str, list[Candidate]] = {}
    for one in _ranked(candidates, seed):
        members.setdefault(one.group or f"\0{one.item_id}", []).append(one)
    stratum = {name: held[0].stratum for name, held in members.items()}
    if any(one.stratum != stratum[name] for name, held in members.items() for one in held):
        raise ValueError("a group lies in two strata")
    sizes = Counter(stratum.values())
    counts = allocate(sizes, groups, allocation) if len(sizes) > 1 else dict.fromkeys(sizes, groups)
    order: list[str] = []
    taken: Counter[str] = Counter()
    for name in sorted(members, key=lambda name: uniform(seed, "group", name)):
        if taken[stratum[name]] < counts[stratum[name]]:
            taken[stratum[name]] += 1
            order.append(name)
    places: list[Place] = []
    for number, name in enumerate(order):
        first = taken[stratum[name]] / sizes[stratum[name]]
        places += [
            Place(one.item_id, number, one.stratum, first * share) for one, share in _within(members[name], within)
        ]
    return DrawnPlan("two_stage", tuple(places), seed)


def _within(members: Sequence[Candidate], within: int | None) -> list[tuple[Candidate, float]]:
    """The items taken of a group, in its order, and the share of their part that is taken."""
    sizes = Counter(one.part for one in members)
    taken: Counter[str] = Counter()
    found = []
    for one in members:
        if within is None or taken[one.part] < within:
            taken[one.part] += 1
            found.append(one)
    return [(one, taken[one.part] / sizes[one.part]) for one in found]


def draw_unequal(
    candidates: Sequence[Candidate], n: int, interest: Mapping[str, float], seed: int, uniform_share: float = 0.5
) -> DrawnPlan:
    """Items one by one, the more interesting the likelier; about n of them.

    Each is drawn on its own with its own chance, so the size varies; the draw counts as a whole, not a beginning of it.

    Args:
        interest: of each item, 0 or more. uniform_share: part of the chance that is the same for all, so that none is
            so small that its label would count for hundreds.
    """
    chances = inclusion_chances([max(interest.get(one.item_id, 0.0), 0.0) for one in candidates], n, uniform_share)
    drawn = [
        (uniform(seed, "item", one.item_id) / chance, Place(one.item_id, 0, one.stratum, chance))
        for one, chance in zip(candidates, chances, strict=True)
        if chance > 0 and uniform(seed, "item", one.item_id) < chance
    ]
    ordered = [place for _, place in sorted(drawn, key=lambda pair: pair[0])]
    return DrawnPlan("unequal", tuple(place._replace(group_number=k) for k, place in enumerate(ordered)), seed)


def inclusion_chances(interest: Sequence[float], n: int, uniform_share: float = 0.5) -> list[float]:
    """Chances that sum to n (or to all), `uniform_share` of them alike and the rest by interest, none above 1."""
    size = len(interest)
    if n >= size:
        return [1.0] * size
    values = np.asarray(interest, dtype=np.float64)
    total = float(values.sum())
    weights = uniform_share / size + (1 - uniform_share) * (values / total if total > 0 else np.full(size, 1 / size))
    sure = np.zeros(size, dtype=bool)
    while True:
        rest = n - int(sure.sum())
        chances = np.where(sure, 1.0, rest * weights / weights[~sure].sum())
        if not bool((chances[~sure] > 1).any()):
            return [float(chance) for chance in chances]
        sure |= chances > 1


def allocate(
    sizes: Mapping[str, int], n: int, allocation: Allocation = "proportional", spread: Mapping[str, float] | None = None
) -> dict[str, int]:
    """Labels of each stratum, n in all (fewer when there are fewer items), at least two each where there are so many.

    With fewer labels than two for each stratum the largest are served first, and the draw says nothing of the rest.
    """
    wanted = {
        "proportional": {name: float(size) for name, size in sizes.items()},
        "equal": {name: 1.0 for name in sizes},
        "neyman": {name: size * (spread or {}).get(name, 1.0) for name, size in sizes.items()},
    }[allocation]
    counts = dict.fromkeys(sizes, 0)
    for name in sorted(sizes, key=lambda stratum: -sizes[stratum]):
        counts[name] = min(LEAST_IN_STRATUM, sizes[name], n - sum(counts.values()))
    for _ in range(min(n, sum(sizes.values())) - sum(counts.values())):
        open_ones = [name for name in sizes if counts[name] < sizes[name]]
        # The next label goes where the share wanted is furthest ahead of the share had (Sainte-Laguë).
        best = max(open_ones, key=lambda name: (wanted[name] / (2 * counts[name] + 1), name))
        counts[best] += 1
    return counts


def top_up(plan: DrawnPlan, larger: DrawnPlan) -> list[Place]:
    """What a larger draw by the same seed adds, in its order; the inclusion probabilities of all are the larger draw's.

    Raises:
        ValueError: the larger draw lacks an item of the smaller: it is another seed, design or set of items.
    """
    before, after = set(plan.items), set(larger.items)
    if plan.seed != larger.seed or plan.design != larger.design or not before <= after:
        raise ValueError("the larger draw does not contain the smaller one")
    return [place for place in larger.places if place.item_id not in before]


def served_prefix(plan: DrawnPlan, served: Iterable[str]) -> tuple[Place, ...]:
    """The beginning of the order that counts: up to the end of the last group that was served whole.

    Args:
        served: items that were shown to somebody who could have labelled them, skipped ones included.
    """
    shown = set(served)
    end = 0
    for place, one in enumerate(plan.places):
        if one.item_id not in shown:
            break
        last = place + 1 == len(plan.places) or plan.places[place + 1].group_number != one.group_number
        end = place + 1 if last else end
    return plan.places[:end]


def served_draw(plan: DrawnPlan, candidates: Sequence[Candidate], served: Iterable[str]) -> Draw:
    """What the correction is told: the served prefix among all candidates, in their order.

    Raises:
        ValueError: a drawn item is not among the candidates; an unequal draw was not served whole.
    """
    index = {one.item_id: place for place, one in enumerate(candidates)}
    prefix = served_prefix(plan, served)
    if plan.design == "unequal" and len(prefix) < len(plan.places):
        raise ValueError("a draw with unequal probabilities counts only when it is served whole")
    missing = [place.item_id for place in prefix if place.item_id not in index]
    if missing:
        raise ValueError(f"{len(missing)} drawn items are not among the candidates")
    drawn = np.array([index[place.item_id] for place in prefix], dtype=np.int64)
    names = [one.stratum for one in candidates]
    strata = (
        np.unique(names, return_inverse=True)[1] if plan.design == "simple" and any(p.stratum for p in prefix) else None
    )
    groups = None
    if plan.design == "two_stage":
        groups = np.unique([one.group or f"\0{one.item_id}" for one in candidates], return_inverse=True)[1]
    return Draw(drawn, len(candidates), plan.design, strata, groups, _chances(plan, index))


def _chances(plan: DrawnPlan, index: Mapping[str, int]) -> np.ndarray | None:
    if plan.design != "unequal":
        return None
    chances = np.full(len(index), np.nan)
    for place in plan.places:
        chances[index[place.item_id]] = place.probability
    return chances


def uniform(seed: int, kind: str, name: str) -> float:
    """The random number in [0, 1) of one unit under one seed."""
    digest = hashlib.sha256(f"{seed}\0{kind}\0{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def _ranked(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    return sorted(candidates, key=lambda one: (uniform(seed, "item", one.item_id), one.item_id))
