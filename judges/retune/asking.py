"""Judging items with one candidate after another, and asking the reflecting model: every answer is kept and never paid
for twice.

What is kept is the model's own words; they are read anew each time. A failure on the way (timeout, server down) is not
kept: the next run asks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from judges.asking import SCHEMA_BYTES, Backend, Outcome, answer_from, answer_key, ask_paid, outcome_of
from judges.backends.answer import Answer, ModelSettings, Question
from judges.backends.prices import Budget, unsure_words
from judges.menu import schema_of
from judges.retune.halt import Halt
from judges.retune.items import TuneItem
from judges.rubric import JudgePrompt, Prompt
from judges.verdict_reader import SERVER_ERROR, TIMEOUT, Reading
from store.answers import KeptAnswer, keep_answers, kept_answers
from store.errors import OverreadError
from store.judging import same_inputs
from store.records import canonical_json, digest
from store.study import Study, now

ON_THE_WAY = (TIMEOUT, SERVER_ERROR)


class CapReachedError(OverreadError):
    """The next call could pass the cap; what was answered is kept, and the same command goes on with a higher cap."""


class _SharedBudget(Budget):
    """A budget whose cap holds for what others spend too."""

    others: tuple[_SharedBudget, ...] = ()

    def reserve(self, amount: float) -> bool:
        """Set money aside; False when all together could pass the cap."""
        theirs = sum(other.gone for other in self.others)
        if self.cap is not None and self.gone + theirs + amount > self.cap:
            return False
        self._reserved += amount
        return True


def one_purse(first: Budget, second: Budget) -> tuple[Budget, Budget]:
    """Two budgets, of two models, under one cap."""
    one, other = (_SharedBudget(budget.price, budget.cap, budget.share) for budget in (first, second))
    one.others, other.others = (other,), (one,)
    return one, other


@dataclass(slots=True)
class Tally:
    """What a search has used: verdicts asked for, those that were there already, reflections, failures on the way."""

    asked: int = 0
    kept: int = 0
    reflections: int = 0
    failures: int = 0


class _Call(NamedTuple):
    key: str
    prompt: Prompt
    most: float


class Judging:
    """Judges items of one task with any rubric. Blocks until all are judged; calls run side by side."""

    def __init__(
        self,
        study: Study,
        prompt: JudgePrompt,
        settings: ModelSettings,
        backend: Backend,
        budget: Budget,
        runner: asyncio.Runner,
        *,
        concurrency: int = 8,
        identity: Mapping[str, Any] | None = None,
        told: Callable[[], None] = lambda: None,
        halt: Halt | None = None,
    ) -> None:
        """`prompt` is the task's present one; candidates differ from it in the rubric alone. `identity` is what else
        makes the judge what it is (`JudgeOptions.identity`)."""
        self.study, self.prompt, self.settings, self.budget = study, prompt, settings, budget
        self.tally, self.halt = Tally(), halt or Halt()
        self._parameters = {**settings.as_json(), **(identity or {})}
        self._backend, self._runner, self._concurrency, self._told = backend, runner, concurrency, told

    def with_texts(self, texts: Mapping[str, str]) -> JudgePrompt:
        """The prompt with another rubric."""
        return replace(self.prompt, texts=dict(texts))

    def judge(self, texts: Mapping[str, str], items: Sequence[TuneItem]) -> list[Outcome]:
        """What the judge says of each item under this rubric.

        Raises:
            CapReachedError: the next call could pass the cap. ServerUnusableError: the server cannot be used.
            SearchStoppedError: somebody stopped the search.
        """
        self.halt.check()
        prompt = self.with_texts(texts)
        calls = [self._call(prompt, one) for one in items]
        known = self._known(calls)
        self.tally.kept += sum(call.key in known for call in calls)
        missing = {call.key: call for call in calls if call.key not in known}
        if missing:
            known |= self.halt.run(self._runner, self._ask_all(list(missing.values())))
        return [known[call.key] for call in calls]

    def _call(self, prompt: JudgePrompt, item: TuneItem) -> _Call:
        asked = prompt.of(item.item.payload, item.texts, item.item.slices)
        size = sum(len(message["content"].encode("utf-8", "replace")) for message in asked.messages)
        most = self.budget.most(size + SCHEMA_BYTES, self.settings.max_tokens)
        key = answer_key(self.settings.model, self._parameters, asked.hash, self.settings.seed)
        return _Call(key, asked, most)

    def _known(self, calls: Sequence[_Call]) -> dict[str, Outcome]:
        """Answers kept from earlier searches, and verdicts that this very judge gave on the same prompts."""
        kept = kept_answers(self.study, {call.key for call in calls})
        found = {
            call.key: outcome_of(answer_from(kept[call.key].answer), call.prompt, kept[call.key].cost)
            for call in calls
            if call.key in kept
        }
        missing = {call.prompt.hash: call.key for call in calls if call.key not in found}
        ids = [row[0] for row in self.study.rows(
            "SELECT judge_id, model, parameters FROM judges WHERE task = ? AND model = ? AND parameters = ?",
            [self.prompt.task.task, self.settings.model, canonical_json(self._parameters)],
        )]  # fmt: skip
        if missing and ids:
            for (prompt_hash, repetition), verdict in same_inputs(self.study, missing, ids).items():
                if repetition == 0 and verdict.label is not None:
                    reading = Reading(verdict.label, verdict.parts, rationale=verdict.rationale)
                    found[missing[prompt_hash]] = Outcome(
                        reading, raw=verdict.raw, tokens_in=verdict.tokens_in, tokens_out=verdict.tokens_out,
                        cost=verdict.cost, confidence=verdict.confidence, confidence_source=verdict.confidence_source,
                    )  # fmt: skip
        return found

    async def _ask_all(self, calls: Sequence[_Call]) -> dict[str, Outcome]:
        found: dict[str, Outcome] = {}
        waiting: list[tuple[str, KeptAnswer]] = []
        faults: list[Exception] = []
        places, keeping = asyncio.Semaphore(self._concurrency), asyncio.Lock()

        async def keep() -> None:
            """All that waits in one transaction; what is answered meanwhile goes into the next."""
            async with keeping:
                ready = list(waiting)
                waiting.clear()
                await asyncio.to_thread(self._keep, ready)

        async def one(call: _Call) -> None:
            async with places:
                if faults:
                    return
                self.halt.check()
                if not self.budget.reserve(call.most):
                    raise at_cap(self.budget)
                question = Question(call.prompt.messages, schema_of(call.prompt.menu), self.settings.seed)
                answer, cost = await ask_paid(self._backend, question, self.budget, call.most)
                found[call.key] = outcome_of(answer, call.prompt, cost)
                self.tally.asked += 1
                if answer.failure in ON_THE_WAY:
                    self.tally.failures += 1
                else:
                    waiting.append((call.key, KeptAnswer(answer_json(answer), cost)))
                self._told()
                await keep()

        async def safely(call: _Call) -> None:
            """What is on its way when another call fails is waited for: it is paid for, and kept."""
            try:
                await one(call)
            except Exception as fault:
                faults.append(fault)

        try:
            await asyncio.gather(*(safely(call) for call in calls))
        finally:
            self._keep(waiting)
        if faults:
            raise faults[0]
        return found

    def _keep(self, answers: Sequence[tuple[str, KeptAnswer]]) -> None:
        if answers:
            keep_answers(self.study, "verdict", self.prompt.task.task, answers, now().isoformat())


class Reflector:
    """Asks the reflecting model for new instructions."""

    def __init__(
        self,
        study: Study,
        task: str,
        settings: ModelSettings,
        backend: Backend,
        budget: Budget,
        runner: asyncio.Runner,
        identity: Mapping[str, Any] | None = None,
        *,
        tally: Tally,
        halt: Halt,
    ) -> None:
        """`tally` and `halt` are those of the whole search."""
        self.study, self.task, self.settings, self.budget = study, task, settings, budget
        self._backend, self._runner, self._tally, self._halt = backend, runner, tally, halt
        self._parameters = {**settings.as_json(), **(identity or {})}

    def ask(self, text: str, number: int) -> Answer:
        """What the model answered, or why it did not; `number` tells two like questions of one search apart.

        Raises:
            CapReachedError, ServerUnusableError, SearchStoppedError
        """
        self._halt.check()
        messages = [{"role": "user", "content": text}]
        seed = None if self.settings.seed is None else self.settings.seed + number
        key = answer_key(self.settings.model, self._parameters, digest("prompt", messages), seed)
        if (kept := kept_answers(self.study, [key]).get(key)) is not None:
            return answer_from(kept.answer)
        self._tally.reflections += 1
        answer, cost = self._halt.run(self._runner, self._ask(messages, seed))
        if answer.failure not in ON_THE_WAY:
            keep_answers(self.study, "reflection", self.task, [(key, KeptAnswer(answer_json(answer), cost))], _time())
        return answer

    async def _ask(self, messages: Sequence[Mapping[str, str]], seed: int | None) -> tuple[Answer, float | None]:
        size = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
        most = self.budget.most(size + SCHEMA_BYTES, self.settings.max_tokens)
        if not self.budget.reserve(most):
            raise at_cap(self.budget)
        return await ask_paid(self._backend, Question(messages, {}, seed), self.budget, most)


def _time() -> str:
    return now().isoformat()


def at_cap(budget: Budget) -> CapReachedError:
    """The refusal to make a call that could pass the cap."""
    return CapReachedError(
        f"The next call could pass the cap of ${budget.cap or 0:,.2f}.",
        f"${budget.spent:,.2f} were spent now{unsure_words(budget.unsure)}. Every answer is kept.",
        "The same command with a higher --max-cost goes on where it stopped.",
    )


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as JSON members; token probabilities are left out, the label's own is in the verdict."""
    return {name: value for name, value in asdict(answer).items() if name != "logprobs" and value not in (None, "")}
