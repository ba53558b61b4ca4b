"""Which items teach most about a judge: where judges differ, contradict themselves or are unsure, and what is new.

Such labels are for retuning; no agreement or score is computed from them. Items of no interest are mixed in at random
places, so that being in the queue says nothing of an item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from judges.calibration.designs import uniform

Why = Literal["judges_differ", "contradicts_itself", "unsure", "new_cluster", "mixed_in"]

MIXED_IN = 1 / 3
"""Share of the queue that is drawn at random from items without any signal."""
UNSURE = 0.7
"""A confidence below this is low."""
WEIGHTS: Mapping[Why, float] = {"judges_differ": 3.0, "contradicts_itself": 2.0, "unsure": 1.5, "new_cluster": 1.0}


@dataclass(frozen=True, slots=True)
class Signal:
    """What is known of an item before a person reads it.

    Attributes:
        verdicts: labels by judge; None for a failed one. repeats: labels of one judge's repetitions.
        confidence: of the judge in its verdict, or None.
        cluster: "" for none.
    """

    item_id: str
    verdicts: Mapping[str, str | None] = field(default_factory=dict)
    repeats: Sequence[str] = ()
    confidence: float | None = None
    cluster: str = ""


class Pick(NamedTuple):
    """An item of the queue and why it is there. Nobody who labels is shown the reason."""

    item_id: str
    why: tuple[Why, ...]


def learn_order(
    signals: Sequence[Signal],
    n: int,
    seed: int,
    labelled_clusters: frozenset[str] = frozenset(),
    mixed_in: float = MIXED_IN,
) -> list[Pick]:
    """A queue of n items (fewer when there are fewer), the most telling taken, the order random.

    Ties are broken at random by the seed. A cluster is new until one of its items is picked.

    Args:
        labelled_clusters: clusters that have labels already.
    """
    reasons = {one.item_id: _reasons(one) for one in signals}
    told = [one for one in signals if reasons[one.item_id] or (one.cluster and one.cluster not in labelled_clusters)]
    plain = [one for one in signals if not reasons[one.item_id]]
    wanted = n - round(n * mixed_in)
    picks = _most_telling(told, reasons, wanted, seed, labelled_clusters)
    taken = {pick.item_id for pick in picks}
    rest = sorted(
        (one.item_id for one in plain if one.item_id not in taken), key=lambda name: _coin(seed, "plain", name)
    )
    picks += [Pick(name, ("mixed_in",)) for name in rest[: n - len(picks)]]
    return sorted(picks, key=lambda pick: _coin(seed, "order", pick.item_id))


def interest(signal: Signal) -> float:
    """How telling an item is by itself, 0 for not at all: also a chance to draw by (`draw_unequal`)."""
    return sum(WEIGHTS[why] for why in _reasons(signal))


def _most_telling(
    told: Sequence[Signal],
    reasons: Mapping[str, tuple[Why, ...]],
    wanted: int,
    seed: int,
    labelled_clusters: frozenset[str],
) -> list[Pick]:
    by_interest = sorted(told, key=lambda one: (-interest(one), _coin(seed, "tie", one.item_id)))
    seen = set(labelled_clusters)
    picks: list[Pick] = []
    for one in by_interest:
        new = bool(one.cluster) and one.cluster not in seen
        seen.add(one.cluster)
        why: tuple[Why, ...] = (*reasons[one.item_id], "new_cluster") if new else reasons[one.item_id]
        if why:
            picks.append(Pick(one.item_id, why))
    return sorted(picks, key=lambda pick: -sum(WEIGHTS[why] for why in pick.why))[:wanted]


def _reasons(signal: Signal) -> tuple[Why, ...]:
    found: list[Why] = []
    if len({label for label in signal.verdicts.values() if label is not None}) > 1:
        found.append("judges_differ")
    if len(set(signal.repeats)) > 1:
        found.append("contradicts_itself")
    if signal.confidence is not None and signal.confidence < UNSURE:
        found.append("unsure")
    return tuple(found)


def _coin(seed: int, kind: str, name: str) -> tuple[float, str]:
    return uniform(seed, f"learn {kind}", name), name
