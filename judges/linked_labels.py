"""Labels that one act gave to identical items of several systems: for a statistic over systems they are one cluster.

Within one system no two labels are ever linked, so a system's own numbers need nothing of this: each item was drawn by
its own chance, and its label is the one its content has.
"""

from __future__ import annotations

from collections.abc import Iterable

from store.events import IS_LINKED
from store.study import Study

CLUSTER = "CASE WHEN cluster_key <> '' THEN cluster_key WHEN group_key <> '' THEN group_key ELSE item_id END"
"""SQL: items of one declared cluster stand or fall together; without one those that share a long text; else each
alone."""


def linked_items(study: Study) -> dict[str, str]:
    """Item → the item that was read in its place, by whoever labelled them."""
    return dict(study.rows(f"SELECT item_id, max(body->>'linked_to') FROM label_events WHERE {IS_LINKED} GROUP BY 1"))


def linked_clusters(study: Study) -> list[tuple[str, str]]:
    """Pairs of clusters that a linked label ties together."""
    if not study.rows(f"SELECT 1 FROM label_events WHERE {IS_LINKED} LIMIT 1"):
        return []
    rows: list[tuple[str, str]] = study.rows(
        f"""WITH linked AS (
            SELECT DISTINCT item_id, body->>'linked_to' AS leader FROM label_events WHERE {IS_LINKED}),
        placed AS (SELECT item_id, {CLUSTER} AS cluster FROM current_items
            WHERE item_id IN (SELECT item_id FROM linked UNION SELECT leader FROM linked))
        SELECT DISTINCT one.cluster, other.cluster FROM linked JOIN placed one USING (item_id)
        JOIN placed other ON other.item_id = leader WHERE one.cluster <> other.cluster"""
    )
    return rows


def joined_names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Cluster → the name of all that is tied to it; clusters that are tied to nothing are left out."""
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.setdefault(name, name) != name:
            name = root[name]
        return name

    for one, other in pairs:
        first, second = sorted((find(one), find(other)))
        root[second] = first
    return {name: find(name) for name in root}
