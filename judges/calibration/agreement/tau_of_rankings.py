"""Kendall's tau-b of two rankings with ties, entry pair by entry pair."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations


def tau_of_rankings(first: Mapping[str, int], second: Mapping[str, int]) -> float | None:
    """τ-b = (C − D) / √((C + D + Tₓ)(C + D + Tᵧ)) over the entries both have (Kendall 1945); None when a side ties them
    all, or has fewer than two. Tₓ are pairs tied in the first only, Tᵧ in the second only.

    Args:
        first, second: entry → place, 0 for the best; tied entries share one.
    """
    concordant = discordant = tied_first = tied_second = 0
    for a, b in combinations(sorted(first.keys() & second.keys()), 2):
        x, y = first[a] - first[b], second[a] - second[b]
        if x * y > 0:
            concordant += 1
        elif x * y < 0:
            discordant += 1
        elif x == 0 and y != 0:
            tied_first += 1
        elif y == 0 and x != 0:
            tied_second += 1
    untied = concordant + discordant
    root = math.sqrt((untied + tied_first) * (untied + tied_second))
    return (concordant - discordant) / root if root else None
