"""Execution, without a model: what a line of a check is called, what became of it, and what may be required of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.world import reading_of_call
from mcpeval_dsl.gateway.conformance import Kept
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.gateway.talking import Reply
from mcpeval_dsl.records.checks import CheckLineRecord, CheckState
from mcpeval_dsl.semantics.checks import (
    AuthCheck,
    CapabilityCheck,
    CheckLine,
    ConformanceCheck,
    LatencyCheck,
    OAuthCheck,
    OriginCheck,
    ProtocolCheck,
    SchemaCheck,
    ToolCheck,
    TransportCheck,
)
from mcpeval_dsl.semantics.expressions import CallStep, Ref, Requirement
from mcpeval_dsl.source import Location
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.subject import plain_text, subject_of


@dataclass(frozen=True, slots=True)
class LineResult:
    """`what` names the line for a person; `actual` and `expected` are short texts of a line that failed. `measured` in ms."""

    what: str
    state: CheckState
    at: Location | None = None
    actual: str = ""
    expected: str = ""
    reason: str = ""
    measured: Mapping[str, float] = field(default_factory=dict)

    def record(self) -> CheckLineRecord:
        at = str(self.at) if self.at is not None else ""
        return CheckLineRecord(
            what=self.what,
            state=self.state,
            at=at,
            actual=self.actual,
            expected=self.expected,
            reason=self.reason,
            measured=dict(self.measured),
        )


def of_rule(done: LineResult, kept: Kept) -> LineResult:
    """What a rule of the protocol says of the line."""
    return replace(done, state=kept.word, actual=kept.actual, expected=kept.expected, reason=kept.reason)


def required(done: LineResult, requires: Iterable[Requirement], scope: Scope, said: str) -> LineResult:
    """The first requirement that does not hold; `said` is what a failed call said, empty for one that succeeded."""
    for requirement in requires:
        result = condition(requirement.condition, scope)
        if not result.holds:
            left = requirement.condition.left
            root = left.path[0] if isinstance(left, Ref) else ""
            timed = root == "latency"
            actual = f"latency {milliseconds(result.actual)}" if timed else result.actual
            of_answer = root in ("status", "headers", "class", "latency")
            return replace(
                done,
                state="fail",
                at=requirement.at,
                actual=f"{actual}: {said}" if said and of_answer else said or actual,
                expected=f"latency {milliseconds(result.expected)}" if timed else result.expected,
                reason=requirement.because,
            )
    return done


def milliseconds(seconds: str) -> str:
    """`<= 0.5` as `<= 500 ms`: a time, or a bound on one, as people read it."""
    *operator, number = seconds.rsplit(" ", 1)
    try:
        return " ".join([*operator, f"{float(number) * 1000.0:.4g} ms"])
    except ValueError:
        return seconds


def after_call(record: CallRecord, scope: Scope, http: bool = False) -> Scope:
    """The names a requirement may use: `$` and `result`, `error`, `class`, `status`, `headers`, `latency` (s)."""
    reading = reading_of_call(record)
    subject = subject_of(reading) if reading.error is None else record.text
    error = record.error
    failed = class_of(record) != "none"
    seconds = record.duration_ms / 1000.0
    status = error.status if error is not None else None
    status = 200 if status is None and http and (error is None or error.error_class == "tool_error") else status
    text = error.message if error is not None else record.text if failed else ""
    names: dict[str, Any] = {
        "result": subject,
        "error": {"text": text, "code": error.code if error is not None else None, "status": status},
        "class": class_of(record),
        "status": status,
        "headers": {name.lower(): value for name, value in (error.headers if error is not None else {}).items()},
        "latency": dict.fromkeys(("mean", "p50", "p95", "max"), seconds),
    }
    text_of_result = plain_text(reading) if reading.error is None else record.text
    return replace(extended(scope, **names), subject=subject, has_subject=True, subject_text=text_of_result)


def after_reply(reply: Reply, scope: Scope, requires: Iterable[Requirement]) -> Scope:
    """The same for the answer to the first request of a session. A header that is not there is an empty text."""
    headers = dict.fromkeys(_headers_in(requires), "") | dict(reply.headers)
    error = {"text": "" if reply.result is not None else reply.said(), "code": reply.code, "status": reply.status}
    names: dict[str, Any] = {"result": reply.result, "error": error, "status": reply.status, "headers": headers}
    names["class"] = "none" if reply.result is not None else "protocol_error"
    return replace(extended(scope, **names), subject=reply.result, has_subject=True)


def with_headers(scope: Scope, requires: Iterable[Requirement]) -> Scope:
    """The headers that are asked for and not there, as empty texts."""
    return extended(scope, headers=dict.fromkeys(_headers_in(requires), "") | dict(scope.names.get("headers", {})))


def _headers_in(requires: Iterable[Requirement]) -> list[str]:
    lefts = [requirement.condition.left for requirement in requires]
    return [str(left.path[1]) for left in lefts if isinstance(left, Ref) and left.path[0] == "headers"]


def class_of(record: CallRecord) -> str:
    """The error class on the wire, `none` for a call that succeeded."""
    return record.error.error_class if record.error is not None else "tool_error" if record.is_error else "none"


def said_of(record: CallRecord) -> str:
    """Class and text of a failed call, in one line."""
    text = record.error.message if record.error is not None else record.text
    return f"{class_of(record)}: {' '.join(text.split())[:200]}"


def what(line: CheckLine) -> str:
    """The line in a few words, as it stands in the spec."""
    match line:
        case CallStep():
            return f"{line.call.server}.{line.call.tool}"
        case ToolCheck():
            return f"tool {line.tool} {'present' if line.present else 'absent'}"
        case SchemaCheck():
            return "schema valid"
        case CapabilityCheck():
            return f"capability {line.capability} {line.state}"
        case ProtocolCheck():
            return f'protocol "{line.revision}" {line.state}'
        case TransportCheck():
            return f"transport {line.transport}{' rejected' if line.rejected else ''}"
        case AuthCheck():
            return f'auth scope "{line.scope}"' if line.identity == "scope" else f"auth {line.identity}"
        case OriginCheck():
            return f'origin "{line.origin}" rejected'
        case LatencyCheck():
            part = line.condition.left.path[-1] if isinstance(line.condition.left, Ref) else ""
            return f"latency {part} over {line.calls} calls"
        case ConformanceCheck():
            return f"conformance {line.scenario}"
        case OAuthCheck():
            return f"oauth {line.rule}"


__all__ = [
    "LineResult",
    "after_call",
    "after_reply",
    "class_of",
    "milliseconds",
    "of_rule",
    "required",
    "said_of",
    "what",
    "with_headers",
]
