"""What expressions are evaluated against, and what reading a source gives.

Place in the pipeline: between the plan (expressions as data) and everything that needs their values at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcpeval_dsl.semantics.expressions import Expression, Source


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source gave. `text` is the raw text, `structured` the structured content (None where there was none).

    `fields` are a source's own parts (`exit`, `stdout`, `stderr` of a command; `status`, `headers` of HTTP).
    `error` is set when it could not be read; `error_class` then has a class of `gateway.model` or `source`.
    `calls` are the ids of the call records behind it.
    """

    text: str = ""
    structured: Any = None
    has_structured: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    error_class: str | None = None
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Names in force: lets, harvests, truths, loop variable, environment bindings, variables of the trial and the cell.

    `subject` is `$`. `readings` holds what sources inside expressions gave, by `source_key`.
    """

    names: Mapping[str, Any]
    subject: Any = None
    has_subject: bool = False
    readings: Mapping[str, Reading] = field(default_factory=dict)


class EvaluationError(Exception):
    """An expression has no value in this scope; `reason` is for people. Never reaches a user as a traceback."""

    def __init__(self, reason: str, expression: Expression | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.expression = expression


class SourceReader(Protocol):
    """Reads one source with its expressions evaluated in `scope`. Never raises for a source that fails: see Reading."""

    async def read(self, source: Source, scope: Scope) -> Reading: ...
