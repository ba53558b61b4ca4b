"""Kill a labelling program at random moments, again and again, and look for what was acknowledged and is not there.

    python -m tests.store.kill_loop --times 1000

Each round forks a program that opens a real study (or makes one and imports the sample data), sits down at the desk and
labels, undoes, redoes, clears, skips, shows verdicts, leaves and comes back, by a seeded script. After each call that
returned it reports on a pipe what is now safe. It is killed with SIGKILL at a seeded random moment; then another forked
program opens the study and compares it with the reports. Needs `fork`: Linux, macOS.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from annotate.desk.actions import HARMS, REASONS, Choice
from annotate.desk.desk import Desk
from annotate.desk.opening import sit_down
from annotate.sample import sample_runs
from judges.benchmarks.benchmark import Source, get_benchmark
from store.events import Event, EventDraft
from store.importing import ImportedFile, import_records
from store.journal import Entry, journal_path, read_journal
from store.records import ItemRecord
from store.repair import rebuild
from store.study import Study, now
from store.tasks import add_tasks

ROUNDS_A_STUDY = 20
"""Then a new study is made, so that kills fall into its making, too."""
REBUILD_EVERY = 10
"""One check in so many also makes the study anew from its journal alone and compares."""
LONGEST = 20.0
"""Seconds after which a program that should have been done is held to hang."""
PEOPLE = ("dr.li", "李医生")


@dataclass
class Known:
    """What the killed programs have acknowledged of one study.

    Attributes:
        acts: event id → what the act was, in the order of acknowledgement. marks: other things acknowledged.
    """

    folder: Path
    acts: dict[str, str] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    rounds: int = 0

    @property
    def path(self) -> Path:
        return self.folder / "kill me.duckdb"


@dataclass
class Tally:
    """The outcome of the whole loop."""

    rounds: int = 0
    killed: int = 0
    acknowledged: int = 0
    unacknowledged: int = 0
    rebuilt: int = 0
    fell_in: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Check(NamedTuple):
    """What the checking program found: faults in words, ids nobody acknowledged, and what opening mended."""

    faults: list[str]
    unacknowledged: list[str]
    mended: list[str]


# The program that is killed


class Worker:
    """Labels by a script and reports what is safe, one JSON line a call, only after the call returned."""

    def __init__(self, path: Path, pipe: int, seed: int) -> None:
        self._path, self._pipe, self._random = path, pipe, random.Random(seed)
        self._fresh: list[Event] = []

    def run(self) -> None:
        """Make the study if there is none, then label until killed or tired."""
        self._say("begin", [])
        if self._path.exists():
            study = Study.open(self._path)
        else:
            study = Study.create(self._path, "halumem")
            self._say("created", ["created"])
        for _ in range(self._random.choice([1, 1, 2, 3])):
            self._fill(study)
            self._label(study)
            study.close()
            self._say("closed", [])
            study = Study.open(self._path)
        study.close()

    def _fill(self, study: Study) -> None:
        benchmark = get_benchmark("halumem")
        add_tasks(study, [task.as_json() for task in benchmark.tasks()], now().isoformat())
        self._say("tasks", ["tasks"])
        there = {row[0] for row in study.rows("SELECT DISTINCT system FROM imports")}
        for run in sample_runs():
            if run.system not in there:
                records = benchmark.read(Source(run.files, (), run.system, "judge"))
                files = [ImportedFile(file, "results", run.system, "judge") for file in run.files]
                import_records(study, records, files, at=now().isoformat())
                self._say("imported", [f"import {run.system}"])

    def _label(self, study: Study) -> None:
        append = study.append

        def noting(acts: Sequence[EventDraft]) -> list[Event]:
            events = append(acts)
            self._fresh += events
            return events

        study.append = noting  # type: ignore[method-assign]
        mode = self._random.choice(["item", "block", None])
        desk = sit_down(study, self._random.choice(PEOPLE), mode=None if _has_draw(study) else mode, seed=None)
        self._say("sat down", [f"draw {desk.draw.draw_id}"])
        for _ in range(self._random.randint(5, 40)):
            name, act = self._random.choice(self._acts(desk))
            act()
            self._say(name, [])

    def _acts(self, desk: Desk) -> list[tuple[str, Callable[[], object]]]:
        """What can be done now; labels most often."""
        chance = self._random
        if desk.phase == "done":
            return [("undo", desk.undo), ("redo", desk.redo), ("go to", lambda: desk.go_to(1))]
        note = f"note {chance.random()} 漢\n\x00'\""
        return [
            *[("label", lambda: self._choose(desk))] * 8,
            *[("undo", desk.undo)] * 2,
            ("redo", desk.redo),
            ("confirm", desk.confirm),
            ("clear", desk.clear),
            ("skip", desk.skip),
            ("flag", desk.flag),
            ("note", lambda: desk.set_note(note)),
            ("harm", lambda: desk.set_harm(chance.choice(list(HARMS)))),
            ("cannot judge", lambda: desk.review is None and desk.cannot_judge(chance.choice(list(REASONS)))),
            ("evidence", lambda: desk.toggle_evidence(chance.randrange(6))),
            ("move", lambda: desk.move(chance.choice([-1, 1]))),
            ("first open", desk.first_open),
        ]

    def _choose(self, desk: Desk) -> None:
        task = desk.current.task if desk.review is None else desk.review.line.reading.task
        for part, labels in [("", task.labels), *((part.id, part.labels) for part in task.parts)]:
            desk.choose(Choice(part, self._random.choice(labels).value, unsure=self._random.random() < 0.2))

    def _say(self, phase: str, marks: list[str]) -> None:
        acts = {event.event_id: f"{event.act.kind} {event.state.value} on {event.act.item_id}" for event in self._fresh}
        self._fresh = []
        os.write(self._pipe, json.dumps([phase, marks, acts]).encode("utf-8") + b"\n")


def _has_draw(study: Study) -> bool:
    return bool(study.rows("SELECT count(*) FROM draws")[0][0])


# The program that checks


def check(known: Known, *, anew: bool) -> Check:
    """Open the study as the next program would, and compare it with what was acknowledged."""
    if not known.path.exists():
        faults = [f"the study is gone: {mark}" for mark in known.marks | set(known.acts)]
        return Check(faults, [], [])
    with Study.open(known.path) as study:
        bodies = study.rows("SELECT event_id, body FROM label_events ORDER BY clock, copy_id, annotator, seq")
        entries = [Entry(*row) for row in bodies]
        faults = [
            *_missing_or_doubled("study", [entry.event_id for entry in entries], known.acts),
            *_missing_or_doubled("journal", _journal_ids(known.path), known.acts),
            *_chain_faults(study.study_id, [entry.record for entry in entries]),
            *_view_faults(study, [entry.record for entry in entries]),
            *_mark_faults(study, known.marks),
        ]
        mended = [notice.split(" ", 1)[1] for notice in study.notices]
        before = _made_by_people(study)
    unacknowledged = [entry.event_id for entry in entries if entry.event_id not in known.acts]
    if unacknowledged and unacknowledged != [entry.event_id for entry in entries[-len(unacknowledged) :]]:
        faults.append("an act that was not acknowledged stands before one that was")
    left = sorted(place.name for place in known.folder.iterdir() if place.name.endswith((".part", ".ndjson", ".tmp")))
    faults += [f"left behind: {name}" for name in left]
    if anew:
        faults += _rebuild_faults(known, before)
    return Check(faults, unacknowledged, mended)


def _journal_ids(path: Path) -> list[str]:
    lines = journal_path(path).read_bytes().splitlines()
    intact = [entry.event_id for entry in read_journal(journal_path(path)).entries]
    if len(intact) != len(lines):
        return ["not every line of the journal is whole, or one stands twice"]
    return intact


def _missing_or_doubled(where: str, ids: Sequence[str], acts: Mapping[str, str]) -> list[str]:
    counted = Counter(ids)
    lost = [f"lost from the {where}: {what}" for event_id, what in acts.items() if not counted[event_id]]
    return [*lost, *(f"stands {count} times in the {where}: {name}" for name, count in counted.items() if count > 1)]


def _chain_faults(study_id: str, events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each chain by itself: 1, 2, 3 …, each naming the one before."""
    ends: dict[tuple[str, str], tuple[int, str]] = {}
    faults = []
    for event in events:
        chain = (event["copy_id"], event["annotator"])
        seq, head = ends.get(chain, (0, study_id))
        if (event["seq"], event["prev_hash"]) != (seq + 1, head):
            faults.append(f"act {event['seq']} of {chain[1]} does not follow act {seq}")
        ends[chain] = (event["seq"], Entry.of(event).event_id)
    return faults


