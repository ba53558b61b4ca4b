"""What was paid for, kept twice: in the study, and in the file of paid calls beside it (`store.call_log`).

A batch is put into an open transaction, fsync'd in the file, then committed. The study keeps a mark of how far it has
taken in the file; what stands behind the mark (a crash came between) is taken in at opening, by the key of each call.
A study that is made anew has no mark and takes in everything, so nothing is paid for twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from store.call_log import HEADER, CallLog, Mark, Stretch, line_of, read_stretches
from store.database import in_transaction
from store.errors import StudyDamagedError
from store.files import free_name, keep_copy, told_of, write_private
from store.judged_rows import count_differences, put_again, shape_of, stored_rows
from store.opening import command, is_fault_of_data
from store.records import canonical_json

JUDGE, RUN, RUN_END, REQUEST, VERDICT, ANSWER = "judge", "run", "run_end", "batch_request", "verdict", "answer"
_MARK: Final = "calls_file"
_BATCH: Final = 2000


def put_judge(connection: Any, judge: Mapping[str, Any]) -> bool:
    """Make a judge known; returns whether it was new."""
    if connection.execute("SELECT 1 FROM judges WHERE judge_id = ?", [judge["judge_id"]]).fetchone():
        return False
    names = ("judge_id", "task", "name", "model", "prompt_version", "parameters")
    connection.execute("INSERT INTO judges VALUES (?, ?, ?, ?, ?, ?)", [judge[name] for name in names])
    return True


def put_run(connection: Any, run: Mapping[str, Any]) -> bool:
    """Note that a run begins; returns whether it was new."""
    if connection.execute("SELECT 1 FROM runs WHERE run_id = ?", [run["run_id"]]).fetchone():
        return False
    names = ("run_id", "task", "judge_id", "settings", "started_at")
    connection.execute(
        "INSERT INTO runs VALUES (?, 'judge', ?, ?, ?, CAST(? AS TIMESTAMPTZ), NULL, '', '{}')",
        [run[name] for name in names],
    )
    return True


def put_run_end(connection: Any, run: Mapping[str, Any]) -> bool:
    """Note how a run ended."""
    connection.execute(
        "UPDATE runs SET ended_at = CAST(? AS TIMESTAMPTZ), outcome = ?, counts = ? WHERE run_id = ?",
        [run[name] for name in ("ended_at", "outcome", "counts", "run_id")],
    )
    return True


def put_answer(connection: Any, answer: Mapping[str, Any]) -> bool:
    """Keep an answer of a search; returns whether it was new."""
    if connection.execute("SELECT 1 FROM answers WHERE answer_key = ?", [answer["answer_key"]]).fetchone():
        return False
    names = ("answer_key", "kind", "task", "answer", "cost", "answered_at")
    connection.execute(
        "INSERT INTO answers VALUES (?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))", [answer[name] for name in names]
    )
    return True


_REQUEST_NAMES = ("custom_id", "run_id", "task", "item_id", "content_hash", "judge_id", "repetition", "prompt_hash")


def put_requests(connection: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Remember what lines of batch files are for, as far as they are not known."""
    shape = shape_of(dict.fromkeys(_REQUEST_NAMES, "VARCHAR") | {"repetition": "INTEGER"})
    connection.execute(
        f"""INSERT INTO batch_requests SELECT r.* FROM (SELECT unnest(from_json(?, '{shape}')) AS r)
        WHERE (r.custom_id, r.item_id) NOT IN (SELECT (custom_id, item_id) FROM batch_requests)""",
        [json.dumps(rows, ensure_ascii=False)],
    )


PUT: Mapping[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    JUDGE: put_judge, RUN: put_run, RUN_END: put_run_end, ANSWER: put_answer,
}  # fmt: skip
"""How each kind of line that comes alone reaches its table."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The file against the study.

    Attributes:
        verdicts, answers: that the study has calls of. in_file: those of them the file has, lines not in the study not
            counted. only_file: verdicts that only the file has. damaged: bytes that cannot be read.
    """

    verdicts: int
    answers: int
    in_file: int
    only_file: int
    damaged: int

    @property
    def only_study(self) -> int:
        """How many of the study's the file lacks."""
        return max(0, self.verdicts + self.answers - self.in_file)

    @property
    def words(self) -> str:
        """What the study has, counted."""
        verdicts = "1 judged verdict" if self.verdicts == 1 else f"{self.verdicts:,} judged verdicts"
        return f"{verdicts} and {self.answers:,} answers of searches" if self.answers else verdicts


class LaidOut(NamedTuple):
    """A file that was written from a reader's view: how far it goes, and how many calls and answers it has."""

    mark: Mark
    calls: int


