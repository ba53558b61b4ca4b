"""Importing: new, same, changed, rejected; all or nothing; every string as it came; nothing left lying about."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_makers import AT, JUDGE, ROOT, act, item, journal_lines, run_of, take, verdict

from store import database, importing, staging
from store.draws import list_draws
from store.errors import InputError, SaveError
from store.importing import BadInputError
from store.items import count_items, facts_of, get_item, get_text, judges, stream_scored, systems, verdicts_of
from store.records import (
    FactRecord,
    JudgeRecord,
    LabelRecord,
    LabelState,
    Problem,
    Record,
    SystemRecord,
    TextRecord,
    text_hash,
)
from store.study import Study

ITEMS = [item(number, position=number) for number in range(4)]
BAD = Problem("run.json", 3, 7, "no `label`", "Add it.")


def contents(study: Study) -> dict[str, list[tuple[Any, ...]]]:
    """Everything an import can touch, row by row."""
    tables = ("systems", "texts", "judges", "items", "verdicts", "facts", "imports", "label_events", "journal_records")
    return {table: sorted(study.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


def left_over(study: Study) -> list[str]:
    """What an import left beside the study and in the connection."""
    beside = {path.name for path in study.path.parent.iterdir()} - {"s.duckdb", "s.duckdb.wal", "s.journal.jsonl"}
    staged = study.writer.do(
        lambda connection: connection.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    )
    attached = study.rows("SELECT database_name FROM duckdb_databases() WHERE database_name LIKE '%staged%'")
    return [*beside, *(row[0] for row in (*staged, *attached))]


def test_the_first_import_is_all_new_and_the_second_all_the_same(study: Study) -> None:
    records = run_of(ITEMS, *map(verdict, ITEMS), TextRecord.of("long"), FactRecord("sys", "time", "1", {"s": 2.5}))
    first = take(study, records, at=AT)
    assert first.items["qa"].as_json() == {"new": 4, "same": 0, "changed": 0, "rejected": 0}
    assert first.verdicts.as_json() == {"new": 4, "same": 0, "changed": 0, "rejected": 0}
    before = {table: rows for table, rows in contents(study).items() if table != "facts"}
    second = take(study, records)
    assert second.items["qa"].as_json() == {"new": 0, "same": 4, "changed": 0, "rejected": 0}
    assert second.verdicts.as_json() == {"new": 0, "same": 4, "changed": 0, "rejected": 0}
    assert {table: rows for table, rows in contents(study).items() if table != "facts"} == before
    assert left_over(study) == []


def test_what_was_imported_is_read_back(study: Study) -> None:
    dialogue = TextRecord.of("user: 你好\nassistant: hi")
    one = item(["u", 1], cluster="u", group="u/1", slices={"type": "fact"}, weight=2.5, extra={"took": 1.5},
               texts={"dialogue": dialogue.text_hash}, payload={"question": "漢?", "points": ["a", None, 0, False]},
               position=3)  # fmt: skip
    given_ = verdict(one, None, failure="malformed", raw='{"score": "NaN?"}', parts={"flag": "true"}, score=0.0,
                     confidence=0.25, confidence_source="stated", rationale="因为", tokens_in=3, cost=0.0,
                     model_returned="m")  # fmt: skip
    take(study, [SystemRecord("sys", "Sys", metadata={"a": 1}), JUDGE, dialogue, one, given_])
    stored = get_item(study, one.item_id)
    for name in ("content_hash", "task", "system", "natural_key", "cluster", "group", "slices", "weight", "payload",
                 "texts", "extra", "position"):  # fmt: skip
        assert getattr(stored, name) == getattr(one, name), name
    assert get_text(study, stored.texts["dialogue"]) == dialogue.text
    assert [(found.judge, found.record) for found in verdicts_of(study, stored)] == [("judge-a", given_)]
    assert [(each.item_id, found) for each, found in stream_scored(study, "sys", "judge-a")] == [(one.item_id, given_)]
    assert (systems(study), judges(study), judges(study, "qa"), judges(study, "other")) == (
        ["sys"], ["judge-a"], ["judge-a"], [],
    )  # fmt: skip
    for absent in (get_item, get_text):
        with pytest.raises(KeyError):
            absent(study, "none")


def test_a_changed_item_is_a_new_version_and_its_labels_are_kept_and_told_as_stale(study: Study) -> None:
    take(study, run_of(ITEMS, *map(verdict, ITEMS)))
    for each in ITEMS[:3]:
        study.append([replace(act(of=each.item_id), content_hash=each.content_hash)])
    study.append([act("skip", value=None, of=ITEMS[3].item_id)])
    other = [item(0, question="Which cat?"), item(1), item(2, cluster="user 2"), item(3, question="Which fish?")]
    report = take(study, run_of(other, *map(verdict, other)))
    assert report.items["qa"].as_json() == {"new": 0, "same": 1, "changed": 3, "rejected": 0}
    assert report.stale_labels == 1, "the label on item 0; the skipped item 3 has no label to lose"
    assert get_item(study, ITEMS[0].item_id).payload == {"question": "Which cat?"}
    assert get_item(study, ITEMS[2].item_id).cluster == "user 2"
    assert count_items(study) == {"qa": 4}
    labels = study.rows(
        "SELECT count(*) FROM current_labels l JOIN items i USING (item_id, content_hash) WHERE i.version = 0"
    )
    assert labels == [(3,)], "every label still names the content it was given on"
    back = take(study, run_of(ITEMS, *map(verdict, ITEMS)))
    assert back.items["qa"].changed == 3 and get_item(study, ITEMS[0].item_id).content_hash == ITEMS[0].content_hash


def test_a_verdict_follows_its_unchanged_answer_to_the_new_content(study: Study) -> None:
    take(study, run_of(ITEMS[:1], verdict(ITEMS[0])))
    other = item(0, question="Which cat?")
    report = take(study, run_of([other], verdict(other)))
    assert report.verdicts.as_json() == {"new": 0, "same": 0, "changed": 1, "rejected": 0}
    assert len(verdicts_of(study, get_item(study, other.item_id))) == 1


def test_a_changed_verdict_of_the_same_judge_is_refused_unless_named_anew(study: Study) -> None:
    take(study, run_of(ITEMS, *map(verdict, ITEMS)))
    before = contents(study)
    answers = [verdict(ITEMS[0], "wrong"), *map(verdict, ITEMS[1:])]
    with pytest.raises(BadInputError) as caught:
        take(study, run_of([*ITEMS, item("new")], *answers))
    assert "--judge" in caught.value.problems[-1].remedy and "1 verdicts differ" in caught.value.problems[-1].what
    assert contents(study) == before, "not even the new item came in"
    other = JudgeRecord("qa", "judge-b", "model", "v1")
    named = take(study, run_of(ITEMS, *(verdict(each, "wrong", judge=other) for each in ITEMS), judge=other))
    assert named.verdicts.new == 4
    assert [found.record.label for found in verdicts_of(study, get_item(study, ITEMS[0].item_id))] == [
        "correct",
        "wrong",
    ]
    skipped = take(study, run_of(ITEMS, *answers), skip_bad=True)
    assert (skipped.verdicts.same, skipped.verdicts.rejected) == (3, 1)


def test_an_import_that_is_in_the_study_is_told_as_such_though_its_records_cannot_be_let_go_of(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB writes into the database it detaches, which a full disk refuses."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def unload(connection: Any) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (14_000, hard))
        try:
            staging.unload_stages(connection)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    monkeypatch.setattr(staging, "_LITTLE", 0)
    monkeypatch.setattr(importing, "unload_stages", unload)
    source = tmp_path / "run.json"
    source.write_text("{}", encoding="utf-8")
    items = [item(number, question=f"q{number} " * 300, position=number) for number in range(4_000)]
    lines = len(journal_lines(study.path))
    assert take(study, run_of(items), [source]).items["qa"].new == len(items)
    assert study.rows("SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM imports)") == [(len(items), 1)]
    assert len(journal_lines(study.path)) == lines + 1 and left_over(study) == ["run.json"]


@pytest.mark.parametrize("name", ["staged", "records", "staged.records", "temp", "main"])
def test_a_study_may_have_any_name(tmp_path: Path, name: str) -> None:
    """DuckDB calls a database by its file's name."""
    with Study.create(tmp_path / f"{name}.duckdb", "halumem") as study:
        assert take(study, run_of(ITEMS)).items["qa"].new == len(ITEMS)
        assert study.rows("SELECT count(*) FROM items") == [(len(ITEMS),)]


