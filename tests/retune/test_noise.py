"""Labels that are pure noise: whatever is chosen on val, the sealed test rarely promotes it."""

from __future__ import annotations

import numpy as np
import pytest

from judges.retune.promotion import Paired, Prompts, balanced_accuracy, promotion
from tests.performance.noise import search_by_lot

LABELS = ("supported", "contradicted", "not_stated")


@pytest.mark.slow
def test_noise_is_promoted_in_at_most_six_of_a_hundred_seeds() -> None:
    """Ten prompts that answer apart from the labels; the best on 60 val items goes to 120 test items in 20 groups."""
    promoted = curses = 0.0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        val, test = rng.integers(0, 3, 60), rng.integers(0, 3, 120)
        on_val, on_test = rng.integers(0, 3, (11, 60)), rng.integers(0, 3, (11, 120))
        scores = [balanced_accuracy(val, said, 3) for said in on_val]
        best = int(np.argmax(scores[1:])) + 1
        paired = Paired(LABELS, test, on_test[0], on_test[best], (np.arange(120) // 6).tolist())
        found = promotion(paired, Prompts(val_before=scores[0], val_after=scores[best]))
        promoted += found.promoted
        curses += found.curse or 0.0
    assert promoted <= 6, promoted
    assert curses / 100 > 0.05, "the choice on val flatters the best"


@pytest.mark.slow
def test_a_whole_search_on_labels_drawn_by_lot_promotes_nothing() -> None:
    """One seed of `python -m tests.performance.noise`, which counts a hundred."""
    found = search_by_lot(seed=1, items=160, proposals=3)
    assert not found.promoted and found.candidates[0].origin == "base"
    assert found.tally.asked > found.counts["val"] > 20
