"""Values, reading over HTTP: one request, no proxy, to this machine or to hosts that were allowed by name."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from mcpeval_dsl.values.deadline import Deadline
from mcpeval_dsl.values.local import refused
from mcpeval_dsl.values.model import Reading


class _Stay(HTTPRedirectHandler):
    """A redirect is an answer like any other: following it could leave the allowed hosts."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def read_http(
    method: str,
    url: str,
    body: Any,
    headers: Mapping[str, str],
    auth: str | None,
    allowed: frozenset[str],
    timeout: float,
    limit: int,
) -> Reading:
    """`$` is the body; `status` and `headers` are fields. Every status is a value; only no answer at all is an error."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return refused(f"{url[:100]} is no URL")
    if parts.scheme not in ("http", "https") or not host:
        return refused(f"{url[:100]} is no http or https URL")
    if not _loopback(host) and host not in allowed:
        return refused(f"{host} is not this machine and not among the hosts that may be read")
    deadline = Deadline(timeout)
    try:
        with deadline.running():
            reading = _read(_request(method, url, body, headers, auth), deadline, timeout, limit)
        problem: object = None
    except (HTTPException, URLError, OSError, ValueError) as failed:
        reading, problem = None, getattr(failed, "reason", failed)
    if reading is not None and not deadline.over:
        return reading
    asked = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if deadline.over:
        return refused(f"{asked} does not answer in full within {timeout:g} s")
    return refused(f"{asked} does not answer: {' '.join(str(problem).split())[:300]}")


def _read(request: Request, deadline: Deadline, timeout: float, limit: int) -> Reading:
    opener = build_opener(ProxyHandler({}), _Stay(), *deadline.handlers())
    try:
        answer = opener.open(request, timeout=timeout)
    except HTTPError as failed:
        answer = failed
    with answer:
        data = answer.read(limit + 1)
        if len(data) <= limit and getattr(answer, "length", None):
            raise OSError(f"it said that {answer.length} bytes more would follow")
        return _reading(answer.status, answer.headers, data, limit)


def _request(method: str, url: str, body: Any, headers: Mapping[str, str], auth: str | None) -> Request:
    data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    request = Request(url, data=data, method=method.upper())
    if body is not None and not isinstance(body, str):
        request.add_header("Content-Type", "application/json")
    for name, value in headers.items():
        request.add_header(name, value)
    if auth is not None:
        request.add_unredirected_header("Authorization", f"Bearer {auth}")
    return request


def _reading(status: int, headers: Any, data: bytes, limit: int) -> Reading:
    if len(data) > limit:
        return refused(f"the answer has more than {limit} bytes")
    named = {name.lower(): value for name, value in headers.items()}
    return Reading(text=data.decode("utf-8", "replace"), fields={"status": status, "headers": named})


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
