"""The part of a draw that was read: what counts as the sample, and how it was drawn."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from judges.collect import BlindLabels
from judges.draw_frame import drawable_tasks, frame_of, frame_sizes, units_of
from judges.drawing import wish_of
from judges.made_draws import MADE_BY
from store.draws import Draw as StoredDraw
from store.draws import DrawnItem, drawn_items, list_draws
from store.errors import UsageError
from store.study import Study

if TYPE_CHECKING:
    from judges.calibration.correction.records import Draw

COUNTED = ("estimate", "learn")
"""Streams whose blind labels are an item's, once an estimate draw has drawn it: whoever chose it, it was read blind.

Practice labels are never counted, repeats are of another round."""


class Drawable(Protocol):
    """An item as a draw sees it."""

    @property
    def item_id(self) -> str: ...
    @property
    def group(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Served:
    """What was read of a draw, among the items of one system and task.

    Attributes:
        items: their ids. design: `simple`, `two_stage` or `unequal`.
        groups: what was drawn first, by item, for all items (two_stage). strata: by item, for all items; empty for one.
        probabilities: by drawn item (unequal).
        sampling: as a correction's provenance wants it; why: what is wrong with it, in words.
        draw: the draw; None for labels that came with files.
        left: draws with other labelled items of these, which do not count with it: draw → items.
    """

    items: frozenset[str]
    design: str = "simple"
    groups: Mapping[str, str] = field(default_factory=dict)
    strata: Mapping[str, str] = field(default_factory=dict)
    probabilities: Mapping[str, float] = field(default_factory=dict)
    sampling: str = "random"
    why: str = ""
    draw: StoredDraw | None = None
    left: Mapping[str, int] = field(default_factory=dict)

    @property
    def one_by_one(self) -> bool:
        """Whether items were drawn one by one, within each stratum each as likely as the other."""
        return self.sampling == "random" and self.design not in ("two_stage", "unequal")

    @property
    def equal_chances(self) -> bool:
        """Whether items were drawn one by one, each as likely as the other."""
        return self.sampling == "random" and self.design == "simple" and not self.strata


class ServedParts:
    """The served parts of a study's estimate draws; each draw's frame is read once."""

    def __init__(self, study: Study, labels: Mapping[str, BlindLabels]) -> None:
        self._study, self._labels = study, labels
        self._draws = list_draws(study)
        self._items: dict[str, list[DrawnItem]] = {}
        self._frames: dict[str, _Frame] = {}

    def part(self, task: str, items: Sequence[Drawable]) -> Served:
        """The longest served prefix of an estimate draw among these items of one system and task.

        A prefix ends where a group ends: a group that was begun and not finished is left out, as long as one is
        finished. It reaches as far as labels were given under the draw itself; labels of another draw that happen to
        lie beyond show nothing of how far this one was served. Where items were drawn one by one, or texts, what other
        draws of the kind served counts with it.
        """
        ids = {item.item_id for item in items}
        labelled = {item_id for item_id in ids if item_id in self._labels and _counts(self._labels[item_id])}
        if labelled == ids and ids:
            return Served(frozenset(ids))
        best, chosen = list[str](), None
        prefixes: list[tuple[StoredDraw, list[str]]] = []
        for draw in self._draws:
            if draw.stream != "estimate" or draw.task not in ("", task):
                continue
            family = self._family(draw)
            own = {item_id for item_id in labelled if self._labels[item_id].draw_ids & family}
            drawn = [item for item in self._drawn(draw) if item.item_id in ids]
            prefix = _prefix(drawn, own, labelled)
            prefixes.append((draw, prefix))
            if prefix and len(prefix) >= len(best):
                best, chosen = prefix, draw
        if chosen is None:
            return self._of_files(labelled)
        return self._with_others(self._described(chosen, best, task, items), prefixes, task, items)

    def _with_others(
        self, served: Served, prefixes: Sequence[tuple[StoredDraw, list[str]]], task: str, items: Sequence[Drawable]
    ) -> Served:
        """With what other draws served. Given its size, the union of simple random samples is one of its stratum: no
        set of items is likelier than another (drawn from all items, or from those the first left). So it is with texts,
        and with the items of a text given how many of them were drawn."""
        own, left = served.draw, dict[str, int]()
        if own is None:
            return served
        family = self._family(own)
        for draw, prefix in prefixes:
            if draw.draw_id in family or own.draw_id in self._family(draw) or not prefix:
                continue
            paired_alike = bool(draw.settings.get("paired")) == bool(own.settings.get("paired"))
            other = self._described(draw, prefix, task, items)
            if paired_alike and served.one_by_one and _in_same_strata(served, other):
                served = replace(served, items=served.items | other.items, strata=served.strata or other.strata)
            elif paired_alike and _same_texts(served, other, items):
                # Named by the oldest, which is the same in every task that these draws reach.
                first = min((served.draw, draw), key=lambda one: self._draws.index(one))  # type: ignore[arg-type]
                served = replace(served, items=served.items | other.items, draw=first)
            else:
                left[draw.draw_id] = len(other.items - served.items)
        return replace(served, left={draw_id: count for draw_id, count in left.items() if count})

    def _family(self, draw: StoredDraw) -> set[str]:
        """A draw and those that it continues."""
        by_id = {one.draw_id: one for one in self._draws}
        found = {draw.draw_id}
        while (before := str(draw.settings.get("extends", ""))) in by_id:
            found.add(before)
            draw = by_id[before]
        return found

    def _drawn(self, draw: StoredDraw) -> list[DrawnItem]:
        if draw.draw_id not in self._items:
            self._items[draw.draw_id] = drawn_items(self._study, draw.draw_id)
        return self._items[draw.draw_id]

    def _described(self, draw: StoredDraw, prefix: Sequence[str], task: str, items: Sequence[Drawable]) -> Served:
        served = frozenset(prefix)
        if draw.settings.get("made_by") != MADE_BY:
            groups = {item.item_id: item.group or f"\0{item.item_id}" for item in items}
            drawn = {item.item_id for item in self._drawn(draw)}
            why = "" if all(item.item_id in drawn for item in items) else _CAME_LATER
            return Served(served, draw.design, groups if draw.design == "two_stage" else {}, draw=draw,
                          sampling="unknown" if why else "random", why=why)  # fmt: skip
        if draw.design == "unequal":
            chances = {item.item_id: item.probability for item in self._drawn(draw)}
            whole = sum(item.item_id in chances for item in items) == len(prefix)
            why = "" if whole else "a draw with unequal chances counts only when it is served whole"
            return Served(served, "unequal", probabilities=chances, sampling="random" if whole else "unknown", why=why,
                          draw=draw)  # fmt: skip
        frame = self._frame(draw)
        system = frame.system_of.get(prefix[0], "")
        changed = frame.why or _changed(draw, frame, system, task, [item.item_id for item in items], self._drawn(draw))
        return Served(
            served, draw.design, frame.groups if draw.design == "two_stage" else {},
            frame.strata if len(set(frame.strata.values())) > 1 else {},
            sampling="unknown" if changed else "random", why=changed, draw=draw,
        )  # fmt: skip

    def _frame(self, draw: StoredDraw) -> _Frame:
        if draw.draw_id not in self._frames:
            self._frames[draw.draw_id] = _read_frame(self._study, draw)
        return self._frames[draw.draw_id]

    def _of_files(self, labelled: set[str]) -> Served:
        """Labels that came with files count as the import says they were sampled."""
        said = {row[0] for row in self._study.rows("SELECT DISTINCT sampled FROM file_labels")}
        known = bool(said) and said <= {"srs", "census"}
        return Served(frozenset(labelled), sampling="random" if known or not labelled else "unknown")


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a draw was made of, as the study has it now, by item."""

    groups: Mapping[str, str]
    strata: Mapping[str, str]
    system_of: Mapping[str, str]
    sizes: Mapping[str, Mapping[str, int]]
    why: str = ""


