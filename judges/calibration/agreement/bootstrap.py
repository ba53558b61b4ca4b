"""Percentile intervals by resampling items, or clusters, as counts of their distinct rating patterns.

Drawing n items with replacement and counting their patterns is one multinomial draw, so a resample costs as much as
there are patterns, not items. Single ratings are never resampled apart from their item (`LabelCounts`, `PairTable`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.ratings import Clusters, LabelCounts, PairTable
from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.statistic import Statistic

LEVEL = 0.95
RESAMPLES = 2000
RAREST_LABEL = 10
"""Below so many items of the rarest label in use, chance-corrected intervals cover far less than they say: at nominal
95 %, kappa's covered .31 to .80 in simulation with 30 to 50 items of which 3 to 10 % were of the rarer label."""
FEW_CLUSTERS = 20
"""Below so many clusters a resample of clusters is too coarse to speak of new ones: kappa's nominal 95 % covered .84,
.89, .92 and .94 with 5, 10, 20 and 30 clusters of 20 items in simulation (of items alone: .75 to .77 throughout)."""
UNDEFINED_SHARE = 0.05
_CHUNK_CELLS = 4_000_000
_DRAWS_A_KIND = 8
"""Up to so many units for each kind of them, drawing one by one is quicker than a binomial number of each kind."""
_CACHED_DRAWS = 32_768
"""Units drawn at a time: they stay in the processor's cache."""

Coefficient = Callable[[FloatArray], FloatArray]
"""Items per pattern, shape (resamples, P), to one value each, shape (resamples,); nan where undefined."""


