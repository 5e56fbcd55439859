"""What expressions are evaluated against, and what reading a source gives.

Place in the pipeline: between the plan (expressions as data) and everything that needs their values at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import Expression, Source


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source gave. `text` is the raw text, `structured` the structured content (None where there was none).

    `fields` are a source's own parts (`exit`, `stdout`, `stderr` of a command; `status`, `headers` of HTTP).
    `error` is set when it could not be read; `error_class` then has a class of `gateway.model`, `absent` (there is no such
    file, table or database: a fact about the state) or `source` (our side: limit, timeout, refusal, missing package).
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

    `subject` is `$`; `subject_text` the raw text behind it, which regular expressions read. `readings` holds what sources
    inside expressions gave, by `source_key`. `secrets` are the operator's, by name: never recorded, never in a key.
    """

    names: Mapping[str, Any]
    subject: Any = None
    has_subject: bool = False
    readings: Mapping[str, Reading] = field(default_factory=dict)
    subject_text: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)


class EvaluationError(Exception):
    """An expression has no value in this scope; `reason` is for people. Never reaches a user as a traceback."""

    def __init__(self, reason: str, expression: Expression | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.expression = expression


class NothingThere(EvaluationError):
    """A path, field or capture found nothing: what was read is fine, the value is not in it."""


class ReadingFailed(EvaluationError):
    """A source inside the expression could not be read; `reading` says why (None: it was never read)."""

    def __init__(self, reason: str, reading: Reading | None, expression: Expression | None = None) -> None:
        super().__init__(reason, expression)
        self.reading = reading


class SourceReader(Protocol):
    """Reads one source with its expressions evaluated in `scope`. Never raises for a source that fails: see Reading."""

    async def read(self, source: Source, scope: Scope) -> Reading: ...
