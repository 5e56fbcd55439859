"""Between permission and the server: which fault of the task hits a call of the agent, and what it looks like on the wire.

Place in the pipeline: the door asks `Faults` for each call that may be made; pure but for counting, and the same in every
run of a trial. A fault looks like the transport's real thing: the status of HTTP exists behind a URL only.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from mcpeval_dsl.gateway.effects import matched
from mcpeval_dsl.gateway.model import CallRecord, Launch
from mcpeval_dsl.gateway.wire import WireResult
from mcpeval_dsl.semantics.disturbances import Fault
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.text import as_text

EXPIRED = 'Bearer error="invalid_token", error_description="The access token expired"'
GARBAGE = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te\ufffd\ufffd\x00\x17'


@dataclass(frozen=True, slots=True)
class Injection:
    """What becomes of one call: `wire` in the server's place (None: the server answers), after `delay` s.

    `cuts`: the session ends with it. `free`: the call is not charged, since no agent could have avoided it.
    """

    words: str
    wire: WireResult | None
    delay: float = 0.0
    cuts: bool = False
    free: bool = True


@dataclass(slots=True)
class Faults:
    """The faults of one trial. `catalogues` names each server's catalogue where that differs from the server's name."""

    lines: Sequence[Fault] = ()
    seed: int = 0
    scope: Scope = field(default_factory=lambda: Scope({}))
    catalogues: Mapping[str, str] = field(default_factory=dict)
    _matches: dict[int, int] = field(default_factory=dict)
    _hits: dict[int, int] = field(default_factory=dict)

    def strike(self, record: CallRecord, launch: Launch, timeout: float) -> Injection | None:
        """What hits this call; None where nothing does. Every line counts the call, and the first that fires has it."""
        if record.actor != "agent":
            return None
        firing = [number for number, line in enumerate(self.lines) if self._fires(number, line, record)]
        if not firing:
            return None
        number = firing[0]
        line = self.lines[number]
        self._hits[number] = self._hits.get(number, 0) + 1
        lasting = line.nth is None and line.probability is None
        return injection_of(line, launch, timeout, self.scope, free=not lasting or self._hits[number] == 1)

    @property
    def missed(self) -> tuple[Fault, ...]:
        """Faults that no call has come to."""
        return tuple(line for number, line in enumerate(self.lines) if number not in self._hits)

    @property
    def reached(self) -> bool:
        return bool(self._hits)

    def _fires(self, number: int, line: Fault, record: CallRecord) -> bool:
        call = (record.server, record.tool, record.arguments, self.scope)
        catalogue, effect = self.catalogues.get(record.server), record.permission.effect
        if not any(matched(p, *call, catalogue=catalogue, effect=effect, unknown=False) for p in line.patterns):
            return False
        nth = self._matches[number] = self._matches.get(number, 0) + 1
        if line.nth is not None and nth != line.nth:
            return False
        return line.probability is None or random.Random(f"{self.seed}/{number}/{nth}").random() < line.probability


def injection_of(line: Fault, launch: Launch, timeout: float, scope: Scope, *, free: bool = True) -> Injection:
    """A fault as it looks on this server's transport. `timeout` (s) is how long the call would be waited for."""
    wire, delay = _wire(line, launch, timeout, scope), 0.0
    if line.what == "slow":
        seconds = line.seconds or 0.0
        delay = min(seconds, timeout)
        free = free and seconds >= timeout
        wire = _unanswered(timeout) if seconds >= timeout else None
    return Injection(line.words, wire, delay, line.what == "disconnect", free)


def _wire(line: Fault, launch: Launch, timeout: float, scope: Scope) -> WireResult | None:
    match line.what:
        case "timeout":
            return _unanswered(timeout)
        case "error":
            return _said(_text(line, scope), is_error=not line.as_success)
        case "protocol_error":
            return WireResult("rpc_error", code=line.code, message=_text(line, scope) or "internal error")
        case "expired_credential":
            return _refused(launch, 401, {"www-authenticate": EXPIRED}, "the access token expired")
        case "http":
            seconds = "" if line.seconds is None else f"{line.seconds:g}"
            headers = {"retry-after": seconds} if seconds else {}
            return _refused(launch, line.code or 500, headers, f"retry after {seconds} s" if seconds else "")
        case "garbage":
            return WireResult("malformed", message="an answer that is no JSON-RPC message", raw=GARBAGE)
        case "disconnect":
            words = "the server closed its output" if launch.url is None else "the connection was lost"
            return WireResult("dead", message=words)
        case "slow":
            return None


def _unanswered(timeout: float) -> WireResult:
    return WireResult("timeout", message=f"no answer within {timeout:g} s", cancelled=True)


def _refused(launch: Launch, status: int, headers: Mapping[str, str], more: str) -> WireResult:
    """A status of HTTP behind a URL; else what a server makes of the status that its own upstream gave."""
    if launch.url is not None:
        return WireResult("http_error", code=status, message=f"HTTP status {status}", status=status, headers=headers)
    return _said(f"Error: {status} {_phrase(status)}{': ' if more else ''}{more}", is_error=True)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "from the service"


def _said(text: str, *, is_error: bool) -> WireResult:
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return WireResult("result", result=result, size=len(text.encode("utf-8", "replace")))


def _text(line: Fault, scope: Scope) -> str:
    if line.text is None:
        return ""
    try:
        return as_text(evaluate(line.text, scope))
    except EvaluationError as problem:
        return f"(the text of this fault has no value: {problem.reason})"