class PaidCalls:
    """The file of paid calls of one study, and how far the study has taken it in. Used by the writer thread alone."""

    def __init__(self, study_path: Path, study_id: str) -> None:
        self._study_path = study_path
        self._log = CallLog(study_path, study_id)
        self.path = self._log.path

    def keep(self, connection: Any, lines: Sequence[str]) -> None:
        """Make lines safe in the file; the caller's transaction has put them into the study and commits after this.

        A file that is not there, or lacks what the study has, is written anew from the study.

        Raises:
            NotWrittenError: they could not be made safe. StudyDamagedError: the file is not this study's.
        """
        mark, known = self._log.mark(), _known(connection)
        if mark is None or (known is not None and mark.file == known.file and mark.size < known.size):
            if self.path.exists():
                keep_copy(self.path, "damaged")
            self._write_anew(connection)
            return
        if mark != known:
            mark = self._catch_up(connection, mark, known)[0]
        _note(connection, Mark(mark.file, self._log.append(lines)))

    def lay_out(self, reader: Any) -> LaidOut | None:
        """Write the file of a study that never had one, from a reader's view of it: labels are given meanwhile.

        None where there is a file, there was one, or there is nothing to write.

        Raises:
            NotWrittenError: no space, no rights.
        """

        def write() -> LaidOut | None:
            if self.path.exists() or self.was_there(reader) or not (count := _count(reader)):
                return None
            return LaidOut(self._log.write(_all_lines(reader)), count)

        return in_transaction(reader, write)

    def take_over(self, connection: Any, laid: LaidOut) -> None:
        """Note that the file has all of the study; dropped where calls came meanwhile, to be written anew with them."""
        if _known(connection) is None and _count(connection) == laid.calls:
            in_transaction(connection, lambda: _note(connection, laid.mark))
        elif _known(connection) is None:
            self.path.unlink(missing_ok=True)

    def bring_together(self, connection: Any) -> list[str]:
        """At opening: take in what only the file has; returns sentences for the user.

        Raises:
            StudyDamagedError: the file is not this study's, or cannot be understood.
        """
        mark, known = self._log.mark(), _known(connection)
        if mark is None:
            if known is None and not self.path.exists():
                return []
            return [self._complaint("is damaged" if self.path.exists() else "is missing")]
        if mark == known:
            return []
        if known is not None and mark.file == known.file and mark.size < known.size:
            return [self._complaint("is shorter than it was")]
        _, taken, damaged = in_transaction(connection, lambda: self._catch_up(connection, mark, known))
        notices = [f"{_verdicts(taken)} restored from {self.path.name}."] if taken else []
        return [*notices, self._complaint("is damaged")] if damaged else notices

    def _complaint(self, how: str) -> str:
        return (
            f"{self.path.name} (the paid calls) {how}; the study holds what it was given. Put the file back, or write"
            f" it anew: {command(self._study_path, 'doctor --repair')}"
        )

    def was_there(self, connection: Any) -> bool:
        """Whether this study has had such a file."""
        return _known(connection) is not None

    def compare(self, connection: Any) -> Comparison:
        """Read the whole file and hold it against the study.

        Raises:
            NotWrittenError: it may not be read.
        """
        verdicts = connection.execute("SELECT count(*) FROM calls").fetchone()[0]
        answers = connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        damaged = answered = lines = 0
        rows: list[Mapping[str, Any]] = []
        only_file = 0
        for stretch in read_stretches(self.path) if self.path.exists() else ():
            if stretch.lines is None:
                damaged += stretch.end - stretch.start
                continue
            for members in map(json.loads, stretch.lines):
                answered += members.get("type") == ANSWER
                if members.get("type") == VERDICT:
                    lines += 1
                    rows.append(members)
            if len(rows) >= _BATCH:
                only_file, rows = only_file + count_differences(connection, rows), []
        only_file += count_differences(connection, rows) if rows else 0
        in_file = answered + lines - only_file
        return Comparison(verdicts, answers, in_file, only_file, damaged)

    def mend(self, connection: Any) -> list[str]:
        """Take in what only the file has, and write it anew from the study where it lacks something or is damaged.

        Returns sentences for the user.

        Raises:
            NotWrittenError: no space, no rights. StudyDamagedError: the file is not this study's.
        """
        there = self.path.exists()
        mark = self._log.mark()
        taken = in_transaction(connection, lambda: self._take_in(connection, read_stretches(self.path))) if there else 0
        found = self.compare(connection)
        done = [f"{_verdicts(taken)} restored from {self.path.name}."] if taken else []
        if not found.damaged and not found.only_study and (mark is not None or not there):
            if mark is not None:
                in_transaction(connection, lambda: _note(connection, mark))
            return done
        kept = keep_copy(self.path, "damaged") if there else None
        in_transaction(connection, lambda: self._write_anew(connection))
        done.append(f"{self.path.name} was written anew from the study: {found.words}.")
        if found.damaged:
            done.append(f"{found.damaged:,} bytes of it could not be read; what they said and the study lacks is lost.")
        return [*done, f"The file as it was is kept as {kept.name}."] if kept is not None else done

    def _catch_up(self, connection: Any, mark: Mark, known: Mark | None) -> tuple[Mark, int, int]:
        """Take in what stands behind the mark; returns the new one, verdicts taken in, damaged bytes."""
        start = known.size if known is not None and known.file == mark.file else 0
        damaged: list[Stretch] = []
        torn: list[Stretch] = []

        def intact() -> Iterator[Stretch]:
            for stretch in read_stretches(self.path, start):
                if stretch.lines is None:
                    (torn if stretch.torn else damaged).append(stretch)
                yield stretch

        taken = self._take_in(connection, intact())
        for stretch in torn:
            self._set_aside(stretch)
            mark = Mark(mark.file, stretch.start)
        _note(connection, mark)
        return mark, taken, sum(stretch.end - stretch.start for stretch in damaged)

    def _set_aside(self, torn: Stretch) -> None:
        """Half a member was never confirmed: its calls count as not made."""
        rest = free_name(self.path, "torn")
        with told_of(rest), self.path.open("rb") as source:
            source.seek(torn.start)
            write_private(rest, source.read())
        self._log.cut_to(torn.start)

    def _take_in(self, connection: Any, stretches: Iterable[Stretch]) -> int:
        from store.engine import duckdb

        try:
            return _take_in(connection, (line for stretch in stretches for line in stretch.lines or ()))
        except (KeyError, TypeError, ValueError) as error:
            raise self._not_understood() from error
        except duckdb.Error as error:
            if is_fault_of_data(error):
                raise self._not_understood() from error
            raise

    def _not_understood(self) -> StudyDamagedError:
        return StudyDamagedError(
            f"{self.path.name} says things that this overread does not understand.",
            "Nothing is lost and nothing was changed.", "Upgrade overread, or move the file away.",
        )  # fmt: skip

    def _write_anew(self, connection: Any) -> None:
        _note(connection, self._log.write(_all_lines(connection)))


