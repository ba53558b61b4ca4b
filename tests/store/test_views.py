"""The views: the current label, the last blind label, the first exposure; against a plain replay of the events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_makers import act

from store import migrations
from store.chains import now
from store.events import Event, EventDraft, event_of, insert_events, seal
from store.study import Study


def current(study: Study) -> list[tuple[Any, ...]]:
    return study.rows("SELECT item_id, annotator, round, value, mode FROM current_labels ORDER BY ALL")


def blind(study: Study) -> list[tuple[Any, ...]]:
    return study.rows("SELECT item_id, annotator, round, value FROM blind_labels ORDER BY ALL")


def reveal(**changes: Any) -> EventDraft:
    return act("reveal", policy="item", **changes)


def test_five_four_five_is_five(study: Study) -> None:
    study.append([act(value="5"), act("revise", value="4"), act("revise", value="5")])
    assert current(study) == [("item-1", "dr.li", 0, "5", "blind")]
    assert study.rows("SELECT count(*) FROM label_events") == [(3,)], "the whole trail is kept"


def test_the_blind_label_is_the_last_one_before_the_first_showing(study: Study) -> None:
    study.append([act(value="a"), act("revise", value="b"), reveal(value="b"), act("revise", value="c")])
    study.append([act("undo", value="b"), reveal(value="b")])
    assert current(study) == [("item-1", "dr.li", 0, "b", "revised")]
    assert blind(study) == [("item-1", "dr.li", 0, "b")]


def test_what_was_first_given_after_a_showing_is_in_no_blind_label(study: Study) -> None:
    study.append([reveal(value=None), act(value="a")])
    study.append([act("import", of="item-2", mode="assisted"), act("revise", of="item-2")])
    assert blind(study) == []


def test_a_label_taken_off_while_blind_leaves_a_blind_nothing(study: Study) -> None:
    study.append([act(value="a"), act("clear", value=None)])
    assert blind(study) == [("item-1", "dr.li", 0, None)]


def test_rounds_are_apart_but_a_showing_counts_for_all(study: Study) -> None:
    study.append([act(value="a"), act(value="b", round=1), reveal(value="a"), act(value="c", round=2)])
    assert [row[2:4] for row in current(study)] == [(0, "a"), (1, "b"), (2, "c")]
    assert [row[2:] for row in blind(study)] == [(0, "a"), (1, "b")]


def test_an_import_that_calls_itself_blind_after_a_showing_is_not(study: Study) -> None:
    study.append([reveal(value=None), act("import", value="late", mode="blind")])
    assert blind(study) == []
    study.append([act("import", of="item-2", value="early", mode="blind"), reveal(of="item-2", value="early")])
    assert blind(study) == [("item-2", "dr.li", 0, "early")]


def test_people_are_apart(study: Study) -> None:
    study.append(
        [act(value="a"), act(value="b", who="dr.wu"), reveal(value="a"), act("revise", value="c", who="dr.wu")]
    )
    assert current(study) == [("item-1", "dr.li", 0, "a", "blind"), ("item-1", "dr.wu", 0, "c", "blind")]
    assert blind(study) == [("item-1", "dr.li", 0, "a"), ("item-1", "dr.wu", 0, "c")]


def test_a_tie_of_clocks_between_copies_is_broken_the_same_way_in_every_view(study: Study) -> None:
    """Two copies at one clock: the order is (clock, copy, annotator, seq), whatever came first into the table."""
    events = [_foreign("copy-b", 5, "b"), _foreign("copy-a", 5, "a"), _foreign("copy-c", 4, "c")]
    with study.cursor() as cursor:
        insert_events(cursor, events)
    assert [row[3] for row in current(study)] == ["b"]
    assert max(events, key=lambda pair: pair[0].order)[0].state.value == "b"
    with study.cursor() as cursor:
        insert_events(cursor, [_foreign("copy-aa", 5, None, kind="reveal")])
    assert [row[3] for row in blind(study)] == ["a"], "the last before the showing, in that order"


def _foreign(copy: str, clock: int, value: str | None, kind: Any = "label") -> Any:
    draft = act(kind, value=value, policy="item" if kind == "reveal" else "")
    return seal(draft, study_id="s", copy_id=copy, seq=1, clock=clock, prev_hash="s", mode="blind", now=now())


kinds = st.sampled_from(["label", "revise", "mark", "clear", "skip", "flag", "reveal", "undo", "redo", "import"])


@st.composite
def histories(draw: Any) -> list[EventDraft]:
    """Acts of two people on two items in two rounds, as any program may give them."""
    steps = draw(st.lists(st.tuples(kinds, st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)), max_size=14))
    acts = []
    for number, (kind, who, of, turn) in enumerate(steps):
        value = None if kind == "clear" else draw(st.none() | st.just(f"v{number}"))
        policy = draw(st.sampled_from(["item", "block", "assisted"])) if kind == "reveal" else ""
        mode = draw(st.sampled_from(["blind", "revised", "assisted"])) if kind == "import" else ""
        acts.append(act(kind, value=value, who=f"p{who}", of=f"i{of}", round=turn, policy=policy, mode=mode))
    return acts


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    with Study.create(tmp_path_factory.mktemp("views") / "s.duckdb", "halumem") as made:
        yield made


def replayed(events: list[Event]) -> tuple[dict[Any, str | None], dict[Any, str | None]]:
    """Current and blind labels by a plain loop over the events in order."""
    now_: dict[Any, str | None] = {}
    blind_: dict[Any, str | None] = {}
    shown: set[Any] = set()
    for event in sorted(events, key=lambda each: each.order):
        person = (event.act.item_id, event.act.annotator)
        key = (*person, event.act.round)
        now_[key] = event.state.value
        if event.act.kind == "reveal" or (event.act.kind == "import" and event.mode != "blind"):
            shown.add(person)
        elif person not in shown:
            assert event.mode == "blind"
            blind_[key] = event.state.value
        else:
            assert event.mode != "blind" or event.act.kind == "import"
    return now_, blind_


@settings(deadline=None, max_examples=60)
@given(acts=histories(), cuts=st.sets(st.integers(1, 13)))
def test_views_are_what_a_replay_gives(shared: Study, acts: list[EventDraft], cuts: set[int]) -> None:
    _forget(shared)
    events: list[Event] = []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), None], strict=True):
        if batch := acts[start:end]:
            events += shared.append(batch)
    now_, blind_ = replayed(events)
    rows = shared.rows("SELECT item_id, annotator, round, value FROM current_labels")
    assert {row[:3]: row[3] for row in rows} == now_
    rows = shared.rows("SELECT item_id, annotator, round, value FROM blind_labels")
    assert {row[:3]: row[3] for row in rows} == blind_


def _forget(study: Study) -> None:
    """Empty the table and the memory of the study, so that one study serves all examples."""
    from store.chains import Chains

    with study.cursor() as cursor:
        cursor.execute("DELETE FROM label_events")
        study._chains = Chains(cursor, study.study_id, study.copy_id)


def test_the_first_exposure_names_its_policy(study: Study) -> None:
    study.append([reveal(value=None), act("reveal", policy="assisted", value=None)])
    assert study.rows("SELECT item_id, annotator, policy FROM first_exposures") == [("item-1", "dr.li", "item")]


def test_every_event_of_a_view_is_readable_from_its_body(study: Study) -> None:
    from store.journal import Entry

    study.append([act(value="a"), act("revise", value="b")])
    event_id, body = study.rows("SELECT event_id, body FROM current_labels")[0]
    assert event_of(Entry(event_id, body)).state.value == "b"


def test_views_exist_under_every_migration_state(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        migrations.migrate(connection)
        for view in ("current_items", "current_labels", "first_exposures", "blind_labels"):
            assert connection.execute(f"SELECT count(*) FROM {view}").fetchone() == (0,)
