"""Making journal and database say the same at opening, by event id, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from store.applying import apply_entries, known_ids
from store.database import in_transaction
from store.errors import NotWrittenError, SaveError, StudyDamagedError
from store.files import free_name, told_of, write_private
from store.journal import FORMAT, Entry, Journal, JournalDamagedError, Reading, journal_path, read_journal
from store.losses import loss_of
from store.opening import command, is_fault_of_data

HEADER = "header"
GAP = "gap"
"""A place where acts are lost for good, or do not follow each other, and a repair has said so."""


def header_entry(settings: Mapping[str, Any]) -> Entry:
    """The first line of a journal."""
    names = ("study_id", "copy_id", "benchmark", "format", "created_at")
    return Entry.of({"type": HEADER, **{name: settings[name] for name in names}})


def open_journal(connection: Any, path: Path, settings: Mapping[str, Any]) -> tuple[Journal, list[str]]:
    """Open the journal of a study and bring both together; returns it with a sentence for each thing that was mended.

    Raises:
        StudyDamagedError: the journal is damaged, missing, another study's, or has gone apart from the study; then
            neither file was changed.
        NotWrittenError: the journal may not be read or written.
    """
    file = journal_path(path)
    known = known_ids(connection)
    reading = read_journal(file, tolerant=True, known=known) if file.exists() else None
    _refuse_damaged(connection, path, settings, reading, known)
    journal = Journal(file)
    try:
        return journal, _settle(connection, path, settings, journal, reading, known)
    except SaveError as error:
        journal.close()
        hint = "Free disk space, then try again."
        raise NotWrittenError(f"{file.name} cannot be written.", error.detail, hint) from error
    except BaseException:
        journal.close()
        raise


def _settle(
    connection: Any,
    path: Path,
    settings: Mapping[str, Any],
    journal: Journal,
    reading: Reading | None,
    known: set[str],
) -> list[str]:
    if reading is not None and reading.entries:
        return _bring_together(connection, path, journal, reading, known)
    notices = [] if reading is None else _settle_first_line(journal, reading, settings)
    journal.append([header_entry(settings)])
    return notices


def _settle_first_line(journal: Journal, reading: Reading, settings: Mapping[str, Any]) -> list[str]:
    """A crash may have cut the header itself: that is no act of anyone."""
    if header_entry(settings).line_bytes().startswith(reading.torn):
        journal.cut_to(0)
        return []
    return settle_tail(journal, reading, [])


def _gone(path: Path, how: str, count: int) -> StudyDamagedError:
    return StudyDamagedError(
        f"The journal of {path.name} {how}.",
        f"{journal_path(path).name} should stand beside it. Nothing is lost: the study holds {_all_acts(count)}.",
        f"Put the journal back, or write it anew from the study: {command(path, 'doctor --repair')}",
    )


def _all_acts(count: int) -> str:
    return "the only act" if count == 1 else f"all {count} acts"


def _refuse_damaged(
    connection: Any, path: Path, settings: Mapping[str, Any], reading: Reading | None, known: set[str]
) -> None:
    name = journal_path(path).name
    if reading is None:
        if known:
            raise _gone(path, "is missing", len(known))
        return
    if reading.damaged:
        raise _damaged(connection, path, reading)
    if not reading.entries:
        if known:
            raise _gone(path, "is empty", len(known))
        return
    header = reading.entries[0].record
    if header["type"] != HEADER:
        raise _damaged(connection, path, reading)
    refuse_other_study(path, settings, header)
    if header["format"] > FORMAT:
        raise StudyDamagedError(f"{name} was written by a newer overread.", "Nothing was changed.", "Upgrade overread.")


def refuse_other_study(path: Path, settings: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    """A journal beside a study that is not its own.

    Raises:
        StudyDamagedError: it is.
    """
    if header["study_id"] != settings["study_id"]:
        raise StudyDamagedError(
            f"{journal_path(path).name} belongs to another study.",
            f"Its first line names another study than {path.name} is. Nothing is lost and nothing was changed.",
            "Put the right journal beside the study. If there is none, move this one away and write it anew from the"
            f" study: {command(path, 'doctor --repair')}",
        )


def _damaged(connection: Any, path: Path, reading: Reading) -> JournalDamagedError:
    numbers = [line for line, _ in reading.damaged]
    lines = ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")
    absent = [entry for entry in stored_entries(connection) if entry.event_id not in reading.ids]
    loss = loss_of(reading.damaged, absent, reading.ids)
    said = "Nothing is lost: the study holds what they said." if loss.nothing else _sentence(loss.words())
    return JournalDamagedError(
        f"The journal of {path.name} is damaged.",
        f"{journal_path(path).name}, line {lines or 1}: not what was written. {said}",
        f"{command(path, 'doctor --repair')}   (mends it and keeps the damaged file under another name)",
    )


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}; the study holds the rest."


def _bring_together(connection: Any, path: Path, journal: Journal, reading: Reading, known: set[str]) -> list[str]:
    absent = _absent(connection, path, known - reading.ids)
    missing = reading.entries[1:]

    def merge() -> None:
        take_in(connection, path, missing)
        check_chains(connection, path)

    in_transaction(connection, merge)
    notices = settle_tail(journal, reading, absent)
    if missing:
        notices.append(f"{_acts(len(missing))} restored from the journal.")
    if absent:
        journal.append(absent)
        notices.append(f"{_acts(len(absent))} written back to the journal from the study.")
    return notices


def _acts(count: int) -> str:
    return "1 act was" if count == 1 else f"{count} acts were"


def take_in(connection: Any, path: Path, missing: list[Entry]) -> None:
    """Put what only the journal has into the database; the caller holds the transaction.

    Raises:
        StudyDamagedError: it cannot be understood.
    """
    from store.engine import duckdb

    try:
        apply_entries(connection, missing)
    except (KeyError, TypeError, ValueError) as error:
        raise _not_understood(path, missing) from error
    except duckdb.Error as error:
        if is_fault_of_data(error):
            raise _not_understood(path, missing) from error
        raise


def _not_understood(path: Path, entries: list[Entry]) -> StudyDamagedError:
    return StudyDamagedError(
        f"The journal of {path.name} says things that this overread does not understand.",
        f"One of the lines {entries[0].line} to {entries[-1].line}. Nothing is lost and nothing was changed.",
        "Upgrade overread.",
    )


def _absent(connection: Any, path: Path, ids: set[str]) -> list[Entry]:
    """What only the database has; refused when it is not what was written."""
    if not ids:
        return []
    entries = [entry for entry in stored_entries(connection) if entry.event_id in ids]
    if altered := sum(1 for entry in entries if not entry.intact):
        raise StudyDamagedError(
            f"{_acts(altered)} altered in {path.name}: by hand, or by a fault of the disk.",
            "Nothing is lost that stands in the journal. Nothing was changed.",
            command(path, "doctor --repair"),
        )
    return entries


def stored_entries(connection: Any) -> list[Entry]:
    """All journal entries as the database keeps them: records first, then events in chain order."""
    records = connection.execute("SELECT event_id, body FROM journal_records ORDER BY rowid").fetchall()
    events = connection.execute(
        "SELECT event_id, body FROM label_events ORDER BY clock, copy_id, annotator, seq"
    ).fetchall()
    return [Entry(event_id, body) for event_id, body in [*records, *events]]


class Break(NamedTuple):
    """A place where a chain does not run on.

    Attributes:
        seq: the act that does not follow the one before it. before: the seq of the one before it (0 for none).
    """

    copy_id: str
    annotator: str
    seq: int
    before: int

    @property
    def forked(self) -> bool:
        """Two acts stand in one place."""
        return self.seq == self.before

    @property
    def lost(self) -> int:
        """How many acts are missing here."""
        return max(0, self.seq - self.before - 1)


def breaks(connection: Any) -> list[Break]:
    """Where chains do not run 1, 2, 3 … with each event naming the one before it, and no repair has said so."""
    rows = connection.execute(
        """SELECT copy_id, annotator, seq, before FROM (
            SELECT copy_id, annotator, seq, prev_hash, lag(event_id, 1, study_id) OVER chain AS named,
                lag(seq, 1, 0) OVER chain AS before
            FROM label_events WINDOW chain AS (PARTITION BY copy_id, annotator ORDER BY seq, event_id))
        ANTI JOIN (
            SELECT body->>'copy_id' AS copy_id, body->>'annotator' AS annotator, CAST(body->>'seq' AS BIGINT) AS seq
            FROM journal_records WHERE type = 'gap') USING (copy_id, annotator, seq)
        WHERE seq <> before + 1 OR prev_hash <> named ORDER BY annotator, copy_id, seq"""
    ).fetchall()
    return [Break(*row) for row in rows]


def check_chains(connection: Any, path: Path) -> None:
    """Every chain runs 1, 2, 3 … and each event names the one before it.

    Raises:
        StudyDamagedError: an event is missing, doubled or altered; names the chain.
    """
    found = breaks(connection)
    if found and found[0].forked and (doubled := _doubled(connection)):
        raise StudyDamagedError(
            f"An act stands twice in {path.name}.",
            f"{doubled} rows too many: put in by hand. Nothing is lost and nothing was changed.",
            command(path, "doctor --repair"),
        )
    if found:
        raise broken(found[0], path)


def _doubled(connection: Any) -> int:
    """How many rows repeat an id."""
    count: int = connection.execute("SELECT count(*) - count(DISTINCT event_id) FROM label_events").fetchone()[0]
    return count


def broken(place: Break, path: Path) -> StudyDamagedError:
    """What a break of a chain means to the user."""
    if place.forked:
        return StudyDamagedError(
            f"{path.name} and its journal have gone apart.",
            f"Act {place.seq} of {place.annotator} is one thing in the study and another in the journal: two copies"
            " were worked in under one name. Nothing is lost and nothing was changed.",
            "Put study and journal of one copy together. Or keep the journal's side:"
            f" {command(path, 'doctor --rebuild')}   (the study file is kept under another name). Or keep the study's"
            f" side: move the journal away, then {command(path, 'doctor --repair')}",
        )
    repair = f"{command(path, 'doctor --repair')}   (goes on without them and says so in the journal)"
    if place.lost:
        return StudyDamagedError(
            "The chain of labels is broken.",
            f"{loss(place)} Neither the study nor its journal has them.",
            f"Bring back a copy of the journal that has them, or: {repair}",
        )
    return StudyDamagedError(
        "The chain of labels is broken.",
        f"Act {place.seq} of {place.annotator} does not follow the act before it: one of them was altered.",
        f"Bring back study and journal from a copy, or: {repair}",
    )


def loss(place: Break) -> str:
    """What is missing at a break, in words."""
    acts = f"act {place.seq - 1}" if place.lost == 1 else f"acts {place.before + 1} to {place.seq - 1}"
    return f"Lost: {acts} of {place.annotator}."


def settle_tail(journal: Journal, reading: Reading, absent: Iterable[Entry]) -> list[str]:
    """Deal with a last line that a crash cut: complete it, or set its bytes aside (they were never acknowledged).

    `absent` is what only the study has: half a line of one of those is no loss, it is written again.
    """
    if reading.unended:
        journal.end_last_line()
    if not reading.torn:
        return []
    if any(entry.line_bytes().startswith(reading.torn) for entry in absent):
        journal.cut_to(reading.good_bytes)
        return []
    rest = free_name(journal.path, "torn")
    with told_of(rest):
        write_private(rest, reading.torn)
    journal.cut_to(reading.good_bytes)
    return [f"The journal ended in half a line of an act that was never confirmed on screen; kept in {rest.name}."]
