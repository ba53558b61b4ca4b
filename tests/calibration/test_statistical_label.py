"""One label from several people's: no tie is ever broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.calibration.statistical_label import (
    CANNOT_JUDGE,
    Adjudication,
    Resolution,
    Vote,
    final_label,
    statistical_label,
)

vote = st.sampled_from(["pass", "fail", "omission", CANNOT_JUDGE])
votes = st.dictionaries(st.sampled_from([f"A{k}" for k in range(7)]), vote)


@pytest.mark.parametrize(
    ("blind", "label", "rule", "by"),
    [
        ({}, None, "unlabelled", ()),
        ({"A": "pass"}, "pass", "unanimous", ("A",)),
        ({"B": "pass", "A": "pass"}, "pass", "unanimous", ("A", "B")),
        ({"A": "pass", "B": "fail"}, None, "unresolved", ()),
        ({"A": "pass", "B": "fail", "C": "pass"}, "pass", "majority", ("A", "C")),
        ({"A": "pass", "B": "fail", "C": "omission"}, None, "unresolved", ()),
        ({"A": "pass", "B": "pass", "C": "fail", "D": "fail"}, None, "unresolved", ()),
        ({"A": "pass", "B": "pass", "C": "fail", "D": "omission"}, None, "unresolved", ()),
        ({"A": "pass", "B": "pass", "C": "pass", "D": "omission"}, "pass", "majority", ("A", "B", "C")),
    ],
)
def test_rules(blind: dict[str, Vote], label: str | None, rule: str, by: tuple[str, ...]) -> None:
    found = statistical_label(blind)
    assert (found.label, found.rule, found.by, found.votes) == (label, rule, by, len(blind))
    assert found.resolved == (label is not None)


def test_two_who_differ_are_unresolved_whatever_their_names_and_labels() -> None:
    """Neither the alphabet of labels nor that of annotators decides."""
    for first, second in (("fail", "pass"), ("pass", "fail")):
        for names in (("A", "Z"), ("Z", "A")):
            assert statistical_label(dict(zip(names, (first, second), strict=True))).rule == "unresolved"


@pytest.mark.parametrize(
    ("blind", "rule", "cannot"),
    [
        ({"A": CANNOT_JUDGE}, "unanimous", True),
        ({"A": CANNOT_JUDGE, "B": CANNOT_JUDGE}, "unanimous", True),
        ({"A": "pass", "B": CANNOT_JUDGE}, "unresolved", False),
        ({"A": "pass", "B": CANNOT_JUDGE, "C": CANNOT_JUDGE}, "majority", True),
    ],
)
def test_cannot_judge_is_a_vote_of_its_own(blind: dict[str, Vote], rule: str, cannot: bool) -> None:
    found = statistical_label(blind)
    assert (found.label, found.rule, found.cannot_judge) == (None, rule, cannot)


def test_two_judges_outvote_one_who_cannot() -> None:
    assert statistical_label({"A": "pass", "B": CANNOT_JUDGE, "C": "pass"}).label == "pass"


def test_an_adjudication_stands_above_the_votes() -> None:
    blind = {"A": "pass", "B": "pass"}
    assert statistical_label(blind, Adjudication("fail")) == Resolution("fail", "adjudicated", votes=2)
    assert statistical_label({}, Adjudication("fail")).label == "fail"
    unable = statistical_label(blind, Adjudication(CANNOT_JUDGE))
    assert (unable.label, unable.cannot_judge, unable.rule) == (None, True, "adjudicated")


def test_the_final_label_resolves_conflicts_the_same_way() -> None:
    assert final_label({"A": "pass", "B": "fail"}).rule == "unresolved"
    assert final_label({"A": "pass", "B": "fail", "C": "fail"}).label == "fail"
    assert final_label({"A": "pass"}, Adjudication("fail")).label == "fail"


@given(votes, st.permutations(range(7)))
def test_order_and_names_of_people_do_not_matter(blind: dict[str, Vote], order: list[int]) -> None:
    renamed = {f"A{order[int(name[1:])]}": blind[name] for name in reversed(list(blind))}
    first, second = statistical_label(blind), statistical_label(renamed)
    assert (first.label, first.rule, first.cannot_judge) == (second.label, second.rule, second.cannot_judge)


@given(votes)
def test_a_label_needs_all_or_more_than_half_of_three(blind: dict[str, Vote]) -> None:
    found = statistical_label(blind)
    if found.label is None:
        return
    share = list(blind.values()).count(found.label)
    assert share == len(blind) or (len(blind) >= 3 and 2 * share > len(blind))
    assert len(found.by) == share
