"""What each labelled item stands for, where a draw made some likelier than others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from judges.calibration.audit_records import TaskRecords
from judges.linked_labels import joined_names, linked_items
from store.study import Study


@dataclass(frozen=True, slots=True)
class DrawWeights:
    """The served items of a task's draws, by item id; none where a draw is no sample any more.

    Attributes:
        weights: 1/π. strata: what was drawn apart. groups: the text or cluster that was drawn and the item with it, or
            the identical items that were labelled at once; empty where items were drawn and labelled one by one.
        left_out: of which draws labels do not count and why, in words.
    """

    weights: Mapping[str, float]
    strata: Mapping[str, str]
    groups: Mapping[str, str]
    left_out: tuple[str, ...] = ()


class _Item(NamedTuple):
    item_id: str
    group: str


def draw_weights(study: Study, task: str) -> DrawWeights | None:
    """Weights of a task's labelled items, over all its systems; None where every one counts the same and alone: single
    items were drawn with equal chances, all are labelled, or labels came with files; and no label was given at once to
    identical items of several systems. Such items are one group: their bounds count what one act is worth."""
    found = _drawn_weights(study, task)
    linked = linked_items(study, task)
    if not linked:
        return found
    if found is None:
        from judges.collect import blind_labels

        labels = blind_labels(study)
        rows = study.rows("SELECT item_id FROM current_items WHERE task = ?", [task])
        items = [row[0] for row in rows if row[0] in labels]
        found = DrawWeights(dict.fromkeys(items, 1.0), dict.fromkeys(items, ""), {})
    mine = [(copy, leader) for copy, leader in linked.items() if {copy, leader} & found.weights.keys()]
    own = {item: found.groups.get(item, f"\0{item}") for pair in mine for item in pair}
    joint = joined_names((own[copy], own[leader]) for copy, leader in mine)
    groups = {item: joint.get(group, group) for item, group in {**found.groups, **own}.items()}
    return replace(found, groups=groups)


def drawn_unequally(study: Study, task: str) -> bool:
    """Whether a draw for estimates took some items of a task likelier than others, or took them text by text."""
    found = study.rows(
        """SELECT count(*) FROM (SELECT draw_id FROM draw_items JOIN draws d USING (draw_id)
            JOIN current_items i USING (item_id) WHERE d.stream = 'estimate' AND i.task = ?
            GROUP BY draw_id HAVING max(probability) > min(probability) * (1 + 1e-9) OR any_value(design) = 'two_stage')
        """,
        [task],
    )
    return bool(found[0][0])


def _drawn_weights(study: Study, task: str) -> DrawWeights | None:
    """What the draws alone say."""
    if not drawn_unequally(study, task):
        return None
    from judges.calibration.correction.sample import design_weights
    from judges.collect import blind_labels
    from judges.served_part import ServedParts, as_draw

    parts = ServedParts(study, blind_labels(study))
    by_system: dict[str, list[_Item]] = {}
    for system, item_id, group in study.rows(
        "SELECT system, item_id, group_key FROM current_items WHERE task = ? ORDER BY item_id", [task]
    ):
        by_system.setdefault(system, []).append(_Item(item_id, group))
    weights: dict[str, float] = {}
    strata: dict[str, str] = {}
    groups: dict[str, str] = {}
    left: dict[tuple[str, str], int] = {}
    for system, items in by_system.items():
        part = parts.part(task, items)
        places = [place for place, item in enumerate(items) if item.item_id in part.items]
        if not places or part.sampling != "random":
            continue
        for other, count in part.left.items():
            pair = (part.draw.draw_id if part.draw else "", other)
            left[pair] = left.get(pair, 0) + count
        draw = as_draw(items, places, part)
        for place, weight in zip(places, design_weights(draw).tolist(), strict=True):
            item_id = items[place].item_id
            weights[item_id] = weight
            strata[item_id] = f"{system}\0{part.strata.get(item_id, '')}"
            if draw.design == "two_stage":
                groups[item_id] = part.groups[item_id]
    if weights and not groups and not left and len({round(weight, 9) for weight in weights.values()}) < 2:
        return None
    return DrawWeights(weights, strata, groups, tuple(_left_out(*pair, count) for pair, count in left.items()))


def _left_out(counted: str, other: str, items: int) -> str:
    """Why the labels of a draw do not count with those of another."""
    return (
        f"{items:,} labelled items of draw {other[:8]} are left out: only draws of single items, or of the same texts, "
        f"count together, and draw {counted[:8]}, which has more labels, is of another kind. To count more labels, go "
        f"on with that one: overread sample --top-up {counted[:8]} --n N"
    )


def weighed(records: TaskRecords, drawn: DrawWeights | None) -> TaskRecords:
    """The records of an audit with what each item stands for."""
    if drawn is None:
        return records
    items = [
        replace(
            item,
            weight=drawn.weights.get(item.item_id),
            stratum=drawn.strata.get(item.item_id, ""),
            drawn_with=drawn.groups.get(item.item_id, ""),
        )
        for item in records.items
    ]
    return replace(records, items=items, unequal=True, left_out=drawn.left_out)
