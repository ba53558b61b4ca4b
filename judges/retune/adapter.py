"""The bridge to `gepa.optimize`: what a candidate is worth on a batch, what to reflect on, which items come next.

gepa keeps the population and decides who is mutated; all calls, scores and texts are ours. Nothing is written to disk
by it (no `run_dir`, so no pickle), and a run is repeated by asking the same questions again, which are kept.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from judges.asking import Outcome
from judges.retune.asking import Judging, Reflector
from judges.retune.items import TuneItem
from judges.retune.leakage import leaks
from judges.retune.reflection import (
    Example,
    ProposalError,
    proposal_of,
    reflection_prompt,
    word_count,
    word_limit,
)

Texts = dict[str, str]
"""A candidate: the rubric by language."""
MINIBATCH: Final = 8


@dataclass(frozen=True, slots=True)
class Settings:
    """How a search goes.

    Attributes:
        proposals: how many candidates are asked for. minibatch: train items each is first tried on.
        patience: proposals without a better one on val after which the search ends.
        examples: most worked examples that are tried in the prompt; 0 for none.
    """

    proposals: int = 10
    minibatch: int = MINIBATCH
    patience: int = 6
    examples: int = 4
    seed: int = 0


@dataclass(slots=True)
class Candidate:
    """A prompt that was judged on val.

    Attributes:
        number: 0 for the present prompt. parents: numbers. origin: base, reflection, examples or hand.
        val_score: balanced accuracy. said: what it said of each val item, None for unreadable.
        tokens: mean tokens of a verdict, None where the server does not count.
    """

    number: int
    texts: Texts
    parents: tuple[int, ...]
    origin: str
    val_score: float
    said: dict[str, str | None] = field(default_factory=dict)
    tokens: float | None = None


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """The best on val; of equals the shorter, then the earlier."""
    return min(
        candidates, key=lambda one: (-round(one.val_score, 9), sum(map(word_count, one.texts.values())), one.number)
    )


@dataclass(frozen=True, slots=True)
class Refused:
    """A proposal that was thrown away, and why; `leaked` are the items it quotes."""

    why: str
    leaked: tuple[str, ...] = ()


def balance_weights(items: Sequence[TuneItem]) -> dict[str, float]:
    """Weight of an item by its label, so that the mean of weight × right is the balanced accuracy."""
    counts = Counter(item.label for item in items)
    return {label: len(items) / (len(counts) * count) for label, count in counts.items()}


def balanced(items: Sequence[TuneItem], outcomes: Sequence[Outcome]) -> float:
    """Mean over the labels of the share judged right; unreadable is not right."""
    weights = balance_weights(items)
    right = [weights[i.label] * (o.reading.label == i.label) for i, o in zip(items, outcomes, strict=True)]
    return math.fsum(right) / len(items)


class RubricAdapter:
    """gepa's adapter: batches of `TuneItem`, candidates of `Texts`."""

    propose_new_texts = None

    def __init__(self, judging: Judging, val: Sequence[TuneItem], told: Callable[[], None] = lambda: None) -> None:
        self._judging, self._told = judging, told
        self._weights = balance_weights(val)
        self.outcomes: dict[tuple[tuple[str, str], ...], list[Outcome]] = {}

    def evaluate(self, batch: Sequence[TuneItem], candidate: Texts, capture_traces: bool = False) -> Any:
        """Score a candidate: on train each right verdict counts 1 (batches are balanced), on val by its label's weight,
        so that the mean gepa takes is the balanced accuracy. A failure counts 0."""
        from gepa.core.adapter import EvaluationBatch

        outcomes = self._judging.judge(candidate, batch)
        scores = [
            float(outcome.reading.label == item.label) * (self._weights[item.label] if item.part == "val" else 1.0)
            for item, outcome in zip(batch, outcomes, strict=True)
        ]
        if batch and batch[0].part == "val":
            self.outcomes[tuple(sorted(candidate.items()))] = outcomes
        traces = [Example(item, outcome.reading) for item, outcome in zip(batch, outcomes, strict=True)]
        self._told()
        return EvaluationBatch(
            outputs=[outcome.reading.label for outcome in outcomes],
            scores=scores,
            trajectories=traces if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: Texts,  # noqa: ARG002
        eval_batch: Any,
        components_to_update: Sequence[str],
    ) -> dict[str, list[dict[str, Any]]]:
        """The batch's items with what was said of them; mistakes first, so that they are read first."""
        wrong = [one for one in eval_batch.trajectories if one.reading.label != one.item.label]
        right = [one for one in eval_batch.trajectories if one.reading.label == one.item.label]
        return {name: [{"example": one} for one in [*wrong, *right]] for name in components_to_update}


class BalancedSampler:
    """Minibatches with as many items of each label as can be; every label's items in turn, shuffled by the seed."""

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._random = size, random.Random(seed)
        self._queues: dict[str, list[int]] = {}
        self._turn = 0

    def next_minibatch_ids(self, loader: Any, state: Any) -> list[int]:  # noqa: ARG002
        """Indexes of train items."""
        ids = list(loader.all_ids())
        by_label: dict[str, list[int]] = {}
        for number, item in zip(ids, loader.fetch(ids), strict=True):
            by_label.setdefault(item.label, []).append(number)
        labels = sorted(by_label)
        chosen: list[int] = []
        while len(chosen) < min(self._size, len(ids)):
            label = labels[self._turn % len(labels)]
            self._turn += 1
            if (number := self._next(label, by_label[label], chosen)) is not None:
                chosen.append(number)
        return chosen

    def _next(self, label: str, members: list[int], chosen: list[int]) -> int | None:
        """The next item of a label that is not in the batch yet; None when all of them are."""
        if set(members) <= set(chosen):
            return None
        while True:
            queue = self._queues.setdefault(label, [])
            if not queue:
                queue.extend(members)
                self._random.shuffle(queue)
            number = queue.pop()
            if number not in chosen:
                return number


