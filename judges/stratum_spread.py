"""How much people's labels still scatter around the judge's verdict in each stratum: what Neyman's allocation needs."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from judges.collect import blind_labels, resolved_label
from judges.draw_frame import drawable_tasks, frame_of
from store.errors import UsageError
from store.study import Study

if TYPE_CHECKING:
    from judges.drawing import Wish

LEAST_LABELS = 20
"""Labels of a pilot below which an allocation by them would follow chance."""


def stratum_spread(study: Study, wish: Wish) -> dict[str, float]:
    """Standard deviation, in each stratum, of "the judge is wrong" among labels so far; half a count added each way.

    Raises:
        UsageError: too few labels to allocate by, or no judge named.
    """
    if not wish.judge:
        raise UsageError("Neyman's allocation needs a judge whose errors it goes by.", "", "Say which: --judge NAME")
    frame = frame_of(study, drawable_tasks(study, wish.task), system=wish.system, by=wish.by, judge=wish.judge)
    verdicts = {
        one.item_id: one.stratum
        for one in frame_of(
            study, drawable_tasks(study, wish.task), system=wish.system, by=("verdict",), judge=wish.judge
        )
    }
    people = {item_id: resolved_label(said) for item_id, said in blind_labels(study).items()}
    labelled, wrong = Counter[str](), Counter[str]()
    for one in frame:
        label = people.get(one.item_id)
        if label is not None:
            labelled[one.stratum] += 1
            wrong[one.stratum] += label != verdicts[one.item_id]
    if labelled.total() < LEAST_LABELS:
        raise UsageError(
            f"Neyman's allocation goes by labels, and there are {labelled.total()} of at least {LEAST_LABELS}.",
            "It puts labels where the judge is wrong most unevenly, which nobody knows yet.",
            "Label a first draw, or use --allocation equal.",
        )
    overall = (wrong.total() + 0.5) / (labelled.total() + 1)
    shares = {
        name: (wrong[name] + overall) / (labelled[name] + 1) for name in {one.stratum for one in frame}
    }  # a stratum without labels is taken as the average one
    return {name: math.sqrt(share * (1 - share)) for name, share in sorted(shares.items())}
