"""What goes to a chat backend and what comes back; nothing here knows a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from store.errors import OverreadError
from store.records import digest

AnswerFormat = Literal["schema", "json", "text"]
FORMATS: tuple[AnswerFormat, ...] = ("schema", "json", "text")
"""From the strictest form that a server may have to the one that every server has."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call: messages, the schema of the answer, and what differs from call to call of one judge."""

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any]
    seed: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back of a call, or why nothing did.

    Attributes:
        text: the message's content. refusal: the server's own refusal field. finish_reason: as the server says.
        failure: "" or the kind of a call that gave no answer: timeout, server_error, too_long, rejected, filtered.
        model, fingerprint: as the server names itself, by `short_name`.
        tokens_in, tokens_out: as the server counts; None where it does not.
        logprobs: (token, natural logarithm of its probability) of the content; () where the server gives none.
        attempts: requests that were sent. latency_s: of the last.
        lost: of the attempts, those that the server may have worked on, and be paid for, though no answer came.
    """

    text: str | None = None
    refusal: str = ""
    finish_reason: str = ""
    failure: str = ""
    why: str = ""
    model: str = ""
    fingerprint: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    logprobs: tuple[tuple[str, float], ...] = ()
    attempts: int = 1
    lost: int = 0
    latency_s: float = 0.0
    format: AnswerFormat = "text"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What makes answers come out as they do: part of a judge's identity.

    Attributes:
        temperature: None leaves it to the server (reasoning models take none).
        seed: of the first repetition; the following ones count on from it.
        max_tokens: longest answer, thinking included.
        reasoning_effort: "" or what a reasoning model takes (low, medium, high …).
        format: the strictest form to ask for; a server that has it not is asked for the next one.
        logprobs: whether token probabilities are asked for.
        extra: further members of the request, as the user gave them.
    """

    model: str
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = 2048
    reasoning_effort: str = ""
    format: AnswerFormat = "schema"
    logprobs: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        values = {
            "temperature": self.temperature, "seed": self.seed, "max_tokens": self.max_tokens,
            "reasoning_effort": self.reasoning_effort, "format": self.format, "logprobs": self.logprobs,
            "extra": dict(self.extra),
        }  # fmt: skip
        return {name: value for name, value in values.items() if value not in (None, "", {})}


MOST_TEXT = 500_000
"""Characters of an answer that are kept: some three times what the longest thinking comes to."""
OVERLONG = "overlong"
"""Finish reason of an answer that went on beyond that: the rest was dropped, and no verdict is read from it."""

MOST_NAME = 200
"""Characters of a model's or judge's name."""


def short_name(name: str) -> str:
    """What a server calls itself, as it is kept: without blanks around it, and a very long one cut and hashed."""
    own = name.strip()
    return own if len(own) <= MOST_NAME else f"{own[: MOST_NAME - 13]}…{digest('name', own)[:12]}"


class ServerUnusableError(OverreadError):
    """The server cannot be used at all (no key, no such model, no answer again and again); nothing was marked failed.

    What was judged before is stored, and the same command goes on where it stopped.
    """