def _take_in(connection: Any, lines: Iterable[str]) -> int:
    """Put lines into the study as far as it lacks them; returns how many verdicts it took."""
    taken = 0
    rows: list[Mapping[str, Any]] = []
    requests: list[Mapping[str, Any]] = []
    for line in lines:
        members = json.loads(line)
        kind = members.pop("type")
        if kind == VERDICT:
            rows.append(members)
        elif kind == REQUEST:
            requests.append(members)
        elif kind != HEADER:
            PUT[kind](connection, members)
        if len(rows) >= _BATCH:
            taken, rows = taken + put_again(connection, rows), []
        if len(requests) >= _BATCH:
            put_requests(connection, requests)
            requests = []
    if requests:
        put_requests(connection, requests)
    return taken + (put_again(connection, rows) if rows else 0)


def _all_lines(connection: Any) -> Iterator[str]:
    """All that the study holds of paid calls."""
    imported = "(SELECT v.judge_id FROM verdicts v JOIN imports USING (import_id))"
    names = "judge_id, task, name, model, prompt_version, parameters"
    yield from _lines(connection, JUDGE, names, f"judges WHERE judge_id NOT IN {imported}")
    names = "run_id, task, judge_id, settings, coalesce(started_at::VARCHAR, '') AS started_at"
    yield from _lines(connection, RUN, names, "runs WHERE kind = 'judge'")
    yield from _lines(connection, REQUEST, ", ".join(_REQUEST_NAMES), "batch_requests")
    for row in stored_rows(connection):
        yield line_of(VERDICT, row)
    names = "run_id, outcome, counts, ended_at::VARCHAR AS ended_at"
    yield from _lines(connection, RUN_END, names, "runs WHERE kind = 'judge' AND ended_at IS NOT NULL")
    names = "answer_key, kind, task, answer, cost, answered_at::VARCHAR AS answered_at"
    yield from _lines(connection, ANSWER, names, "answers")


def _lines(connection: Any, kind: str, columns: str, source: str) -> Iterator[str]:
    found = connection.execute(f"SELECT {columns} FROM {source} ORDER BY {source.split()[0]}.rowid")
    names = [column[0] for column in found.description]
    while rows := found.fetchmany(_BATCH):
        for values in rows:
            yield line_of(kind, dict(zip(names, values, strict=True)))


def _count(connection: Any) -> int:
    """Calls and answers that the study holds."""
    row = connection.execute("SELECT (SELECT count(*) FROM calls) + (SELECT count(*) FROM answers)").fetchone()
    return int(row[0])


def _known(connection: Any) -> Mark | None:
    row = connection.execute("SELECT value FROM study WHERE key = ?", [_MARK]).fetchone()
    if row is None:
        return None
    value = json.loads(row[0])
    return Mark(value["file"], value["size"])


def _note(connection: Any, mark: Mark) -> None:
    value = canonical_json(mark._asdict())
    if not connection.execute("UPDATE study SET value = ? WHERE key = ?", [value, _MARK]).fetchone()[0]:
        connection.execute("INSERT INTO study VALUES (?, ?)", [_MARK, value])


def _verdicts(count: int) -> str:
    return "1 paid verdict was" if count == 1 else f"{count:,} paid verdicts were"
