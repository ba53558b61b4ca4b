"""When a label cannot be made safe: nothing moves, nothing is shown, and the same call completes exactly once.

The failures are real: the operating system refuses to let the journal, or the study's write-ahead log, grow.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from annotate.desk.desk import Desk
from store.draws import RevealPolicy
from store.errors import SaveError
from store.journal import journal_path, read_journal
from store.study import Study
from tests.desk.desk_studies import (
    Spec,
    accuracy,
    copy_study,
    current_labels,
    events,
    go_to_first,
    here,
    journaled,
    kinds,
    make_study,
    press,
    qa,
    sit,
)

resource = pytest.importorskip("resource", reason="file size limits are a matter of POSIX")

QUESTIONS = [qa("Omission") for _ in range(12)]
PARTS = [accuracy() for _ in range(4)]


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python would keep half of a compiled module
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def full_journal(study: Study) -> Iterator[None]:
    """The journal takes 100 bytes more: half an act."""
    study.checkpoint()
    with no_file_beyond(journal_path(study.path).stat().st_size + 100):
        yield


@contextmanager
def full_database(study: Study) -> Iterator[None]:
    """The journal has room, the write-ahead log has none."""
    study.writer.do(
        lambda connection: connection.execute(
            "INSERT INTO facts SELECT 'x', 'pad', i::VARCHAR, i, repeat(md5(i::VARCHAR), 40), 'z' FROM range(99) t(i)"
        )
    )
    room = journal_path(study.path).stat().st_size + 30_000
    assert study.path.with_name(f"{study.path.name}.wal").stat().st_size > room
    with no_file_beyond(room):
        yield


@contextmanager
def room_for_one_act_like_the_last(study: Study) -> Iterator[None]:
    """The journal takes one more act, and not two; the write-ahead log starts anew and has room."""
    study.checkpoint()
    file = journal_path(study.path)
    last = len(read_journal(file).entries[-1].line_bytes())
    with no_file_beyond(file.stat().st_size + last + last // 2):
        yield


class Case(NamedTuple):
    """An act that stores: on which desk, after what, and how many rows it makes."""

    policy: RevealPolicy
    specs: list[Spec]
    prepare: Callable[[Desk], object]
    act: Callable[[Desk], object]
    rows: int = 1


def _nothing(desk: Desk) -> None:
    pass


def _labelled(desk: Desk) -> None:
    press(desk, "c")
    desk.go_to(1)


def _skipped_all_but_one(desk: Desk) -> None:
    for _ in range(9):
        desk.skip()


def _in_review(desk: Desk) -> None:
    while desk.review is None:
        press(desk, "c")


def _nine(desk: Desk) -> None:
    for _ in range(9):
        press(desk, "c")


CASES = {
    "label": Case("never", QUESTIONS, _nothing, lambda desk: press(desk, "h")),
    "label and reveal": Case("item", QUESTIONS, lambda d: go_to_first(d, hidden=False), lambda d: press(d, "h"), 2),
    "label with parts": Case("never", PARTS, lambda desk: press(desk, "a"), lambda desk: press(desk, "i")),
    "revise": Case("never", QUESTIONS, _labelled, lambda desk: press(desk, "h")),
    "cannot judge": Case("never", QUESTIONS, _nothing, lambda desk: desk.cannot_judge("o")),
    "skip": Case("never", QUESTIONS, _nothing, Desk.skip),
    "clear": Case("never", QUESTIONS, _labelled, Desk.clear),
    "flag": Case("never", QUESTIONS, _nothing, Desk.flag),
    "note": Case("never", QUESTIONS, _nothing, lambda desk: desk.set_note("a note")),
    "tag": Case("never", QUESTIONS, _nothing, lambda desk: desk.toggle_tag("1")),
    "evidence": Case("never", QUESTIONS, _nothing, lambda desk: desk.toggle_evidence(1)),
    "undo": Case("never", QUESTIONS, lambda desk: press(desk, "c", "h"), Desk.undo),
    "redo": Case("never", QUESTIONS, lambda desk: (press(desk, "c", "h"), desk.undo()), Desk.redo),
    "revise in a review": Case("block", QUESTIONS, _in_review, lambda desk: press(desk, "o")),
    "why in a review": Case("block", QUESTIONS, _in_review, lambda desk: desk.set_note("why")),
    "assisted arrival": Case("assisted", QUESTIONS, _nothing, lambda desk: desk.move(1)),
}


@pytest.mark.parametrize("failing", [full_journal, full_database])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_nothing_moves_and_the_same_call_completes_exactly_once(
    tmp_path: Path, case: Case, failing: Callable[[Study], Iterator[None]]
) -> None:
    with make_study(tmp_path / "s.duckdb", case.specs) as study, make_study(tmp_path / "t.duckdb", case.specs) as twin:
        desk, unhindered = sit(study, case.policy), sit(twin, case.policy)
        case.prepare(desk)
        case.prepare(unhindered)
        before, rows = _visible(desk), len(kinds(study))
        for _ in range(2):
            with failing(study), pytest.raises(SaveError) as failure:  # type: ignore[attr-defined]
                case.act(desk)
            assert failure.value.journaled == (failing is full_database)
            assert failure.value.exit_code == 4 and failure.value.hint
            assert _visible(desk) == before
            assert len(kinds(study)) == rows
        case.act(desk)
        case.act(unhindered)
        assert _visible(desk) == _visible(unhindered)
        assert len(kinds(study)) == rows + case.rows
        assert _gist(study) == _gist(twin)
    _reopened_says_the_same(tmp_path / "s.duckdb", rows + case.rows)


def _visible(desk: Desk) -> tuple[object, ...]:
    """What the person could see of the desk."""
    done = desk.phase == "done"
    verdicts = () if done or desk.mode == "blind" else tuple(view.headline for view in desk.shown_verdicts())
    line = None if desk.review is None else (desk.review.place, desk.review.line.reading.state)
    return desk.place, desk.phase, desk.labelled, None if done else desk.state, line, verdicts


def _gist(study: Study) -> list[tuple[object, ...]]:
    return [(event["kind"], event["item_id"], event["state"], event["mode"]) for event in events(study)]


def _reopened_says_the_same(path: Path, rows: int) -> None:
    with Study.open(path) as study:
        assert len(kinds(study)) == rows


def test_a_label_is_safe_before_the_next_item_even_if_the_verdict_beside_that_item_cannot_be_stored(
    tmp_path: Path,
) -> None:
    with make_study(tmp_path / "s.duckdb", QUESTIONS) as study:
        desk = sit(study, "assisted")
        item = here(desk)
        desk.flag()
        with room_for_one_act_like_the_last(study), pytest.raises(SaveError):
            press(desk, "h")
        assert here(desk) == item and kinds(study) == ["reveal", "flag", "label"]
        with full_journal(study), pytest.raises(SaveError):
            press(desk, "h")
        press(desk, "h")
        assert desk.place == 1 and kinds(study) == ["reveal", "flag", "label", "reveal"]
        assert current_labels(study)[item].value == "Hallucination"


def test_the_review_opens_only_when_its_reveals_are_stored(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", QUESTIONS) as study:
        desk = sit(study, "block")
        _nine(desk)
        last = here(desk)
        with room_for_one_act_like_the_last(study), pytest.raises(SaveError):
            press(desk, "c")
        assert desk.review is None and journaled(study, "reveal") == [] and kinds(study) == ["label"] * 10
        assert here(desk) == last
        press(desk, "c")
        assert desk.review is not None and kinds(study).count("label") == 10
        assert {entry["item_id"] for entry in journaled(study, "reveal")} == set(desk.review.item_ids)


@pytest.mark.parametrize("failing", [full_journal, full_database])
def test_the_end_of_a_review_is_stored_exactly_once(tmp_path: Path, failing: Callable[[Study], Iterator[None]]) -> None:
    path = tmp_path / "s.duckdb"
    with make_study(path, QUESTIONS) as study:
        desk = sit(study, "block")
        _in_review(desk)
        assert desk.review is not None
        for _ in range(len(desk.review.lines) - 1):
            desk.confirm()
        for _ in range(2):
            with failing(study), pytest.raises(SaveError):  # type: ignore[attr-defined]
                desk.confirm()
            assert desk.phase == "review"
        desk.confirm()
        assert desk.phase == "label" and len(study.journal_records("review")) == 1
    with Study.open(path) as study:
        assert sit(study).phase == "label"


def test_undo_after_a_failure_takes_back_the_act_the_journal_has(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", QUESTIONS) as study:
        desk = sit(study, "never")
        press(desk, "c")
        item = here(desk)
        with full_database(study), pytest.raises(SaveError):
            press(desk, "h")
        desk.undo()
        assert kinds(study) == ["label", "label", "undo"]
        assert not current_labels(study)[item].decided and desk.labelled == 1


def test_quitting_after_a_failure_keeps_what_the_journal_has(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with make_study(path, QUESTIONS) as study:
        desk = sit(study, "never")
        item = here(desk)
        with full_database(study), pytest.raises(SaveError):
            press(desk, "h")
    with Study.open(path) as study:
        assert current_labels(study)[item].value == "Hallucination" and kinds(study) == ["label"]


def test_a_journal_that_is_closed_under_the_desk_acknowledges_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with make_study(path, QUESTIONS) as study:
        desk = sit(study, "never")
        press(desk, "c")
        descriptor = study._journal._descriptor
        spare = os.dup(descriptor)
        os.close(descriptor)
        for _ in range(2):
            with pytest.raises(SaveError):
                press(desk, "h")
        assert desk.place == 1 and desk.labelled == 1 and kinds(study) == ["label"]
        os.dup2(spare, descriptor)
        os.close(spare)
    copy_study(path, tmp_path / "copy.duckdb")
    with Study.open(path) as study:
        assert study.notices == [] and kinds(study) == ["label"]
