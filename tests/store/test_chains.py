"""Chains: seq, clock and prev_hash; the mode of a label, decided by what the person has been shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_makers import act

from store.errors import SaveError
from store.events import Event
from store.recorder import Recorder
from store.study import Study


def reveal(of: str = "item-1", *, policy: str = "item", value: str | None = "correct", who: str = "dr.li"):  # type: ignore[no-untyped-def]
    return act("reveal", of=of, policy=policy, value=value, who=who, verdicts_shown=("v",))


def test_each_annotator_has_a_chain_and_all_share_the_clock(study: Study) -> None:
    events = study.append([act(), act(who="dr.wu"), act()]) + study.append([act(who="dr.wu"), act(who="李医生")])
    assert [(event.act.annotator, event.seq, event.clock) for event in events] == [
        ("dr.li", 1, 1), ("dr.wu", 1, 2), ("dr.li", 2, 3), ("dr.wu", 2, 4), ("李医生", 1, 5),
    ]  # fmt: skip
    assert events[0].prev_hash == study.study_id
    assert events[2].prev_hash == events[0].event_id
    assert events[3].prev_hash == events[1].event_id
    assert {event.chain for event in events} == {(study.copy_id, who) for who in ("dr.li", "dr.wu", "李医生")}
    assert sorted(events, key=lambda event: event.order) == events


def test_chains_go_on_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Study.create(path, "halumem") as study:
        last = study.append([act(), act()])[-1]
    with Study.open(path) as study:
        again = study.append([act()])[0]
    assert (again.seq, again.clock, again.prev_hash) == (3, 3, last.event_id)


def test_a_failed_write_leaves_no_hole_in_the_chain(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    first = study.append([act()])[0]
    with monkeypatch.context() as broken:
        broken.setattr(Recorder, "write", _fail)
        with pytest.raises(SaveError):
            study.append([act(), reveal()])
    assert study.exposure("dr.li", "item-1") == "blind"
    second = study.append([act()])[0]
    assert (second.seq, second.clock, second.prev_hash, second.mode) == (2, 2, first.event_id, "blind")


def _fail(*_: object) -> None:
    raise SaveError("Not saved.")


def modes(events: list[Event]) -> list[str]:
    return [event.mode for event in events]


def test_a_label_is_blind_until_its_verdict_was_shown_then_revised(study: Study) -> None:
    assert modes(study.append([act(), reveal(), act("revise", value="wrong")])) == ["blind", "blind", "revised"]
    assert modes(study.append([act("undo"), act("redo"), act("clear", value=None), act()])) == ["revised"] * 4
    assert study.exposure("dr.li", "item-1") == "revised"
    assert study.exposure("dr.li", "item-2") == "blind"
    assert study.exposure("dr.wu", "item-1") == "blind"


def test_a_verdict_shown_before_any_label_makes_it_assisted_only_by_that_policy(study: Study) -> None:
    shown = [reveal(policy="assisted", value=None), act()]
    assert modes(study.append(shown)) == ["assisted", "assisted"]
    peeked = [reveal("item-2", policy="block", value=None), act(of="item-2")]
    assert modes(study.append(peeked)) == ["revised", "revised"]
    late = [act(of="item-3"), reveal("item-3", policy="assisted"), act("revise", of="item-3")]
    assert modes(study.append(late)) == ["blind", "blind", "revised"]


def test_the_first_showing_decides(study: Study) -> None:
    study.append([act(), reveal(policy="item"), reveal(policy="assisted", value=None)])
    assert study.exposure("dr.li", "item-1") == "revised"


def test_another_round_does_not_make_blind_again(study: Study) -> None:
    study.append([act(), reveal()])
    assert modes(study.append([act(round=1)])) == ["revised"]


def test_cannot_judge_counts_as_decided_when_the_verdict_is_shown(study: Study) -> None:
    from store.records import LabelState

    undecided = act("reveal", policy="assisted", state=LabelState(cannot_judge="ambiguous"))
    assert modes(study.append([undecided, act()])) == ["blind", "revised"]


def test_an_import_states_its_mode_and_exposes(study: Study) -> None:
    assert modes(study.append([act("import", mode="assisted"), act("revise")])) == ["assisted", "assisted"]
    assert modes(study.append([act("import", of="item-2", mode="blind"), act(of="item-2")])) == ["blind", "blind"]
    assert modes(study.append([act("import", of="item-3", mode="revised")])) == ["revised"]
    assert modes(study.append([act(of="item-3")])) == ["revised"]


def test_exposures_are_the_same_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Study.create(path, "halumem") as study:
        study.append([act(), reveal(), reveal("item-2", policy="assisted", value=None)])
        study.append([act("import", of="item-3", mode="assisted"), act("import", of="item-4", mode="blind")])
        before = [study.exposure("dr.li", f"item-{number}") for number in range(1, 6)]
    with Study.open(path) as study:
        assert [study.exposure("dr.li", f"item-{number}") for number in range(1, 6)] == before
    assert before == ["revised", "assisted", "assisted", "blind", "blind"]