def replayed(events: Iterable[Mapping[str, Any]]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Current and blind labels by a plain loop over events in order: (item, annotator, round) → value."""
    current: dict[Any, Any] = {}
    blind: dict[Any, Any] = {}
    shown: set[Any] = set()
    for event in events:
        person = (event["item_id"], event["annotator"])
        key = (*person, event["round"])
        current[key] = event["state"]["value"]
        if event["kind"] == "reveal" or (event["kind"] == "import" and event["mode"] != "blind"):
            shown.add(person)
        elif person not in shown:
            blind[key] = event["state"]["value"]
    return current, blind


def _view_faults(study: Study, events: Sequence[Mapping[str, Any]]) -> list[str]:
    faults = []
    for view, expected in zip(("current_labels", "blind_labels"), replayed(events), strict=True):
        rows = study.rows(f"SELECT item_id, annotator, round, value FROM {view}")
        if len(rows) != len(expected) or {row[:3]: row[3] for row in rows} != expected:
            faults.append(f"{view} is not what a replay gives")
    return faults


def _mark_faults(study: Study, marks: Iterable[str]) -> list[str]:
    """Draws, tasks and imports that were acknowledged are there, and nothing of theirs is there by half."""
    there = {"created"}
    there |= {"tasks"} if study.rows("SELECT count(*) FROM tasks")[0][0] == 4 else set()
    there |= {f"draw {row[0]}" for row in study.rows("SELECT draw_id FROM draws")}
    counts = dict(study.rows("SELECT system, count(*) FROM current_items GROUP BY system"))
    there |= {f"import {system}" for system in counts}
    faults = [f"lost: {mark}" for mark in marks if mark not in there]
    if any(_sample_items()[system] != count for system, count in counts.items()):
        faults.append(f"an import by half: {counts}")
    imported = {record["system"] for record in study.journal_records("import")}
    if imported != set(counts):
        faults.append(f"the journal knows the imports {imported}, the study has {set(counts)}")
    torn = study.rows(
        """SELECT draw_id FROM draws d WHERE (SELECT count(*) FROM draw_items i WHERE i.draw_id = d.draw_id) <> (
            SELECT CAST(body->>'count' AS BIGINT) FROM journal_records r
            WHERE r.type = 'draw' AND r.body->>'draw_id' = d.draw_id)"""
    )
    return [*faults, *(f"a draw by half: {row[0]}" for row in torn)]


@lru_cache(maxsize=1)
def _sample_items() -> dict[str, int]:
    """How many items the files of each sample system hold."""
    benchmark = get_benchmark("halumem")
    return {
        run.system: sum(isinstance(record, ItemRecord) for record in benchmark.read(Source(run.files, (), run.system)))
        for run in sample_runs()
    }


def _made_by_people(study: Study) -> dict[str, list[tuple[Any, ...]]]:
    tables = ("label_events", "journal_records", "tasks", "draws", "draw_items")
    return {table: sorted(study.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


def _rebuild_faults(known: Known, expected: Mapping[str, Any]) -> list[str]:
    """The journal alone gives the same study again."""
    with tempfile.TemporaryDirectory(dir=known.folder.parent) as folder:
        path = Path(folder) / known.path.name
        shutil.copy(journal_path(known.path), journal_path(path))
        rebuild(path)
        with Study.open(path) as study:
            found = _made_by_people(study)
    return [f"rebuilt from the journal, {table} differs" for table in expected if expected[table] != found[table]]


# The loop


def loop(times: int, seed: int, *, say: Callable[[str], None] = lambda _: None) -> Tally:
    """Kill `times` programs; returns what came of it. Stops at the first study with a fault."""
    tally, started = Tally(), time.monotonic()
    chance = random.Random(seed)
    pace = _Pace()
    with tempfile.TemporaryDirectory(prefix="kill-loop-") as base:
        _sample_items()
        known = _new_study(Path(base), 0)
        while tally.rounds < times and not tally.faults:
            if known.rounds == ROUNDS_A_STUDY:
                shutil.rmtree(known.folder)
                known = _new_study(Path(base), tally.rounds)
            _round(known, tally, chance, pace)
            if tally.rounds % 50 == 0:
                say(
                    f"{tally.rounds} killed, {tally.acknowledged} acts acknowledged, {time.monotonic() - started:.0f} s"
                )
    tally.seconds = time.monotonic() - started
    return tally


class _Moment(NamedTuple):
    """When to kill: so many seconds after the start, or after the worker first sat down at the desk."""

    seconds: float
    at_the_desk: bool


class _Pace:
    """How long it takes here until the worker sits at the desk, so that kills fall into all that comes before, too."""

    def __init__(self) -> None:
        self._until_desk = {True: 1.0, False: 0.3}

    def moment(self, new: bool, chance: random.Random) -> _Moment:
        if chance.random() < (0.75 if new else 0.3):
            return _Moment(chance.random() * 1.1 * self._until_desk[new], at_the_desk=False)
        return _Moment(chance.random() * 0.3, at_the_desk=True)

    def sat_down(self, new: bool, seconds: float) -> None:
        self._until_desk[new] = 0.7 * self._until_desk[new] + 0.3 * seconds


def _new_study(base: Path, number: int) -> Known:
    folder = base / f"study {number}"
    folder.mkdir()
    return Known(folder)


def _round(known: Known, tally: Tally, chance: random.Random, pace: _Pace) -> None:
    new = "import tidepool" not in known.marks
    seed, moment = chance.getrandbits(32), pace.moment(new, chance)
    before, anew = len(known.acts), tally.rounds % REBUILD_EVERY == REBUILD_EVERY - 1
    phase, killed = _work_and_kill(known, seed, moment, lambda seconds: pace.sat_down(new, seconds))
    found = _check_apart(known, anew=anew)
    known.rounds += 1
    tally.rounds += 1
    tally.killed += killed
    tally.fell_in[phase] += killed
    tally.acknowledged += len(known.acts) - before
    tally.unacknowledged += len(found.unacknowledged)
    tally.rebuilt += anew
    known.acts.update(dict.fromkeys(found.unacknowledged, "an act that a killed program had not acknowledged"))
    tally.mended.update(found.mended)
    tally.faults += [f"round {tally.rounds}, seed {seed}, {moment}, in {phase!r}: {fault}" for fault in found.faults]


def _work_and_kill(known: Known, seed: int, moment: _Moment, sat_down: Callable[[float], None]) -> tuple[str, bool]:
    """Run a worker, kill it at the moment, take note of all it reported; returns where it was."""
    reader, writer = os.pipe()
    process = _fork(lambda: Worker(known.path, writer, seed).run(), close=reader)
    os.close(writer)
    begun = time.monotonic()
    deadline = begun + (LONGEST if moment.at_the_desk else moment.seconds)
    reported, seated = bytearray(), False
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        block = os.read(reader, 65536)
        if not block:
            break
        reported += block
        if not seated and b'"sat down"' in reported:
            seated = True
            sat_down(time.monotonic() - begun)
            deadline = time.monotonic() + moment.seconds if moment.at_the_desk else deadline
    os.kill(process, signal.SIGKILL)
    while block := os.read(reader, 65536):
        reported += block
    os.close(reader)
    _, status = os.waitpid(process, 0)
    phase = _take_note(known, bytes(reported))
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"the worker failed by itself in {phase!r}, seed {seed}")
    return phase, os.WIFSIGNALED(status)


def _take_note(known: Known, reported: bytes) -> str:
    """Remember what complete lines acknowledge; returns the last phase that was reached."""
    phase = "starting"
    for line in reported.split(b"\n")[:-1]:
        phase, marks, acts = json.loads(line)
        known.marks.update(marks)
        known.acts.update(acts)
    return phase


def _check_apart(known: Known, *, anew: bool) -> Check:
    """Check in a program of its own: this one must stay without DuckDB's threads, or it could not fork."""
    reader, writer = os.pipe()

    def work() -> None:
        with os.fdopen(writer, "w", encoding="utf-8") as out:
            json.dump(check(known, anew=anew), out)

    process = _fork(work, close=reader)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as answer:
        told = answer.read()
    _, status = os.waitpid(process, 0)
    if status or not told:
        return Check(["the study cannot be opened or checked; see above"], [], [])
    return Check(*json.loads(told))


def _fork(work: Callable[[], None], *, close: int) -> int:
    """Run `work` in a forked process that never comes back here; returns its id."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.alarm(int(LONGEST))
        os.close(close)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.store.kill_loop", description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = loop(options.times, options.seed, say=lambda line: print(line, file=sys.stderr, flush=True))
    each = tally.seconds / max(1, tally.rounds)
    print(f"DuckDB {duckdb.__version__}, seed {options.seed}: {tally.rounds} rounds, {tally.killed} killed,"
          f" {tally.seconds:.0f} s ({each:.2f} s a round)")  # fmt: skip
    print("killed after:", ", ".join(f"{name} {count}" for name, count in tally.fell_in.most_common()))
    print("opening mended:", ", ".join(f"{name} ({count})" for name, count in tally.mended.most_common()) or "nothing")
    print(f"{tally.acknowledged} acts acknowledged, {tally.unacknowledged} safe but not acknowledged,"
          f" {tally.rebuilt} times rebuilt from the journal alone")  # fmt: skip
    print("\n".join(tally.faults) or "nothing lost, nothing doubled, every chain whole, every view equal to a replay")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
