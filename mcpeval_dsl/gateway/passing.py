"""What a foreign host sent beside its call, and where progress goes: carried beside the call to the request on the wire.

Place in the pipeline: set by the proxy around a call, read by sessions; in-process calls carry nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

Progress = Callable[[Mapping[str, Any]], None]
"""Takes the parameters of a server's progress notification, as they come; must not wait."""

RESERVED = "io.modelcontextprotocol/"
"""Keys of `_meta` that belong to one connection: revision, capabilities and names of its two ends."""
TOKENS = ("progressToken", "progress_token")


@dataclass(frozen=True, slots=True)
class Passed:
    """`meta` are the correlation ids (trace context, the host's own), `progress` tells the host what the server reports."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None


PASSED: ContextVar[Passed | None] = ContextVar("mcpe_passed", default=None)


def correlation(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """Of a request's `_meta` what means the same on the next connection."""
    return {key: value for key, value in (meta or {}).items() if key not in TOKENS and not key.startswith(RESERVED)}
