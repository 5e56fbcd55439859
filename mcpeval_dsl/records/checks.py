"""Records: what the checks of one server came to, line by line, kept beside the trials."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mcpeval_dsl.records.model import Frozen

CheckState = Literal["pass", "fail", "partial", "unsupported", "not tested"]
"""`partial`: it holds within a limit that `reason` tells. `unsupported`: there is no such thing to hold the server to."""


class CheckLineRecord(Frozen):
    """One line of a `check` block. `actual` and `expected` of one that failed; `measured` in ms, where times decide."""

    what: str
    state: CheckState
    at: str = Field(default="", description="path:line:column of the line, or of the requirement that is not met")
    actual: str = ""
    expected: str = ""
    reason: str = ""
    measured: dict[str, float] = Field(default_factory=dict)


class CheckRecord(Frozen):
    """All lines of all `check` blocks of one server, in order."""

    id: str
    key: str
    server: str
    lines: tuple[CheckLineRecord, ...] = ()
