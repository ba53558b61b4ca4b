"""Making journal and database say the same at opening, by event id, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from store.errors import StudyDamagedError
from store.events import EVENT, event_of, insert_events
from store.files import move_aside
from store.journal import Entry, Journal, Reading
from store.writer import in_transaction

HEADER = "header"
GAP = "gap"
"""A place where acts are lost for good and a repair has said so."""

Applier = Callable[[Any, Mapping[str, Any]], None]
"""Puts a journal record into its tables; the caller holds the transaction."""


def apply_entries(connection: Any, entries: Sequence[Entry], appliers: Mapping[str, Applier]) -> None:
    """Put journal entries into the database in one transaction."""

    def apply() -> None:
        for is_event, stretch in groupby(entries, key=_is_event):
            if is_event:
                insert_events(connection, [(event_of(entry), entry) for entry in stretch])
            else:
                for entry in stretch:
                    _apply_record(connection, entry, appliers)

    in_transaction(connection, apply)


def _is_event(entry: Entry) -> bool:
    return bool(entry.record["type"] == EVENT)


def _apply_record(connection: Any, entry: Entry, appliers: Mapping[str, Applier]) -> None:
    record = entry.record
    if (applier := appliers.get(record["type"])) is not None:
        applier(connection, record)
    connection.execute("INSERT INTO journal_records VALUES (?, ?, ?)", [entry.event_id, record["type"], entry.body])


def known_ids(connection: Any) -> set[str]:
    """The ids of everything the database holds of the journal."""
    rows = connection.execute(
        "SELECT event_id FROM label_events UNION ALL SELECT event_id FROM journal_records"
    ).fetchall()
    return {row[0] for row in rows}


def stored_entries(connection: Any) -> list[Entry]:
    """All journal entries as the database keeps them: records first, then events in chain order."""
    records = connection.execute("SELECT event_id, body FROM journal_records ORDER BY rowid").fetchall()
    events = connection.execute(
        "SELECT event_id, body FROM label_events ORDER BY clock, copy_id, annotator, seq"
    ).fetchall()
    return [Entry(event_id, body) for event_id, body in [*records, *events]]


def reconcile(connection: Any, journal: Journal, reading: Reading, appliers: Mapping[str, Applier]) -> list[str]:
    """Bring both sides together; returns a sentence for each thing the user should know.

    Raises:
        StudyDamagedError: chains are broken or forked after the merge.
    """
    notices: list[str] = []
    in_database = known_ids(connection)
    in_journal = {entry.event_id for entry in reading.entries}
    if missing := [entry for entry in reading.entries[1:] if entry.event_id not in in_database]:
        apply_entries(connection, missing, appliers)
        notices.append(f"{_acts(len(missing))} restored from the journal.")
    if absent := [entry for entry in stored_entries(connection) if entry.event_id not in in_journal]:
        journal.append(absent)
        notices.append(f"{_acts(len(absent))} written back to the journal from the study.")
    check_chains(connection)
    return notices


def _acts(count: int) -> str:
    return "1 act was" if count == 1 else f"{count} acts were"


def check_chains(connection: Any) -> None:
    """Every chain runs 1, 2, 3 … and each event names the one before it.

    Raises:
        StudyDamagedError: an event is missing, doubled or altered; names the chain.
    """
    broken = connection.execute(
        """SELECT annotator, seq FROM (
            SELECT copy_id, annotator, seq, prev_hash, lag(event_id, 1, study_id) OVER chain AS before,
                lag(seq, 1, 0) OVER chain + 1 AS expected
            FROM label_events WINDOW chain AS (PARTITION BY copy_id, annotator ORDER BY seq, event_id))
        WHERE (seq <> expected OR prev_hash <> before) AND (copy_id, annotator, seq) NOT IN (
            SELECT (body->>'copy_id', body->>'annotator', CAST(body->>'seq' AS BIGINT))
            FROM journal_records WHERE type = 'gap')
        ORDER BY annotator, seq LIMIT 1"""
    ).fetchone()
    if broken is not None:
        raise StudyDamagedError(
            "The chain of labels is broken.",
            f"Act {broken[1]} of {broken[0]} does not follow the act before it: one is missing, doubled or altered.",
            "Bring back the study and the journal from one and the same copy; `overread doctor` tells more.",
        )


def settle_torn_tail(journal: Journal, reading: Reading, path: Path) -> list[str]:
    """Deal with a last line that a crash cut: complete it, or set its bytes aside (they were never acknowledged)."""
    if reading.unended:
        journal.end_last_line()
    if not reading.torn:
        return []
    rest = path.with_name(f"{path.name}.torn")
    if rest.exists():
        move_aside(rest, "kept")
    rest.write_bytes(reading.torn)
    journal.cut_to(reading.good_bytes)
    return [f"The journal ended in half a line of an act that was never confirmed on screen; kept in {rest.name}."]
