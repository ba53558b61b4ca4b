"""Draws of the stream `estimate`: by which design, how many of what, stored with their chances; and topping them up."""

from __future__ import annotations

import datetime as dt
import math
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judges.calibration.sampling import NEVER_SHOWN_SHARE, Place
from judges.draw_frame import FrameItem, Together, Unit, drawable_tasks, frame_of, frame_sizes, shares_texts, units_of
from judges.made_draws import MADE_BY
from store.draws import Draw, DrawnItem, RevealPolicy, Stream, add_draw, drawn_items
from store.errors import UsageError
from store.study import Study, now

if TYPE_CHECKING:
    from judges.calibration.designs import Allocation, DrawnPlan

REVEALS: Mapping[Stream, RevealPolicy] = {"estimate": "block", "learn": "item", "check": "never", "practice": "item"}
"""When the verdict is shown unless said otherwise. A repeat shows none: it would be no second opinion."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a draw.

    Attributes:
        n: items; questions when `paired`; with texts or clusters about so many items.
        together: what is drawn first; None decides by what items share.
        within: items of each task in each drawn text; None for what costs the reader least; 0 for all.
        reveal: "" for the stream's own policy.
    """

    n: int
    stream: Stream = "estimate"
    task: str = ""
    system: str = ""
    by: tuple[str, ...] = ()
    allocation: Allocation = "proportional"
    judge: str = ""
    together: Together | None = None
    within: int | None = None
    paired: bool = False
    reveal: RevealPolicy | str = ""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class MadeDraw:
    """A draw that stands in the study.

    Attributes:
        strata: (items drawn, items there are) by stratum; empty without strata.
        groups: texts (or clusters) to read; 0 where items are drawn one by one.
        before: items of it that an earlier draw had, which this one continues.
    """

    draw: Draw
    items: tuple[DrawnItem, ...]
    strata: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    groups: int = 0
    before: int = 0

    def as_json(self) -> dict[str, Any]:
        draw = self.draw
        return {
            "draw_id": draw.draw_id, "stream": draw.stream, "task": draw.task or None, "design": draw.design,
            "reveal": draw.reveal, "seed": draw.seed, "items": len(self.items), "groups": self.groups or None,
            "continues": draw.settings.get("extends") or None, "items_before": self.before,
            "strata": {name: {"drawn": drawn, "items": size} for name, (drawn, size) in self.strata.items()},
            "settings": dict(draw.settings),
        }  # fmt: skip


def draw_estimate(study: Study, wish: Wish, created_by: str) -> MadeDraw:
    """Make a probability draw and store it.

    Raises:
        UsageError: nothing to draw, too few for the strata, or a design that the items do not allow.
    """
    if wish.by and "task" not in wish.by and len(drawable_tasks(study, wish.task)) > 1:
        wish = replace(wish, by=("task", *wish.by))  # a score is of a task: its strata must not be another's
    frame = _frame(study, wish)
    if wish.paired:
        _require_pairs(frame, wish.system)
    settled = _settled(study, wish, frame)
    spread = _spread(study, settled)
    plan = _plan(settled, units_of(frame, settled.together or "items", paired=settled.paired), spread)
    return _store(study, settled, frame, plan, spread, created_by)


def top_up(study: Study, draw: Draw, more: int, created_by: str) -> MadeDraw:
    """Continue a draw: its items first, in their order, then `more` others; every chance is the larger draw's.

    The old draw stands as it was; the new one continues it and is served in its place.

    Raises:
        UsageError: it is no draw that can grow, the items it was made of have changed, or none are left.
    """
    from judges.calibration.designs import top_up as added_places

    if draw.stream != "estimate" or draw.settings.get("made_by") != MADE_BY:
        raise UsageError(
            f"Draw {draw.draw_id} cannot be topped up.",
            "Only a draw of the stream estimate that `sample` made can: `label`'s own has all items already.",
        )
    if more < 1:
        raise UsageError(f"{more} more items are none.", "", "Say how many more: --n 40")
    wish = wish_of(draw, more)
    frame = _frame(study, wish)
    if frame_sizes(frame) != draw.settings["frame"]:
        raise UsageError(
            f"Draw {draw.draw_id} was made of other items than the study has now.",
            "An item that came later had no chance to be drawn.", "Make a new draw: leave --top-up out.",
        )  # fmt: skip
    units = units_of(frame, wish.together or "items", paired=wish.paired)
    spread = draw.settings.get("spread") or {}
    plan = _plan(wish, units, spread)
    smaller = _plan(replace(wish, n=draw.settings["n"]), units, spread)
    try:
        added = added_places(smaller, plan)
    except ValueError as error:
        raise UsageError(
            f"Draw {draw.draw_id} cannot be topped up: its strata or texts are no longer what they were.", "",
            "Make a new draw: leave --top-up out.",
        ) from error  # fmt: skip
    if not added:
        raise UsageError(f"Draw {draw.draw_id} has all {len(draw_items(study, draw))} items there are.")
    larger = {place.item_id: place for place in plan.places}
    numbers = {name: count for count, name in enumerate(dict.fromkeys(place.group_number for place in smaller.places))}
    kept = [larger[place.item_id]._replace(group_number=numbers[place.group_number]) for place in smaller.places]
    later = {name: len(numbers) + k for k, name in enumerate(dict.fromkeys(place.group_number for place in added))}
    new = [place._replace(group_number=later[place.group_number]) for place in added]
    return _store(study, wish, frame, replace(plan, places=(*kept, *new)), spread, created_by, extends=draw)


