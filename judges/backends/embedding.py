"""Embeddings of any OpenAI-compatible server, through `/v1/embeddings`; what was embedded lately is remembered."""

from __future__ import annotations

import asyncio
import json
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from judges.backends.answer import ServerUnusableError
from judges.backends.chat import (
    DEFAULT_KEY_VARIABLE,
    Complaint,
    Refused,
    Transient,
    Transport,
    of_connection,
    of_status,
    sentence,
)
from judges.backends.http_client import EndlessResponseError, client, shown_address
from judges.backends.pressure import AdaptiveLimit, CircuitBreaker, backoff
from judges.verdict_reader import SERVER_ERROR

_REMEMBERED = 2000
"""Vectors kept at hand: those of the anchors, which every item needs, are among them always."""


class Embedded(NamedTuple):
    """Vectors, all of one length; what the server counted for them and called itself, if it was asked at all."""

    vectors: list[list[float]]
    tokens: int
    model: str


class EmbeddingBackend:
    """One embedding model behind one server.

    Attributes:
        requests: sent so far.
    """

    def __init__(
        self, model: str, *, base_url: str = "", key_variable: str = DEFAULT_KEY_VARIABLE, concurrency: int = 8,
        transport: Transport = Transport(),  # noqa: B008
    ) -> None:  # fmt: skip
        self.model, self.transport = model, transport
        self.limit = AdaptiveLimit(concurrency)
        self.requests = 0
        self._breaker = CircuitBreaker()
        self._known: OrderedDict[str, list[float]] = OrderedDict()
        self._on_the_way: dict[str, asyncio.Future[list[float]]] = {}
        self._client = client(base_url, key_variable, concurrency)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """The vectors of texts, in their order.

        Raises:
            ServerUnusableError: they cannot be had. An embedding that is missing is never left out silently.
        """
        known = {text: self._known[text] for text in texts if text in self._known}  # others may push them out meanwhile
        others = {text: self._on_the_way[text] for text in texts if text not in known and text in self._on_the_way}
        wanted = [text for text in dict.fromkeys(texts) if text not in known and text not in others]
        asked = await self._ask_once(wanted) if wanted else Embedded([], 0, "")
        fresh = dict(zip(wanted, asked.vectors, strict=True))
        known |= {text: await vector for text, vector in others.items()}
        vectors = [fresh[text] if text in fresh else known[text] for text in texts]
        for text, vector in fresh.items():
            self._known[text] = vector
        for text in texts:
            if text in self._known:
                self._known.move_to_end(text)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return asked._replace(vectors=vectors)

    async def _ask_once(self, texts: list[str]) -> Embedded:
        """Ask, and have whoever wants one of these texts meanwhile wait for it."""
        loop = asyncio.get_running_loop()
        vectors: dict[str, asyncio.Future[list[float]]] = {text: loop.create_future() for text in texts}
        self._on_the_way |= vectors
        try:
            asked = await self._ask(texts)
            for text, vector in zip(texts, asked.vectors, strict=True):
                vectors[text].set_result(vector)
            return asked
        finally:
            for text, future in vectors.items():
                future.cancel()  # nothing, if it was set: else the run ends, and who waits ends with it
                del self._on_the_way[text]

    async def _ask(self, texts: list[str]) -> Embedded:
        retries = refusals = 0
        while True:
            async with self.limit:
                try:
                    found = await self._send(texts)
                except Refused as refused:
                    refusals += 1
                    self.limit.refused(refused.retry_after or self._pause(refusals))
                    if refusals > self.transport.retries * 8:
                        raise ServerUnusableError("The server keeps saying that there are too many calls.") from refused
                    continue
                except Complaint as complaint:
                    raise ServerUnusableError(
                        "The server does not embed these texts.", complaint.words[:200], "Check --model and --base-url."
                    ) from complaint
                except Transient as fault:
                    self.limit.hold(max(self._breaker.failed(fault.why), fault.retry_after))
                    if retries >= self.transport.retries or fault.no_server:
                        raise ServerUnusableError(
                            f"No answer from {shown_address(self._client.base_url)}.", sentence(fault.why),
                            "Look after the server, then run the same command: it goes on where it stopped.",
                        ) from fault  # fmt: skip
                    retries += 1
                else:
                    self._breaker.succeeded()
                    self.limit.succeeded()
                    return found
            await asyncio.sleep(self._pause(retries))

    def _pause(self, attempt: int) -> float:
        return backoff(attempt, self.transport.backoff_s, self.transport.backoff_cap_s)

    async def _send(self, texts: list[str]) -> Embedded:
        import openai

        self.requests += 1
        try:
            async with asyncio.timeout(self.transport.timeout_s):
                raw = await self._client.embeddings.with_raw_response.create(
                    model=self.model, input=texts, encoding_format="float"
                )
            return _embedded(raw.content, len(texts))
        except (TimeoutError, openai.APITimeoutError) as error:
            raise Transient(SERVER_ERROR, f"no answer within {self.transport.timeout_s:g} s") from error
        except openai.APIStatusError as error:
            of_status(error.status_code, error.response.headers, error.body, self.model)
            raise Complaint("the texts are too long for it", "too long") from error
        except (openai.APIConnectionError, EndlessResponseError) as error:
            raise of_connection(error) from error


def _embedded(content: bytes, count: int) -> Embedded:
    """The vectors in a response, by their index.

    Raises:
        Transient: it is no whole response.
    """
    try:
        data: Any = json.loads(content)
        entries = sorted(data["data"], key=lambda entry: entry["index"])
        vectors = [[float(number) for number in entry["embedding"]] for entry in entries]
        usage = data["usage"] if isinstance(data.get("usage"), dict) else {}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Transient(SERVER_ERROR, "the server's response is no whole list of embeddings") from error
    if len(vectors) != count or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise Transient(SERVER_ERROR, "the server's response lacks embeddings")
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise Transient(SERVER_ERROR, "an embedding of the server's response holds what is no number")
    counted, model = usage.get("prompt_tokens"), data.get("model")
    tokens = counted if isinstance(counted, int) and counted >= 0 else 0
    return Embedded(vectors, tokens, model if isinstance(model, str) else "")
