"""Exports come back in as they went out: every label of every person, in a stable order, harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.exchange.entries import LabelEntry
from annotate.exchange.exporting import csv_line, export_csv, export_jsonl
from annotate.exchange.flat import COLUMNS, entry_of_row, row_of_entry
from annotate.exchange.own_exports import import_labels
from store.records import LabelState
from store.safe_text import csv_safe
from store.study import Study
from tests.commands import Overread
from tests.desk.desk_studies import Spec, accuracy, current_labels, go_to_first, make_study, press, sit

DOSES = (
    "-5 mg",
    "+44 20 7946",
    "=1+1",
    "@SUM(A1)",
    "\u200b=1+1",
    "-Infinity",
    "'already quoted",
    "\t=1",
    "两片 “每日”",
)
"""Notes that a spreadsheet would run, or that are a dose."""
SPECS = [*(Spec(rationale="=cmd|' /C calc'!A0") for _ in range(12)), accuracy(), accuracy()]
EXPORTS: dict[str, Callable[[Study, Path], int]] = {"jsonl": export_jsonl, "csv": export_csv}


def fresh(path: Path) -> Study:
    """A study of the same items without a label."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return make_study(path, SPECS)


def labelled(path: Path) -> Study:
    """The same study after two people did everything that can be done in it."""
    study = fresh(path)
    desk = sit(study, "item")
    for note in DOSES:
        desk.first_open()
        desk.set_note(note)
        while desk.phase == "label" and desk.current.task.task != "qa":
            press(desk, "a", "o")
            if desk.phase == "revealed":
                desk.confirm()
        press(desk, "H")
        if desk.phase == "revealed":
            press(desk, "c")
    desk.go_to(1)
    desk.set_harm("2")
    desk.toggle_tag("1")
    desk.toggle_tag("3")
    desk.set_reference_wrong("a Labrador, 2\N{NO-BREAK SPACE}kg\nand “more”")
    desk.toggle_evidence(2)
    desk.flag()
    other = sit(study, annotator="dr. Ökafor")
    other.cannot_judge("a")
    other.skip()
    go_to_first(other, hidden=True)
    if other.current.task.task == "qa":
        press(other, "o")
    return study


@pytest.mark.parametrize("kind", EXPORTS)
def test_what_goes_out_comes_in_and_goes_out_the_same(tmp_path: Path, kind: str) -> None:
    out, back = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    with labelled(tmp_path / "a" / "s.duckdb") as study:
        count = EXPORTS[kind](study, out)
        given_ = {who: current_labels(study, who) for who in ("dr.li", "dr. Ökafor")}
    assert count > 5 and len(given_["dr.li"]) > 8
    with fresh(tmp_path / "b" / "s.duckdb") as study:
        outcome = import_labels(study, [out])
        assert (outcome.same, outcome.changed, outcome.rejected) == (0, 0, 0) and outcome.new > 8
        assert {who: current_labels(study, who) for who in given_} == given_
        EXPORTS[kind](study, back)
        assert import_labels(study, [out]).new == 0, "nothing comes in twice"
    assert back.read_bytes() == out.read_bytes()


