"""Interchange: which call showed the agent the value of an argument, told by the project's own provenance over the session."""

from __future__ import annotations

import json

from mcpeval_dsl.gateway.model import CallError, CallRecord
from mcpeval_dsl.interchange.transcripts.session import Called, Session
from mcpeval_dsl.provenance.arguments import Argument, arguments
from mcpeval_dsl.provenance.origin import Origin, origins
from mcpeval_dsl.records.model import AgentIdentity, TrialRecord


def traced(session: Session) -> dict[str, list[tuple[Argument, Origin]]]:
    """Origin of every argument of every call, by the call's id. `source` of a result is the id of the call that gave it."""
    calls = _records(session)
    record = TrialRecord(
        id="session",
        key="",
        suite="",
        task="",
        cell="",
        trial=1,
        seed=0,
        agent=AgentIdentity(host="", host_version="", model="", driver=""),
        prompt="\n".join(said.text for said in session.said),
        system=session.system,
        transcript_complete=session.other == 0,
        calls=tuple(calls),
        termination="answered",
    )
    asked = [(call, argument) for call in calls for argument in arguments(call, {})]
    found: dict[str, list[tuple[Argument, Origin]]] = {}
    for (call, argument), origin in zip(asked, origins(record, asked), strict=True):
        found.setdefault(call.id, []).append((argument, origin))
    return found


def _shown(called: Called) -> str:
    """Hosts hand structured content on; where the text does not say it, it was shown beside it."""
    if called.structured is None or called.text.lstrip().startswith(("{", "[")):
        return called.text
    return f"{called.text}\n{json.dumps(called.structured, ensure_ascii=False, default=str)}"


def _records(session: Session) -> list[CallRecord]:
    """Lines stand for the wire's clock: what was decided on together could not know of each other."""
    return [
        CallRecord(
            id=called.id,
            actor="agent",
            server=called.server,
            tool=called.tool,
            arguments=called.arguments,
            at_ms=float(called.begin),
            duration_ms=float(max(called.end - called.begin, 0)) + 0.5,
            is_error=called.is_error,
            error=CallError("tool_error", "unknown", called.text[:200]) if called.is_error else None,
            text=_shown(called),
            structured=called.structured,
            has_structured=called.structured is not None,
        )
        for called in session.calls
    ]
