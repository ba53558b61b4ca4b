"""A better prompt for a judge, from people's labels: split, search on train and val, decide once on the sealed test."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from judges.asking import Backend, Outcome
from judges.backends.prices import Budget
from judges.benchmarks.benchmark import TaskDefinition
from judges.retune import study_log
from judges.retune.adapter import (
    Candidate,
    Proposer,
    Refused,
    Settings,
    best_of,
    candidate_of,
    mean_tokens,
    search,
)
from judges.retune.asking import Judging, Reflector, Tally
from judges.retune.examples import covering, with_examples
from judges.retune.halt import Halt
from judges.retune.items import TuneItem, measured_ids, tune_items
from judges.retune.leakage import leaks
from judges.retune.promotion import Paired, Promotion, Prompts, promotion
from judges.retune.reflection import Example, components
from judges.retune.splits import ensure_split, unseal
from store.errors import NotEnoughError
from store.judge_rubrics import add_rubric
from store.judged_rows import Call, Judged
from store.judging import add_judge, write_judged
from store.records import JudgeRecord, VerdictRecord, digest
from store.study import now

if TYPE_CHECKING:
    from judges.rubric import JudgePrompt
    from judges.setup import JudgeOptions
    from store.study import Study

LEAST_OF_A_LABEL: Final = 5
"""Items of each label that val needs, and of two labels that train needs."""
WANTED_OF_A_LABEL: Final = 10
Phase = Literal["search", "examples", "test", "over"]
NOT_SHOWN: Final = "none of the candidates is better on val: the sealed test stays sealed"


@dataclass(frozen=True, slots=True)
class Result:
    """How a search ended.

    Attributes:
        chosen: the candidate that went to the test, None when none was better on val.
        promotion: the decision on the test; None without a test.
        notes: what a reader should know, sentences.
    """

    retune_id: str
    task: str
    candidates: tuple[Candidate, ...]
    chosen: Candidate | None
    promotion: Promotion | None
    refused: tuple[Refused, ...]
    counts: Mapping[str, int]
    tally: Tally
    spent: float | None
    notes: tuple[str, ...] = ()
    judge: str = ""

    @property
    def outcome(self) -> str:
        """better, cheaper, not_better or refused."""
        if self.promotion is not None:
            return self.promotion.outcome
        return "refused" if any(one.leaked for one in self.refused) else "not_better"

    @property
    def promoted(self) -> bool:
        return self.promotion is not None and self.promotion.promoted

    @property
    def words(self) -> str:
        """The decision in a sentence."""
        if self.promotion is not None:
            return {
                "better": "promoted: better on the sealed test",
                "cheaper": "promoted: as good on the sealed test, and cheaper",
                "not_better": "not promoted: not better on the sealed test",
                "refused": "refused: the prompt quotes items",
            }[self.promotion.outcome]
        if self.outcome == "refused":
            return "refused: every better proposal quoted the items it was tuned on"
        return f"not promoted: {NOT_SHOWN}"

    def as_json(self) -> dict[str, Any]:
        return {
            "retune": self.retune_id, "task": self.task, "outcome": self.outcome, "promoted": self.promoted,
            "words": self.words, "judge": self.judge, "items": dict(self.counts),
            "candidates": [
                {"number": one.number, "parents": list(one.parents), "origin": one.origin, "val_score": one.val_score,
                 "texts": one.texts, "tokens": one.tokens}
                for one in self.candidates
            ],
            "chosen": self.chosen.number if self.chosen is not None else None,
            "promotion": self.promotion.as_json() if self.promotion is not None else None,
            "refused": [{"why": one.why, "leaked": list(one.leaked)} for one in self.refused],
            "calls": {"asked": self.tally.asked, "kept": self.tally.kept, "reflections": self.tally.reflections,
                      "failed_on_the_way": self.tally.failures},
            "cost": self.spent, "notes": list(self.notes),
        }  # fmt: skip


@dataclass(slots=True)
class Plan:
    """What a search would need, at most: calls of the judge and of the reflecting model."""

    train: int
    val: int
    test: int
    judge_calls: int
    reflections: int
    judge_tokens: int
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class Retune:
    """One search on one task of an open study. What it has done may be read from another thread while it goes on.

    Attributes:
        candidates: those judged on val so far. phase: what it is at. tally: of its calls.
        proposer: counts proposals; None until there are any.
    """

    def __init__(
        self,
        study: Study,
        task: TaskDefinition,
        prompt: JudgePrompt,
        settings: Settings,
        *,
        seed_of_split: int = 0,
        column: str = "",
        at: str = "",
    ) -> None:
        """`prompt` is the judge's present one.

        Raises:
            NotEnoughError: train or val lack labels; says how many of which.
        """
        self.study, self.task, self.prompt, self.settings = study, task, prompt, settings
        self.at = at or now().isoformat()
        self.split, self.places = ensure_split(study, task.task, seed=seed_of_split, column=column, at=self.at)
        self.train = tune_items(study, self.places, "train", task.values)
        self.val = tune_items(study, self.places, "val", task.values)
        self.test_ids = measured_ids(study, self.places, "test")
        self.notes = [*self._require()]
        self.candidates: list[Candidate] = []
        self.phase: Phase = "search"
        self.tally = Tally()
        self.proposer: Proposer | None = None
        self._budgets: tuple[Budget, ...] = ()

    def _require(self) -> list[str]:
        used = sorted({one.label for one in [*self.train, *self.val]}, key=self.task.values.index)
        counts = {part: Counter(one.label for one in getattr(self, part)) for part in ("train", "val")}
        short = [
            (part, label, LEAST_OF_A_LABEL - counts[part][label])
            for part in ("train", "val")
            for label in used
            if counts[part][label] < LEAST_OF_A_LABEL
        ]
        if len(used) < 2 or short:
            raise self._not_enough(short, used)
        return [
            f"val has {counts['val'][label]} items of {label}; {WANTED_OF_A_LABEL} or more make the choice firmer"
            for label in used
            if counts["val"][label] < WANTED_OF_A_LABEL
        ]

    def _not_enough(self, short: Sequence[tuple[str, str, int]], used: Sequence[str]) -> NotEnoughError:
        if not self.train and not self.val:
            return NotEnoughError(
                "There are no labels to tune on.",
                "Items of the stream estimate are never tuned on: what a prompt was fitted to says nothing of it.",
                f"Draw items to learn from and label them: overread sample --task {self.task.task} --stream learn",
            )
        what = "; ".join(f"{part} has too few items of {label}: {more} more" for part, label, more in short)
        return NotEnoughError(
            f"There are too few labels to tune {self.task.task} on.",
            what or f"People gave one label only: {', '.join(used)}.",
            "Label more items of the stream learn (overread sample --stream learn).",
        )

    def plan(self) -> Plan:
        """The most calls the search can take."""
        from judges.estimate import tokens_of

        own = self.settings
        each = 2 * min(own.minibatch, len(self.train)) + len(self.val)
        extra = len(self.train) + len(self.val) if own.examples else 0
        calls = len(self.val) + own.proposals * each + extra + 2 * len(self.test_ids)
        sizes = [tokens_of(self.prompt.of(i.item.payload, i.texts, i.item.slices).messages) for i in self.val]
        parts = {"train": self.train, "val": self.val}
        labels = {part: dict(Counter(one.label for one in items)) for part, items in parts.items()}
        mean = round(sum(sizes) / max(len(sizes), 1))
        return Plan(len(self.train), len(self.val), len(self.test_ids), calls, own.proposals, calls * mean, labels)

    def retune_id(self, options: JudgeOptions, reflect: JudgeOptions | None, by_hand: Mapping[str, str] | None) -> str:
        """The same for the same search: so it goes on instead of beginning anew."""
        own = self.settings
        labels = [[one.item_id, one.item.content_hash, one.label, one.note] for one in [*self.train, *self.val]]
        return digest(
            "retune", self.task.task, self.split.split_id, self.prompt.version, options.model,
            options.parameters, reflect.parameters if reflect else None,
            reflect.model if reflect else None, own.proposals, own.minibatch, own.patience, own.examples, own.seed,
            dict(by_hand or {}), labels,
        )  # fmt: skip

    def run(
        self,
        options: JudgeOptions,
        backend: Backend,
        budget: Budget,
        runner: asyncio.Runner,
        reflect: tuple[JudgeOptions, Backend, Budget] | None = None,
        *,
        by_hand: Mapping[str, str] | None = None,
        told: Callable[[Retune], None] = lambda _: None,
        halt: Halt | None = None,
    ) -> Result:
        """Search, choose on val, decide on the test, and promote what is better.

        Args:
            reflect: the model that proposes; None for what a person wrote (`by_hand`: the rubric by language).
            told: called whenever something came of it. halt: ends the search from another thread.

        Raises:
            OverreadError: a cap was reached, a server cannot be used or the search was stopped; the same search goes on
                next time.
        """
        identity = self.retune_id(options, reflect[0] if reflect else None, by_hand)
        kept_settings = {
            "model": options.model, "reflect_model": reflect[0].model if reflect else "", "split": self.split.split_id,
            "base": self.prompt.version, "proposals": self.settings.proposals, "minibatch": self.settings.minibatch,
            "patience": self.settings.patience, "examples": self.settings.examples, "seed": self.settings.seed,
        }  # fmt: skip
        study_log.begin(self.study, identity, self.task.task, kept_settings, self.at)
        judging = Judging(
            self.study, self.prompt, options.settings, backend, budget, runner,
            concurrency=options.concurrency, identity=options.identity, told=lambda: told(self), halt=halt,
        )  # fmt: skip
        self.tally, self._budgets = judging.tally, (budget, *(reflect[2:] if reflect else ()))

        def noted(candidate: Candidate) -> None:
            version = judging.with_texts(candidate.texts).version
            study_log.note_candidate(
                self.study,
                identity,
                self.task.task,
                candidate,
                version,
                sum(one.spent for one in self._budgets),
                now().isoformat(),
            )
            self.candidates.append(candidate)
            told(self)

        refused: list[Refused] = []
        if by_hand is not None:
            self._by_hand(judging, by_hand, noted)
        else:
            assert reflect is not None
            refused = self._search(judging, reflect, runner, noted)
        if self.settings.examples and by_hand is None:
            self.phase = "examples"
            self._with_examples(judging, noted)
        self.phase = "test"
        result = self._decide(identity, judging, options, refused)
        self.phase = "over"
        study_log.end(self.study, identity, self.task.task, _without_texts(result.as_json()), now().isoformat())
        return result

    def _search(
        self,
        judging: Judging,
        reflect: tuple[JudgeOptions, Backend, Budget],
        runner: asyncio.Runner,
        noted: Callable[[Candidate], None],
    ) -> list[Refused]:
        options, backend, budget = reflect
        reflector = Reflector(
            self.study, self.task.task, options.settings, backend, budget, runner, options.identity,
            tally=judging.tally, halt=judging.halt,
        )  # fmt: skip
        languages = components(self.prompt.texts, [*self.train, *self.val], self.prompt)

        def begun(proposer: Proposer) -> None:
            self.proposer = proposer

        return search(judging, reflector, self.train, self.val, self.settings, noted, languages, begun).refused

    def _by_hand(self, judging: Judging, texts: Mapping[str, str], noted: Callable[[Candidate], None]) -> None:
        for number, (rubric, origin) in enumerate(((dict(self.prompt.texts), "base"), (dict(texts), "hand"))):
            outcomes = judging.judge(rubric, self.val)
            noted(candidate_of(number, rubric, (0,) if number else (), origin, self.val, outcomes))

    def _with_examples(self, judging: Judging, noted: Callable[[Candidate], None]) -> None:
        """The best candidate again, with worked examples from the items of train that it gets wrong."""
        best = self.best
        outcomes = judging.judge(best.texts, self.train)
        pairs = [Example(item, outcome.reading) for item, outcome in zip(self.train, outcomes, strict=True)]
        texts = {
            language: with_examples(text, covering(pairs, self.prompt, language, self.settings.examples), self.prompt,
                                    language)
            for language, text in best.texts.items()
        }  # fmt: skip
        if texts != best.texts:
            number = len(self.candidates)
            noted(candidate_of(number, texts, (best.number,), "examples", self.val, judging.judge(texts, self.val)))

    @property
    def best(self) -> Candidate:
        """The best on val of those there are."""
        return best_of(self.candidates)

    @property
    def has_begun(self) -> bool:
        """Whether `run` was called."""
        return bool(self._budgets)

    @property
    def spent(self) -> float | None:
        """Dollars for both models so far; None where a price is not known."""
        if not self._budgets or any(budget.price is None for budget in self._budgets):
            return None
        return sum(budget.spent for budget in self._budgets)

    @property
    def cap(self) -> float | None:
        """Of both together."""
        return self._budgets[0].cap if self._budgets else None

    # The decision

    def _decide(self, identity: str, judging: Judging, options: JudgeOptions, refused: list[Refused]) -> Result:
        base, best = self.candidates[0], self.best
        counts = {"train": len(self.train), "val": len(self.val), "test": len(self.test_ids)}
        result = Result(
            identity, self.task.task, tuple(self.candidates), None, None, tuple(refused), counts, judging.tally,
            self.spent, tuple(self.notes),
        )  # fmt: skip
        if best.number == base.number or best.val_score <= base.val_score:
            return result
        leaked = self._leaked(best)
        opened: Sequence[str] = []
        if not leaked:  # a prompt that is refused anyway costs no look at the test
            version = judging.with_texts(best.texts).version
            opened = unseal(
                self.study, self.split, self.test_ids, purpose="hand" if best.origin == "hand" else "retune",
                subject=version, at=now().isoformat(),
            )  # fmt: skip
        test = tune_items(self.study, self.places, "test", self.task.values, opened) if opened else self.val
        before, after = judging.judge(base.texts, test), judging.judge(best.texts, test)
        decided = promotion(
            _paired(self.task, test, before, after),
            Prompts(leaked, base.val_score, best.val_score, mean_tokens(before), mean_tokens(after)),
        )
        judge = self._promote(judging, best, options, test, after) if decided.promoted else ""
        return replace(
            result, chosen=best, promotion=decided, judge=judge, tally=judging.tally,
            counts={**counts, "test": len(test) if opened else 0}, spent=self.spent,
        )  # fmt: skip

    def _leaked(self, candidate: Candidate) -> tuple[str, ...]:
        """Items that the instructions quote. Worked examples quote items of train openly and are no instructions: of a
        candidate with examples what stands before them is looked at."""
        texts = self.candidates[candidate.parents[0]].texts if candidate.origin == "examples" else candidate.texts
        quotable = {one.item_id: one.words() for one in [*self.train, *self.val]}
        found = [
            leak.item_id
            for language, text in texts.items()
            for leak in leaks(text, quotable, self.prompt.texts.get(language, ""))
        ]
        return tuple(dict.fromkeys(found))

    def _promote(
        self, judging: Judging, best: Candidate, options: JudgeOptions, test: Sequence[TuneItem],
        after: Sequence[Outcome],
    ) -> str:  # fmt: skip
        """Make the rubric the task's own, and store what its judge said already; returns the judge's name."""
        from judges.setup import make_askers

        at = now().isoformat()
        add_rubric(self.study, self.task.task, best.texts, "retuned", at)
        record = make_askers(self.study, [self.task], options, None, judging.budget)[0].judge
        add_judge(self.study, record)
        prompt = judging.with_texts(best.texts)
        judged = [
            (item, outcome)
            for items, outcomes in ((test, after), (self.val, judging.judge(best.texts, self.val)))
            for item, outcome in zip(items, outcomes, strict=True)
        ]
        write_judged(self.study, f"retune {at}", [_judged(record, prompt, *one, at) for one in judged]).result()
        return record.name


def _paired(
    task: TaskDefinition, items: Sequence[TuneItem], before: Sequence[Outcome], after: Sequence[Outcome]
) -> Paired:
    codes = {label: code for code, label in enumerate(task.values)}

    def said(outcomes: Sequence[Outcome]) -> np.ndarray:
        return np.array([codes.get(one.reading.label or "", -1) for one in outcomes], dtype=np.int64)

    people = np.array([codes[item.label] for item in items], dtype=np.int64)
    return Paired(task.values, people, said(before), said(after), [item.group for item in items])


def _judged(record: JudgeRecord, prompt: JudgePrompt, item: TuneItem, outcome: Outcome, at: str) -> Judged:
    """A verdict of the search as the study's own."""
    asked = prompt.of(item.item.payload, item.texts, item.item.slices)
    answer, reading = outcome.answer, outcome.reading
    verdict = VerdictRecord(
        item.item_id, item.item.content_hash, record.judge_id, reading.label, reading.parts, reading.failure,
        outcome.raw, position=item.item.position, confidence=outcome.confidence,
        confidence_source=outcome.confidence_source, rationale=reading.rationale,
        model_returned=answer.model if answer else "", tokens_in=outcome.tokens_in, tokens_out=outcome.tokens_out,
        cost=outcome.cost,
    )  # fmt: skip
    call = Call(
        prompt_hash=asked.hash, served_model=answer.model if answer else "",
        fingerprint=answer.fingerprint if answer else "", finish_reason=answer.finish_reason if answer else "",
        language=asked.language, attempts=answer.attempts if answer else 0, why=reading.why, signs=asked.signs,
        remarks=reading.remarks, at=at,
    )  # fmt: skip
    return Judged(verdict, call)


def _without_texts(document: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome without the candidates, which are journaled on their own."""
    return {name: value for name, value in document.items() if name != "candidates"}
