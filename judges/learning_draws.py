"""Draws that no estimate is made from: items that teach, repeats of labelled items, unlabelled ones for practice."""

from __future__ import annotations

import datetime as dt
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from judges.benchmarks.benchmark import ContradictingBenchmark, get_benchmark
from judges.calibration.learn_order import Signal, learn_order
from judges.calibration.sampling import NEVER_SHOWN_SHARE
from judges.collect import scored_items, task_definitions
from judges.deciding import Selective
from judges.draw_frame import FrameItem, drawable_tasks, frame_of
from judges.drawing import REVEALS, MadeDraw, Wish
from judges.made_draws import MADE_BY
from store.draws import Draw, DrawnItem, add_draw, drawn_items, list_draws
from store.errors import UsageError
from store.events import DECIDED, NOT_PRACTICE, PRACTICE
from store.items import judges, systems
from store.study import Study, now


def draw_learn(study: Study, wish: Wish, created_by: str, abstained: Selective | None = None) -> MadeDraw:
    """Items that teach most about a judge, with others mixed in; nothing that is labelled or meant for an estimate.

    Args:
        abstained: where the judge may decide alone: then what it judged and may not decide is drawn, in place of items
            with other signals.

    Raises:
        UsageError: nothing is left to learn from, or strata or texts were asked for.
    """
    require_plain(wish)
    frame = _free(study, wish, frame_of(study, drawable_tasks(study, wish.task), system=wish.system))
    signals = _signals(study, frame, wish.judge)
    if abstained is not None:
        signals = _below(signals, frame, abstained)
    seed = secrets.randbits(31) if wish.seed is None else wish.seed
    picks = learn_order(signals, wish.n, seed, _labelled_clusters(study))
    kind = {"chosen_by": "abstained" if abstained is not None else "signals"}
    return store_draw(study, wish, "chosen", [pick.item_id for pick in picks], seed, created_by, kind)


def draw_check(study: Study, wish: Wish, created_by: str) -> MadeDraw:
    """Items at random among those that somebody labelled and no labeller has seen a verdict on: labelled once more.

    Raises:
        UsageError: there are none, or strata or texts were asked for.
    """
    require_plain(wish)
    tasks = drawable_tasks(study, wish.task)
    marks = ", ".join("?" for _ in tasks)
    rows = study.rows(
        f"""SELECT DISTINCT l.item_id FROM current_labels l JOIN current_items i USING (item_id, content_hash)
        WHERE l.round = 0 AND l.kind <> 'import' AND {DECIDED}
            AND i.task IN ({marks})
            AND (? = '' OR i.system = ?) AND l.item_id NOT IN (SELECT item_id FROM first_exposures)""",
        [*tasks, wish.system, wish.system],
    )
    if not rows:
        raise UsageError(
            "There is nothing to repeat.", "Repeats are items labelled at the desk whose verdict nobody was shown.",
            "Label some first; items and blocks leave a quarter unshown, --mode never leaves all.",
        )  # fmt: skip
    earlier = [draw.settings.get("round", 0) for draw in list_draws(study) if draw.stream == "check"]
    return _at_random(study, wish, [row[0] for row in rows], created_by, {"round": 1 + max(earlier, default=0)})


def draw_unexplained(study: Study, wish: Wish, created_by: str) -> MadeDraw:
    """Unlabelled items at random for practice; their labels enter no number. Nothing that is meant for an estimate.

    Raises:
        UsageError: none are left, or strata or texts were asked for.
    """
    require_plain(wish)
    frame = _free(study, wish, frame_of(study, drawable_tasks(study, wish.task), system=wish.system))
    return _at_random(study, wish, [one.item_id for one in frame], created_by, {"round": PRACTICE})


def require_plain(wish: Wish) -> None:
    """Refuse what is for estimates only.

    Raises:
        UsageError: no items, or strata or texts were asked for.
    """
    if wish.n < 1:
        raise UsageError(f"A draw of {wish.n} items is none.", "", "Say how many: --n 100")
    if wish.by or wish.paired or wish.together not in (None, "items") or wish.within is not None:
        raise UsageError(
            f"A draw of the stream {wish.stream} is of single items.", "Strata and texts are for estimates.",
            "Leave out --by, --two-stage, --clustered, --within and --paired.",
        )  # fmt: skip


def store_draw(
    study: Study,
    wish: Wish,
    design: str,
    items: Sequence[str],
    seed: int,
    created_by: str,
    more: Mapping[str, Any],
    reveal: str = "",
) -> MadeDraw:
    """Store a draw of single items in this order; `reveal` is the policy that no wish changes."""
    draw = Draw(
        draw_id=secrets.token_hex(8), task=wish.task, stream=wish.stream, design=design,
        reveal=reveal or wish.reveal or REVEALS[wish.stream],  # type: ignore[arg-type]
        seed=seed, created_by=created_by, at=now().astimezone(dt.UTC).isoformat(timespec="seconds"),
        settings={"made_by": MADE_BY, "n": wish.n, "system": wish.system, "judge": wish.judge,
                  "never_shown": NEVER_SHOWN_SHARE, **more},
    )  # fmt: skip
    rows = tuple(DrawnItem(item_id, number) for number, item_id in enumerate(items))
    add_draw(study, draw, rows)
    return MadeDraw(draw, rows)


