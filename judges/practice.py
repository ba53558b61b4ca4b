"""The draw for practice: items that people have settled, for a beginner to label blind and then see the answer."""

from __future__ import annotations

import random
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from judges.draw_frame import drawable_tasks, frame_of
from judges.drawing import MadeDraw, Wish
from judges.learning_draws import require_plain, store_draw
from judges.settled import EXPLAINED, is_explained, settled_labels
from store.draws import drawn_items, list_draws
from store.errors import UsageError
from store.events import PRACTICE
from store.study import Study


@dataclass(frozen=True, slots=True)
class PracticeDraw(MadeDraw):
    """A draw for practice that stands in the study, and what it was made of.

    Attributes:
        settled: items that could be drawn. noted, hard: drawn ones with a note, and on which people differed at first.
    """

    settled: int = 0
    noted: int = 0
    hard: int = 0


class Candidate(NamedTuple):
    """An item to practise on.

    Attributes:
        label: its task and settled value. content: what reads the same is practised once.
        used: whether an earlier practice draw has it.
    """

    item_id: str
    label: tuple[str, str]
    content: str
    noted: bool
    hard: bool
    used: bool = False


def draw_practice(study: Study, wish: Wish, created_by: str) -> PracticeDraw:
    """Settled items in random order, every label among them, those with a note first, plain and hard ones in turn.

    Whom an item is not for (who labelled it, or has it in a queue) is known when it is served: `not_to_practise`.

    Raises:
        UsageError: nothing is settled, or strata, texts or a verdict were asked for.
    """
    require_plain(wish)
    if wish.reveal not in ("", "never"):
        raise UsageError(
            "Practice on settled items shows what people settled, never a verdict.", "", "Leave --reveal out."
        )
    candidates = settled_candidates(study, wish)
    if not candidates:
        raise UsageError(
            "No item is settled yet, so there is nothing to practise on.",
            "Settled is what was adjudicated blind (a file's gold label counts), or what at least two people labelled"
            " alike without having seen the verdict.",
            "Have a second person label the same items: overread label --annotator NAME   or practise on unlabelled"
            " items, without an answer: add --unexplained",
        )
    seed = secrets.randbits(31) if wish.seed is None else wish.seed
    items = practice_order(candidates, wish.n, seed)
    more = {"round": PRACTICE, EXPLAINED: True}
    made = store_draw(study, wish, "chosen", items, seed, created_by, more, "never")
    chosen = set(items)
    drawn = [one for one in candidates if one.item_id in chosen]
    return PracticeDraw(
        made.draw, made.items, settled=len(candidates),
        noted=sum(one.noted for one in drawn), hard=sum(one.hard for one in drawn),
    )  # fmt: skip


def settled_candidates(study: Study, wish: Wish) -> list[Candidate]:
    """The settled items that a wish may draw, by item id."""
    settled = settled_labels(study)
    contents = dict(study.rows("SELECT item_id, content_hash FROM current_items"))
    used = {
        contents.get(item.item_id)
        for draw in list_draws(study) if is_explained(draw)
        for item in drawn_items(study, draw.draw_id)
    }  # fmt: skip
    return [
        Candidate(
            one.item_id, (one.task, found.value), contents[one.item_id], bool(found.notes), found.hard,
            contents[one.item_id] in used,
        )
        for one in frame_of(study, drawable_tasks(study, wish.task), system=wish.system)
        if (found := settled.get(one.item_id)) is not None
    ]  # fmt: skip


def practice_order(candidates: Iterable[Candidate], n: int, seed: int) -> list[str]:
    """Up to `n` item ids: labels take turns, each gives its best first; then shuffled, so that no place tells a label.

    Best are items that no earlier practice had, then those with a note; of equals plain ones and those on which people
    differed take turns, since a beginner has to learn both.
    """
    rng = random.Random(seed)
    by_label: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for one in sorted(candidates):
        by_label[one.label].append(one)
    turns = list(by_label.values())
    rng.shuffle(turns)
    for number, group in enumerate(turns):
        rng.shuffle(group)
        _best_last(group, hard_first=bool(number % 2))
    chosen: dict[str, str] = {}
    while turns and len(chosen) < n:
        for group in turns:
            while group and group[-1].content in chosen:
                group.pop()
            if group and len(chosen) < n:
                one = group.pop()
                chosen[one.content] = one.item_id
        turns = [group for group in turns if group]
    items = list(chosen.values())
    rng.shuffle(items)
    return items


def _best_last(group: list[Candidate], *, hard_first: bool) -> None:
    turns: Counter[tuple[bool, bool, bool]] = Counter()
    rank: dict[str, tuple[bool, bool, int, bool]] = {}
    for one in group:
        kind = (one.used, one.noted, one.hard)
        rank[one.item_id] = (one.used, not one.noted, turns[kind], one.hard != hard_first)
        turns[kind] += 1
    group.sort(key=lambda one: rank[one.item_id], reverse=True)
