"""Clusters that something ties together are one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def join_codes(codes: NDArray[np.int32], hashes: NDArray[np.uint64], tied: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Cluster codes of items with those made one that are tied together.

    Args:
        codes: shape (items,), places in `hashes`. hashes: of the clusters, ascending, shape (clusters,).
        tied: hashes of clusters that are tied, shape (pairs, 2).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places = np.searchsorted(hashes, tied)
    places = places[(hashes[np.minimum(places, len(hashes) - 1)] == tied).all(axis=1)]
    graph = coo_array((np.ones(len(places)), (places[:, 0], places[:, 1])), shape=(len(hashes), len(hashes)))
    return np.asarray(connected_components(graph, directed=False)[1][codes], dtype=np.int32)
