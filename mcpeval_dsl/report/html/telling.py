"""Report, the page: one trial as the page's reader shows it, plain JSON data with every text bounded.

Where each argument of the agent's calls came from is worked out here for all calls, not for failing ones alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcpeval_dsl.agents.model import Exchange, NativeCall
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.arguments import Argument, arguments
from mcpeval_dsl.provenance.origin import Origin, origins
from mcpeval_dsl.records.model import ArgumentTrace, TrialRecord, VerdictRecord
from mcpeval_dsl.report.causes import in_words
from mcpeval_dsl.report.tracing import said
from mcpeval_dsl.report.trials import instance_of, printed

_LONGEST = 20_000
_DEEPEST = 24
_WIDEST = 400
_BEFORE = ("setup", "harvest", "reference")


def told(record: TrialRecord) -> dict[str, Any]:
    """Everything of a trial that a person may want to see; what is empty is left out."""
    calls = {call.id: call for call in record.calls}
    traces = _traces(record, calls)
    shown = [_call(call, traces.get(call.id, [])) for call in record.calls]
    pairs = list(zip(record.calls, shown, strict=True))
    of_turn: dict[int, list[dict[str, Any]]] = {}
    for call, data in pairs:
        if call.actor == "agent":
            of_turn.setdefault(call.turn or 0, []).append(data)
    for native in record.native_calls:
        of_turn.setdefault(native.turn, []).append(_native(native))
    turns = [_turn(turn, of_turn.pop(turn.number, [])) for turn in record.turns]
    return _filled(
        {
            **_head(record),
            "prompt": _text(record.prompt),
            "spans": [[span.start, span.end, span.name] for span in record.prompt_spans],
            "system": _text(record.system),
            "tools": [f"{tool.server}.{tool.name}" for tool in record.tools],
            "native_tools": [tool.name for tool in record.native_tools],
            "before": [data for call, data in pairs if call.actor in _BEFORE],
            "turns": turns,
            "exchanges": [_exchange(exchange, pairs) for exchange in record.exchanges],
            "user": _user(record),
            "loose": [data for left in of_turn.values() for data in left],
            "after": [data for call, data in pairs if call.actor not in ("agent", "user", *_BEFORE)],
            "answer": _answer(record),
            "verdicts": [_verdict(verdict) for verdict in record.verdicts],
            "violations": [
                _filled(
                    {"kind": v.kind, "severity": v.severity, "stages": v.stages, "call": v.call, "detail": v.detail}
                )
                for v in record.violations
            ],
            "injections": [
                {"at": each.at, "place": each.place, "planted": each.planted, "obeyed": each.obeyed}
                for each in record.injections
            ],
            "leads": [lead.model_dump(mode="json", exclude_none=True) for lead in record.leads],
            "redactions": record.redactions,
        }
    )


def _head(record: TrialRecord) -> dict[str, Any]:
    outcome, agent, usage = record.outcome, record.agent, record.usage
    return {
        "id": record.id,
        "instance": instance_of(record),
        "cell": record.cell,
        "number": record.trial,
        "printed": printed(record),
        "outcome": outcome.outcome if outcome is not None else "",
        "because": [in_words(cause) for cause in outcome.because] if outcome and outcome.because else None,
        "kind": outcome.failure_kind if outcome is not None else None,
        "layer": outcome.layer if outcome is not None else None,
        "flags": outcome.flags if outcome is not None else record.flags,
        "trouble": record.trouble.message if record.trouble is not None else "",
        "ended": record.termination,
        "agent": _filled({"model": agent.model, "host": agent.host, "answered": agent.provider_model}),
        "servers": [
            _filled({"name": s.name, "version": s.version, "revision": s.revision, "transport": s.transport})
            for s in record.servers
        ],
        "usage": {"in": usage.input_tokens, "out": usage.output_tokens, "cost": usage.cost_usd},
        "ms": round(record.timing.agent_ms, 1),
        "waited": round(record.timing.waited_ms, 1),
        "budget": [record.counts.charged, record.budget.calls_soft, record.budget.calls_hard],
        "policy": record.policy,
        "sandbox": record.sandbox,
        "seed": str(record.seed),
        "complete": record.transcript_complete,
    }


def _turn(turn: Any, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return _filled(
        {
            "n": turn.number,
            "text": _text(turn.text),
            "stop": turn.stop,
            "ms": round(turn.duration_ms, 1),
            "retries": turn.retries,
            "calls": calls,
            "unread": [_text(request.problem) for request in turn.requests if request.problem],
        }
    )


def _exchange(exchange: Exchange, pairs: list[tuple[CallRecord, dict[str, Any]]]) -> dict[str, Any]:
    """What the user said before model turn `first`, and did with tools of its own."""
    calls = [data for call, data in pairs if call.actor == "user" and call.turn == exchange.first - 1]
    return _filled(
        {
            "n": exchange.number,
            "said": _text(exchange.said),
            "by": exchange.by,
            "first": exchange.first,
            "shown": exchange.shown,
            "calls": calls,
        }
    )


def _user(record: TrialRecord) -> dict[str, Any]:
    user = record.user
    if user is None:
        return {}
    return _filled({"ended": user.ended, "closing": _text(user.closing), "model": user.model})


def _native(call: NativeCall) -> dict[str, Any]:
    """The use of a tool that no server has, in the form of a call."""
    return _filled(
        {
            "id": call.id,
            "native": True,
            "tool": call.tool,
            "arguments": bounded(call.arguments),
            "ms": round(call.duration_ms, 1),
            "text": _text(call.text),
            "cut": call.truncated,
            "bytes": len(call.text),
            "refused": call.refused,
            "failed": call.is_error,
            "exit": "" if call.exit is None else str(call.exit),
            "status": call.status,
        }
    )


def _call(call: CallRecord, traces: list[dict[str, Any]]) -> dict[str, Any]:
    permission, error = call.permission, call.error
    data: dict[str, Any] = {
        "id": call.id,
        "by": "" if call.actor == "agent" else call.actor,
        "server": call.server,
        "tool": call.tool,
        "arguments": bounded(call.arguments),
        "from": traces,
        "ms": round(call.duration_ms, 1),
        "free": not call.charged and call.actor == "agent",
        "misfits": call.schema_errors,
        "text": _text(call.text),
        "bytes": call.result_bytes,
        "cut": call.truncated,
        "unknown_effect": call.effect_unknown,
        "fault": call.fault,
        "distractor": call.distractor,
        "elicited": call.elicited,
        "planted": call.planted,
    }
    if permission.decision != "allowed":
        data["permission"] = [permission.decision, permission.effect, permission.source, permission.rule]
    if error is not None:
        data["error"] = [error.error_class, error.kind, _text(error.message), error.cause]
    elif not call.text and call.has_structured:
        data["structured"] = bounded(call.structured)
    return _filled(data)


def _traces(record: TrialRecord, calls: Mapping[str, CallRecord]) -> dict[str, list[dict[str, Any]]]:
    """By call, for each of its arguments: JSON pointer, verdict, origin, source call, words."""
    schemas = {(tool.server, tool.name): tool.input_schema for tool in record.tools}
    asked: list[tuple[CallRecord, Argument]] = [
        (call, argument)
        for call in record.calls
        if call.actor == "agent"
        for argument in arguments(call, schemas.get((call.server, call.tool), {}))[:_WIDEST]
    ]
    known = {(trace.call, trace.argument): trace for trace in record.arguments}
    found: dict[str, list[dict[str, Any]]] = {}
    for (call, argument), origin in zip(asked, origins(record, asked), strict=True):
        trace = known.get((call.id, argument.pointer)) or _as_trace(call, argument, origin)
        data = {"at": argument.pointer, "verdict": trace.verdict, "origin": trace.origin, "said": said(trace, calls)}
        if trace.source in calls:
            data["call"] = trace.source
        if trace.vouched_by is not None:
            data["vouch"] = trace.vouch
        found.setdefault(call.id, []).append(data)
    return found


def _as_trace(call: CallRecord, argument: Argument, origin: Origin) -> ArgumentTrace:
    return ArgumentTrace(
        call=call.id,
        argument=argument.pointer,
        value="",
        verdict=origin.verdict,
        origin=origin.origin,
        source=origin.source,
        form=origin.form,
    )


def _answer(record: TrialRecord) -> dict[str, Any]:
    answer = record.answer
    return _filled(
        {
            "form": answer.form,
            "text": _text(answer.text),
            "reasoning": _text(answer.reasoning),
            "feedback": _text(answer.feedback),
        }
    )


def _verdict(verdict: VerdictRecord) -> dict[str, Any]:
    return _filled(
        {
            "verdict": verdict.verdict,
            "kind": verdict.kind,
            "at": verdict.at,
            "deciding": verdict.deciding,
            "turn": verdict.turn,
            "expected": _text(verdict.expected),
            "actual": _text(verdict.actual),
            "reason": _text(verdict.reason or verdict.missing_because),
            "parts": [_verdict(part) for part in verdict.parts],
        }
    )


def _text(text: str | None) -> str:
    """At most so many characters, so that no trial makes the page heavy."""
    if not text or len(text) <= _LONGEST:
        return text or ""
    return f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} more characters".replace(",", " ")


def bounded(value: Any, depth: int = 0) -> Any:
    """The value with long texts, long lists and deep nesting cut, each saying so."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return "… deeper"
        kept = {str(key): bounded(item, depth + 1) for key, item in list(value.items())[:_WIDEST]}
        return kept if len(value) <= _WIDEST else {**kept, "…": f"{len(value) - _WIDEST} more"}
    if isinstance(value, list | tuple):
        return _bounded_list(value, depth)
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _bounded_list(value: Sequence[Any], depth: int) -> Any:
    if depth >= _DEEPEST:
        return "… deeper"
    kept = [bounded(item, depth + 1) for item in value[:_WIDEST]]
    return kept if len(value) <= _WIDEST else [*kept, f"… {len(value) - _WIDEST} more"]


def _filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty."""
    return {key: value for key, value in data.items() if value not in (None, "", (), [], {}, False)}
