"""What the reflecting model is asked and what may become of its answer; scores, batches and worked examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from retune_studies import AT, TASK

from judges.asking import Outcome
from judges.backends.answer import Answer
from judges.collect import task_definitions
from judges.retune.adapter import BalancedSampler, balance_weights, balanced
from judges.retune.examples import covering, with_examples
from judges.retune.items import TuneItem, tune_items
from judges.retune.promotion import balanced_accuracy
from judges.retune.reflection import Example, ProposalError, feedback, proposal_of, reflection_prompt
from judges.retune.splits import ensure_split
from judges.rubric import JudgePrompt
from judges.setup import judge_prompt
from judges.verdict_reader import Reading
from store.study import Study


@pytest.fixture
def prompt(table: Study) -> JudgePrompt:
    return judge_prompt(table, task_definitions(table)[TASK])


@pytest.fixture
def train(table: Study, prompt: JudgePrompt) -> list[TuneItem]:
    _, places = ensure_split(table, TASK, at=AT)
    return tune_items(table, places, "train", prompt.task.values)


def noted(item: TuneItem, note: str = "", tags: tuple[str, ...] = ()) -> TuneItem:
    return TuneItem(item.item, item.texts, item.part, item.group, item.label, note, tags)


def test_the_question_gives_the_direction_of_the_error_and_peoples_words(
    prompt: JudgePrompt, train: list[TuneItem]
) -> None:
    wrong = next(item for item in train if item.label == "contradicted")
    item = noted(wrong, "the dose is another one", ("wrong_number",))
    text = reflection_prompt(prompt, "en", "RULES", [Example(item, Reading("supported", rationale="same drug"))], 500)
    assert "WRONG. The judge said supported" in text and "People say contradicted" in text
    assert "let pass what is not right" in text and "the dose is another one" in text and "wrong_number" in text
    assert "same drug" in text and "At most 500 words" in text and "Do not quote" in text and "RULES" in text
    assert str(item.item.payload["response"]) in text
    # The label that says "right" may stand anywhere; on a scale the error is told in steps.
    turned = replace(prompt.task, labels=prompt.task.labels[::-1])
    wrong = Example(replace(item, label="contradicted"), Reading("supported"))
    assert feedback(turned, wrong) == feedback(prompt.task, wrong)
    assert "by 1 step towards supported" in feedback(replace(prompt.task, level="ordinal"), wrong)
    missing = feedback(prompt.task, Example(item, Reading(None, failure="malformed")))
    assert "no verdict that can be read (malformed)" in missing


def test_an_answer_is_instructions_or_is_thrown_away() -> None:
    assert proposal_of(Answer("<think>```\nno\n```</think>Sure.\n```markdown\nCompare.\n```\n"), 50) == "Compare."
    assert proposal_of(Answer("# Rules\n- Compare."), 50) == "# Rules\n- Compare.", "without backticks: all of it"
    for answer, why in (
        (None, "holds no instructions"), ("I cannot do that.", "holds no instructions"),
        ("Here:\n```\nCompare the", "holds no instructions"),
        ("```\n\n```", "holds no|empty"),
        ("```\n" + "word " * 60 + "\n```", "60 words; 50"), ('```\nAnswer {"verdict": 1}\n```', "form of the answer"),
        ("```\n<<<ITEM\n```", "form of the answer"),
        # What a model may answer is as long as it likes; reading it takes one pass.
        ("```a\n" * 400_000, "holds no instructions"), ("```\na" + "\n" * 1_000_000 + "b\n```", "1,000,002 characters"),
    ):  # fmt: skip
        with pytest.raises(ProposalError, match=why):
            proposal_of(Answer(answer), 50)
    with pytest.raises(ProposalError, match="cut off"):
        proposal_of(Answer("# Rules\n- Compare.\n- Comp", finish_reason="length"), 50)
    with pytest.raises(ProposalError, match=r"too_long\): 9000 tokens do not fit"):
        proposal_of(Answer(failure="too_long", why="9000 tokens do not fit"), 50)


def test_the_mean_of_the_weighted_scores_is_the_balanced_accuracy(train: list[TuneItem]) -> None:
    labels = sorted({item.label for item in train})
    said = [labels[number % 3] for number in range(len(train))]
    outcomes = [Outcome(Reading(label)) for label in said]
    codes = {label: code for code, label in enumerate(labels)}
    import numpy as np

    people = np.array([codes[item.label] for item in train])
    assert balanced(train, outcomes) == pytest.approx(
        balanced_accuracy(people, np.array([codes[label] for label in said]), 3)
    )
    assert balanced(train, [Outcome(Reading(None, failure="malformed"))] * len(train)) == 0
    always = [Outcome(Reading("supported"))] * len(train)
    assert balanced(train, always) == pytest.approx(1 / 3), "one label for all is worth what chance is"
    assert sum(balance_weights(train)[item.label] for item in train) == pytest.approx(len(train))


def test_batches_hold_each_label_alike_and_go_through_all_items(train: list[TuneItem]) -> None:
    loader = SimpleNamespace(all_ids=lambda: list(range(len(train))), fetch=lambda ids: [train[i] for i in ids])
    sampler, again = BalancedSampler(9, 4), BalancedSampler(9, 4)
    seen: Counter[int] = Counter()
    for _ in range(40):
        batch = sampler.next_minibatch_ids(loader, None)
        assert batch == again.next_minibatch_ids(loader, None) and len(set(batch)) == 9
        assert set(Counter(train[i].label for i in batch).values()) == {3}
        seen.update(batch)
    assert set(seen) == set(range(len(train)))


def test_worked_examples_cover_the_kinds_of_mistakes(prompt: JudgePrompt, train: list[TuneItem]) -> None:
    wrong = {"contradicted": "supported", "supported": "not_stated", "not_stated": "contradicted"}
    examples = [Example(item, Reading(wrong[item.label])) for item in train]
    chosen = covering(examples, prompt, "en", 4)
    assert len(chosen) == 4 and len({one.item.label for one in chosen}) == 3
    text = with_examples("RULES", chosen, prompt, "en")
    assert text.startswith("RULES\n\n# Worked examples") and text.count("→ ") == 4
    assert "<<<" not in text and covering([], prompt, "en") == [] and with_examples("R", [], prompt, "en") == "R"
    right = [Example(item, Reading(item.label)) for item in train]
    assert covering(right, prompt, "en") == []
