"""Single HTTP requests with chosen headers, their status and headers kept: for checks of what the SDK hides.

Place in the pipeline: below `talking` and `authorization`; nothing of the operator's environment (proxies, netrc) is used, and
no redirect is followed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2

from mcpeval_dsl.gateway.connection import describe
from mcpeval_dsl.gateway.http import CONNECT_SECONDS
from mcpeval_dsl.gateway.model import Launch, ServerStartError

MOST_BYTES = 4 * 1024 * 1024
ACCEPT = "application/json, text/event-stream"


@dataclass(frozen=True, slots=True)
class Got:
    """An answer to a GET. `body` is its JSON, None where it is none."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


class HttpAsker:
    """Requests to one URL. `headers` go with each."""

    def __init__(self, launch: Launch, headers: Mapping[str, str]) -> None:
        self._launch, self._headers = launch, headers
        self._client: httpx2.AsyncClient | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[HttpAsker]:
        timeout = httpx2.Timeout(CONNECT_SECONDS)
        async with httpx2.AsyncClient(timeout=timeout, trust_env=False, follow_redirects=False) as client:
            self._client = client
            yield self

    async def exchange(
        self, text: str, identity: int | None, headers: Mapping[str, str], seconds: float
    ) -> tuple[Mapping[str, Any] | None, str, int | None, Mapping[str, str]]:
        """POST; the message with this id, or why there is none, the status and the headers. Raises ServerStartError."""
        sent = {"content-type": "application/json", "accept": ACCEPT, **self._headers, **headers}
        try:
            async with self._stream("POST", self._launch.url or "", sent, seconds, text) as response:
                told = dict(response.headers)
                message = await _message(response, identity)
                problem = "" if message is not None else _instead(response)
                return message, problem, response.status_code, told
        except httpx2.ConnectError as problem_:
            raise self._unreachable(problem_) from None
        except httpx2.TimeoutException:
            return None, f"no answer within {seconds:g} s", None, {}
        except httpx2.HTTPError as lost:
            return None, f"the connection was lost: {describe(lost)}", None, {}

    async def get(self, url: str, headers: Mapping[str, str], seconds: float) -> Got:
        """GET of a JSON document. Raises ServerStartError."""
        try:
            async with self._stream("GET", url, {"accept": "application/json", **headers}, seconds) as response:
                body = await _bounded(response)
                return Got(response.status_code, dict(response.headers), _json(body))
        except httpx2.HTTPError as problem:
            raise self._unreachable(problem, url) from None

    async def first_event(self, url: str, seconds: float) -> tuple[int, str]:
        """GET of an event stream: the status and the first event's name, empty where none comes in time."""
        status = 0
        try:
            async with self._stream("GET", url, {"accept": "text/event-stream", **self._headers}, seconds) as response:
                status = response.status_code
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    return status, ""
                async for line in response.aiter_lines():
                    if line.startswith("event:"):
                        return status, line[6:].strip()
                return status, ""
        except httpx2.ConnectError as problem:
            raise self._unreachable(problem, url) from None
        except httpx2.TimeoutException:
            return status, ""
        except httpx2.HTTPError:
            return 0, ""

    @contextlib.asynccontextmanager
    async def _stream(
        self, method: str, url: str, headers: Mapping[str, str], seconds: float, text: str = ""
    ) -> AsyncIterator[Any]:
        """The whole exchange has its time, not only each piece. Raises httpx2.HTTPError, also for what is no URL."""
        assert self._client is not None, "open it first"
        timeout = httpx2.Timeout(CONNECT_SECONDS, read=seconds)
        content = text.encode() if method == "POST" else None
        try:
            _ = urlsplit(url).port
        except ValueError as problem:
            raise httpx2.UnsupportedProtocol(str(problem)) from None
        try:
            async with (
                asyncio.timeout(CONNECT_SECONDS + seconds),
                self._client.stream(method, url, headers=headers, content=content, timeout=timeout) as response,
            ):
                yield response
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no whole answer within {seconds:g} s") from None
        except (httpx2.InvalidURL, UnicodeError) as problem:
            raise httpx2.UnsupportedProtocol(str(problem)) from None

    def _unreachable(self, problem: BaseException, url: str = "") -> ServerStartError:
        where = url or self._launch.url
        return ServerStartError(self._launch.server, "refused", f"cannot connect to {where}: {describe(problem)}")


def _instead(response: Any) -> str:
    kind = response.headers.get("content-type", "").partition(";")[0] or "no content"
    return f"HTTP status {response.status_code} with {kind} instead of a message"


async def _message(response: Any, identity: int | None) -> Mapping[str, Any] | None:
    """The answer to `identity` (the error of nobody's request too), from a JSON body or an event stream."""
    kind = response.headers.get("content-type", "")
    if identity is None:
        return None
    if not kind.startswith("text/event-stream"):
        body = _json(await _bounded(response))
        return body if isinstance(body, Mapping) else None
    async for line in response.aiter_lines():
        body = _json(line[5:].encode()) if line.startswith("data:") else None
        if isinstance(body, Mapping) and body.get("id") in (identity, None) and "method" not in body:
            return body
    return None


async def _bounded(response: Any) -> bytes:
    found = bytearray()
    async for part in response.aiter_bytes():
        found += part
        if len(found) > MOST_BYTES:
            break
    return bytes(found)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def origin_of(url: str) -> str:
    """Scheme, host and port; of what is no URL, all of it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.scheme}://{parts.netloc}"


__all__ = ["Got", "HttpAsker", "origin_of"]
