"""The file of paid calls: what was judged outlives its study, and nothing is paid for twice."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from store_makers import doctor, item, overread, python, run_of, take

from store.answers import KeptAnswer, keep_answers, kept_answers
from store.call_log import calls_path, read_stretches
from store.errors import StudyDamagedError
from store.judged_rows import Call, Judged
from store.judging import (
    BatchRequest,
    add_judge,
    batch_requests,
    begin_run,
    end_run,
    same_inputs,
    write_judged,
    write_requests,
)
from store.records import JudgeRecord, VerdictRecord
from store.repair import rebuild
from store.study import Study

JUDGE = JudgeRecord("qa", "m", "model-1", "p1", {"temperature": 0})
AT = "2026-01-01T10:00:00.123456+02:00"
ITEMS = [item(number) for number in range(6)]


def judged(number: int, *, label: str | None = "Correct", same_as: str = "", second: int = 0, **more: Any) -> Judged:
    """A verdict on one of the items, as a run stores it; half of an emoji in its words."""
    of = ITEMS[number]
    fields = {"raw": f"reply {number} \ud83d\u2028 {'long ' * 50}", "rationale": "because", "cost": 0.25, **more}
    verdict = VerdictRecord(of.item_id, of.content_hash, JUDGE.judge_id, label, position=number, **fields)
    return Judged(verdict, Call(prompt_hash=f"prompt {number}" if not same_as else "prompt 0", same_as=same_as,
                                attempts=1, served_model="m-2", at=AT.replace(":00.", f":{second:02}.")))  # fmt: skip


def fill(study: Study) -> None:
    """Two labels, one of them linked to the first, and a failure that an answer took the place of."""
    add_judge(study, JUDGE)
    begin_run(study, "run-1", "qa", JUDGE.judge_id, {"n": 1}, AT)
    first = judged(0)
    linked = judged(1, same_as=first.verdict.verdict_id, route="same_input", raw=first.verdict.raw)
    failed = judged(2, label=None, failure="off_menu", rationale="")
    write_judged(study, "run-1", [first, linked, failed]).result()
    write_judged(study, "run-1", [judged(2, second=5)]).result()
    write_requests(study, [BatchRequest("c1", "run-1", "qa", ITEMS[3].item_id, "h", JUDGE.judge_id, 0, "p")])
    keep_answers(study, "verdict", "qa", [("key", KeptAnswer({"text": "said"}, 0.5))], AT)
    end_run(study, "run-1", "done", {"judged": 3}, AT)


TABLES = ("judges", "runs", "verdicts", "calls", "batch_requests", "answers")


def paid(study: Study) -> dict[str, list[tuple[Any, ...]]]:
    """All that a run has left in a study."""
    found = {table: sorted(study.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}
    return found | {"judges": [row for row in found["judges"] if row[0] == JUDGE.judge_id]}


@pytest.fixture
def judged_path(tmp_path: Path) -> Path:
    """A closed study with items and what `fill` leaves."""
    path = tmp_path / "s.duckdb"
    with Study.create(path, "halumem") as study:
        take(study, run_of(ITEMS))
        fill(study)
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    """All lines, by the tool anyone has."""
    with gzip.open(calls_path(path), "rt", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def emptied(path: Path) -> Path:
    """The journal and the paid calls alone, in another folder, as when the study file is lost."""
    folder = path.parent / "lost"
    folder.mkdir()
    for file in path.parent.glob("s.*.*"):
        if file.suffix != ".duckdb" and file.is_file():
            shutil.copy(file, folder / file.name)
    return folder / path.name


def test_a_study_made_anew_has_every_paid_call(judged_path: Path) -> None:
    with Study.open(judged_path) as study:
        before = paid(study)
        assert study.notices == []
    lost = emptied(judged_path)
    said = doctor(lost, "--rebuild")
    assert "4 paid verdicts were restored from s.calls.jsonl.gz" in said
    with Study.open(lost) as study:
        after = paid(study)
        assert study.notices == []
        take(study, run_of(ITEMS))
        assert {key[0] for key in same_inputs(study, ["prompt 0", "prompt 2"], [JUDGE.judge_id])} == {
            "prompt 0",
            "prompt 2",
        }
        assert kept_answers(study, ["key"])["key"].cost == 0.5
        assert [one.item_id for one in batch_requests(study, ["c1"])["c1"]] == [ITEMS[3].item_id]
    assert after == before
    assert doctor(lost).rstrip().endswith("healthy")


def test_a_reply_stands_once_and_keys_nowhere(judged_path: Path) -> None:
    verdicts = [line for line in lines_of(judged_path) if line["type"] == "verdict"]
    assert ["raw" in line for line in verdicts] == [True, False, True, True]
    assert calls_path(judged_path).stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_the_old_file_and_the_calls_give_each_verdict_once(judged_path: Path) -> None:
    with Study.open(judged_path) as study:
        before = paid(study)
    doctor(judged_path, "--rebuild")
    with Study.open(judged_path) as study:
        assert paid(study) == before


def test_what_a_crash_kept_from_the_study_comes_from_the_file(judged_path: Path) -> None:
    older = judged_path.read_bytes()
    with Study.open(judged_path) as study:
        write_judged(study, "run-2", [judged(4), judged(5)]).result()
        whole = paid(study)
    judged_path.write_bytes(older)
    with Study.open(judged_path) as study:
        assert study.notices == ["2 paid verdicts were restored from s.calls.jsonl.gz."]
        assert paid(study) == whole


def cut_points(path: Path, start: int) -> Iterator[int]:
    size = calls_path(path).stat().st_size
    yield from range(start + 1, size, max(1, (size - start) // 3))


def test_half_a_member_is_set_aside_and_the_file_goes_on(judged_path: Path) -> None:
    file = calls_path(judged_path)
    start, older = file.stat().st_size, judged_path.read_bytes()
    with Study.open(judged_path) as study:
        write_judged(study, "run-2", [judged(4)]).result()
    whole = file.read_bytes()
    for end in cut_points(judged_path, start):
        judged_path.write_bytes(older)
        file.write_bytes(whole[:end])
        with Study.open(judged_path) as study:
            assert study.notices == []
            write_judged(study, "run-3", [judged(5)]).result()
        assert [line.get("run_id") for line in lines_of(judged_path)][-1] == "run-3"
        rests = list(judged_path.parent.glob("*.torn-*"))
        assert [rest.read_bytes() for rest in rests] == [whole[start:end]]
        rests[0].unlink()
    assert doctor(judged_path).rstrip().endswith("healthy")


@pytest.mark.slow
def test_damage_in_the_middle_loses_no_more_than_it_covers(judged_path: Path) -> None:
    file = calls_path(judged_path)
    stretches = list(read_stretches(file))
    hurt = next(s for s in stretches if s.lines and json.loads(s.lines[0]).get("failure") == "")
    content = bytearray(file.read_bytes())
    content[(hurt.start + hurt.end) // 2] ^= 0x55
    file.write_bytes(content)
    lost = emptied(judged_path)
    said = doctor(judged_path, code=4)
    assert "s.calls.jsonl.gz (the paid calls) is not whole" in said and "doctor --repair" in said
    said = doctor(lost, "--rebuild")
    assert "bytes of it could not be read" in said
    with Study.open(lost) as study:
        assert study.rows("SELECT count(*) FROM verdicts WHERE label IS NOT NULL") == [(1,)]
    shutil.rmtree(lost.parent)
    with Study.open(judged_path) as study:
        before = paid(study)
    said = doctor(judged_path, "--repair")
    assert "was written anew from the study: 4 judged verdicts" in said and "s.calls.jsonl.gz.damaged-1" in said
    assert doctor(judged_path).rstrip().endswith("healthy")
    doctor(lost := emptied(judged_path), "--rebuild")
    with Study.open(lost) as study:
        assert paid(study) == before, "the file that was written anew has everything"


@pytest.mark.slow
def test_a_study_without_the_file_works_and_the_doctor_offers_it(judged_path: Path) -> None:
    calls_path(judged_path).unlink()
    with Study.open(judged_path) as study:
        assert "is missing" in study.notices[0] and "doctor --repair" in study.notices[0]
        study.writer.do(lambda c: c.execute("DELETE FROM study WHERE key = 'calls_file'"))
        before = paid(study)
    with Study.open(judged_path) as study:  # as one of an older overread
        assert study.notices == []
    said = doctor(judged_path)
    assert "4 judged verdicts and 1 answers of searches stand in the study alone" in said
    assert said.rstrip().endswith("healthy")
    with Study.open(judged_path) as study:
        write_judged(study, "run-2", [judged(4)]).result()
        before = paid(study)
    doctor(lost := emptied(judged_path), "--rebuild")
    with Study.open(lost) as study:
        assert paid(study) == before


def test_a_study_that_never_had_the_file_gets_it_before_a_run_begins(judged_path: Path) -> None:
    calls_path(judged_path).unlink()
    with Study.open(judged_path) as study:
        study.writer.do(lambda c: c.execute("DELETE FROM study WHERE key = 'calls_file'"))
        study.lay_out_paid_calls()
        laid = calls_path(judged_path).read_bytes()
        study.lay_out_paid_calls()
        assert calls_path(judged_path).read_bytes() == laid
        begin_run(study, "run-9", "qa", JUDGE.judge_id, {}, AT)
        before = paid(study)
        assert calls_path(judged_path).read_bytes().startswith(laid), "what comes is added to it"
    with Study.open(judged_path) as study:
        assert study.notices == [] and paid(study) == before
    lost = emptied(judged_path)
    rebuild(lost)
    with Study.open(lost) as study:
        assert paid(study) == before


@pytest.mark.slow
def test_a_file_that_went_missing_is_trouble_and_is_written_anew(judged_path: Path) -> None:
    calls_path(judged_path).unlink()
    assert "It lacks 5 that the study has" in doctor(judged_path, code=4)
    assert "s.calls.jsonl.gz was written anew from the study" in doctor(judged_path, "--repair")
    assert doctor(judged_path).rstrip().endswith("healthy")
    assert doctor(judged_path, "--repair").strip() == "Nothing needed mending."


@pytest.mark.slow
def test_an_older_copy_of_the_file_is_told_and_mended_by_the_next_run(judged_path: Path) -> None:
    older = calls_path(judged_path).read_bytes()
    with Study.open(judged_path) as study:
        write_judged(study, "run-2", [judged(4)]).result()
    calls_path(judged_path).write_bytes(older)
    with Study.open(judged_path) as study:
        assert "is shorter than it was" in study.notices[0]
        write_judged(study, "run-3", [judged(5)]).result()
        before = paid(study)
    doctor(lost := emptied(judged_path), "--rebuild")
    with Study.open(lost) as study:
        assert paid(study) == before


def test_another_studys_file_is_refused(judged_path: Path, tmp_path: Path) -> None:
    with Study.create(tmp_path / "other.duckdb", "halumem") as study:
        add_judge(study, JUDGE)
    shutil.copy(calls_path(tmp_path / "other.duckdb"), calls_path(judged_path))
    with pytest.raises(StudyDamagedError, match="belongs to another study"):
        Study.open(judged_path)


@pytest.mark.slow
def test_a_full_disk_stores_nothing_half_and_the_same_call_works_later(judged_path: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from store.errors import NotWrittenError
from store.call_log import calls_path
from store.judging import write_judged
from store.study import Study
from test_paid_calls import judged
path = Path(sys.argv[1])
with Study.open(path) as study:
    before = calls_path(path).read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, resource.RLIM_INFINITY))
    try:
        write_judged(study, "run-2", [judged(4)]).result()
        raise AssertionError("stored on a full disk")
    except NotWrittenError as error:
        assert "s.calls.jsonl.gz" in str(error) and "Free disk space" in error.hint, error
    assert calls_path(path).read_bytes() == before
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert study.rows("SELECT count(*) FROM calls WHERE run_id = 'run-2'") == [(0,)]
    write_judged(study, "run-2", [judged(4)]).result()
"""
    result = python(script, judged_path, cwd=judged_path.parent)
    assert result.returncode == 0, result.stdout + result.stderr
    assert doctor(judged_path).rstrip().endswith("healthy")


