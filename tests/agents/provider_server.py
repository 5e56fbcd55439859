"""A loopback server that speaks Anthropic Messages and OpenAI chat completions, for tests of the real clients.

    with ProviderServer([RateLimited(retry_after=0.1), Say("hello")]) as server:
        ...  # point a client at server.url; server.requests holds what it sent

Answers are given in order, whatever the path; the last one repeats. Token counting does not use an answer up.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Say:
    """A turn. `calls` are (wire name, arguments) pairs; arguments may be a text, sent as it is by the OpenAI side.

    `stop` is Anthropic's word; the other side gets its own for it. Without one: `tool_use` where there are calls.
    """

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    stop: str | None = None
    model: str = "stand-in-1"
    input_tokens: int = 11
    output_tokens: int = 7
    cache_read_tokens: int = 0


@dataclass(frozen=True)
class Fail:
    """An HTTP error in the provider's form. `kind` is the error type in the body."""

    status: int
    message: str = "scripted failure"
    kind: str = "api_error"
    headers: Mapping[str, str] = field(default_factory=dict)


def RateLimited(retry_after: float | None = None) -> Fail:
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Fail(429, "too many requests", "rate_limit_error", headers)


def Overloaded() -> Fail:
    return Fail(529, "Overloaded", "overloaded_error")


def ContextTooLong() -> Fail:
    message = "prompt is too long: 250000 tokens > 200000 maximum context length"
    return Fail(400, message, "invalid_request_error")


def SchemaRefused() -> Fail:
    message = "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
    return Fail(400, message, "invalid_request_error")


@dataclass(frozen=True)
class Hang:
    """No answer for so many seconds, then the connection is closed."""

    seconds: float = 30.0


@dataclass(frozen=True)
class Cut:
    """A success whose body ends in the middle."""

    after: int = 40


@dataclass(frozen=True)
class Html:
    """A proxy's page with status 200."""

    body: str = "<html><body>Gateway</body></html>"


Answer = Say | Fail | Hang | Cut | Html

OPENAI_STOPS = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}


@dataclass
class Seen:
    """One request as received."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ProviderServer:
    """Runs in a thread of its own. `counts_tokens` False answers 404 there, as stand-ins of other makers do."""

    def __init__(self, answers: Sequence[Answer], counts_tokens: bool = True, key: str | None = None) -> None:
        self._answers = list(answers)
        self._counts_tokens = counts_tokens
        self._key = key
        self._next = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._port = 0
        self._open: set[asyncio.Task[None]] = set()
        self.requests: list[Seen] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._loop.close()

    def stop(self) -> None:
        """Goes away: what is asked from now on is refused a connection."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1].partition("?")[0]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        seen = Seen(path, headers, json.loads(body) if body else {})
        self.requests.append(seen)
        if self._key is not None and self._key not in (headers.get("authorization", "") + headers.get("x-api-key", "")):
            return await self._send(writer, Fail(401, "invalid x-api-key", "authentication_error"), seen)
        if path.endswith("/count_tokens"):
            if not self._counts_tokens:
                return await self._send(writer, Fail(404, "no such path", "not_found_error"), seen)
            return await self._write(writer, 200, {"input_tokens": 9})
        answer = self._answers[min(self._next, len(self._answers) - 1)]
        self._next += 1
        return await self._send(writer, answer, seen)

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer, seen: Seen) -> bool:
        if isinstance(answer, Hang):
            await asyncio.sleep(answer.seconds)
            return False
        if isinstance(answer, Html):
            return await self._write(writer, 200, answer.body, kind="text/html")
        if isinstance(answer, Fail):
            error = {"type": "error", "error": {"type": answer.kind, "message": answer.message}}
            return await self._write(writer, answer.status, error, answer.headers)
        said = Say("a text that never arrives") if isinstance(answer, Cut) else answer
        body = anthropic_body(said) if seen.path.endswith("/messages") else openai_body(said)
        return await self._write(writer, 200, body, cut=answer.after if isinstance(answer, Cut) else None)

    async def _write(
        self,
        writer: asyncio.StreamWriter,
        status: int,
        body: Any,
        headers: Mapping[str, str] | None = None,
        kind: str = "application/json",
        cut: int | None = None,
    ) -> bool:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {kind}", f"content-length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (data if cut is None else data[:cut]))
        await writer.drain()
        return cut is None


def anthropic_body(said: Say) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{i}", "name": name, "input": arguments}
        for i, (name, arguments) in enumerate(said.calls)
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": said.stop or ("tool_use" if said.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": said.input_tokens,
            "output_tokens": said.output_tokens,
            "cache_read_input_tokens": said.cache_read_tokens,
            "cache_creation_input_tokens": 0,
        },
    }


def openai_body(said: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{i}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for i, (name, arguments) in enumerate(said.calls)
        ]
    stop = said.stop or ("tool_use" if said.calls else "end_turn")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": said.model,
        "choices": [{"index": 0, "message": message, "finish_reason": OPENAI_STOPS.get(stop, stop)}],
        "usage": {
            "prompt_tokens": said.input_tokens,
            "completion_tokens": said.output_tokens,
            "total_tokens": said.input_tokens + said.output_tokens,
            "prompt_tokens_details": {"cached_tokens": said.cache_read_tokens},
        },
    }
