"""A suite with every name bound: what a task puts in the agent's way on purpose, faults and distractors.

Quantities: seconds, shares in [0, 1]. Both are part of the task in `semantics.model`.
"""

from __future__ import annotations

from typing import Literal as Word
from typing import TypeAlias

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import AnyPattern, CallPattern, Expression
from mcpeval_dsl.source import Location

Trouble = Word["timeout", "error", "protocol_error", "expired_credential", "http", "garbage", "slow", "disconnect"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong at calls of the agent that one of `patterns` speaks of.

    `nth` (from 1) and `probability` say at which of them; without both, at every one. `code` is the JSON-RPC code or the
    HTTP status, `seconds` how late a reply comes, or what `Retry-After` says.
    """

    what: Trouble
    patterns: tuple[AnyPattern, ...]
    nth: int | None = None
    probability: float | None = None
    text: Expression | None = None
    as_success: bool = False
    code: int | None = None
    seconds: float | None = None
    at: Location | None = None

    @property
    def words(self) -> str:
        """As a person would say it: `timeout`, `http 429`, `slow 3s`."""
        if self.what == "slow":
            return f"slow {self.seconds:g}s"
        return self.what if self.code is None else f"{self.what} {self.code}"


@dataclass(frozen=True, slots=True)
class CatalogueTools:
    """`count` tools of a stored catalogue: `path` is a file relative to the spec, or the name of a shipped catalogue."""

    path: Expression
    count: int
    shipped: bool = False
    at: Location | None = None
    kind: Word["catalog"] = "catalog"


@dataclass(frozen=True, slots=True)
class LookAlikes:
    """`count` tools that look like those the pattern names, and do something else."""

    pattern: CallPattern
    count: int
    at: Location | None = None
    kind: Word["near"] = "near"


Distraction: TypeAlias = CatalogueTools | LookAlikes