@dataclass(frozen=True)
class Bootstrap:
    """How the intervals of one table of ratings are made. One bootstrap serves all its coefficients.

    Attributes:
        counts: items per pattern, shape (P,).
        clusters: the items by cluster, or None.
        withheld: "" or why no interval may be given, by `rarest_label`.
        resamples, seed, level: of the percentile interval.
        weights: what an item of each pattern counts for, shape (P,); None for one each.
        simulated: what the patterns count for in tables drawn otherwise, shape (resamples, P), in place of resamples;
            how: how those were drawn.
    """

    counts: IntArray
    clusters: Clusters | None = None
    withheld: str = ""
    resamples: int = RESAMPLES
    seed: int = 0
    level: float = LEVEL
    weights: FloatArray | None = None
    simulated: FloatArray | None = None
    how: str = ""

    @classmethod
    def of_pairs(
        cls,
        pairs: PairTable,
        seed: int = 0,
        resamples: int = RESAMPLES,
        level: float = LEVEL,
        rarest: int = RAREST_LABEL,
    ) -> Bootstrap:
        """For a table of two raters; the rarest label is looked for among the rows' (the people's)."""
        withheld = rarest_label(pairs.confusion.sum(axis=1), pairs.scale.shown, pairs.n, rarest)
        return cls(pairs.counts, pairs.clusters, withheld, resamples, seed, level, pairs.weights)

    @classmethod
    def of_counts(
        cls,
        ratings: LabelCounts,
        seed: int = 0,
        resamples: int = RESAMPLES,
        level: float = LEVEL,
        rarest: int = RAREST_LABEL,
    ) -> Bootstrap:
        """For any number of raters; a label's items are those on which at least one of them gave it."""
        total = int(ratings.counts.sum())
        withheld = rarest_label(ratings.items_by_label, ratings.scale.shown, total, rarest)
        return cls(ratings.counts, ratings.clusters, withheld, resamples, seed, level, ratings.weights)

    @property
    def by_cluster(self) -> bool:
        return self.clusters is not None and self.clusters.n >= FEW_CLUSTERS

    @property
    def method(self) -> str:
        if self.simulated is not None:
            return f"{self.how}, items weighted by 1/π, seed {self.seed}"
        what = "items"
        if self.clusters is not None:
            what = f"{self.clusters.n} clusters" if self.by_cluster else "items"
        weighted = "" if self.weights is None else " weighted by 1/π"
        return f"percentile interval of {self.resamples:,} resamples of {what}{weighted}, seed {self.seed}"

    @property
    def scope(self) -> str:
        """A remark when items had to be resampled although they come in clusters, else ""."""
        if self.clusters is None or self.by_cluster or self.simulated is not None:
            return ""
        n = self.clusters.n
        return (
            f"with {n} {'cluster' if n == 1 else 'clusters'} the interval speaks of the items of "
            f"{'this cluster' if n == 1 else 'these clusters'} alone; {FEW_CLUSTERS} are needed to speak of new ones"
        )

    def attach(self, statistic: Statistic, coefficient: Coefficient) -> Statistic:
        """The statistic with its interval, or with the reason why there is none."""
        if statistic.value is None:
            return statistic
        if self.withheld:
            return statistic.without_interval(self.withheld)
        values = np.concatenate([coefficient(masses) for masses in self._chunks])
        defined = values[np.isfinite(values)]
        if len(defined) < len(values) * (1 - UNDEFINED_SHARE):
            share = 1 - len(defined) / len(values)
            return statistic.without_interval(f"{share:.0%} of the resamples leave it undefined")
        tail = 50 * (1 - self.level)
        low, high = (float(bound) for bound in np.percentile(defined, [tail, 100 - tail]))
        if low == high:
            return statistic.without_interval(
                f"every resample gives {low:.4g}: a sample without variation cannot show how far it may vary"
            )
        return statistic.with_interval(low, high, self.level, self.method, self.scope)

    @cached_property
    def _chunks(self) -> Iterable[FloatArray]:
        """What the patterns count for in each resample: kept for the next coefficient where that is small, else drawn
        again each time."""
        if self.resamples * len(self.counts) <= _CHUNK_CELLS:
            return list(self.draw())
        return _Redrawn(self.draw)

    def draw(self) -> Iterator[FloatArray]:
        """What resampled items count for, in chunks of shape (b, P); the same chunks at every call."""
        if self.simulated is not None:
            yield self.simulated
            return
        contents, kinds = self._units()
        n = int(kinds.sum())
        if n <= _DRAWS_A_KIND * len(kinds) and n * self.resamples <= _CHUNK_CELLS:
            own = np.eye(len(kinds)) if contents is None else contents
            yield self._weighted(
                unit_counts(self.seed, n, self.resamples).astype(np.float64) @ own.repeat(kinds, axis=0)
            )
            return
        rng = np.random.default_rng(self.seed)
        step = max(1, _CHUNK_CELLS // (len(kinds) + len(self.counts)))
        for start in range(0, self.resamples, step):
            drawn = rng.multinomial(n, kinds / n, size=min(step, self.resamples - start)).astype(np.float64)
            yield self._weighted(drawn if contents is None else drawn @ contents)

    def _weighted(self, items: FloatArray) -> FloatArray:
        return items if self.weights is None else items * self.weights

    def _units(self) -> tuple[IntArray | None, IntArray]:
        """What is drawn: clusters by their contents, or items by their pattern (contents None)."""
        if self.clusters is not None and self.by_cluster:
            return self.clusters.contents, self.clusters.counts
        return None, self.counts


@lru_cache(maxsize=1)
def unit_counts(seed: int, n: int, resamples: int) -> NDArray[np.int16]:
    """How often each of n units is drawn in each resample, shape (resamples, n). Kept: the tables of a task's judges
    are of the same clusters."""
    counts = np.empty((resamples, n), dtype=np.int16)
    rng = np.random.default_rng(seed)
    step = max(1, _CACHED_DRAWS // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        units = rng.integers(0, n, (size, n)) + np.arange(0, size * n, n)[:, np.newaxis]
        counts[start : start + size] = np.bincount(units.ravel(), minlength=size * n).reshape(size, n)
    return counts


@dataclass(frozen=True)
class _Redrawn:
    """An iterable that draws anew each time it is read."""

    draw: Callable[[], Iterator[FloatArray]]

    def __iter__(self) -> Iterator[FloatArray]:
        return self.draw()


def rarest_label(items: IntArray, labels: Sequence[str], n: int, least: int = RAREST_LABEL) -> str:
    """Why a chance-corrected interval is withheld, or "".

    Args:
        items: items per label, shape (q,), by the people's labels.
        n: items in all.
        least: items that the rarest label in use must have.
    """
    used = np.flatnonzero(items)
    if len(used) == 0:
        return "no item is labelled"
    if len(used) == 1:
        return f"people gave one label only, {labels[used[0]]}: items of another label are needed for an interval"
    rare = int(used[np.argmin(items[used])])
    have = int(items[rare])
    if have >= least:
        return ""
    more = least - have
    rate = -(-more * n // have)
    return (
        f"the rarest label, {labels[rare]}, has {have} {_items(have)} and an interval needs {least}: "
        f"{more} more {_items(more)} of it would do (about {rate} more labels at its present rate)"
    )


def _items(count: int) -> str:
    return "item" if count == 1 else "items"