def test_a_file_that_may_not_be_written_refuses_the_call_and_names_it(judged_path: Path) -> None:
    script = """
import os, sys
from store.engine import duckdb
from pathlib import Path
from store.errors import NotWrittenError
from store.judging import write_judged
from store.study import Study
from test_paid_calls import judged
path = Path(sys.argv[1])
os.chmod(path.parent, 0o777)
os.chmod(path, 0o666)
os.chmod(path.with_name("s.journal.jsonl"), 0o666)
os.chmod(path.with_name("s.calls.jsonl.gz"), 0o444)
if os.getuid() == 0:
    os.setuid(65534)
with Study.open(path) as study:
    try:
        write_judged(study, "run-2", [judged(4, raw="said")]).result()
        raise AssertionError("written")
    except NotWrittenError as error:
        assert "s.calls.jsonl.gz" in str(error) and "right to write" in error.hint, error
    assert study.rows("SELECT count(*) FROM calls WHERE run_id = 'run-2'") == [(0,)]
"""
    with tempfile.TemporaryDirectory(prefix="overread-test-") as folder:
        for file in judged_path.parent.glob("s.*"):
            shutil.copy(file, folder)
        result = python(script, Path(folder) / judged_path.name, cwd=Path("/"))
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_file_is_never_exported_over(judged_path: Path) -> None:
    result = overread("--study", judged_path, "export", calls_path(judged_path), "--format", "jsonl",
                      cwd=judged_path.parent)  # fmt: skip
    assert result.returncode == 2 and "part of the study" in result.stderr
