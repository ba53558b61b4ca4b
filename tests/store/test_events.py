"""Label events: sealed and read back exactly; the row and the journaled body say the same."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_makers import act, labels_in

from store.alterations import altered_acts
from store.events import _TYPES as TYPES
from store.events import COLUMNS, STATE_COLUMNS, Event, EventDraft, event_of, insert_events, row_of, seal, state_of_row
from store.journal import Entry, parse_line
from store.records import LabelState
from store.study import Study

NOW = dt.datetime(2026, 3, 29, 2, 30, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))

texts = st.text(st.characters(codec="utf-8"), max_size=12)
states = st.builds(
    LabelState, value=st.none() | texts, parts=st.dictionaries(texts, texts, max_size=2),
    tags=st.lists(texts, max_size=2).map(tuple), note=texts, unsure=st.booleans(), harm=texts,
    reference_wrong=st.booleans(), right_answer=texts, evidence=st.lists(st.integers(0, 500), max_size=3).map(tuple),
    skipped=st.booleans(), flagged=st.booleans(),
)  # fmt: skip
moments = st.datetimes(timezones=st.timezones()).filter(lambda at: at.year > 1 and at.year < 9999)


def sealed(draft: EventDraft, now: dt.datetime = NOW, **places: Any) -> tuple[Event, Entry]:
    chain = {"study_id": "s", "copy_id": "c", "seq": 1, "clock": 1, "prev_hash": "s", "mode": "blind", **places}
    return seal(draft, now=now, **chain)


@given(states, st.integers(0, 2**40))
def test_an_event_is_read_back_from_its_line_exactly(state: LabelState, active: int) -> None:
    event, entry = sealed(act(state=state, active_ms=active, verdicts_shown=("v1", "v2"), panels=("p",)))
    assert event_of(parse_line(entry.line_bytes().removesuffix(b"\n"), 1)) == event
    assert event.state == state


@settings(deadline=None, max_examples=40)
@given(state=states)
def test_the_row_says_what_the_body_says(state: LabelState) -> None:
    import duckdb

    connection = _connection_with_events(duckdb)
    draft = act(state=state, draw_id="d", rubric_version="r", panels=("p",), verdicts_shown=("v",))
    for count in (1, 6):
        connection.execute("DELETE FROM label_events")
        events = [sealed(draft, seq=number + 1) for number in range(count)]
        insert_events(connection, events)
        assert altered_acts(connection) == []
        rows = connection.execute(f"SELECT {STATE_COLUMNS} FROM label_events ORDER BY seq").fetchall()
        assert [state_of_row(row) for row in rows] == [state] * count


_CACHE: dict[str, Any] = {}


def _connection_with_events(duckdb: Any) -> Any:
    from store import migrations

    if not _CACHE:
        _CACHE["connection"] = duckdb.connect()
        migrations.migrate(_CACHE["connection"])
    return _CACHE["connection"]


def test_the_types_that_values_go_in_with_are_those_of_the_table(study: Study) -> None:
    columns = study.rows("SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'label_events'")
    assert {name: "BIGINT" if name == "happened_at" else kind for name, kind in columns} == dict(TYPES)
    assert [name for name, _ in columns] == COLUMNS.replace(" ", "").split(",")


@given(moments)
def test_the_writers_offset_is_kept_and_the_moment_is_exact(moment: dt.datetime) -> None:
    event, entry = sealed(act(), now=moment)
    row = dict(zip(COLUMNS.replace(" ", "").split(","), row_of(event, entry.body), strict=True))
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert epoch + dt.timedelta(microseconds=row["happened_at"]) == moment.astimezone(dt.UTC)
    offset = moment.utcoffset()
    assert offset is not None
    assert row["utc_offset_minutes"] == offset // dt.timedelta(minutes=1)
    assert dt.datetime.fromisoformat(event.at).utcoffset() == offset


@pytest.mark.parametrize(
    ("at", "utc", "minutes"),
    [
        ("2026-03-29T01:59:59+01:00", "2026-03-29 00:59:59", 60),
        ("2026-03-29T03:00:01+02:00", "2026-03-29 01:00:01", 120),
        ("2026-10-25T02:30:00+02:00", "2026-10-25 00:30:00", 120),
        ("2026-10-25T02:30:00+01:00", "2026-10-25 01:30:00", 60),
        ("2026-01-01T01:30:00+05:30", "2025-12-31 20:00:00", 330),
        ("2026-01-01T01:30:00.000001-03:30", "2026-01-01 05:00:00.000001", -210),
    ],
)
def test_times_of_an_import_are_stored_in_utc_with_their_offset(study: Study, at: str, utc: str, minutes: int) -> None:
    study.append([act("import", at=at, mode="blind")])
    row = study.rows(
        "SELECT strftime(happened_at AT TIME ZONE 'UTC', '%x %X.%f'), utc_offset_minutes FROM label_events"
    )[0]
    stored = study.rows("SELECT epoch_us(happened_at) FROM label_events")[0][0]
    expected = dt.datetime.fromisoformat(f"{utc}+00:00")
    assert dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=stored) == expected
    assert row[1] == minutes


def test_a_time_without_offset_is_refused_before_anything_is_written(study: Study) -> None:
    before = (study.path.parent / "s.journal.jsonl").read_bytes()
    with pytest.raises(ValueError, match="offset"):
        study.append([act("import", at="2026-01-01T01:30:00", mode="blind")])
    assert (study.path.parent / "s.journal.jsonl").read_bytes() == before
    study.append([act(value="later")])
    assert labels_in(study) == ["later"]


def test_a_value_beside_cannot_judge_and_an_unknown_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="instead of a value"):
        act(state=LabelState(value="correct", cannot_judge="ambiguous"))
    with pytest.raises(ValueError, match="unknown kind"):
        act("applaud")  # type: ignore[arg-type]


def test_the_id_is_over_all_the_rest() -> None:
    one, _ = sealed(act())
    for other in (replace(act(), active_ms=1), act(value="wrong"), act(who="dr.wu"), act(round=1)):
        assert sealed(other)[0].event_id != one.event_id
    assert sealed(act(), seq=2)[0].event_id != one.event_id
