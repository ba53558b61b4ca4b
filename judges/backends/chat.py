"""Chat completions of any OpenAI-compatible server: asks, retries, finds out what the server can do, never guesses.

Every call ends as an answer or as a named failure. What is the server's fault and not the item's (no key, no such
model, down) ends the run instead, and marks nothing failed.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from judges.backends.answer import (
    FORMATS,
    MOST_NAME,
    MOST_TEXT,
    OVERLONG,
    Answer,
    AnswerFormat,
    ModelSettings,
    Question,
    ServerUnusableError,
    short_name,
)
from judges.backends.http_client import EndlessResponseError, clients, http_library, shown_address
from judges.backends.pressure import AdaptiveLimit, CircuitBreaker, backoff
from judges.verdict_reader import FILTERED, REJECTED, SERVER_ERROR, TIMEOUT, TOO_LONG

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
_MOST_REFUSALS = 40
"""Times one call is sent again because the server said "too many"."""
_LONGEST_HOLD_S = 300.0
_GATEWAY_TIMEOUTS = (408, 504, 524)
"""Said by what stands before the model, which may be at work all the same."""
_MOST_TOKENS = 10**9
"""Of one call; a server that counts more does not count."""
_UNUSABLE_FIRSTS = 3
"""Calls that may fail for good before anything was answered, until the server is taken to fail all."""
_REASONING = ("o1", "o3", "o4", "gpt-5")
"""Models known to take no temperature, and `max_completion_tokens` for `max_tokens`."""


class Transport(NamedTuple):
    """How calls are sent.

    Attributes:
        timeout_s: for a whole call, its body included. retries: of a call that failed on the way or at the server.
        backoff_s, backoff_cap_s: bounds of the random pause before a retry.
        resend: whether a call that may have to be paid already is sent again.
    """

    timeout_s: float = 120.0
    retries: int = 5
    backoff_s: float = 0.5
    backoff_cap_s: float = 20.0
    resend: bool = True


class Transient(Exception):  # noqa: N818
    """A call that may be sent again. `lost`: the server may have worked on it, and be paid, though no answer came."""

    def __init__(
        self, kind: str, why: str, retry_after: float = 0.0, *, no_server: bool = False, lost: bool = False
    ) -> None:
        super().__init__(why)
        self.kind, self.why, self.retry_after, self.no_server, self.lost = kind, why, retry_after, no_server, lost


class Refused(Exception):  # noqa: N818
    """The server said "too many"."""

    def __init__(self, retry_after: float) -> None:
        super().__init__()
        self.retry_after = retry_after


class _Abilities:
    """What the server is taken to be able to do; it learns from refusals."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        name = settings.model.rsplit("/", 1)[-1]
        reasons = name.startswith(_REASONING) or bool(settings.reasoning_effort)
        self.format: AnswerFormat = settings.format
        self.logprobs = settings.logprobs and not reasons
        self.seed = True
        self.temperature = not reasons
        self.completion_tokens = reasons

    def state(self) -> tuple[Any, ...]:
        return (self.format, self.logprobs, self.seed, self.temperature, self.completion_tokens)

    def restore(self, state: tuple[Any, ...]) -> None:
        self.format, self.logprobs, self.seed, self.temperature, self.completion_tokens = state

    def body(self, question: Question) -> dict[str, Any]:
        """The request."""
        own = self._settings
        limit = "max_completion_tokens" if self.completion_tokens else "max_tokens"
        body: dict[str, Any] = {"model": own.model, "messages": list(question.messages), limit: own.max_tokens}
        temperature = own.temperature if question.temperature is None else question.temperature
        if self.temperature and temperature is not None:
            body["temperature"] = temperature
        if self.seed and question.seed is not None:
            body["seed"] = question.seed
        if self.logprobs:
            body["logprobs"] = True
        if own.reasoning_effort:
            body["reasoning_effort"] = own.reasoning_effort
        if self.format == "schema":
            form = {"name": "verdict", "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif self.format == "json":
            body["response_format"] = {"type": "json_object"}
        return body

    def give_up(self, complaint: str) -> bool:
        """Do without what the server complains of; False when it names nothing that could be left out."""
        words = complaint.lower()
        if any(word in words for word in ("response_format", "json_schema", "json_object", "guided", "grammar")):
            return self._next_format()
        if "logprob" in words and self.logprobs:
            self.logprobs = False
        elif "max_completion_tokens" in words and "max_tokens" in words and not self.completion_tokens:
            self.completion_tokens = True
        elif "max_completion_tokens" in words and self.completion_tokens:
            self.completion_tokens = False
        elif "temperature" in words and self.temperature:
            self.temperature = False
        elif "seed" in words and self.seed:
            self.seed = False
        else:
            return False
        return True

    def give_up_something(self) -> bool:
        """Do without the next thing that not every server has; False when nothing is left."""
        if self._next_format():
            return True
        for name in ("logprobs", "seed", "temperature"):
            if getattr(self, name):
                setattr(self, name, False)
                return True
        return False

    def _next_format(self) -> bool:
        place = FORMATS.index(self.format)
        if place + 1 == len(FORMATS):
            return False
        self.format = FORMATS[place + 1]
        return True


class ChatBackend:
    """One model behind one server.

    Attributes:
        limit: how many calls may be on their way. requests: sent so far, retries included.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        base_url: str = "",
        key_variable: str = DEFAULT_KEY_VARIABLE,
        concurrency: int = 8,
        transport: Transport = Transport(),  # noqa: B008
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self.settings, self.transport = settings, transport
        self.limit = AdaptiveLimit(concurrency)
        self.requests = 0
        self._breaker = breaker or CircuitBreaker()
        self._able = _Abilities(settings)
        self._settled = False
        self._first = asyncio.Lock()
        self._failed_first = 0
        self._unusable: ServerUnusableError | None = None
        self._clients = clients(base_url, key_variable, concurrency)
        self._turn = itertools.cycle(self._clients)
        self._response = http_library().Response

    @property
    def format(self) -> AnswerFormat:
        """The form of answers that the server is asked for now."""
        return self._able.format

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.close()

    async def ask(self, question: Question, pay: Callable[[], bool] = lambda: True) -> Answer:
        """Send a call until it is answered or has failed for good.

        Until the first answer calls go one by one, so that what the server cannot do is found out once. `pay` is
        asked before a call is sent the first time, and once more where it may have to be paid already.

        Raises:
            ServerUnusableError: the server cannot be used.
        """
        try:
            if not self._settled:
                async with self._first:
                    if not self._settled:
                        return await self._ask(question, pay)
            return await self._ask(question, pay)
        except ServerUnusableError as error:
            self._unusable = error  # for those that wait for their turn
            raise

    async def _ask(self, question: Question, pay: Callable[[], bool]) -> Answer:
        attempts = refusals = retries = lost = 0
        before = self._able.state()
        while True:
            async with self.limit:
                if self._unusable is not None:
                    raise self._unusable
                if not attempts:
                    pay()
                attempts += 1
                started = time.monotonic()
                try:
                    answer = await self._send(question)
                except Refused as refused:
                    refusals += 1
                    self.limit.refused(refused.retry_after or self._pause(refusals))
                    if refusals > _MOST_REFUSALS:
                        raise ServerUnusableError(
                            "The server keeps saying that there are too many calls.", "What was judged is stored.",
                            "Run the same command later, or with a smaller --concurrency.",
                        ) from refused  # fmt: skip
                    continue
                except Transient as fault:
                    self.limit.hold(max(self._breaker.failed(fault.why), fault.retry_after))
                    lost += fault.lost
                    no_more = retries >= self.transport.retries or (fault.no_server and not self._settled)
                    if no_more or (fault.lost and not (self.transport.resend and pay())):
                        self._fails_for_good(fault)
                        return Answer(failure=fault.kind, why=fault.why, attempts=attempts, lost=lost,
                                      latency_s=time.monotonic() - started)  # fmt: skip
                    retries += 1
                    pause = self._pause(retries)
                except Complaint as complaint:
                    if self._adapt(complaint.words):
                        continue
                    return replace(self._rejected(complaint, attempts, before), lost=lost)
                else:
                    self._breaker.succeeded()
                    self.limit.succeeded()
                    self._settled = self._settled or not answer.failure
                    seconds = time.monotonic() - started
                    return replace(answer, attempts=attempts, lost=lost, latency_s=seconds, format=self._able.format)
            await asyncio.sleep(pause)

    def _fails_for_good(self, fault: Transient) -> None:
        """Raises ServerUnusableError where nothing was ever answered."""
        if self._settled:
            return
        self._failed_first += 1
        if fault.no_server or self._failed_first >= _UNUSABLE_FIRSTS:
            raise ServerUnusableError(
                f"No answer from {shown_address(self._clients[0].base_url)}.", sentence(fault.why), "Check --base-url."
            )

    def _pause(self, attempt: int) -> float:
        return backoff(attempt, self.transport.backoff_s, self.transport.backoff_cap_s)

    def _adapt(self, words: str) -> bool:
        if self._able.give_up(words):
            return True
        return not self._settled and self._able.give_up_something()

    def _rejected(self, complaint: Complaint, attempts: int, before: tuple[Any, ...]) -> Answer:
        """The server takes no part in this item; if it has taken none yet, it may take none at all."""
        if not self._settled:
            self._able.restore(before)
            self._failed_first += 1
            if self._failed_first >= _UNUSABLE_FIRSTS:
                raise ServerUnusableError(
                    "The server rejects every call.", complaint.words[:200], "Check --model and --base-url."
                )
        return Answer(failure=REJECTED, why=complaint.why, attempts=attempts)

    async def _send(self, question: Question) -> Answer:
        """One request.

        Raises:
            Refused, Transient, Complaint, ServerUnusableError
        """
        import openai

        self.requests += 1
        body = {**self._able.body(question), **self.settings.extra}
        try:
            async with asyncio.timeout(self.transport.timeout_s):  # `create` would take the body apart and rebuild it
                raw = await next(self._turn).post("/chat/completions", body=body, cast_to=self._response)
            return _answer(raw.content)
        except (TimeoutError, openai.APITimeoutError) as error:
            raise Transient(TIMEOUT, f"no answer within {self.transport.timeout_s:g} s", lost=True) from error
        except openai.APIStatusError as error:
            return of_status(error.status_code, error.response.headers, error.body, self.settings.model)
        except (openai.APIConnectionError, EndlessResponseError) as error:
            raise of_connection(error) from error


# What the server says


def of_connection(error: BaseException) -> Transient:
    """What it means that a call brought no response."""
    if isinstance(error, EndlessResponseError) or isinstance(error.__cause__, EndlessResponseError):
        return Transient(SERVER_ERROR, "the server's response has no end", lost=True)
    refused = type(error.__cause__).__name__ == "ConnectError"
    why = "nobody can be reached there" if refused else "the connection was dropped"
    return Transient(SERVER_ERROR, why, no_server=refused, lost=not refused)


def sentence(why: str) -> str:
    """Words as a sentence of their own."""
    return f"{why[:1].upper()}{why[1:]}."


class Complaint(Exception):  # noqa: N818
    """The server does not take the request as it is. `words` are its own, for the user alone; `why` is safe to keep."""

    def __init__(self, words: str, why: str) -> None:
        super().__init__(why)
        self.words, self.why = words, why


def request_body(settings: ModelSettings, question: Question) -> dict[str, Any]:
    """The whole request, for a server that can do all that is asked of it."""
    return {**_Abilities(settings).body(question), **settings.extra}


def _answer(content: bytes) -> Answer:
    """The answer in a response's body.

    Raises:
        Transient: the body is no whole completion.
    """
    try:
        return answer_of(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise Transient(SERVER_ERROR, "the server's response is no JSON", lost=True) from error


def answer_of(data: Any) -> Answer:
    """The answer in a completion.

    Raises:
        Transient: it is no whole completion.
    """
    try:
        choice = data["choices"][0]
        message = choice["message"]
        text = _text_of(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise Transient(SERVER_ERROR, "the server's response is no whole completion", lost=True) from error
    usage = data.get("usage") if isinstance(data.get("usage"), dict) else {}
    whole = text is None or len(text) <= MOST_TEXT
    return Answer(
        text=text[:MOST_TEXT] if text else text,
        refusal=_string(message.get("refusal"))[:MOST_TEXT],
        finish_reason=_string(choice.get("finish_reason"))[:MOST_NAME] if whole else OVERLONG,
        model=short_name(_string(data.get("model"))),
        fingerprint=short_name(_string(data.get("system_fingerprint"))),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        logprobs=_logprobs(choice.get("logprobs")) if whole else (),
    )


def _text_of(content: Any) -> str | None:
    """A message's content: a text, or the texts of its parts."""
    if isinstance(content, list):
        return "".join(_string(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else None


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    """A count of tokens; None for what can be none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None


def _logprobs(value: Any) -> tuple[tuple[str, float], ...]:
    """Tokens with their log probabilities; () unless every one has both."""
    entries = value.get("content") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        return ()
    found = [(entry.get("token"), entry.get("logprob")) for entry in entries if isinstance(entry, dict)]
    if len(found) != len(entries):
        return ()
    try:
        numbers = [(token, float(p)) for token, p in found if isinstance(token, str) and isinstance(p, int | float)]
    except OverflowError:  # JSON has whole numbers beyond any float
        return ()
    return tuple(numbers) if len(numbers) == len(found) else ()


def of_status(status: int, headers: Mapping[str, str], body: Any, model: str) -> Answer:
    """What an error response means: raises, or gives the answer of a call that failed for good."""
    error = body if isinstance(body, dict) else {}
    code = _string(error.get("code")) or _string(error.get("type"))
    words = _string(error.get("message")) or code
    if status == 429 and code != "insufficient_quota":
        raise Refused(retry_after(headers))
    if 300 <= status < 400:
        where = shown_address(headers.get("location", ""))
        raise ServerUnusableError(
            "The server sends the calls elsewhere; they were not sent there.", where if len(where) > 3 else "",
            "If you trust that address, name it: --base-url",
        )  # fmt: skip
    if status in (401, 402, 403, 404) or code == "insufficient_quota":
        raise _unusable(status, words, model)
    if status in (408, 409, 425) or status >= 500:
        lost = status in _GATEWAY_TIMEOUTS
        raise Transient(SERVER_ERROR, f"the server answered {status}", retry_after(headers), lost=lost)
    lower = f"{code} {words}".lower()
    if "context_length" in lower or "maximum context" in lower or "context size" in lower or status == 413:
        return Answer(failure=TOO_LONG, why="the prompt is longer than the model takes")
    if "content_filter" in lower or "content_policy" in lower or "content management policy" in lower:
        return Answer(failure=FILTERED, why="the server's content filter refused the prompt")
    raise Complaint(f"{code}: {words}" if code and code != words else words, f"the server answered {status} {code}")


def _unusable(status: int, words: str, model: str) -> ServerUnusableError:
    what = {
        401: ("The server takes no part without a valid key.", f"export {DEFAULT_KEY_VARIABLE}=…, or --key-env NAME"),
        402: ("The account has no money left.", "Top it up, then run the same command: it goes on where it stopped."),
        403: ("The server does not allow this.", "Check the key's rights."),
        404: (f"The server has no model {model!r}, or no such address.", "Check --model and --base-url."),
    }
    title, hint = what.get(status, what[402])
    return ServerUnusableError(title, words[:200], hint)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that the server asks to wait, 0 when it does not say: milliseconds, seconds, or a date."""
    if milliseconds := headers.get("retry-after-ms"):
        return _bounded(milliseconds, 0.001)
    value = headers.get("retry-after", "")
    if not value:
        return 0.0
    if (seconds := _bounded(value, 1.0)) or value.strip().isdecimal():
        return seconds
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return 0.0
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return min(_LONGEST_HOLD_S, max(0.0, (when - datetime.now(UTC)).total_seconds()))


def _bounded(value: str, unit: float) -> float:
    try:
        number = float(value) * unit
    except ValueError:
        return 0.0
    return min(_LONGEST_HOLD_S, max(0.0, number)) if number == number else 0.0
