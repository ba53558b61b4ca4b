"""A real HTTP server on loopback that speaks chat completions and embeddings, and misbehaves as told.

In a test it runs in a thread; `python -m tests.judging.chat_server` runs it in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MODEL, FINGERPRINT = "test-model-1", "fp_1"


@dataclass(frozen=True, slots=True)
class Request:
    """What came: how many requests came before, how often this very body did, and what it says."""

    number: int
    again: int
    path: str
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The item, as the judge was shown it."""
        return str(self.body["messages"][-1]["content"])

    @property
    def seed(self) -> int:
        return int(self.body.get("seed", 0))


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent back.

    Attributes:
        raw: the body; else `data` as JSON. delay: seconds before it. drop: close without a word.
        cut: send only so many bytes of the body. trickle: seconds between its bytes.
    """

    data: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    raw: bytes | None = None
    drop: bool = False
    cut: int | None = None
    trickle: float = 0.0


Script = Callable[[Request], Reply]


def completion(
    content: str | None,
    *,
    model: str = MODEL,
    fingerprint: str | None = FINGERPRINT,
    finish_reason: str = "stop",
    refusal: str | None = None,
    logprobs: list[tuple[str, float]] | None = None,
    usage: tuple[int, int] | None = (1000, 100),
) -> dict[str, Any]:
    """The body of a completion."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if refusal is not None:
        message["refusal"] = refusal
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish_reason}
    if logprobs is not None:
        choice["logprobs"] = {"content": [{"token": token, "logprob": p, "top_logprobs": []} for token, p in logprobs]}
    body: dict[str, Any] = {"id": "c", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}
    if fingerprint is not None:
        body["system_fingerprint"] = fingerprint
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return body


def verdict(label: Any, reasoning: str = "Because it is so.", **parts: Any) -> str:
    """The text of an answer in the form that is asked for."""
    more = {"parts": parts} if parts else {}
    return json.dumps({"reasoning": reasoning, "verdict": label, **more})


def labels_offered(request: Request) -> list[str]:
    """The labels that the prompt offers for the value."""
    system = str(request.body["messages"][0]["content"])
    return re.findall(r"^- `([^`]+)`", system, re.MULTILINE)


def always(label: Any, **more: Any) -> Script:
    """Answers with one label."""
    return lambda request: Reply(completion(verdict(label), **more))


def failing(*replies: Reply, then: Script) -> Script:
    """These replies to the first attempts of every call, then `then`."""
    return lambda request: replies[request.again] if request.again < len(replies) else then(request)


class ChatServer:
    """The server of one test.

    Attributes:
        script: what it does; may be changed at any time.
        requests: all that came. active, most_active: calls at a time.
    """

    def __init__(self, script: Script, latency: float = 0.0, *, keep: bool = True) -> None:
        self.script, self.latency, self._keep = script, latency, keep
        self.requests: list[Request] = []
        self.count = self.active = self.most_active = 0
        self._seen: dict[str, int] = {}
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, ready: Callable[[], None]) -> None:
        """Serve until cancelled."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        ready()
        async with server:
            await server.serve_forever()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._one(reader, writer):
                pass
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode()
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        content = await reader.readexactly(int(length[1])) if length else b"{}"
        if path == "/stats":
            await self._send(writer, Reply({"count": self.count, "most_active": self.most_active}))
            return True
        request = self._request(path, content)
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        try:
            reply = self.script(request)
            await asyncio.sleep(self.latency + reply.delay)
            return await self._send(writer, reply)
        finally:
            self.active -= 1

    def _request(self, path: str, content: bytes) -> Request:
        body = json.loads(content)
        key = content.decode()
        again = self._seen.get(key, 0) if self._keep else 0
        request = Request(self.count, again, path, body)
        self.count += 1
        if self._keep:
            self._seen[key] = again + 1
            self.requests.append(request)
        return request

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        if reply.drop:
            return False
        body = reply.raw if reply.raw is not None else json.dumps(reply.data).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body)), **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        if reply.cut is not None:
            writer.write(body[: reply.cut])
            await writer.drain()
            return False
        if reply.trickle:
            for byte in body:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(reply.trickle)
            return True
        writer.write(body)
        await writer.drain()
        return True


@contextlib.contextmanager
def serving(script: Script, latency: float = 0.0) -> Iterator[ChatServer]:
    """A server in a thread of its own."""
    server = ChatServer(script, latency)
    ready = threading.Event()
    loop = asyncio.new_event_loop()

    def work() -> None:
        asyncio.set_event_loop(loop)
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(server.serve(ready.set))
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join(10)


def _first_label(request: Request) -> Reply:
    schema = request.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    offered = schema.get("properties", {}).get("parts", {}).get("properties", {})
    parts = {name: decision["enum"][0] for name, decision in offered.items()}
    return Reply(completion(verdict(labels_offered(request)[0], **parts)))


def main() -> None:
    """Serve for another process: prints the port, answers with the first label offered."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    given = parser.parse_args()
    server = ChatServer(_first_label, given.latency, keep=False)
    asyncio.run(server.serve(lambda: print(server.port, flush=True)))


if __name__ == "__main__":
    main()
