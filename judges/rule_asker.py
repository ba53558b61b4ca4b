"""Rules and embeddings as ways of judging: what a run asks of them is answered without a chat model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from judges.asking import Outcome, Prepared
from judges.backends.answer import Answer
from judges.backends.prices import Budget
from judges.backends.rules import ROUTE, Rule, RuleInput, RuleVerdict
from judges.menu import NoMenuError
from judges.verdict_reader import Reading
from store.items import StoredItem
from store.records import JudgeRecord, digest


def outcome_of_rule(found: RuleVerdict, route: str) -> Outcome:
    """A rule's verdict as an outcome of asking."""
    reading = Reading(found.label, found.parts, found.failure, found.why if found.failure else "", found.why)
    return Outcome(reading, route=route, score=found.score)


class RuleAsker:
    """A rule; every verdict is given without a call."""

    requests = 0
    text_fields: frozenset[str] = frozenset()

    def __init__(self, task: str, rule: Rule, name: str = "") -> None:
        self.rule, self.budget = rule, Budget(None)
        parameters = {"rule": rule.name, "version": rule.version, **rule.parameters}
        self.judge = JudgeRecord(task, name or f"rule {rule.name}", parameters=parameters)

    def prepare(self, item: StoredItem, texts: Mapping[str, str]) -> Prepared:  # noqa: ARG002
        found = self.rule.judge(RuleInput(item.task, item.payload, item.extra))
        return Prepared("", None, given=outcome_of_rule(found, ROUTE))

    async def ask(self, prepared: Prepared, repetition: int) -> Outcome:
        raise NotImplementedError("a rule is never asked")

    async def close(self) -> None:
        """Nothing is open."""


@runtime_checkable
class EmbeddedBenchmark(Protocol):
    """A benchmark that an embedding can judge."""

    embedded_tasks: Sequence[str]

    def embedding_texts(self, item: StoredItem) -> Sequence[str]:
        """The texts to embed for an item, as they are sent."""
        ...

    def embedding_verdict(
        self, item: StoredItem, vectors: Sequence[Sequence[float] | None], facts: Mapping[str, Mapping[str, Any]]
    ) -> RuleVerdict:
        """The verdict from the vectors of `embedding_texts`; `facts` are those of all systems that hold for all."""
        ...


class Embedder(Protocol):
    """Texts to vectors: `backends.embedding.EmbeddingBackend`."""

    requests: int

    async def embed(self, texts: Sequence[str]) -> Any:
        """See `EmbeddingBackend.embed`."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class EmbeddingAsker:
    """An embedding model that a benchmark turns into a judge."""

    text_fields: frozenset[str] = frozenset()

    def __init__(
        self, benchmark: EmbeddedBenchmark, backend: Embedder | None, budget: Budget, judge: JudgeRecord,
        facts: Mapping[str, Mapping[str, Any]],
    ) -> None:  # fmt: skip
        self.benchmark, self.budget, self.judge = benchmark, budget, judge
        self._backend, self._facts = backend, facts

    @property
    def requests(self) -> int:
        return self._backend.requests if self._backend else 0

    def prepare(self, item: StoredItem, texts: Mapping[str, str]) -> Prepared:  # noqa: ARG002
        wanted = self.benchmark.embedding_texts(item)
        if not wanted:
            raise NoMenuError("there is no text to embed")
        size = sum(len(text.encode("utf-8", "replace")) for text in wanted)
        return Prepared(digest("embedding", list(wanted), dict(item.slices)), item, self.budget.most(size, 0))

    async def ask(self, prepared: Prepared, repetition: int) -> Outcome:  # noqa: ARG002
        assert self._backend is not None
        item: StoredItem = prepared.content
        embedded = await self._backend.embed(self.benchmark.embedding_texts(item))
        cost = self.budget.settle(prepared.most, embedded.tokens, 0)
        found = outcome_of_rule(self.benchmark.embedding_verdict(item, embedded.vectors, self._facts), "judged")
        if not (embedded.model or embedded.tokens):  # all was known: nobody answered, so nobody is another server
            return found
        return replace(found, answer=Answer(model=embedded.model), tokens_in=embedded.tokens, cost=cost, attempts=1)

    async def close(self) -> None:
        if self._backend is not None:
            await self._backend.close()
