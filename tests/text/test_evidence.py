from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.evidence import SimilarTurn, rank_turns, similar_spans, step_rank

TURNS = [
    "Hello, how are you?",
    "I prefer Golden Retrievers now, my Labrador died.",
    "The weather in Boston is fine.",
    "Labradors are dogs, and dogs like the park.",
    "他现在喜欢金毛寻回犬",
]


def ranked(gold: str, top: int = 5) -> list[int]:
    return [similar.turn for similar in rank_turns(gold, TURNS, top)]


def test_turns_that_share_words_come_first() -> None:
    assert ranked("Martin preferred a golden retriever to his labrador")[:2] == [1, 3]
    assert ranked("金毛寻回犬是他的最爱") == [4]
    assert ranked("How are you, hello the weather")[0] in (0, 2)


def test_turns_that_share_nothing_have_no_rank() -> None:
    assert ranked("aspirin") == []
    assert ranked("the and of") == []
    assert rank_turns("dog", []) == []


def test_rare_words_weigh_more_and_ties_go_to_the_earlier_turn() -> None:
    turns = ["dog park", "dog cat", "dog park", "dog zebra"]
    assert rank_turns("zebra dog", turns)[0].turn == 3
    assert [similar.turn for similar in rank_turns("park", turns)] == [0, 2]


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=6), st.integers(1, 5))
def test_ranks_are_ordered_and_bounded(gold: str, turns: list[str], top: int) -> None:
    found = rank_turns(gold, turns, top)
    assert len(found) <= top
    assert all(similar.score > 0 for similar in found)
    assert found == sorted(found, key=lambda similar: (-similar.score, similar.turn))
    for similar in found:
        assert similar_spans(gold, turns[similar.turn])


def test_what_is_similar_is_marked() -> None:
    turn = TURNS[1]
    assert [turn[start:end] for start, end in similar_spans("golden retriever, labradors", turn)] == [
        "Golden",
        "Retrievers",
        "Labrador",
    ]
    assert [TURNS[4][start:end] for start, end in similar_spans("金毛寻回", TURNS[4])] == ["金毛寻回"]


def test_jumps_go_through_the_ranks_and_round() -> None:
    found = [SimilarTurn(7, 3.0), SimilarTurn(2, 2.0), SimilarTurn(9, 1.0)]
    assert step_rank(found, None, 1) == 7
    assert step_rank(found, None, -1) == 9
    assert step_rank(found, 7, 1) == 2
    assert step_rank(found, 9, 1) == 7
    assert step_rank(found, 7, -1) == 9
    assert step_rank(found, 4, 1) == 7
    assert step_rank([], 4, 1) is None