_CAME_LATER = "items were imported after the draw was made: they had no chance to be drawn; make a new draw"


def _read_frame(study: Study, draw: StoredDraw) -> _Frame:
    wish = wish_of(draw)
    try:
        frame = frame_of(study, drawable_tasks(study, wish.task), system=wish.system, by=wish.by, judge=wish.judge)
    except UsageError as error:
        return _Frame({}, {}, {}, {}, f"the items that the draw was made of are not there any more: {error.title}")
    groups, strata = {}, {}
    for unit in units_of(frame, wish.together or "items", paired=wish.paired):
        for item_id in unit.members:
            groups[item_id] = unit.candidate.group or f"\0{unit.candidate.item_id}"
            strata[item_id] = unit.candidate.stratum
    return _Frame(groups, strata, {one.item_id: one.system for one in frame}, frame_sizes(frame))


def _changed(
    draw: StoredDraw, frame: _Frame, system: str, task: str, items: Sequence[str], drawn: Sequence[DrawnItem]
) -> str:
    """Why the items are no longer those the draw was made of; "" when they are."""
    then = draw.settings["frame"].get(system, {}).get(task)
    if then != frame.sizes.get(system, {}).get(task) or then != len(items):
        return _CAME_LATER
    if any(item.stratum != frame.strata.get(item.item_id, item.stratum) for item in drawn if item.stratum):
        return "items lie in other strata than when they were drawn; make a new draw"
    return ""


