"""Score, beside findings: one thing that one trial shows, and words that are shared by all that look for such things."""

from __future__ import annotations

from dataclasses import dataclass

from mcpeval_dsl.gateway.model import CallRecord


@dataclass(frozen=True, slots=True)
class Sighting:
    """Equal `kind` and `text` are one finding. `calls` are ids of the calls that show it; `change` is what to edit."""

    kind: str
    text: str
    change: str
    calls: tuple[str, ...] = ()


def tool_of(call: CallRecord) -> str:
    return f"{call.server}.{call.tool}"


def at_fault(call: CallRecord) -> bool:
    """The server answered with an error; our own denials and faults are none."""
    return call.error is not None and call.error.cause == "server"


def succeeded(call: CallRecord) -> bool:
    return call.error is None and call.permission.decision != "denied"