def test_after_an_import_that_failed_another_goes_on_in_the_same_sitting(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "_LITTLE", 0)
    twice = [verdict(ITEMS[0]), verdict(ITEMS[0], "another")]
    with pytest.raises(BadInputError):
        take(study, run_of(ITEMS, *twice))
    assert study.rows("SELECT count(*) FROM items") == [(0,)] and left_over(study) == []
    assert take(study, run_of(ITEMS, *map(verdict, ITEMS))).items["qa"].new == len(ITEMS)


def test_another_repetition_is_another_slot(study: Study) -> None:
    report = take(study, run_of(ITEMS[:1], *(verdict(ITEMS[0], repetition=number) for number in range(3))))
    assert report.verdicts.new == 3
    assert len(verdicts_of(study, get_item(study, ITEMS[0].item_id))) == 3


def test_bad_places_stop_everything_unless_they_are_skipped(study: Study) -> None:
    warning = Problem("run.json", 9, 0, "a guess", fatal=False)
    before = contents(study)
    with pytest.raises(BadInputError, match="1 bad place found; nothing was imported") as caught:
        take(study, [*run_of(ITEMS[:2]), BAD, warning, ITEMS[2]])
    assert caught.value.problems == [BAD, warning] and caught.value.exit_code == 1
    assert contents(study) == before and left_over(study) == []
    report = take(study, [*run_of(ITEMS[:2]), BAD, warning, ITEMS[2]], skip_bad=True)
    assert report.items["qa"].new == 3 and report.problems == [BAD, warning]
    assert take(study, [*run_of(ITEMS), warning]).problems == [warning], "a warning stops nothing"


