"""Execution, without a model: who gets into a server, from where, over which transport. Real requests with chosen headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mcpeval_dsl.execute.check_calls import DENIED, Asked, permitted
from mcpeval_dsl.execute.check_lines import (
    LineResult,
    after_call,
    after_reply,
    of_rule,
    required,
    said_of,
    with_headers,
)
from mcpeval_dsl.execute.identities import EXPIRED, OTHER_AUDIENCE, headers_as, suffix_of
from mcpeval_dsl.gateway.authorization import first_answer, holds, speaks_sse, with_identity
from mcpeval_dsl.gateway.conformance import Kept, origin_refused
from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.model import Launch, Pin, ServerStartError
from mcpeval_dsl.semantics.checks import AuthCheck, OAuthCheck, OriginCheck, TransportCheck
from mcpeval_dsl.semantics.expressions import CallStep
from mcpeval_dsl.values.sources import arguments_of

_PIPES = "the server is reached over pipes, where there is no token"


async def auth(asked: Asked, line: AuthCheck, done: LineResult) -> LineResult:
    """Raises ServerStartError, EvaluationError."""
    launch = asked.launch()
    if launch.url is None:
        return of_rule(done, Kept("unsupported", reason=_PIPES))
    headers: Mapping[str, str] | str | None = None
    if line.identity != "none":
        suffix = EXPIRED if line.identity == "expired" else suffix_of(line.scope)
        headers = headers_as(asked.server(), asked.world.names, suffix)
    if isinstance(headers, str):
        return replace(done, state="not tested", reason=headers)
    pin = await asked.pin_or_none()
    reply = await first_answer(launch, pin, headers)
    if reply.status is None:
        return replace(done, state="not tested", reason=reply.said())
    scope = asked.world.names.scope()
    opening = line.requires
    if not opening and not line.calls:
        return _expected_refusal(done, reply.status)
    said = "" if reply.result is not None else reply.said()
    done = required(done, opening, after_reply(reply, scope, opening), said)
    for step in line.calls:
        if done.state != "pass":
            return done
        if reply.result is None:
            done = required(done, step.requires, after_reply(reply, scope, step.requires), said)
        else:
            done = await _called(asked, with_identity(launch, headers), pin, step, done)
    return done


def _expected_refusal(done: LineResult, status: int) -> LineResult:
    return done if status == 401 else replace(done, state="fail", actual=f"HTTP status {status}", expected="401")


async def _called(asked: Asked, launch: Launch, pin: Pin | None, step: CallStep, done: LineResult) -> LineResult:
    """A call as this identity, through a door of its own with the rules of the check's."""
    scope = asked.world.names.scope()
    pins = {} if pin is None else {launch.server: pin}
    gateway = Gateway([launch], pins, asked.world.gateway.rules, redactor=asked.context.redactor)
    try:
        arguments = arguments_of(step.call.arguments, scope)
        permit = permitted(asked, asked.server())
        record = await gateway.call("probe", launch.server, step.call.tool, arguments, permit=permit)
    finally:
        await gateway.close()
    if record.permission.decision == "denied":
        return replace(done, state="not tested", reason=DENIED)
    failed = record.error is not None or record.is_error
    inner = with_headers(after_call(record, scope, http=True), step.requires)
    return required(done, step.requires, inner, said_of(record) if failed else "")


async def origin(asked: Asked, line: OriginCheck, done: LineResult) -> LineResult:
    """Raises ServerStartError, EvaluationError."""
    found = await origin_refused(asked.launch(), await asked.pin_or_none(), line.origin)
    return replace(done, state="not tested", reason=found) if isinstance(found, str) else of_rule(done, found)


async def oauth(asked: Asked, line: OAuthCheck, done: LineResult) -> LineResult:
    """Raises ServerStartError, EvaluationError."""
    foreign = headers_as(asked.server(), asked.world.names, OTHER_AUDIENCE) if line.rule == "audience" else ""
    kept = await holds(
        asked.launch(), await asked.pin_or_none(), line.rule, None if isinstance(foreign, str) else foreign
    )
    return of_rule(done, kept)


async def transport(asked: Asked, line: TransportCheck, done: LineResult) -> LineResult:
    """A server that is started speaks over its pipes, one with a URL over HTTP: of the other way nothing can be said.

    Raises ServerStartError, EvaluationError.
    """
    launch = asked.launch()
    if (launch.url is None) != (line.transport == "stdio"):
        reached = "the server is started and spoken to over pipes" if launch.url is None else "the server is at a URL"
        return of_rule(done, Kept("unsupported", reason=f"{reached}, so its {line.transport} cannot be tried"))
    if line.transport == "sse":
        speaks = bool(await speaks_sse(launch))
        said = "it opens no event stream with an endpoint"
    else:
        speaks, said = await _answers(asked)
    if speaks != line.rejected:
        return done
    expected = "rejected" if line.rejected else "supported"
    return replace(done, state="fail", actual="supported" if speaks else said, expected=expected)


async def _answers(asked: Asked) -> tuple[bool, str]:
    """Whether a session comes about; a server that is not there says nothing about its transports."""
    try:
        await asked.pin()
    except ServerStartError as error:
        if error.kind in ("command_missing", "not_executable", "refused", "exited"):
            raise
        return False, error.message
    return True, ""


__all__ = ["auth", "oauth", "origin", "transport"]
