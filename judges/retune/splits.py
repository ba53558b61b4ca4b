"""Train, val and a sealed test: by groups that stand or fall together, before any label is read.

What a split knows of labels is only *that* an item has one, so that each part gets its share of them. It is stratified
by the judge's verdict and the system. Items of the stream estimate never enter train or val: what a prompt was tuned on
can no longer say how good the prompt is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from store.draws import drawn_items, list_draws
from store.errors import NotEnoughError, UsageError
from store.events import DECIDED, NOT_PRACTICE
from store.records import digest
from store.splits import (
    PARTS,
    Opening,
    Part,
    Split,
    SplitItem,
    add_split,
    current_split,
    extend_split,
    open_test,
    openings_of,
    split_items,
)

if TYPE_CHECKING:
    from store.study import Study

SHARES: Final[Mapping[Part, float]] = {"train": 0.25, "val": 0.25, "test": 0.5}
OPENINGS: Final = 3
"""So often may the label of a test item help to decide on a prompt; then it is spent."""
LEAST_TEST_ITEMS: Final = 30
FEW_GROUPS: Final = 10
"""Below so many groups in the test its interval is one for few clusters, or there is no claim."""
_NAMES: Final[Mapping[str, Part]] = {
    "train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "dev": "val",
    "test": "test",
}  # fmt: skip


@dataclass(slots=True)
class Group:
    """Items that are never parted.

    Attributes:
        items: their ids. strata: how many of them by stratum. sealed: holds an item of stream estimate: test only.
        official: the part the benchmark itself puts it in; "" for none.
    """

    items: list[str] = field(default_factory=list)
    strata: Counter[Hashable] = field(default_factory=Counter)
    sealed: bool = False
    official: Part | Literal[""] = ""


def assign(groups: Mapping[str, Group], seed: int, shares: Mapping[Part, float] = SHARES) -> dict[str, Part]:
    """The part of each group.

    In an order shuffled by the seed, each group goes where the items of its strata are furthest below their share
    (iterative stratification, Sechidis et al. 2011). Sealed groups go to the test before all others.
    """
    totals: Counter[Hashable] = Counter()
    for group in groups.values():
        totals.update(group.strata)
    filled: dict[Part, Counter[Hashable]] = {part: Counter() for part in PARTS}
    found: dict[str, Part] = {}
    for name in sorted(groups, key=lambda name: (not _fixed(groups[name]), digest("split", seed, name))):
        group = groups[name]
        part = _fixed(group) or _roomiest(group, filled, totals, shares)
        filled[part].update(group.strata)
        found[name] = part
    return found


def _fixed(group: Group) -> Part | None:
    if group.sealed:
        return "test"
    return group.official or None


def _roomiest(
    group: Group, filled: Mapping[Part, Counter[Hashable]], totals: Counter[Hashable], shares: Mapping[Part, float]
) -> Part:
    return max(PARTS, key=lambda part: _room(group, filled[part], totals, shares[part]))


def _room(group: Group, filled: Counter[Hashable], totals: Counter[Hashable], share: float) -> float:
    """How far the strata of a group are below their share in a part, as shares of what that part should get."""
    if share <= 0:
        return -math.inf
    missing = sum(
        count * (share * totals[stratum] - filled[stratum]) / (share * totals[stratum])
        for stratum, count in group.strata.items()
    )
    return missing / max(group.strata.total(), 1)


@dataclass(frozen=True, slots=True)
class _Row:
    item_id: str
    cluster: str
    group: str
    pair_key: str
    content: str
    system: str
    verdict: str
    labelled: bool
    stated: str


def ensure_split(
    study: Study, task: str, *, seed: int = 0, column: str = "", at: str, shares: Mapping[Part, float] = SHARES
) -> tuple[Split, dict[str, SplitItem]]:
    """The split of a task: the one there is, with items that came later put in, or a new one.

    Args:
        column: a slice that holds the benchmark's own split (train/val/dev/test); "" for `split` where there is one.

    Raises:
        UsageError: the column holds no such names, the split there is was made otherwise, or the task has no items.
    """
    split = current_split(study, task)
    if split is not None and column and split.unit != f"column {column}":
        raise UsageError(
            f"The split of {task} was made before, by {split.unit}, and stays.",
            "Labels may have been read by it, so that another one would test on what was tuned on.",
            f"Leave --split-column {column} out.",
        )
    known = split_items(study, split.split_id) if split is not None else {}
    rows = _rows(study, task, column or _stated_column(split))
    if not rows:
        raise UsageError(f"Task {task!r} has no items.", "", "Import result files first.")
    if split is None:
        unit, keys = _unit(rows, shares["test"])
        unit = f"column {column or 'split'}" if any(row.stated for row in rows) else unit
        groups = _groups(study, task, rows, keys)
        parts = assign(groups, seed, shares)
        items = [SplitItem(item, name, parts[name]) for name, group in groups.items() for item in group.items]
        settings = {"shares": dict(shares), "strata": ["verdict", "system", "labelled"], "column": column}
        split = Split(digest("split", task, seed, at), task, unit, seed, at, settings)
        add_split(study, split, items)
        made = current_split(study, task)
        assert made is not None
        return made, {item.item_id: item for item in items}
    later = _later(study, task, rows, split, known)
    extend_split(study, split.split_id, later)
    return split, known | {item.item_id: item for item in later}


def _stated_column(split: Split | None) -> str:
    return str(split.settings.get("column", "")) if split is not None else ""


def _later(
    study: Study, task: str, rows: Sequence[_Row], split: Split, known: Mapping[str, SplitItem]
) -> list[SplitItem]:
    """Items without a place: with their group where it has one, else to the test, which may always grow."""
    missing = {row.item_id for row in rows} - known.keys()
    if not missing:
        return []
    _, keys = _unit(rows, 0.5, split.unit)
    parts = {item.group: item.part for item in known.values()}
    groups = _groups(study, task, rows, keys)
    return [
        SplitItem(item, name, parts.get(name, "test"))
        for name, group in groups.items()
        for item in group.items
        if item in missing
    ]


def _rows(study: Study, task: str, column: str) -> list[_Row]:
    rows = study.rows(
        f"""SELECT i.item_id, i.cluster_key, i.group_key, i.pair_key, i.content_hash, i.system,
            coalesce(v.label, ''), i.item_id IN (
                SELECT item_id FROM all_blind_labels
                WHERE {DECIDED} AND {NOT_PRACTICE}),
            coalesce(json_extract_string(i.slices, ?), '')
        FROM current_items i LEFT JOIN (
            SELECT item_id, content_hash, min_by(label, (position, judge_id)) AS label FROM verdicts
            WHERE repetition = 0 GROUP BY item_id, content_hash) v USING (item_id, content_hash)
        WHERE i.task = ? ORDER BY i.system, i.position, i.item_id""",
        [f'$."{(column or "split").replace(chr(34), "")}"', task],
    )
    found = [_Row(*row) for row in rows]
    stated = {row.stated for row in found} - {""}
    strange = sorted(name for name in stated if name.lower() not in _NAMES)
    if column and (strange or not stated):
        said = f"It says {', '.join(strange[:5])}." if strange else "No item has it."
        raise UsageError(f"Slice {column!r} is no split.", said, "A split says train, val or dev, and test.")
    if strange:
        return [replace(row, stated="") for row in found]
    return found


def _unit(rows: Sequence[_Row], test_share: float, wanted: str = "") -> tuple[str, dict[str, str]]:
    """What is kept together: the cluster; where there are too few for a test of `FEW_GROUPS`, the shared text
    (HaluMem: the session instead of the user). Returns its name and the key of each item."""
    clusters = {row.item_id: row.cluster or row.group or row.pair_key for row in rows}
    sessions = {row.item_id: row.group or row.cluster or row.pair_key for row in rows}
    enough = len(set(clusters.values())) * test_share >= FEW_GROUPS
    finer = len(set(sessions.values())) > len(set(clusters.values()))
    if wanted == "group" or (wanted in ("", "item") and not enough and finer):
        return "group", _joined(rows, sessions)
    return "cluster", _joined(rows, clusters)


def _joined(rows: Sequence[_Row], keys: Mapping[str, str]) -> dict[str, str]:
    """Groups that hold the same content, word for word, are one: else a test item would have been trained on."""
    above = {key: key for key in keys.values()}

    def top(key: str) -> str:
        while above[key] != key:
            key = above[key]
        return key

    first: dict[str, str] = {}
    for row in rows:
        one, other = top(keys[row.item_id]), top(first.setdefault(row.content, keys[row.item_id]))
        above[max(one, other)] = min(one, other)
    return {item: top(key) for item, key in keys.items()}


def _groups(study: Study, task: str, rows: Iterable[_Row], keys: Mapping[str, str]) -> dict[str, Group]:
    estimate = estimate_items(study, task)
    groups: dict[str, Group] = {}
    for row in rows:
        group = groups.setdefault(keys[row.item_id], Group())
        group.items.append(row.item_id)
        group.strata[row.verdict, row.system, row.labelled] += 1
        group.sealed |= row.item_id in estimate
        part = _NAMES.get(row.stated.lower())
        # A group that the benchmark itself parts is tested on, not trained on.
        if part is not None:
            group.official = part if group.official in ("", part) else "test"
    return groups


def estimate_items(study: Study, task: str) -> set[str]:
    """Items that the stream estimate rests on.

    All items of a draw that is a sample; of a draw of everything, those labelled; and those whose labels came with a
    file as a simple random sample.
    """
    items = {row[0] for row in study.rows("SELECT item_id FROM current_items WHERE task = ?", [task])}
    labelled = {
        row[0] for row in study.rows(f"SELECT item_id FROM label_events WHERE draw_id <> '' AND {NOT_PRACTICE}")
    }
    found = {row[0] for row in study.rows("SELECT item_id FROM file_labels WHERE sampled = 'srs'")} & items
    for draw in list_draws(study):
        if draw.stream != "estimate" or draw.task not in ("", task):
            continue
        drawn = {item.item_id for item in drawn_items(study, draw.draw_id)} & items
        found |= drawn & labelled if drawn == items else drawn
    return found


def unspent(study: Study, task: str, items: Iterable[str]) -> list[str]:
    """Those test items whose labels have helped to decide fewer than `OPENINGS` times."""
    used = Counter(item for opening in openings_of(study, task) for item in opening.items)
    return [item for item in items if used[item] < OPENINGS]


def unseal(study: Study, split: Split, labelled: Sequence[str], *, purpose: str, subject: str, at: str) -> list[str]:
    """Open the sealed test for one prompt: journaled before any label is looked at. Returns the items to test on.

    Args:
        labelled: test items that have a statistical label. subject: the prompt's version.

    Raises:
        NotEnoughError: too few labelled items are left that have not been used `OPENINGS` times.
    """
    left = unspent(study, split.task, labelled)
    if len(left) < LEAST_TEST_ITEMS:
        raise not_enough_test(len(labelled), len(left), len(openings_of(study, split.task)))
    opening_id = digest("opening", split.split_id, subject, at)
    open_test(study, Opening(opening_id, split.split_id, split.task, purpose, subject, tuple(left), at))
    return left


def not_enough_test(labelled: int, left: int, openings: int) -> NotEnoughError:
    """Why the sealed test cannot be opened, and what would help."""
    more = LEAST_TEST_ITEMS - left
    if labelled >= LEAST_TEST_ITEMS:
        return NotEnoughError(
            f"The sealed test has been opened {openings} times; it cannot decide on another prompt.",
            f"{labelled - left} of its {labelled} labelled items were used {OPENINGS} times each. Choosing again on"
            " them would fit the prompt to the test.",
            f"Label {more} more items of the test part, then try again.",
        )
    return NotEnoughError(
        f"The sealed test has {labelled} labelled items; {LEAST_TEST_ITEMS} are needed.",
        "A prompt is promoted on the test alone.",
        f"Label {more} more items of the test part.",
    )