# Inside


def _free(study: Study, wish: Wish, frame: Sequence[FrameItem]) -> list[FrameItem]:
    """Items that have no label and are in no draw made for an estimate."""
    taken = {row[0] for row in study.rows("SELECT DISTINCT item_id FROM all_current_labels")}
    for draw in list_draws(study):
        if draw.stream == "estimate" and draw.settings.get("made_by") == MADE_BY:
            taken |= {item.item_id for item in drawn_items(study, draw.draw_id)}
    free = [one for one in frame if one.item_id not in taken]
    if not free:
        raise UsageError(
            f"No item is left for the stream {wish.stream}.", "All are labelled or drawn for an estimate.", ""
        )
    return free


def _signals(study: Study, frame: Sequence[FrameItem], judge: str) -> list[Signal]:
    """What judges said of each item: all their labels, whether one contradicts itself, the lowest confidence.

    A judge contradicts itself when its repetitions differ, when its reasons name another label than the one it gave, or
    when the benchmark says so.
    """
    named = {task: _named(definition.values) for task, definition in task_definitions(study).items()}
    rows = study.stream(
        """SELECT v.item_id, j.task, j.name, list(v.label ORDER BY v.repetition), min(v.confidence),
            arg_min(v.rationale, v.repetition)
        FROM verdicts v JOIN judges j USING (judge_id)
        JOIN (SELECT item_id, content_hash FROM current_items) USING (item_id, content_hash)
        WHERE ? = '' OR j.name = ? GROUP BY v.item_id, j.task, j.name""",
        [judge, judge],
    )
    verdicts: dict[str, dict[str, str | None]] = {}
    repeats: dict[str, list[str]] = {}
    confidence: dict[str, float] = {}
    for item_id, task, name, labels, low, rationale in rows:
        verdicts.setdefault(item_id, {})[name] = labels[0]
        known = [label for label in labels if label is not None]
        if labels[0] is not None and (other := _other_label(named.get(task), labels[0], rationale or "")):
            known.append(other)
        if len(set(known)) > 1:
            repeats[item_id] = known
        if low is not None:
            confidence[item_id] = min(low, confidence.get(item_id, low))
    declared = _declared(study, judge)
    return [
        Signal(
            one.item_id, verdicts.get(one.item_id, {}),
            ("said", "unsaid") if one.item_id in declared else repeats.get(one.item_id, ()),
            confidence.get(one.item_id), one.cluster,
        )
        for one in frame
    ]  # fmt: skip


SHORTEST_NAME = 4
"""Shorter labels ("2", "yes") stand in any text and name nothing."""


def _named(values: Sequence[str]) -> re.Pattern[str] | None:
    names = [re.escape(value) for value in values if len(value) >= SHORTEST_NAME and value.isalpha()]
    return re.compile(rf"\b(?:{'|'.join(names)})\b") if len(names) > 1 else None


def _other_label(named: re.Pattern[str] | None, label: str, rationale: str) -> str:
    """The label that reasons name although another was given; "" when they name the given one, or none."""
    found = set(named.findall(rationale)) if named is not None else set()
    return "" if label in found or not found else min(found)


def _declared(study: Study, judge: str) -> set[str]:
    """Items on which the benchmark itself finds that the judge contradicts itself."""
    benchmark = get_benchmark(study.benchmark)
    if not isinstance(benchmark, ContradictingBenchmark):
        return set()
    return {
        item.item_id
        for system in systems(study)
        for name in ([judge] if judge else judges(study))
        for item in scored_items(study, system, name)
        if item.verdict is not None and benchmark.contradicts(item)
    }


def _below(signals: Sequence[Signal], frame: Sequence[FrameItem], selective: Selective) -> list[Signal]:
    """Items the judge abstains on have that as the only signal; the others have none."""
    task_of = {one.item_id: one.task for one in frame}
    known = [one for one in signals if task_of[one.item_id] in selective.promises]
    found = [
        Signal(one.item_id, confidence=0.0 if one.verdicts and one.item_id not in selective.sure else None)
        for one in known
    ]
    if not any(one.confidence is not None for one in found):
        raise UsageError("The judge abstains on no item that is left.", "Every verdict reaches its threshold.", "")
    return found


def _labelled_clusters(study: Study) -> frozenset[str]:
    rows = study.rows(
        "SELECT DISTINCT i.cluster_key FROM all_current_labels l JOIN current_items i USING (item_id)"
        f" WHERE {NOT_PRACTICE}"
    )
    return frozenset(row[0] for row in rows)


def _at_random(study: Study, wish: Wish, items: Sequence[str], created_by: str, more: Mapping[str, Any]) -> MadeDraw:
    from judges.calibration.designs import draw_simple
    from judges.calibration.sampling import Candidate

    seed = secrets.randbits(31) if wish.seed is None else wish.seed
    plan = draw_simple([Candidate(item_id) for item_id in sorted(items)], wish.n, seed)
    return store_draw(study, wish, "simple", plan.items, seed, created_by, more)
