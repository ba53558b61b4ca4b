"""Labels that one act gave to identical items of several systems: for a statistic over systems they are one cluster.

Within one system no two labels are ever linked, so a system's own numbers need nothing of this: each item was drawn by
its own chance, and its label is the one its content has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from store.events import IS_LINKED, NOT_PRACTICE
from store.study import Study

CLUSTER = "CASE WHEN cluster_key <> '' THEN cluster_key WHEN group_key <> '' THEN group_key ELSE item_id END"
"""SQL: items of one declared cluster stand or fall together; without one those that share a long text; else each
alone."""


def linked_items(study: Study, task: str) -> dict[str, str]:
    """Copy → the item that was read in its place, on their present content."""
    if not _any(study):
        return {}
    rows = study.rows(
        f"""SELECT item_id, min_by(body->>'linked_to', (clock, copy_id, seq)) FROM label_events
        JOIN (SELECT item_id, content_hash FROM current_items WHERE task = ?) USING (item_id, content_hash)
        WHERE round = 0 AND {IS_LINKED} GROUP BY item_id""",
        [task],
    )
    return dict(rows)


def linked_keys(study: Study, task: str) -> dict[str, Any]:
    """`linked_items` as columns `copy` and `leader` of the hashes by which an audit knows items."""
    links = linked_items(study, task)
    return study.columns(
        """SELECT hash(item_id, content_hash) AS copy, hash(leader, content_hash) AS leader
        FROM (SELECT unnest(?::VARCHAR[]) AS item_id, unnest(?::VARCHAR[]) AS leader) JOIN current_items USING (item_id)
        """,
        [list(links), list(links.values())],
    )


def told_twice(links: Mapping[str, str], verdicts: Mapping[str, str | None]) -> set[str]:
    """Copies on which the judge says what it says of the item read in their place: one observation, to be counted once.

    Args:
        links: as from `linked_items`. verdicts: item → the judge's label.
    """
    return {
        copy for copy, leader in links.items()
        if copy in verdicts and leader in verdicts and verdicts[copy] == verdicts[leader]
    }  # fmt: skip


def _any(study: Study) -> bool:
    return bool(study.rows(f"SELECT 1 FROM label_events WHERE {IS_LINKED} LIMIT 1"))


def linked_clusters(study: Study) -> list[tuple[str, str]]:
    """Pairs of clusters that a linked label ties together."""
    if not _any(study):
        return []
    rows: list[tuple[str, str]] = study.rows(
        f"""WITH linked AS (
            SELECT DISTINCT item_id, body->>'linked_to' AS leader FROM label_events
            WHERE {IS_LINKED} AND {NOT_PRACTICE}),
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
