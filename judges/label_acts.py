"""What people did, act by act: first label, what was shown, what came of it, and how long it took."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judges.audit_columns import KEY
from judges.calibration.agreement.scale import Scale
from judges.calibration.anchoring import LabelActs
from judges.calibration.sampling import is_never_shown
from store.events import DECIDED, IS_LINKED
from store.study import Study

_HIDING = frozenset({"item", "block"})
"""Policies under which a coin keeps some verdicts hidden for good."""


@dataclass(slots=True)
class ActsOnItem:
    """One person's acts on one item.

    Attributes:
        first, final: labels before any verdict was seen, and now; None for none. assisted: the verdict stood there
            from the start. shown: ids of the verdicts shown after the first label; {""} where a file does not say.
        kept_hidden: the verdict is never shown to this person. by_chance: a coin decided that.
        reveals: verdicts this person had been shown before the first label. seconds: active time up to it.
    """

    annotator: str
    key: int
    first: str | None = None
    final: str | None = None
    assisted: bool = False
    shown: set[str] = field(default_factory=set)
    kept_hidden: bool = False
    by_chance: bool = False
    reveals: int = 0
    seconds: float = 0.0
    decided: bool = False


def read_acts(study: Study, task: str) -> list[ActsOnItem]:
    """Everybody's own acts on a task's current items, and labels from files where some were given beside a verdict.

    What only followed an act on an identical item is none of its own.
    """
    return [*_from_events(study, task), *_from_files(study, task)]


def _from_events(study: Study, task: str) -> Iterator[ActsOnItem]:
    seeds = dict(study.rows("SELECT draw_id, seed FROM draws"))
    rows = study.rows(
        f"""SELECT {KEY}, item_id, annotator, kind, value, cannot_judge <> '', mode, policy, verdicts_shown, draw_id,
            active_ms FROM label_events
        WHERE round = 0 AND kind <> 'adjudicate' AND NOT {IS_LINKED}
            AND (item_id, content_hash) IN (SELECT (item_id, content_hash) FROM current_items WHERE task = ?)
        ORDER BY annotator, clock, copy_id, seq""",
        [task],
    )
    acts: dict[tuple[str, int], ActsOnItem] = {}
    seen: dict[str, int] = {}
    for key, item_id, who, kind, value, cannot_judge, mode, policy, shown, draw_id, active_ms in rows:
        one = acts.setdefault((who, key), ActsOnItem(who, key))
        if kind == "reveal":
            seen[who] = seen.get(who, 0) + 1
            one.assisted |= policy == "assisted"
            one.shown |= set(json.loads(shown)) or {""}
            continue
        one.final = value
        one.assisted |= mode == "assisted"
        if mode == "blind":
            one.first = value
        if not one.decided:
            one.seconds += active_ms / 1000
            if value is not None or cannot_judge:
                one.decided, one.reveals = True, seen.get(who, 0)
        hides = policy in _HIDING and draw_id in seeds and is_never_shown(item_id, who, seeds[draw_id])
        one.by_chance |= hides
        one.kept_hidden |= hides or policy == "never" or draw_id not in seeds
    yield from acts.values()


def _from_files(study: Study, task: str) -> Iterator[ActsOnItem]:
    if not study.rows("SELECT 1 FROM file_labels WHERE mode = 'assisted' LIMIT 1"):
        return
    rows = study.rows(
        f"""SELECT {KEY}, annotator, value, mode = 'assisted' FROM file_labels
        WHERE NOT adjudicated AND mode IN ('', 'blind', 'assisted') AND {DECIDED} AND value IS NOT NULL
            AND (item_id, content_hash) IN (SELECT (item_id, content_hash) FROM current_items WHERE task = ?)""",
        [task],
    )
    for key, who, value, assisted in rows:
        yield ActsOnItem(who, key, value, value, assisted, kept_hidden=not assisted, decided=True, seconds=np.nan)


@dataclass(frozen=True)
class ActsUnderJudge:
    """Acts as one judge's analysis reads them.

    Attributes:
        acts: those in a comparison. waiting: labels whose verdict is still to be shown, or of which another judge's
            was. seconds: active time before the first label, shape as `acts`; nan where it is not known.
        randomised: a coin kept the hidden verdicts hidden.
    """

    acts: LabelActs
    waiting: int
    seconds: np.ndarray
    randomised: bool


def under_judge(
    acts: Sequence[ActsOnItem],
    scale: Scale,
    verdicts: Mapping[int, int],
    shown_of: set[str],
    adjudicated: Mapping[int, int],
) -> ActsUnderJudge:
    """The acts on items that one judge gave a readable verdict on.

    Args:
        verdicts, adjudicated: codes by item key. shown_of: ids of this judge's verdicts; {} when it is the only one.
    """
    rows: list[tuple[int, int, int, bool, bool, int, int]] = []
    seconds, waiting, hidden = [], 0, []
    for one in acts:
        verdict = verdicts.get(one.key, -1)
        first = scale.codes.get(one.final if one.assisted else one.first or "", -1) if one.final else -1
        final = scale.codes.get(one.final or "", -1)
        if verdict < 0 or first < 0 or final < 0:
            continue
        others = bool(shown_of) and bool(one.shown) and "" not in one.shown and not one.shown & shown_of
        shown = bool(one.shown) and not one.assisted
        if others or not (shown or one.assisted or one.kept_hidden):
            waiting += 1
            continue
        rows.append((verdict, first, final, shown, one.assisted, adjudicated.get(one.key, -1), one.reveals))
        seconds.append(one.seconds if one.seconds > 0 else np.nan)
        if not (shown or one.assisted):
            hidden.append(one.by_chance)
    table = np.array(rows, dtype=np.int64).reshape(-1, 7)
    acts_of = LabelActs(
        verdict=table[:, 0], first=table[:, 1], final=table[:, 2], shown=table[:, 3].astype(bool),
        assisted=table[:, 4].astype(bool), adjudicated=table[:, 5], reveals=table[:, 6],
    )  # fmt: skip
    return ActsUnderJudge(acts_of, waiting, np.array(seconds, dtype=np.float64), bool(hidden) and all(hidden))
