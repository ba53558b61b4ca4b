"""The writer thread: labels overtake bulk work, exceptions reach the caller, closing drains."""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from store_makers import act, labels_in

from store import database
from store.study import Study
from store.writer import Writer


@pytest.fixture
def writer() -> Iterator[Writer]:
    """A writer whose work gets a name instead of a connection."""
    made = Writer(lambda: cast("Any", "connection"))
    yield made
    made.close()


def test_work_gets_the_connection_and_its_result_comes_back(writer: Writer) -> None:
    assert writer.do(lambda connection: (connection, threading.current_thread().name)) == (
        "connection",
        "overread-writer",
    )


def test_urgent_work_overtakes_bulk_work_that_has_not_begun(writer: Writer) -> None:
    order: list[str] = []
    begun, go = threading.Event(), threading.Event()

    def first(_: object) -> None:
        begun.set()
        go.wait(10)
        order.append("bulk 1")

    futures = [writer.submit(first, urgent=False)]
    begun.wait(10)
    futures += [writer.submit(lambda _, n=n: order.append(f"bulk {n}"), urgent=False) for n in (2, 3)]
    futures += [writer.submit(lambda _, n=n: order.append(f"label {n}"), urgent=True) for n in (1, 2)]
    go.set()
    for future in futures:
        future.result(10)
    assert order == ["bulk 1", "label 1", "label 2", "bulk 2", "bulk 3"]


def test_exceptions_reach_the_caller_and_the_writer_goes_on(writer: Writer) -> None:
    class OddError(BaseException):
        pass

    def fail(_: object) -> None:
        raise OddError

    with pytest.raises(OddError):
        writer.do(fail)
    assert writer.do(lambda _: "still here") == "still here"


def test_closing_finishes_what_is_queued_and_refuses_more() -> None:
    writer = Writer(lambda: cast("Any", None))
    done: list[int] = []

    def slow(_: object) -> None:
        time.sleep(0.05)
        done.append(0)

    writer.submit(slow, urgent=False)
    for number in range(1, 20):
        writer.submit(lambda _, n=number: done.append(n), urgent=bool(number % 2))
    writer.close()
    writer.close()
    assert sorted(done) == list(range(20))
    with pytest.raises(RuntimeError, match="closed"):
        writer.do(lambda _: None)


def test_what_the_writer_makes_is_for_its_owner_only(writer: Writer, tmp_path: Path) -> None:
    made = tmp_path / "made"
    writer.do(lambda _: made.touch())
    assert stat.S_IMODE(made.stat().st_mode) == 0o600


def test_labels_overtake_an_import_that_waits(study: Study) -> None:
    begun, go = threading.Event(), threading.Event()

    def bulk(_: object) -> None:
        begun.set()
        go.wait(10)

    running = study.writer.submit(bulk, urgent=False)
    begun.wait(10)
    waiting = study.writer.submit(lambda _: labels_in(study), urgent=False)
    labelling = threading.Thread(target=lambda: study.append([act(value="mine")]))
    labelling.start()
    while study.writer._jobs.qsize() < 2:
        time.sleep(0.001)
    go.set()
    running.result(10)
    assert waiting.result(10) == ["mine"]
    labelling.join(10)


def test_readers_in_many_threads_see_whole_batches_while_labels_are_written(study: Study) -> None:
    """One cursor a reader: no mixed up results, no half batch, no refused call, though the file is opened anew."""
    stop, wrong, read = threading.Event(), list[Any](), list[int]()

    def look(number: int) -> None:
        while not stop.is_set():
            try:
                rows = study.rows("SELECT count(*) % 2, ? FROM label_events", [number])
                wrong.extend(row for row in rows if row != (0, number))
                read.append(1)
            except BaseException as error:
                wrong.append(error)
                return

    readers = [threading.Thread(target=look, args=(number,)) for number in range(6)]
    for reader in readers:
        reader.start()
    for number in range(60):
        study.append([act(value=f"a{number}"), act(value=f"b{number}")])
        if number % 10 == 0:
            study.renew()
    stop.set()
    for reader in readers:
        reader.join(10)
    assert wrong == []
    assert len(read) > 60
    assert len(labels_in(study)) == 120
    assert study.renew(), "with nobody reading"


def test_no_label_is_refused_for_the_little_memory_that_readers_of_columns_have(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LEAN_MEMORY", "2MB")
    query = "SELECT max(b), list(b)[7] AS b FROM (SELECT repeat(md5(i::VARCHAR), 40) AS b FROM range(3000) t(i))"
    stop, wrong = threading.Event(), list[Exception]()

    def look() -> None:
        while not stop.is_set():
            try:
                study.columns(query)
            except Exception as error:
                wrong.append(error)

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for number in range(10):
            study.append([act(value=str(number))])
            study.keep_paid(lambda connection: (connection.execute(query).fetchall(), [])).result()
    finally:
        stop.set()
        for reader in readers:
            reader.join(30)
    assert wrong == []
    assert len(labels_in(study)) == 10


def test_a_reader_is_never_cut_off_by_opening_anew(study: Study) -> None:
    study.append([act(value=str(number)) for number in range(9)])
    rows = study.stream("SELECT value FROM label_events ORDER BY seq", batch=2)
    first = next(rows)
    assert not study.renew()
    assert [row[0] for row in [first, *rows]] == [str(number) for number in range(9)]
    assert study.renew()
