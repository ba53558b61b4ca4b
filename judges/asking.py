"""From an item to a verdict: what is asked, by whom, and what came of it. One class a way of judging.

A run knows nothing of servers: it prepares an item, asks, and stores the outcome.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from judges.backends.answer import Answer, ModelSettings, Question
from judges.backends.prices import Budget, Claim
from judges.menu import schema_of
from judges.rubric import JudgePrompt, Prompt
from judges.verdict_reader import Reading, read_answer
from store.answers import kept_answers
from store.items import StoredItem
from store.records import JudgeRecord, digest

if TYPE_CHECKING:
    from store.study import Study

LOGPROB, SELF_CONSISTENCY = "logprob", "self_consistency"
"""Where a confidence comes from: the probability of the label's tokens; the share of samples that gave the label."""

SAMPLE_TEMPERATURE = 0.7


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of asking about an item once.

    Attributes:
        answer: of the call, of the first sample that gave the label where there were several; None without a call.
        raw: the judge's words as they came.
        cost: dollars; None where it is not known, or there was no call.
        samples: labels of all samples.
    """

    reading: Reading
    answer: Answer | None = None
    raw: str = ""
    route: str = "judged"
    score: float | None = None
    confidence: float | None = None
    confidence_source: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    attempts: int = 0
    samples: tuple[str | None, ...] = ()


class Prepared(NamedTuple):
    """An item ready to be asked about.

    Attributes:
        hash: the same for two items that the judge cannot tell apart. most: dollars that asking can cost at most.
        given: the verdict, where none has to be asked for.
    """

    hash: str
    content: Any
    most: float = 0.0
    signs: tuple[str, ...] = ()
    language: str = ""
    given: Outcome | None = None


class Asker(Protocol):
    """A way of judging one task."""

    judge: JudgeRecord
    budget: Budget

    @property
    def text_fields(self) -> frozenset[str]:
        """The long texts that `prepare` needs."""
        ...

    @property
    def requests(self) -> int:
        """Requests sent to a server so far."""
        ...

    def prepare(self, item: StoredItem, texts: Mapping[str, str]) -> Prepared:
        """What is to be asked.

        Raises:
            NoMenuError: the item cannot be judged.
        """
        ...

    async def ask(self, prepared: Prepared, repetition: int) -> Outcome:
        """Ask, and read the answer.

        Raises:
            ServerUnusableError: the server cannot be used.
        """
        ...

    async def close(self) -> None:
        """Let go of what is open."""
        ...


@runtime_checkable
class Recalling(Protocol):
    """An asker whose questions a search for a better prompt may have asked before."""

    def kept(self, study: Study, asked: Sequence[tuple[Prepared, int]]) -> dict[tuple[str, int], Outcome]:
        """(hash, repetition) → what was answered."""
        ...


class Backend(Protocol):
    """Sends chat calls: `backends.chat.ChatBackend`."""

    @property
    def requests(self) -> int:
        """Requests sent so far, retries included."""
        ...

    async def ask(self, question: Question, pay: Callable[[], bool] = ...) -> Answer:
        """See `ChatBackend.ask`."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class ChatAsker:
    """A chat model with a prompt: one call an item, or several samples that vote.

    Attributes:
        samples: 1, or how many answers vote (k-sample self-consistency, Wang et al. 2023).
    """

    def __init__(
        self, prompt: JudgePrompt, settings: ModelSettings, backend: Backend | None, budget: Budget, *,
        judge: JudgeRecord, samples: int = 1, shortcuts: Any = None,
    ) -> None:  # fmt: skip
        self.prompt, self.settings, self.budget, self.judge = prompt, settings, budget, judge
        self.samples = samples
        self._backend, self._shortcuts = backend, shortcuts

    @property
    def text_fields(self) -> frozenset[str]:
        return self.prompt.text_fields

    @property
    def requests(self) -> int:
        return self._backend.requests if self._backend else 0

    def prepare(self, item: StoredItem, texts: Mapping[str, str]) -> Prepared:
        if self._shortcuts is not None and (given := self._shortcuts(item.task, item.payload, item.slices, texts)):
            label, route = given
            return Prepared("", None, given=Outcome(Reading(label, rationale=""), route=route))
        prompt = self.prompt.of(item.payload, texts, item.slices)
        size = sum(len(message["content"].encode("utf-8", "replace")) for message in prompt.messages)
        most = self.budget.most(size + SCHEMA_BYTES, self.settings.max_tokens) * self.samples
        return Prepared(prompt.hash, prompt, most, prompt.signs, prompt.language)

    def question(self, prompt: Prompt, repetition: int, sample: int = 0) -> Question:
        """The call for one repetition (and sample): each has a seed of its own."""
        seed = None if self.settings.seed is None else self.settings.seed + repetition * self.samples + sample
        warm = self.samples > 1 and self.settings.temperature == 0
        return Question(prompt.messages, schema_of(prompt.menu), seed, SAMPLE_TEMPERATURE if warm else None)

    def kept(self, study: Study, asked: Sequence[tuple[Prepared, int]]) -> dict[tuple[str, int], Outcome]:
        """Read anew from the words that a search kept; a vote of several samples is none of a search's questions."""
        if self.samples > 1:
            return {}
        keys = {}
        for prepared, repetition in asked:
            seed = self.question(prepared.content, repetition).seed
            keys[answer_key(self.judge.model, self.judge.parameters, prepared.hash, seed)] = (prepared, repetition)
        found = {}
        for key, known in kept_answers(study, keys).items():
            prepared, repetition = keys[key]
            outcome = outcome_of(answer_from(known.answer), prepared.content, known.cost)
            if outcome.reading.label is not None:
                found[prepared.hash, repetition] = outcome
        return found

    async def ask(self, prepared: Prepared, repetition: int) -> Outcome:
        assert self._backend is not None
        prompt: Prompt = prepared.content
        questions = [self.question(prompt, repetition, sample) for sample in range(self.samples)]
        most = prepared.most / self.samples
        outcomes = await _all([self._one(self._backend, question, prompt, most) for question in questions])
        return outcomes[0] if self.samples == 1 else vote(outcomes)

    async def _one(self, backend: Backend, question: Question, prompt: Prompt, most: float) -> Outcome:
        answer, cost = await ask_paid(backend, question, self.budget, most)
        return outcome_of(answer, prompt, cost)

    async def close(self) -> None:
        if self._backend is not None:
            await self._backend.close()