def draw_items(study: Study, draw: Draw) -> list[DrawnItem]:
    """The items of a draw in serving order."""
    return drawn_items(study, draw.draw_id)


def wish_of(draw: Draw, more: int = 0) -> Wish:
    """What a stored draw was asked for, `more` items added."""
    kept = draw.settings
    return Wish(
        n=kept["n"] + more, task=draw.task, system=kept["system"], by=tuple(kept["by"]), allocation=kept["allocation"],
        judge=kept["judge"], together=kept["together"], within=kept["within"], paired=kept["paired"],
        reveal=draw.reveal, seed=draw.seed,
    )  # fmt: skip


# Inside


def _frame(study: Study, wish: Wish) -> list[FrameItem]:
    return frame_of(study, drawable_tasks(study, wish.task), system=wish.system, by=wish.by, judge=wish.judge)


def _settled(study: Study, wish: Wish, frame: Sequence[FrameItem]) -> Wish:
    """The wish with everything decided that was left open."""
    if wish.n < 1:
        raise UsageError(f"A draw of {wish.n} items is none.", "", "Say how many: --n 100")
    if wish.seed is not None and not 0 <= wish.seed < 2**63:
        raise UsageError(f"{wish.seed} cannot be a seed.", "", "Say a whole number from 0 to 9223372036854775807.")
    seed = secrets.randbits(31) if wish.seed is None else wish.seed
    together = wish.together or _together(frame)
    if together == "clusters":
        _require_groups(frame, "cluster")
        return replace(wish, seed=seed, together=together, within=0)
    if together == "items":
        if wish.within is not None:
            raise UsageError("--within is for draws of texts.", "", "Add --two-stage.")
        return replace(wish, seed=seed, together=together)
    _require_groups(frame, "group")
    within = wish.within if wish.within is not None else _cheapest_within(study, wish, frame)
    return replace(wish, seed=seed, together=together, within=within)


def _require_pairs(frame: Sequence[FrameItem], system: str) -> None:
    if len({(one.pair, one.system) for one in frame}) > len({one.pair for one in frame}):
        return
    remedy = "Leave --system out." if system else "Import the other system's files first, or leave --paired out."
    raise UsageError("There is nothing to pair: no question has the answers of two systems.", "", remedy)


def _together(frame: Sequence[FrameItem]) -> Together:
    """Texts where items share them, unless strata cut through the texts."""
    return "texts" if shares_texts(frame) and not _strata_cut(frame, "group") else "items"


def _strata_cut(frame: Sequence[FrameItem], key: str) -> bool:
    strata: dict[str, str] = {}
    named = ((str(getattr(one, key)), one.stratum) for one in frame if getattr(one, key))
    return any(strata.setdefault(group, stratum) != stratum for group, stratum in named)


def _require_groups(frame: Sequence[FrameItem], key: str) -> None:
    what = {"group": "text", "cluster": "cluster"}[key]
    sizes = Counter(getattr(one, key) for one in frame if getattr(one, key))
    if max(sizes.values(), default=1) < 2:
        raise UsageError(f"No two items share a {what}.", "", "Leave --two-stage and --clustered out.")
    if len(sizes) == 1:
        raise UsageError(
            f"All items are of one {what}.", "One shows no spread.", "Leave --two-stage and --clustered out."
        )
    if _strata_cut(frame, key):
        raise UsageError(
            f"A {what} holds items of several strata, so it cannot be drawn whole.",
            f"Strata of a draw of {what}s must be ones that a {what} lies in as a whole.",
            "Leave --two-stage out, or choose other strata with --by.",
        )  # fmt: skip


def _cheapest_within(study: Study, wish: Wish, frame: Sequence[FrameItem]) -> int:
    from judges.calibration.planner import best_within
    from judges.reading_effort import effort_of

    effort = effort_of(study, frame)
    parts = Counter((one.group, one.task, one.system) for one in frame if one.group)
    per_group = len(parts) / max(1, len({one.group for one in frame if one.group}))
    return max(1, min(round(best_within(effort) / per_group), max(parts.values()), wish.n))


