"""Verdicts in words: repeats summed up, ties said, judges told apart, failures named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.verdict_view import VerdictView, label_words, titles, view_verdicts
from judges.benchmarks.halumem.tasks import ACCURACY, QA
from store.items import StoredVerdict
from store.records import LabelState, VerdictRecord


def verdict(label: str | None, *, judge: str = "gpt", judge_id: str = "j1", model: str = "", prompt: str = "",
            failure: str = "", rationale: str = "", repetition: int = 0, **parts: str) -> StoredVerdict:  # fmt: skip
    record = VerdictRecord(
        "item", "content", judge_id, label, parts=parts, failure=failure, rationale=rationale, repetition=repetition
    )
    return StoredVerdict(judge, record, model, prompt)


def view(task: object, *verdicts: StoredVerdict, own: LabelState | None = None) -> VerdictView:
    [only] = view_verdicts(task, verdicts, own or LabelState())  # type: ignore[arg-type]
    return only


def test_a_verdict_in_the_words_of_the_task() -> None:
    shown = view(ACCURACY, verdict("1", rationale="two of three", included="false"))
    assert (shown.headline, shown.value, shown.parts) == ("Mixed · Outside", "1", {"included": "false"})
    assert (shown.judge, shown.rationale, shown.detail, shown.differs) == ("gpt", "two of three", "", None)


def test_model_prompt_and_repeats_are_the_detail() -> None:
    group = [verdict(label, judge="qa-judge", model="gpt-4o", prompt="v3", repetition=n)
             for n, label in enumerate(["Omission", "Correct", "Omission", None, "Omission"])]  # fmt: skip
    shown = view(QA, *group)
    assert shown.headline == "Omission" and shown.detail == "gpt-4o · prompt v3 · 3 of 5 repeats"


def test_a_model_that_gave_the_judge_its_name_is_not_said_twice() -> None:
    assert view(QA, verdict("Correct", judge="gpt-4o", model="gpt-4o")).detail == ""


def test_two_prompts_of_one_name_are_two_judges() -> None:
    one = verdict("Correct", judge_id="j1", prompt="v1")
    other = verdict("Omission", judge_id="j2", prompt="v2")
    shown = view_verdicts(QA, [one, other], LabelState(value="Correct"))
    assert [(v.headline, v.detail, v.differs) for v in shown] == [
        ("Correct", "prompt v1", False), ("Omission", "prompt v2", True),
    ]  # fmt: skip


def test_a_tie_is_said_and_confirms_nothing() -> None:
    shown = view(QA, verdict("Correct"), verdict("Omission", repetition=1))
    assert (shown.headline, shown.value, shown.differs) == ("repeats disagree", None, None)


def test_a_tie_in_a_part_is_said_and_leaves_the_part_out() -> None:
    group = [verdict("2", included="true"), verdict("2", repetition=1, included="false"),
             verdict("0", repetition=2, included="false")]  # fmt: skip
    shown = view(ACCURACY, *group, own=LabelState(value="2", parts={"included": "false"}))
    assert shown.value == "2" and shown.parts == {} and shown.differs is False
    assert shown.headline.startswith("All supported · repeats disagree on: ")


def test_a_part_is_summed_up_over_the_repeats_that_gave_the_label() -> None:
    group = [verdict("2", included="true"), verdict("2", repetition=1, included="false"),
             verdict("2", repetition=2, included="false"), verdict("0", repetition=3, included="true")]  # fmt: skip
    assert view(ACCURACY, *group).parts == {"included": "false"}


@pytest.mark.parametrize(("failure", "words"), [("missing", "gave no verdict"), ("", "gave no verdict"),
    ("malformed", "gave an answer that cannot be read"), ("off_menu", "gave a label that is not in the set"),
    ("timeout", "did not answer in time"), ("outage", "failed: outage")])  # fmt: skip
def test_failures_in_words(failure: str, words: str) -> None:
    shown = view(QA, verdict(None, failure=failure), own=LabelState(value="Correct"))
    assert (shown.headline, shown.value, shown.differs) == (words, None, None)


def test_the_rationale_is_of_a_repeat_that_gave_the_label_shown() -> None:
    group = [verdict("Omission", rationale="wrong one"), verdict("Correct", rationale="right one", repetition=1),
             verdict("Correct", rationale="another", repetition=2)]  # fmt: skip
    assert view(QA, *group).rationale == "right one"


INSIDE, OUTSIDE = {"included": "true"}, {"included": "false"}
OWN = [
    (LabelState(), None), (LabelState(cannot_judge="ambiguous"), None), (LabelState(value="1"), False),
    (LabelState(value="1", parts=OUTSIDE), False), (LabelState(value="1", parts=INSIDE), True),
    (LabelState(value="2", parts=OUTSIDE), True),
]  # fmt: skip


@pytest.mark.parametrize(("own", "differs"), OWN)
def test_differing_is_a_matter_of_the_value_and_of_parts_both_have(own: LabelState, differs: bool | None) -> None:
    assert view(ACCURACY, verdict("1", included="false"), own=own).differs is differs


def test_labels_in_words() -> None:
    assert label_words(ACCURACY, LabelState(value="2", parts={"included": "true"}, unsure=True)) == (
        "All supported · Inside, unsure"
    )
    assert label_words(QA, LabelState(cannot_judge="needs_look_up")) == "cannot judge, needs look-up"
    assert label_words(QA, LabelState(cannot_judge="of another tool")) == "cannot judge, of another tool"
    assert label_words(QA, LabelState()) == ""
    assert titles(QA, "no label of the set", {}) == "no label of the set"


@given(st.lists(st.sampled_from(["Correct", "Omission", "Hallucination", None]), min_size=1, max_size=7))
def test_what_is_shown_is_the_strict_plurality_or_nothing(labels: list[str | None]) -> None:
    shown = view(QA, *(verdict(label, repetition=n) for n, label in enumerate(labels)))
    counts = {label: labels.count(label) for label in labels if label is not None}
    winners = [label for label, count in counts.items() if count == max(counts.values())]
    assert shown.value == (winners[0] if len(winners) == 1 else None)