class Proposer:
    """Turns reflections into rubrics: asks, reads, and throws away what quotes items or is too long.

    Attributes:
        refused: what was thrown away. fault: what ended the search (gepa swallows it in a proposal).
    """

    def __init__(self, judging: Judging, reflector: Reflector, quotable: Mapping[str, Sequence[str]]) -> None:
        """`quotable` are the texts of train and val items, which no rubric may quote."""
        self._judging, self._reflector, self._quotable = judging, reflector, quotable
        self._base = dict(judging.prompt.texts)
        self.asked = 0
        self.refused: list[Refused] = []
        self.fault: BaseException | None = None

    def __call__(
        self,
        candidate: Texts,
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: Sequence[str],
    ) -> Texts:
        """New texts of these components; a component without a usable proposal keeps its text."""
        try:
            return {name: self._propose(candidate, name, reflective_dataset[name]) for name in components_to_update}
        except BaseException as fault:
            self.fault = fault
            raise

    def _propose(self, candidate: Texts, language: str, dataset: Sequence[Mapping[str, Any]]) -> str:
        examples = [one["example"] for one in dataset]
        limit = word_limit(self._base[language])
        prompt = self._judging.with_texts(candidate)
        text = reflection_prompt(prompt, language, candidate[language], examples, limit)
        self.asked += 1
        answer = self._reflector.ask(text, self.asked)
        try:
            found = proposal_of(answer, limit)
        except ProposalError as error:
            self.refused.append(Refused(str(error)))
            return candidate[language]
        if quoted := leaks(found, self._quotable, self._base[language]):
            items = tuple(leak.item_id for leak in quoted)
            self.refused.append(Refused("it quotes items it was tuned on", items))
            return candidate[language]
        return found


class _Silent:
    """gepa prints unless it is given something else."""

    def log(self, message: str) -> None:
        """Say nothing: messages hold item text."""


class _Watcher:
    """Notes every candidate that reaches val, as soon as it does."""

    def __init__(self, adapter: RubricAdapter, val: Sequence[TuneItem], noted: Callable[[Candidate], None]) -> None:
        self._adapter, self._val, self._noted = adapter, val, noted
        self.best = -math.inf
        self.best_iteration = 0

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """gepa has scored a candidate on val."""
        texts = dict(event["candidate"])
        outcomes = self._adapter.outcomes[tuple(sorted(texts.items()))]
        number, score = int(event["candidate_idx"]), balanced(self._val, outcomes)
        if score > self.best + 1e-12:
            self.best, self.best_iteration = score, int(event["iteration"])
        origin = "base" if number == 0 else "reflection"
        parents = tuple(int(parent) for parent in event["parent_ids"] or () if parent is not None)
        self._noted(candidate_of(number, texts, parents, origin, self._val, outcomes))


def candidate_of(
    number: int,
    texts: Texts,
    parents: tuple[int, ...],
    origin: str,
    val: Sequence[TuneItem],
    outcomes: Sequence[Outcome],
) -> Candidate:
    """A candidate with what it said of val."""
    said = {item.item_id: outcome.reading.label for item, outcome in zip(val, outcomes, strict=True)}
    return Candidate(number, texts, parents, origin, balanced(val, outcomes), said, mean_tokens(outcomes))


def mean_tokens(outcomes: Sequence[Outcome]) -> float | None:
    """Tokens of a verdict, in and out, on average; None where the server does not count."""
    counts = [(o.tokens_in or 0) + (o.tokens_out or 0) for o in outcomes if o.tokens_in is not None]
    return sum(counts) / len(counts) if counts else None


def search(
    judging: Judging,
    reflector: Reflector,
    train: Sequence[TuneItem],
    val: Sequence[TuneItem],
    settings: Settings,
    noted: Callable[[Candidate], None],
    languages: Sequence[str] = (),
    begun: Callable[[Proposer], None] = lambda _: None,
) -> Proposer:
    """Search for better rubrics; candidates go to `noted` as they reach val, the present one first.

    Args:
        begun: gets, before the first call, what counts proposals.

    Raises:
        OverreadError: a cap was reached, or a server cannot be used; what was answered is kept.
    """
    from gepa.api import optimize

    base = dict(judging.prompt.texts)
    adapter = RubricAdapter(judging, val)
    proposer = Proposer(judging, reflector, {one.item_id: one.words() for one in [*train, *val]})
    begun(proposer)
    watcher = _Watcher(adapter, val, noted)
    chosen = list(languages) or list(base)

    def enough(state: Any) -> bool:
        done = int(state.i) + 1
        late = done - max(watcher.best_iteration, 0) >= settings.patience
        return proposer.fault is not None or done >= settings.proposals or late

    def language(state: Any, *_: Any) -> list[str]:
        return [chosen[(int(state.i) + 1) % len(chosen)]]

    run: Any = optimize  # its protocols are those of a package without a stable typing
    run(
        seed_candidate=base,
        trainset=list(train),
        valset=list(val),
        adapter=adapter,
        custom_candidate_proposer=proposer,
        batch_sampler=BalancedSampler(settings.minibatch, settings.seed),
        module_selector=language,
        stop_callbacks=[enough],
        logger=_Silent(),
        callbacks=[watcher],
        seed=settings.seed,
        run_dir=None,
        raise_on_exception=True,
    )
    if proposer.fault is not None:
        raise proposer.fault
    return proposer