def answer_key(model: str, parameters: Mapping[str, Any], prompt_hash: str, seed: int | None) -> str:
    """What makes two questions the same, for a run and for a search: model, all parameters, prompt and seed."""
    return digest("answer", model, dict(parameters), prompt_hash, seed)


def answer_from(members: Mapping[str, Any]) -> Answer:
    """An answer from its JSON members as they are kept; those that this version does not know are left out."""
    known = {one.name for one in fields(Answer)} - {"logprobs"}
    return Answer(**{name: value for name, value in members.items() if name in known})


SCHEMA_BYTES = 2048
"""What a server may add to a prompt of its own: chat marks and the schema."""


async def _all(calls: Sequence[Coroutine[Any, Any, Outcome]]) -> list[Outcome]:
    return [await calls[0]] if len(calls) == 1 else list(await asyncio.gather(*calls))


async def ask_paid(backend: Backend, question: Question, budget: Budget, most: float) -> tuple[Answer, float | None]:
    """The answer to a question and what it cost, None where that is not known; `most` is reserved for it already.

    Raises:
        ServerUnusableError: the server cannot be used.
    """
    claim = Claim(budget, most)
    try:
        answer = await backend.ask(question, claim.pay)
    except asyncio.CancelledError:
        claim.give_up()
        raise
    return answer, claim.settle(answer)


def outcome_of(answer: Answer, prompt: Prompt, cost: float | None) -> Outcome:
    """The verdict in one answer, and how probable its label's tokens were."""
    if answer.failure:
        reading = Reading(None, failure=answer.failure, why=answer.why)
    else:
        reading = read_answer(answer.text, prompt.menu, finish_reason=answer.finish_reason, refusal=answer.refusal)
    sure = label_probability(answer, reading.span) if reading.label is not None else None
    return Outcome(
        reading, answer, answer.text or answer.refusal, confidence=sure,
        confidence_source=LOGPROB if sure is not None else "", tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out, cost=cost, attempts=answer.attempts,
    )  # fmt: skip


def label_probability(answer: Answer, span: tuple[int, int] | None) -> float | None:
    """exp of the summed log probabilities of the tokens that spell the label; None where they cannot be told.

    Tokens that only touch the label (`"Cor` with its quotation mark) count whole, since their probability is one.
    """
    if not answer.logprobs or span is None or answer.text is None:
        return None
    start = "".join(token for token, _ in answer.logprobs).find(answer.text)
    if start < 0:
        return None
    total, position = 0.0, -start  # some servers list an end mark, or blanks that they then cut off
    for token, logprob in answer.logprobs:
        end = position + len(token)
        if position < span[1] and end > span[0]:
            total += logprob
        position = end
    return math.exp(min(0.0, total)) if math.isfinite(total) else 0.0


def vote(outcomes: Sequence[Outcome]) -> Outcome:
    """Self-consistency: the label of most samples, with the share of all samples that gave it as confidence.

    Of labels given equally often the one that came first is taken; the share says how little it means. Samples without
    a label vote for none. A part takes the value that most samples of the label gave it.
    """
    labels = [outcome.reading.label for outcome in outcomes]
    counts = Counter(label for label in labels if label is not None)
    costs = [outcome.cost for outcome in outcomes if outcome.cost is not None]
    chosen = counts.most_common(1)[0][0] if counts else None
    first = next(outcome for outcome in outcomes if outcome.reading.label == chosen)
    reading = first.reading
    if chosen is not None:
        agreeing = [outcome.reading for outcome in outcomes if outcome.reading.label == chosen]
        parts = {name: Counter(r.parts[name] for r in agreeing).most_common(1)[0][0] for name in reading.parts}
        reading = replace(reading, parts=parts)
    return replace(
        first, reading=reading, confidence=counts[chosen] / len(outcomes) if chosen is not None else None,
        confidence_source=SELF_CONSISTENCY if chosen is not None else "", samples=tuple(labels),
        cost=sum(costs) if costs else None, attempts=sum(outcome.attempts for outcome in outcomes),
        tokens_in=_sum([outcome.tokens_in for outcome in outcomes]),
        tokens_out=_sum([outcome.tokens_out for outcome in outcomes]),
    )  # fmt: skip


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