def test_an_item_that_stands_twice_comes_in_once(study: Study) -> None:
    """A file may name a user twice; the same record counts once, two different ones are an error."""
    one = ITEMS[0]
    report = take(study, run_of([one, one, replace(one, position=9)], verdict(one), verdict(one, position=9)))
    assert report.items["qa"].as_json()["new"] == 1 and report.verdicts.new == 1
    assert study.rows("SELECT count(*), max(position) FROM items") == [(1, 0)]
    assert study.rows("SELECT count(*), max(position) FROM verdicts") == [(1, 0)]


def test_two_contents_or_two_answers_in_one_place_are_told(study: Study) -> None:
    twice = run_of([ITEMS[0], item(0, question="Which cat?"), ITEMS[1]], verdict(ITEMS[1]), verdict(ITEMS[1], "wrong"))
    with pytest.raises(BadInputError, match="2 bad places") as caught:
        take(study, twice)
    whats = [problem.what for problem in caught.value.problems]
    assert whats == [
        "1 items stand more than once in the files, with different content",
        "1 verdicts stand more than once in the files, with different answers",
    ]
    assert study.rows("SELECT count(*) FROM items") == [(0,)]
    report = take(study, twice, skip_bad=True)
    assert (report.items["qa"].new, report.items["qa"].rejected) == (1, 1)
    assert (report.verdicts.new, report.verdicts.rejected) == (0, 1)


@pytest.mark.parametrize("little", [0, 1_000_000])
def test_an_import_of_several_pages_is_whole_and_in_the_order_of_the_files(
    study: Study, monkeypatch: pytest.MonkeyPatch, little: int
) -> None:
    """Loaded into a file beside the study, as a large one is, or into memory."""
    monkeypatch.setattr(importing, "_MERGED_AT_ONCE", 7)
    monkeypatch.setattr(staging, "_LITTLE", little)
    items = [item(number, position=number) for number in range(50)]
    take(study, run_of(items[:20], *map(verdict, items[:20])))
    report = take(study, run_of([*items[:10], *items], *map(verdict, items)))
    assert (report.items["qa"].new, report.items["qa"].same, report.verdicts.new) == (30, 20, 30)
    assert study.rows("SELECT item_id FROM items ORDER BY rowid") == [(one.item_id,) for one in items]
    assert study.rows("SELECT count(*), count(DISTINCT item_id) FROM verdicts") == [(50, 50)]
    assert left_over(study) == []