def _spread(study: Study, wish: Wish) -> dict[str, float]:
    if wish.allocation != "neyman":
        return {}
    if not wish.by:
        raise UsageError("Neyman's allocation spreads labels over strata.", "", "Say which: --by verdict")
    if wish.together != "items":
        raise UsageError("Neyman's allocation is of single items, not of texts.", "", "Leave --two-stage out.")
    from judges.stratum_spread import stratum_spread

    return stratum_spread(study, wish)


def _plan(wish: Wish, units: Sequence[Unit], spread: Mapping[str, float]) -> DrawnPlan:
    """The units drawn, expanded to their items."""
    from judges.calibration.designs import draw_simple, draw_stratified, draw_two_stage

    seed = wish.seed or 0
    candidates = [unit.candidate for unit in units]
    if wish.together != "items":
        within = wish.within or None
        groups = _groups_needed(units, wish.n, within)
        plan = draw_two_stage(candidates, groups, seed, within, wish.allocation)
    elif wish.by:
        _require_enough(candidates_by_stratum(units), wish.n)
        plan = draw_stratified(candidates, wish.n, seed, wish.allocation, spread)
    else:
        plan = draw_simple(candidates, wish.n, seed)
    return replace(plan, places=tuple(_expanded(plan.places, units, grouped=wish.together != "items")))


def candidates_by_stratum(units: Sequence[Unit]) -> Counter[str]:
    """Units of each stratum."""
    return Counter(unit.candidate.stratum for unit in units)


def _groups_needed(units: Sequence[Unit], n: int, within: int | None) -> int:
    """Groups for about n items: fixed beforehand, so that no group's size decides whether the next one is drawn."""
    sizes = Counter((one.candidate.group or f"\0{one.candidate.item_id}", one.candidate.part) for one in units)
    groups = len({group for group, _ in sizes})
    taken = sum(size if within is None else min(size, within) for size in sizes.values())
    return max(min(2, groups), min(groups, math.ceil(n * groups / taken - 1e-9)))


def _require_enough(sizes: Mapping[str, int], n: int) -> None:
    needed = sum(min(2, size) for size in sizes.values())
    if n < needed:
        raise UsageError(
            f"{n} items are too few for {len(sizes)} strata.",
            "A stratum with one label shows no spread, and one without says nothing of its items.",
            f"Draw at least {needed}, or fewer strata with --by.",
        )


def _expanded(places: Sequence[Place], units: Sequence[Unit], *, grouped: bool) -> list[Place]:
    """Each unit's items in its place; single ones are served one by one, each a possible end."""
    members = {unit.candidate.item_id: unit.members for unit in units}
    items = [place._replace(item_id=item_id) for place in places for item_id in members[place.item_id]]
    return items if grouped else [place._replace(group_number=number) for number, place in enumerate(items)]


def _store(
    study: Study,
    wish: Wish,
    frame: Sequence[FrameItem],
    plan: DrawnPlan,
    spread: Mapping[str, float],
    created_by: str,
    extends: Draw | None = None,
) -> MadeDraw:
    reveal = wish.reveal or REVEALS[wish.stream]
    draw = Draw(
        draw_id=secrets.token_hex(8), task=wish.task, stream=wish.stream, design=plan.design,
        reveal=reveal,  # type: ignore[arg-type]
        seed=plan.seed, created_by=created_by, at=now().astimezone(dt.UTC).isoformat(timespec="seconds"),
        settings={
            "made_by": MADE_BY, "n": wish.n, "system": wish.system, "by": list(wish.by),
            "allocation": wish.allocation, "judge": wish.judge, "together": wish.together, "within": wish.within,
            "paired": wish.paired, "frame": frame_sizes(frame), "never_shown": NEVER_SHOWN_SHARE,
            **({"spread": dict(spread)} if spread else {}),
            **({"extends": extends.draw_id} if extends else {}),
        },
    )  # fmt: skip
    items = tuple(DrawnItem(*place) for place in plan.places)
    add_draw(study, draw, items)
    return MadeDraw(
        draw, items, _strata(frame, items) if wish.by else {},
        len({item.group_number for item in items}) if wish.together != "items" else 0,
        len(draw_items(study, extends)) if extends else 0,
    )  # fmt: skip


def _strata(frame: Sequence[FrameItem], items: Sequence[DrawnItem]) -> dict[str, tuple[int, int]]:
    sizes, of_item = Counter(one.stratum for one in frame), {one.item_id: one.stratum for one in frame}
    drawn = Counter(of_item[item.item_id] for item in items)
    return {name: (drawn[name], size) for name, size in sorted(sizes.items())}