def _in_same_strata(one: Served, other: Served) -> bool:
    return other.one_by_one and (not one.strata or not other.strata or one.strata == other.strata)


def _same_texts(one: Served, other: Served, items: Sequence[Drawable]) -> bool:
    """Whether two draws took the same texts or clusters at random, for the same tasks."""
    if one.draw is None or other.draw is None or one.draw.task != other.draw.task or one.strata != other.strata:
        return False
    if not all(part.design == "two_stage" and part.sampling == "random" for part in (one, other)):
        return False
    return all(one.groups[item.item_id] == other.groups[item.item_id] for item in items)


def _counts(said: BlindLabels) -> bool:
    return any(stream in COUNTED for stream in said.streams.values())


def _prefix(drawn: Sequence[DrawnItem], own: set[str], labelled: set[str]) -> list[str]:
    """Whole groups from the front, up to the last one with a label of this draw; that one only if it is finished, or
    the only one."""
    groups = [list(members) for _, members in itertools.groupby(drawn, key=lambda item: item.group_number)]
    last = max((place for place, group in enumerate(groups) if any(one.item_id in own for one in group)), default=-1)
    if last < 0:
        return []
    unfinished = any(item.item_id not in labelled for item in groups[last])
    end = last if unfinished and last > 0 else last + 1
    return [item.item_id for group in groups[:end] for item in group]


def as_draw(items: Sequence[Drawable], places: Sequence[int], served: Served) -> Draw:
    """What the correction is told of a draw.

    Args:
        places: of the served items among all, shape (n,).
    """
    import numpy as np

    from judges.calibration.correction.records import Draw

    ids = [item.item_id for item in items]
    strata = np.unique([served.strata.get(one, "") for one in ids], return_inverse=True)[1] if served.strata else None
    groups = probabilities = None
    if served.design == "two_stage":
        groups = np.array([_number(served.groups[one]) for one in ids], dtype=np.int64)
    if served.design == "unequal":
        probabilities = np.array([served.probabilities.get(one, np.nan) for one in ids])
    design = served.design if served.design in ("two_stage", "unequal") else "simple"
    drawn = np.array(places, dtype=np.int64)
    together = served.draw.draw_id if served.draw is not None and design == "two_stage" else ""
    return Draw(drawn, len(items), design, strata, groups, probabilities, together)  # type: ignore[arg-type]


def _number(group: str) -> int:
    """The same number for the same text in every task."""
    return int.from_bytes(hashlib.sha256(group.encode("utf-8", "surrogatepass")).digest()[:7], "big")
