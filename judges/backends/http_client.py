"""The connection to the server that the user named: to nobody else, never longer than it should, and silent on the key.

A server is not trusted. It may send the call elsewhere (redirects are not followed: the item would go along), answer
without an end (a body has a limit, unpacked as well as packed), or repeat the key that it was sent (it is taken out
of every response before anything reads it, so that no message, log or study can hold it).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from judges.backends.answer import ServerUnusableError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NO_KEY: Final = "none"
"""Sent to local servers, which ask for no key."""
KEY_SHOWN: Final = "[the key]"
"""What stands in a response where the server repeated the key."""
MOST_BYTES: Final = 32 * 2**20
"""Of a response, unpacked."""
_CONNECTIONS_EACH: Final = 8
_SHORTEST_SECRET: Final = 8
"""A shorter key is none that anybody has to keep secret, and taking it out could change ordinary words."""


class EndlessResponseError(Exception):
    """A response is longer than any that is wanted."""


def client(base_url: str, key_variable: str, concurrency: int) -> AsyncOpenAI:
    """The client; keys come from the environment and from nowhere else.

    Raises:
        ServerUnusableError: no key, and the server is not one of the user's own; or key or address can be none.
    """
    return clients(base_url, key_variable, concurrency, 1)[0]


def clients(base_url: str, key_variable: str, concurrency: int, count: int = 0) -> list[AsyncOpenAI]:
    """Clients to take turns, each with connections of its own: for every call a client looks at all that it has.

    Args:
        count: 0 for as many as `concurrency` calls want.

    Raises:
        ServerUnusableError: as for `client`.
    """
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    url = base_url or os.environ.get("OPENAI_BASE_URL", "")
    key = os.environ.get(key_variable, "").strip()
    _require_key(key, key_variable, url)
    _require_address(url)
    guard, trust = _guard(key if len(key) >= _SHORTEST_SECRET else ""), http_library().create_ssl_context()
    return [
        AsyncOpenAI(
            api_key=key or NO_KEY, base_url=url or None, max_retries=0, timeout=None,
            http_client=DefaultAsyncHttpxClient(
                limits=_limits(concurrency), timeout=None, follow_redirects=False, verify=trust,
                event_hooks={"response": [guard]},
            ),
        )
        for _ in range(count or -(-concurrency // _CONNECTIONS_EACH))
    ]  # fmt: skip


def http_library() -> Any:
    """The HTTP library that this openai is built on: httpx, or one that took its place."""
    import openai

    return importlib.import_module(type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0])


def _require_key(key: str, variable: str, url: str) -> None:
    """Raises ServerUnusableError where there is no key and nobody's own server, or what is there can be no key."""
    if not key and not url:
        raise ServerUnusableError(
            f"There is no key in {variable}.", "",
            f"export {variable}=…   or name your own server: --base-url http://localhost:11434/v1",
        )  # fmt: skip
    if not (key.isascii() and key.isprintable()):
        raise ServerUnusableError(
            f"What {variable} holds can be no key.", "It has characters that no request can carry.",
            f"export {variable}=…",
        )  # fmt: skip


def shown_address(url: object) -> str:
    """A server's address without a name, password or query in it."""
    parts = urlsplit(str(url))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _require_address(url: str) -> None:
    """Raises ServerUnusableError where `url` is the address of no server."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:  # a port or an IPv6 address that is none
        fine = False
    if not fine or " " in url:
        raise ServerUnusableError(
            "The server's address is no address.", "", "As in: --base-url http://localhost:11434/v1"
        )


def _limits(concurrency: int) -> Any:
    """As many connections as calls, all kept open."""
    return http_library().Limits(max_connections=concurrency + 1, max_keepalive_connections=concurrency + 1)


def _guard(key: str) -> Callable[[Any], Awaitable[None]]:
    """Reads a response's body up to the limit, and takes the key out of it and out of its headers."""
    secret = key.encode("ascii")

    async def guarded(response: Any) -> None:
        chunks, size = [], 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > MOST_BYTES:
                raise EndlessResponseError
            chunks.append(chunk)
        content = b"".join(chunks)
        response._content = content.replace(secret, KEY_SHOWN.encode()) if secret else content
        if key:
            for name, value in response.headers.items():
                if key in value:
                    response.headers[name] = value.replace(key, KEY_SHOWN)

    return guarded
