"""Score, beside findings: one thing that one trial shows, and words that are shared by all that look for such things."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mcpeval_dsl.gateway.model import CallRecord

_CUT = re.compile(r"truncated: (?P<tool>.+) \((?P<call>[cn]\d+)\), \d+ characters left out")


@dataclass(frozen=True, slots=True)
class Sighting:
    """Equal `kind` and `text` are one finding. `calls` are ids of the calls that show it; `change` is what to edit."""

    kind: str
    text: str
    change: str
    calls: tuple[str, ...] = ()


def cut_by_host(notes: Iterable[str]) -> dict[str, str]:
    """Ids of the calls of which the model saw a part alone, by the notes of a trial's host, with their tools."""
    found = (_CUT.fullmatch(note) for note in notes if note.startswith("truncated: "))
    return {cut["call"]: cut["tool"] for cut in found if cut is not None}


def is_cut(note: str) -> bool:
    return _CUT.fullmatch(note) is not None


def tool_of(call: CallRecord) -> str:
    return f"{call.server}.{call.tool}"


def at_fault(call: CallRecord) -> bool:
    """The server answered with an error; our own denials and faults are none."""
    return call.error is not None and call.error.cause == "server"


def succeeded(call: CallRecord) -> bool:
    return call.error is None and call.permission.decision != "denied"
