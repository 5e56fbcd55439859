"""Beside the drivers: what a failing model API said, sorted into what to do about it. No SDK is imported here.

Retried: 408, 409, 425, 429, 5xx (529 is overload), timeouts, lost connections, bodies that are no answer. Never: the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

_OVERFLOW = re.compile(
    r"prompt is too long|context[ _]length|context[ _]window|maximum context|too many (?:input )?tokens|exceed_context"
    r"|input length and `?max_tokens`? exceed",
    re.IGNORECASE,
)
_TOOLS = re.compile(
    r"input_schema|\btools?[.\[ ]*\d+|invalid_function_parameters|tool names?\b|function[^.]{0,40}(?:schema|parameters)"
    r"|(?:schema|parameters) for function|functionDeclarations?|\btools?\b[^.]{0,60}\b(?:schema|unique)",
    re.IGNORECASE,
)


class ApiFailure(Exception):
    """One failed request. `retry_after` (s) is what the provider asked for. Never leaves a driver."""

    def __init__(
        self,
        kind: str,
        message: str,
        status: int | None = None,
        retry_after: float | None = None,
        retried: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.retried = retried

    @property
    def throttled(self) -> bool:
        """The provider asked us to slow down."""
        return self.kind in ("rate", "overloaded")


class TurnEnded(Exception):
    """The API's error is an end of the conversation (too long, filtered), not a failure of the API. Never leaves a driver."""

    def __init__(self, stop: Literal["context_overflow", "content_filter"], message: str) -> None:
        super().__init__(message)
        self.stop: Literal["context_overflow", "content_filter"] = stop


def failure_of_status(status: int, text: str, headers: Mapping[str, str]) -> ApiFailure | TurnEnded:
    """What an HTTP status with this body means."""
    message = one_line(text) or f"HTTP {status}"
    wait = retry_after(headers)
    if status == 429:
        return ApiFailure("rate", message, status, wait, True)
    if status >= 500 or status in (408, 409, 425):
        kind = "timeout" if status in (408, 504) else "overloaded"
        return ApiFailure(kind, message, status, wait, True)
    if status == 413 or (status in (400, 422) and _OVERFLOW.search(text)):
        return TurnEnded("context_overflow", message)
    if status in (400, 422) and _TOOLS.search(text):
        return ApiFailure("schema_refused", message, status)
    kinds = {401: "authentication", 402: "authentication", 403: "authentication", 404: "not_found"}
    return ApiFailure(kinds.get(status, "bad_request"), message, status)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of `retry-after-ms` or `retry-after` (a number or an HTTP date), None where there is neither."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is not None or said is None:
        return seconds
    try:
        when = parsedate_to_datetime(said)
    except (ValueError, IndexError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def one_line(text: object, limit: int = 300) -> str:
    """A message fit for one line of a report."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