def test_two_exports_of_one_study_are_one(tmp_path: Path) -> None:
    with labelled(tmp_path / "s.duckdb") as study:
        for kind, export in EXPORTS.items():
            export(study, tmp_path / f"1.{kind}")
            export(study, tmp_path / f"2.{kind}")
            assert (tmp_path / f"1.{kind}").read_bytes() == (tmp_path / f"2.{kind}").read_bytes()
        order = [row[0] for row in study.rows("SELECT item_id FROM current_items ORDER BY system, task, position")]
    lines = (tmp_path / "1.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["item_id"] for line in lines] == order


def test_an_export_holds_all_that_a_person_gave(tmp_path: Path) -> None:
    with labelled(tmp_path / "s.duckdb") as study:
        export_jsonl(study, tmp_path / "out.jsonl")
        entries = [
            entry
            for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
            for entry in json.loads(line)["human"]
        ]
        states = current_labels(study)
    mine = [entry for entry in entries if entry["annotator"] == "dr.li"]
    assert sorted(entry["note"] for entry in mine if entry["note"]) == sorted(
        state.note for state in states.values() if state.note
    )
    marked = next(entry for entry in mine if entry["harm"])
    assert (marked["harm"], marked["reference_wrong"], marked["evidence"], marked["flagged"]) == (
        "serious", True, [2], True,
    )  # fmt: skip
    assert len(marked["tags"]) == 2 and marked["right_answer"].startswith("a Labrador")
    revised = [entry for entry in mine if entry["mode"] == "revised"]
    assert revised and all(
        entry["blind"]["label"] != entry["label"] for entry in revised if entry["label"] == "Correct"
    )
    assert all(entry["shown"]["policy"] == "item" for entry in revised)
    assert all(entry["at"][-6] in "+-" for entry in entries), "every time says its offset"


def test_no_cell_of_a_csv_runs_and_every_value_is_there_again(tmp_path: Path) -> None:
    with labelled(tmp_path / "s.duckdb") as study:
        export_csv(study, tmp_path / "out.csv")
        export_csv(study, tmp_path / "excel.csv", excel=True)
        export_jsonl(study, tmp_path / "out.jsonl")
    data = (tmp_path / "out.csv").read_bytes()
    assert (tmp_path / "excel.csv").read_bytes() == b"\xef\xbb\xbf" + data
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))
    for cell in (cell for row in rows for cell in row):
        assert cell.lstrip(" \t\r\n\u200b\ufeff")[:1] not in {"=", "+", "-", "@"}, cell
        assert cell[:1] not in {"\t", "\r", "\n"}
    notes = {entry_of_row(dict(zip(rows[0], row, strict=True))).state.note for row in rows[1:]}
    with fresh(tmp_path / "again" / "s.duckdb") as study:
        assert import_labels(study, [tmp_path / "excel.csv"]).new == len(rows) - 1
    plain = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    for dose in DOSES:
        assert dose in notes
        assert json.dumps(dose, ensure_ascii=False) in plain, "other formats hold it as it is"


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES = st.sampled_from(["", "x", "=1", "0", "null"])
STATES = st.builds(
    LabelState,
    value=st.none() | TEXTS,
    parts=st.dictionaries(NAMES, TEXTS, max_size=2),
    tags=st.lists(NAMES, max_size=3).map(tuple),
    note=TEXTS,
    unsure=st.booleans(),
    harm=NAMES,
    reference_wrong=st.booleans(),
    right_answer=TEXTS,
    evidence=st.lists(st.integers(0, 10**6), max_size=3).map(tuple),
    skipped=st.booleans(),
    flagged=st.booleans(),
)
ENTRIES = st.builds(
    LabelEntry,
    item_id=TEXTS,
    content_hash=NAMES,
    annotator=TEXTS,
    round=st.integers(-1, 9),
    state=STATES,
    mode=st.sampled_from(["blind", "revised", "assisted"]),
    at=st.just("2026-03-01T09:00:00+01:00"),
    draw_id=NAMES,
    rubric_version=NAMES,
    active_ms=st.integers(0, 10**9),
    blind=st.none() | st.tuples(STATES, st.just("2026-03-01T09:00:00+01:00")),
    shown=st.none() | st.tuples(NAMES, st.just("2026-03-01T09:00:00-05:30"), st.lists(NAMES, max_size=2).map(tuple)),
)


@given(ENTRIES)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_label_survives_both_formats(entry: LabelEntry) -> None:
    line = json.loads(json.dumps(entry.as_json(), ensure_ascii=False))
    assert LabelEntry.from_json(entry.item_id, entry.content_hash, line) == entry
    row = csv_line(row_of_entry(entry, {}, {"judge_rationale": entry.state.note}))
    assert row.endswith("\n") and not row.endswith("\r\n")
    [cells] = csv.reader(io.StringIO(row, newline=""))
    told = dict(zip(COLUMNS, cells, strict=True))
    assert entry_of_row(told) == entry and told["round"] == str(entry.round)
    told["round"] = csv_safe(told["round"])  # as it was once written
    assert entry_of_row(told) == entry