def test_an_import_that_needs_more_memory_than_it_should_is_done_with_more(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []
    load = importing.load_stages

    def loading(connection: Any, *rest: Any) -> None:
        tries.append(connection.execute("SELECT current_setting('memory_limit')").fetchone()[0])
        load(connection, *rest)

    monkeypatch.setattr(importing, "load_stages", loading)
    monkeypatch.setattr(staging, "_LITTLE", 0)
    monkeypatch.setattr(database, "_BULK_MEMORY", 24)
    monkeypatch.setattr(database, "_BULK_MEMORY_OF_THREAD", 0)
    wide = [item(number, question="".join(map(chr, range(20_000, 40_000))) * 8) for number in range(40)]
    twice = replace(wide[0], payload={"question": "another"})
    report = take(study, run_of([*wide, twice], *map(verdict, wide)), skip_bad=True)
    assert len(set(tries)) == 2, "the second time with all there is"
    assert (report.items["qa"].new, report.items["qa"].rejected, report.verdicts.new) == (39, 1, 40)
    assert len([one for one in report.problems if "more than once" in one.what]) == 1
    assert study.rows("SELECT count(*) FROM items") == [(39,)] and left_over(study) == []
    assert study.rows("SELECT current_setting('memory_limit')") == [(tries[1],)]


@pytest.mark.parametrize(
    "name",
    ["30", "0870", "12345678901234567890", "2024-01-02", "12:30:00", "0B7C9E4A-5D2F-4E11-9A3B-8C6D5E4F3A2B",
     "0b7c9e4a5d2f4e119a3b8c6d5e4f3a2b", "1e5", "0x1f", "true", "null", "NaN", "-0", " 7 ", "", "a\x00b",
     "\x1b]2;x\x07", "\u202eabc", "👩‍⚕️", "'; DROP TABLE items; --", "{}", '"', "\\", "\ufeffx", "a\r\nb\u2028c"],
)  # fmt: skip
def test_every_id_and_text_survives_as_text(study: Study, name: str) -> None:
    one = item(name, question=name, system=name, cluster=name, group=name, slices={"type": name}, payload={"q": name},
               item_id=f"id {name}")  # fmt: skip
    judge = JudgeRecord("qa", name, name, name)
    answer = verdict(one, name, judge=judge, rationale=name, raw=name)
    take(study, [SystemRecord(name, name), judge, TextRecord.of(name), one, answer, FactRecord(name, "k", name, name)])
    stored = get_item(study, f"id {name}")
    assert (json.loads(stored.natural_key), stored.system, stored.cluster, stored.group) == (name,) * 4
    assert (stored.payload, stored.slices) == ({"q": name}, {"type": name})
    assert [(found.judge, found.record) for found in verdicts_of(study, stored)] == [(name, answer)]
    assert get_text(study, text_hash(name)) == name
    assert facts_of(study, name) == {"k": {name: name}}
    study.append([act(who=f"who {name}", of=stored.item_id, value=name)])
    assert study.rows("SELECT annotator, item_id, value FROM current_labels") == [(f"who {name}", stored.item_id, name)]


@settings(deadline=None, max_examples=25)
@given(text=st.text(max_size=30))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Through the staging file alone, which is where encodings could bite."""
    import duckdb

    with staging.staging_folder(tmp_path_factory.getbasetemp() / "s.duckdb") as folder:
        problems: list[Problem] = []
        staged = staging.stage([TextRecord("h", text)], folder, problems)
        connection = duckdb.connect()
        staging.load_stages(connection, folder, staged)
        assert connection.execute(f"SELECT body FROM {staging.LOADED}.texts").fetchall() == [(text,)]
        staging.unload_stages(connection)
        connection.close()
    assert problems == []


def test_half_an_emoji_is_replaced_and_told(study: Study) -> None:
    one = item(1, payload={"question": "bad \ud83d end", "whole": "\ud83d\ude00"})
    report = take(study, run_of([one], verdict(one, rationale="\udc00")))
    assert get_item(study, one.item_id).payload == {"question": "bad \ufffd end", "whole": "😀"}
    assert [(problem.what[:22], problem.fatal) for problem in report.problems] == [("half a surrogate pair ", False)]
    assert "2 records" in report.problems[0].what
    assert take(study, run_of([one], verdict(one, rationale="\udc00"))).items["qa"].same == 1


def test_a_text_is_stored_once(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [TextRecord.of(f"text {number % 3}") for number in range(30)]
    take(study, [*texts])
    take(study, [*texts, TextRecord.of("text 3")])
    assert study.rows("SELECT count(*), count(DISTINCT text_hash) FROM texts") == [(4, 4)]
    monkeypatch.setattr(staging, "_TEXT_MEMORY", 1)
    take(study, [TextRecord.of(f"more {number % 5}") for number in range(50)])
    assert study.rows("SELECT count(*), count(DISTINCT text_hash) FROM texts") == [(9, 9)]


def test_a_fact_is_replaced(study: Study) -> None:
    take(
        study,
        [FactRecord("sys", "time", "a", 1), FactRecord("sys", "time", "b", 0.1 + 0.2), FactRecord("t", "time", "a", 3)],
    )
    take(study, [FactRecord("sys", "time", "a", 2, position=5)])
    assert facts_of(study, "sys") == {"time": {"b": 0.1 + 0.2, "a": 2}}
    assert facts_of(study, "t") == {"time": {"a": 3}}


def test_a_text_of_a_megabyte_and_a_line_of_twenty(study: Study) -> None:
    long = "x" * 20_000_000
    take(study, [TextRecord.of(long), TextRecord.of("y" * 1_000_000)])
    assert study.rows("SELECT length(body) FROM texts ORDER BY 1") == [(1_000_000,), (20_000_000,)]


def test_the_journal_and_the_study_know_what_was_imported(study: Study, tmp_path: Path) -> None:
    source = tmp_path / "run 漢.json"
    source.write_bytes(b"{}")
    take(study, run_of(ITEMS), [source], at=AT)
    record = study.journal_records("import")[0]
    assert (record["path"], record["bytes"], record["at"]) == (str(source), 2, AT)
    assert record["sha256"] == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert study.rows("SELECT import_id, path, sha256 FROM imports") == [
        (record["import_id"], record["path"], record["sha256"])
    ]
    assert study.rows("SELECT DISTINCT import_id FROM items") == [(record["import_id"],)]
    assert list_draws(study) == []


class Peeking:
    """Looks at what lies beside the study while its records are read."""

    def __init__(self, study: Study, records: list[Record]) -> None:
        self._study, self._records = study, records
        self.modes: dict[str, int] = {}

    def __iter__(self) -> Iterator[Record]:
        yield from self._records
        for path in self._study.path.parent.rglob("*"):
            if ".import-" in str(path):
                self.modes[path.name] = stat.S_IMODE(path.stat().st_mode)


def test_what_is_laid_out_is_for_its_owner_only_and_gone_afterwards(study: Study) -> None:
    before = os.umask(0o022)
    try:
        peeking = Peeking(study, run_of(ITEMS))
        take(study, peeking)
        assert len(peeking.modes) == 8
        assert {name.endswith(".ndjson"): mode for name, mode in peeking.modes.items()} == {True: 0o600, False: 0o700}
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert left_over(study) == []


def failing(error: BaseException) -> Iterator[Record]:
    yield from run_of(ITEMS)
    raise error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(5, "Input/output error", "run.json"), InputError),
        (ValueError("a fault of the reader"), ValueError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_reader_that_fails_leaves_nothing(study: Study, error: BaseException, told: type[BaseException]) -> None:
    before = contents(study)
    with pytest.raises(told) as caught:
        take(study, failing(error))
    if isinstance(caught.value, InputError):
        assert "run.json" in caught.value.detail and caught.value.exit_code == 1
    assert contents(study) == before and left_over(study) == []
    assert take(study, run_of(ITEMS)).items["qa"].new == 4


def test_a_merge_that_fails_leaves_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    take(study, run_of(ITEMS[:1]))
    before = contents(study)

    def fail(*_: Any) -> None:
        raise RuntimeError("in the middle")

    with monkeypatch.context() as broken:
        broken.setattr(importing, "_merge_verdicts", fail)
        with pytest.raises(RuntimeError, match="in the middle"):
            take(study, run_of(ITEMS))
    assert contents(study) == before and left_over(study) == []
    study.append([act()])
    assert take(study, run_of(ITEMS)).items["qa"].as_json() == {"new": 3, "same": 1, "changed": 0, "rejected": 0}


def test_a_file_that_vanishes_before_it_is_noted_stops_the_import(study: Study, tmp_path: Path) -> None:
    before = contents(study)
    with pytest.raises(SaveError, match="Not imported"):
        take(study, run_of(ITEMS), [tmp_path / "gone.json"])
    assert contents(study) == before


_IMPORT = """
import sys, time
from pathlib import Path
from store_makers import item, run_of, take, verdict
from store import staging
from store.study import Study
staging._LITTLE = 0
def records():
    items = [item(n, question="q" * 500) for n in range(8000)]
    print("reading", flush=True)
    yield from run_of(items)
    print("merging", flush=True)
    yield from map(verdict, items)
with Study.open(Path(sys.argv[1])) as study:
    take(study, records())
    print("done", flush=True)
    time.sleep(20)
"""


@pytest.mark.parametrize("moment", [0, 2, 3, 4, 5])
def test_an_import_that_is_killed_leaves_nothing_or_all(tmp_path: Path, moment: int) -> None:
    path = tmp_path / "s.duckdb"
    with Study.create(path, "halumem") as study:
        take(study, run_of(ITEMS))
        study.append([act(value="kept")])
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}"}
    with subprocess.Popen(
        [sys.executable, "-c", _IMPORT, str(path)], stdout=subprocess.PIPE, env=environment, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        for word in ("reading", "merging")[: 1 + (moment > 2)]:
            assert process.stdout.readline() == f"{word}\n"
        time.sleep(moment * 0.06)
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read()
    with Study.open(path) as study:
        items, verdicts = study.rows("SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM verdicts)")[0]
        assert (items, verdicts) in [(4, 0), (8_000, 8_000)]
        assert items == 8_000 or "done" not in said
        assert study.rows("SELECT value FROM label_events") == [("kept",)]
        assert left_over(study) == []


def test_an_import_that_is_interrupted_stops_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C while the records are merged: the query is broken off, not waited for."""
    path = tmp_path / "s.duckdb"
    Study.create(path, "halumem").close()
    script = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + _IMPORT
    script = script.replace("range(8000)", "range(60000)").replace('print("merging", flush=True)', "pass")
    script = script.replace("def records():", "from store import importing, staging\nload = importing.load_stages\n"
                            "def told(*a):\n    print('merging', flush=True)\n    load(*a)\n"
                            "importing.load_stages = told\ndef records():")  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}"}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        assert [process.stdout.readline() for _ in range(2)] == ["reading\n", "merging\n"]
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.stderr.read()
    with Study.open(path) as study:
        assert study.rows("SELECT count(*) FROM items") == [(0,)]
        assert left_over(study) == []


def test_no_import_writes_or_changes_an_act_of_a_person(study: Study) -> None:
    """Whatever kind of record comes in, also a person's label of a file on an item that the person labelled here."""
    take(study, run_of(ITEMS, *map(verdict, ITEMS)))
    study.append([act(of=each.item_id, who="dr.li") for each in ITEMS])
    before = contents(study)["label_events"]
    views = {view: study.rows(f"SELECT * FROM {view} ORDER BY ALL") for view in ("current_labels", "blind_labels")}
    other = JudgeRecord("qa", "judge-b", "model", "v2")
    changed = [item(0, question="Which cat?"), *ITEMS[1:]]
    said = LabelRecord(ITEMS[1].item_id, ITEMS[1].content_hash, "dr.li", LabelState(value="wrong"))
    records = run_of(changed, *(verdict(each, "wrong", judge=other) for each in changed), said, judge=other)
    report = take(study, [*records, TextRecord.of("new"), FactRecord("sys", "time", "1", {"s": 1})])
    assert report.verdicts.new == 4 and report.labels.new == 1
    assert contents(study)["label_events"] == before
    for view, rows in views.items():
        assert study.rows(f"SELECT * FROM {view} ORDER BY ALL") == rows
