"""The benchmark's items: a question with its options, the right one, and the one the chat argues for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judges.benchmarks.json_stream import iter_objects
from judges.benchmarks.mist.columns import Mapped
from judges.benchmarks.mist.parser import LETTERS, parse_answer
from judges.benchmarks.mist.shapes import MOST_OPTIONS, dataset_of, regime_name, source_name
from judges.benchmarks.native import PATCH_FIELD
from store.records import Problem, canonical_json

WHAT_TO_DO = "What should the user do?"


class WrongRowError(ValueError):
    """A row cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """An item of the benchmark.

    Attributes:
        text: with the situation before it where there is one. options: their texts; they are A, B, …
        labels: how the item labels its options itself, when not by letters.
        truth: the letter of the right option. biased: of the one the chat argues for, "" when it has none.
        misconception: what the user believes. histories: regime → turns as JSON text.
        row: the row itself as JSON text. patch: what people said of the item, where a patched file holds it.
    """

    item_id: str
    source: str
    text: str
    options: tuple[str, ...]
    truth: str
    biased: str
    labels: tuple[str, ...] = ()
    misconception: str = ""
    histories: Mapping[str, str] = field(default_factory=dict)
    row: str = ""
    patch: Any = None

    @property
    def dataset(self) -> str:
        return dataset_of(self.source)

    @property
    def leaks(self) -> bool:
        """The option the chat argues for is the right one: no row of strict sycophancy."""
        return self.biased == self.truth

    @property
    def lettered(self) -> list[str]:
        return [f"{letter}. {text}" for letter, text in zip(LETTERS, self.options, strict=False)]

    @property
    def key(self) -> list[str]:
        """What the benchmark says of the options, as lines."""
        said = [f"Right: {self._option(self.truth)}"]
        said += [f"Argued for in the chat: {self._option(self.biased)}"] if self.biased else []
        return said + ([f"Misconception: {self.misconception}"] if self.misconception else [])

    def _option(self, letter: str) -> str:
        return f"{letter}. {self.options[LETTERS.index(letter)]}"


def read_questions(path: Path, mapped: Mapped) -> Iterator[tuple[int, Question] | Problem]:
    """The items of a file with their lines.

    Raises:
        OSError: the file cannot be read.
    """
    for found in iter_objects(path):
        if isinstance(found, Problem):
            yield found
            continue
        try:
            yield found.line, question_of(found.value, mapped)
        except WrongRowError as error:
            yield Problem(str(path), found.line, found.column, str(error), "correct the item, or the column mapping")


def question_of(row: Mapping[str, Any], mapped: Mapped) -> Question:
    """The question of an items row, or of a results row that holds it itself.

    Raises:
        WrongRowError: it lacks something, or names an option that is not there.
    """
    options, labels = _options(row, mapped)
    text = _question_text(row, mapped)
    truth, biased = mapped.item(row, "ground_truth"), mapped.item(row, "biased_option")
    if mapped.item(row, "options") is None:
        # A moral story has two options by its shape: the moral action, and the one the chat argues for.
        truth, biased = truth or "A", biased or "B"
    item_id = mapped.item(row, "item_id")
    if not isinstance(item_id, str | int) or isinstance(item_id, bool) or item_id == "":
        raise WrongRowError("an item has no item_id")
    misconception = mapped.item(row, "misconception") or mapped.item(row, "user_norm")
    return Question(
        item_id=str(item_id),
        source=source_name(str(mapped.item(row, "source") or _source_of_shape(row, mapped))),
        text=text,
        options=options,
        truth=_letter(truth, options, labels, mapped, "ground_truth"),
        biased=_letter(biased, options, labels, mapped, "biased_option") if biased is not None else "",
        labels=labels,
        misconception=misconception if isinstance(misconception, str) else "",
        histories=_histories(mapped.item(row, "chat_histories")),
        row=json.dumps({name: value for name, value in row.items() if name != PATCH_FIELD}, ensure_ascii=False),
        patch=row.get(PATCH_FIELD),
    )


def _source_of_shape(row: Mapping[str, Any], mapped: Mapped) -> str:
    return "moral" if mapped.item(row, "moral_action") is not None else "unknown"


def _question_text(row: Mapping[str, Any], mapped: Mapped) -> str:
    question = mapped.item(row, "question")
    if isinstance(question, str) and question.strip():
        return question
    told = [mapped.item(row, name) for name in ("situation", "intention")]
    if not all(isinstance(part, str) for part in told):
        raise WrongRowError("an item has neither a question nor a situation with an intention")
    return "\n\n".join([*told, WHAT_TO_DO])


def _options(row: Mapping[str, Any], mapped: Mapped) -> tuple[tuple[str, ...], tuple[str, ...]]:
    given = mapped.item(row, "options")
    if given is None:
        given = [mapped.item(row, name) for name in ("moral_action", "immoral_action")]
    labels: tuple[str, ...] = ()
    if isinstance(given, Mapping):
        letters = [str(name).strip("().").upper() for name in given]
        labels = () if letters == list(LETTERS[: len(letters)]) else tuple(str(name) for name in given)
        given = list(given.values())
    if not isinstance(given, list) or not all(isinstance(option, str) for option in given):
        raise WrongRowError("the options of an item are not a list of texts")
    if not 2 <= len(given) <= MOST_OPTIONS:
        raise WrongRowError(f"an item has {len(given)} options; MIST's have 2 to {MOST_OPTIONS}")
    return tuple(given), labels


def _letter(value: Any, options: tuple[str, ...], labels: tuple[str, ...], mapped: Mapped, name: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        if mapped.index_from is None:
            raise WrongRowError(f"{name} is a number, and nothing says whether options count from 0 or 1 (index_from)")
        place = value - mapped.index_from
        if 0 <= place < len(options):
            return LETTERS[place]
        raise WrongRowError(f"{name} is a number that no option has")
    found = parse_answer(value, options, labels).letter if isinstance(value, str) else None
    if found is None:
        raise WrongRowError(f"{name} names none of the options")
    return found


def _histories(value: Any) -> dict[str, str]:
    """Regime → turns as JSON text. Turns are {role, content}."""
    if not isinstance(value, Mapping):
        return {}
    found: dict[str, str] = {}
    for regime, turns in value.items():
        if isinstance(turns, list) and all(isinstance(turn, Mapping) for turn in turns):
            kept = [{name: str(turn.get(name, "")) for name in ("role", "content")} for turn in turns]
            found[regime_name(str(regime))] = canonical_json(kept)
    return found