@pytest.fixture
def two_studies(study_folder: Path) -> tuple[Path, Path]:
    """A labelled study and a fresh one of the same items, closed."""
    paths = study_folder / "a.duckdb", study_folder / "b.duckdb"
    labelled(paths[0]).close()
    fresh(paths[1]).close()
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXPORTS)
def test_every_bad_line_is_named_and_nothing_or_the_rest_comes_in(
    two_studies: tuple[Path, Path], overread_cli: Overread, kind: str
) -> None:
    full, empty = two_studies
    out = full.with_name(f"out.{kind}")
    assert overread_cli("--study", full, "export", out).exit_code == 0
    lines = out.read_text(encoding="utf-8").split("\n")
    first, second = 2, len(lines) - 2
    assert all(kind == "jsonl" or len(next(csv.reader([lines[at]]))) == len(COLUMNS) for at in (first, second))
    lines[first] = lines[first][: len(lines[first]) // 2]
    lines[second] = lines[second].replace('"overread_export": 1', '"overread_export": 99').replace(",yes,", ",ja,", 1)
    out.write_text("\n".join(lines), encoding="utf-8")
    told = overread_cli("--study", empty, "import", out)
    assert told.exit_code == 1 and "nothing was imported" in told.stderr, told
    for number in (first + 1, second + 1):
        assert f"{out.name}:{number}" in told.stderr, told
    with Study.open(empty) as study:
        assert study.rows("SELECT count(*) FROM label_events") == [(0,)]
    told = overread_cli("--study", empty, "import", out, "--skip-bad")
    assert told.exit_code == 1 and "2 rejected" in told.stdout and f"{out.name}:{second + 1}" in told.stderr, told
    with Study.open(empty) as study:
        assert study.rows("SELECT count(*) FROM label_events")[0][0] > 5


def test_a_label_of_the_study_is_never_replaced_by_one_of_a_file(
    two_studies: tuple[Path, Path], overread_cli: Overread
) -> None:
    full, empty = two_studies
    out = full.with_name("out.jsonl")
    with Study.open(full) as study:
        export_jsonl(study, out)
    with Study.open(empty) as study:
        desk = sit(study, "never")
        press(desk, *({"qa": "o", "accuracy": "zi"}[desk.current.task.task]))
        mine = current_labels(study)
    told = overread_cli("--study", empty, "import", out)
    assert "1 changed" in told.stdout and "the study's own label of that person stays" in told.stdout, told
    with Study.open(empty) as study:
        assert current_labels(study).items() >= mine.items()


def test_a_rationale_of_any_length_and_line_end_splits_no_row(tmp_path: Path) -> None:
    """The csv module of itself reads no cell longer than 128 kB, and older ones leave a carriage return unquoted."""
    long = "first\rsecond\r\nthird, " + "and so on; " * 30_000
    specs = [Spec(rationale=long), Spec(rationale=long)]
    with make_study(tmp_path / "a.duckdb", specs) as study:
        press(sit(study, "never"), "c", "o")
        export_csv(study, tmp_path / "out.csv")
    with make_study(tmp_path / "b.duckdb", specs) as study:
        assert import_labels(study, [tmp_path / "out.csv"]).new == 2


def test_an_import_that_was_stopped_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between any two writes; no label is left with half of its history, as one that was never revised."""
    out, back = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    with labelled(tmp_path / "a" / "s.duckdb") as study:
        export_jsonl(study, out)
    monkeypatch.setattr("annotate.exchange.own_exports._BATCH", 1)
    append = Study.append
    for writes in (1, 4, 9):
        left = iter(range(writes))

        def stopping(study: Study, acts: Any, left: Iterator[int] = left) -> Any:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return append(study, acts)

        with fresh(tmp_path / str(writes) / "s.duckdb") as study:
            with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
                patch.setattr(Study, "append", stopping)
                import_labels(study, [out])
            assert import_labels(study, [out]).changed == 0
            export_jsonl(study, back)
        assert back.read_bytes() == out.read_bytes()
