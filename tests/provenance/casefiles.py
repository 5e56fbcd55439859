"""Cases of provenance as records of trials, as the harness itself would have written them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mcpeval_dsl.agents.model import ToolAnswer, ToolRequest, TurnRecord, Usage
from mcpeval_dsl.gateway.model import CallError, CallRecord, Permission, ToolDefinition
from mcpeval_dsl.records.model import PromptSpan, TrialRecord
from tests.records.samples import trial

HERE = Path(__file__).parent
_KINDS = (
    (r"rate limit|503|429", "rate"),
    (r"permission denied|not permitted|forbidden|403", "denied"),
    (r"already|conflict", "conflict"),
    (r"validation|invalid|required", "validation"),
    (r"internal|traceback", "internal"),
    (r"not found|no such|does not exist|enoent|no \w+ found|404|nothing found", "not_found"),
)
_HINTS: Mapping[str, dict[str, bool]] = {
    "ro": {"readOnlyHint": True},
    "write": {"readOnlyHint": False, "destructiveHint": False},
    "destructive": {"readOnlyHint": False, "destructiveHint": True},
    "none": {},
}


def known_cases() -> tuple[list[dict[str, Any]], tuple[ToolDefinition, ...]]:
    """The cases that the rules were made for, with the tools of all."""
    data = json.loads((HERE / "cases.json").read_text())
    tools = (
        ToolDefinition(
            "s",
            name,
            description=tool.get("description", ""),
            input_schema=tool["inputSchema"],
            annotations=tool["annotations"],
        )
        for name, tool in data["catalogue"].items()
    )
    return data["cases"], tuple(tools)


def fresh_cases(name: str = "fresh.yaml") -> tuple[list[dict[str, Any]], tuple[ToolDefinition, ...]]:
    """The cases that no rule was made for, in the form of the others."""
    data = yaml.safe_load((HERE / name).read_text())
    tools = tuple(_tool(name, tool) for name, tool in data["tools"].items())
    return [_restated(case) for case in data["cases"]], tools


def _tool(name: str, tool: dict[str, Any]) -> ToolDefinition:
    properties = {k: v if isinstance(v, dict) else {"type": v} for k, v in tool["arguments"].items()}
    schema = {"type": "object", "properties": properties}
    return ToolDefinition("s", name, input_schema=schema, annotations=_HINTS[tool["hints"]])


def _restated(case: dict[str, Any]) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    if "harvest" in case:
        tool, arguments, result = case["harvest"]
        events.append({"kind": "harvest", "id": "h", "turn": 0, "tool": tool, "args": arguments, **_result(result)})
    told: str = case["told"]
    spans: list[dict[str, Any]] = []
    while (found := re.search(r"<<(.*?)>>", told)) is not None:
        told = told[: found.start()] + found[1] + told[found.end() :]
        spans.append({"start": found.start(), "end": found.start() + len(found[1]), "name": "harvested"})
    events.append({"kind": "prompt", "turn": 0, "text": told, "spans": spans})
    for number, (turn, tool, arguments, result, *more) in enumerate(case["calls"], 1):
        said = more[0] if more else {}
        event = {"kind": "call", "id": f"c{number}", "turn": turn, "tool": tool, "args": arguments, **_result(result)}
        event |= {name: said[name] for name in ("view", "server") if name in said}
        event["flags"] = [flag for flag in ("fault", "denied", "simulated") if flag in said]
        if "at" in said:
            event["t_req"], event["t_res"] = said["at"]
        events.append(event)
    rest = {"complete": True, "expected_error": False, "schema_valid": True, "argument": case["asks"]}
    return {**case, **rest, "events": events, "call": f"c{len(case['calls'])}"}


def _result(result: Any) -> dict[str, Any]:
    if isinstance(result, dict) and "error" in result and result.keys() <= {"error", "class"}:
        return {"result": {}, "error": result.get("class", "tool_error"), "error_text": result["error"]}
    return {"result": {"text": result} if isinstance(result, str) else {"structured": result}}


def record_of(case: dict[str, Any], tools: tuple[ToolDefinition, ...]) -> tuple[TrialRecord, tuple[CallRecord, ...]]:
    """The trial of a case, and the calls of the harvests that it used."""
    hints = {tool.name: tool for tool in tools}
    events = list(enumerate(case["events"]))
    calls = [_call_of(event, n, case, hints) for n, event in events if event["kind"] == "call"]
    harvests = [_call_of(event, n, case, hints) for n, event in events if event["kind"] == "harvest"]
    prompt: dict[str, Any] = next((event for _, event in events if event["kind"] == "prompt"), {"text": ""})
    spans = tuple(PromptSpan(start=s["start"], end=s["end"], name=s["name"]) for s in prompt.get("spans") or ())
    system = "\n\n".join(
        event["text"] if event["kind"] == "system" else f"Instructions of the server s:\n{event['text']}"
        for _, event in events
        if event["kind"] in ("system", "instructions")
    )
    record = trial(
        calls=tuple(calls),
        tools=tools,
        prompt=prompt["text"],
        prompt_spans=spans,
        system=system,
        turns=_turns(case, calls),
        transcript_complete=case["complete"],
        violations=(),
        scope={},
        harvested={},
    )
    return record, tuple(harvests)


def _turns(case: dict[str, Any], calls: list[CallRecord]) -> tuple[TurnRecord, ...]:
    """What the model asked for and was told, turn by turn. A host that reports wire times of its own reports no requests."""
    views = {event.get("id"): event.get("view") for event in case["events"]}
    found = []
    native = [event for event in case["events"] if event["kind"] == "native"]
    for event in native:
        shell, said = ToolRequest("n", "shell", {}), ToolAnswer("n", event["text"])
        found.append(TurnRecord(0, "", (shell,), (said,), "tool_use", Usage(), "m", 0.0, 1.0, 0.0, 0))
    if any("t_req" in event for event in case["events"]):
        return tuple(found)
    for number in dict.fromkeys(call.turn or 0 for call in calls):
        mine = [call for call in calls if call.turn == number]
        asked = tuple(ToolRequest(f"t{call.id}", call.tool, call.arguments) for call in mine)
        told = tuple(ToolAnswer(f"t{call.id}", views.get(call.id) or call.text, call.is_error) for call in mine)
        found.append(TurnRecord(number, "", asked, told, "tool_use", Usage(), "m", 0.0, 1.0, 0.0, 0))
    return tuple(found)


def kind_of(event: dict[str, Any]) -> str:
    if event["error"] in ("timeout", "transport_error"):
        return "timeout" if event["error"] == "timeout" else "crash"
    text = (event.get("error_text") or "").lower()
    return next((kind for pattern, kind in _KINDS if re.search(pattern, text)), "unknown")


def _error_of(event: dict[str, Any]) -> CallError | None:
    flags = event.get("flags") or []
    if "denied" in flags:
        return CallError("denied", "denied", event.get("error_text") or "", cause="policy")
    if "fault" in flags:
        return CallError("injected", "unknown", event.get("error_text") or "", cause="fault")
    if not event.get("error"):
        return None
    return CallError(event["error"], kind_of(event), event.get("error_text") or "")


def _call_of(
    event: dict[str, Any], number: int, case: dict[str, Any], tools: Mapping[str, ToolDefinition]
) -> CallRecord:
    flags = event.get("flags") or []
    tool = event["tool"]
    hints = tools[tool].annotations if tool in tools else {}
    sent = float(event.get("t_req", number * 10.0))
    result = event.get("result") or {}
    text = result.get("text", json.dumps(result["structured"]) if "structured" in result else "")
    error = _error_of(event)
    return CallRecord(
        id=event["id"],
        actor="harvest" if event["kind"] == "harvest" else "agent",
        server=event.get("server", "s"),
        tool=tool,
        wire_name=tool,
        turn=event["turn"],
        arguments=event.get("args") or {},
        at_ms=sent,
        duration_ms=float(event.get("t_res", sent + 1)) - sent,
        permission=Permission(
            "denied" if "denied" in flags else "simulated" if "simulated" in flags else "allowed",
            "readonly" if hints.get("readOnlyHint") else "destructive" if hints.get("destructiveHint") else "unknown",
        ),
        schema_valid=case["schema_valid"] if event["id"] == case["call"] else True,
        error=error,
        is_error=error is not None and error.error_class == "tool_error",
        text=text or (error.message if error is not None else ""),
        structured=result.get("structured"),
        has_structured="structured" in result,
    )
