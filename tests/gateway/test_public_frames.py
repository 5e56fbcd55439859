"""Error classes of what public servers answered: recorded once, judged by hand beside each call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.gateway.errors import classify
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.gateway.schemas import Validators
from mcpeval_dsl.gateway.wire import WireResult

FRAMES = Path(__file__).parent / "frames"
SERVERS = sorted(json.loads((FRAMES / "calls.json").read_text(encoding="utf-8")))
CALLS = [
    pytest.param(call, id=f"{name}-{call['case']}")
    for name in SERVERS
    for call in json.loads((FRAMES / f"{name}.json").read_text(encoding="utf-8"))["calls"]
]


def wire_of(answer: dict[str, Any]) -> WireResult:
    error = answer.get("error")
    if error is None:
        return WireResult("result", result=answer["result"])
    return WireResult("rpc_error", code=error["code"], message=error["message"], data=error.get("data"))


@pytest.mark.parametrize("call", CALLS)
def test_what_a_public_server_said_is_classed_as_it_was_meant(call: dict[str, Any]) -> None:
    tool = ToolDefinition("s", call["tool"], output_schema=call["output_schema"], sha256=call["case"])
    error = classify(wire_of(call["answer"]), tool, Validators())
    assert (None if error is None else [error.error_class, error.kind]) == call["expected"]


def test_the_frames_are_of_many_servers_and_revisions() -> None:
    recorded = [json.loads((FRAMES / f"{name}.json").read_text(encoding="utf-8")) for name in SERVERS]
    assert len(recorded) >= 10
    assert {server["revision"] for server in recorded} >= {"2024-11-05", "2025-11-25", "2026-07-28"}


def test_an_unknown_tool_means_the_same_wherever_it_is_said_and_is_counted_apart() -> None:
    said = [call.values[0] for call in CALLS if str(call.id).endswith("-unknown_tool")]
    errors = [classify(wire_of(call["answer"])) for call in said]
    kinds = {(error.error_class, error.kind) for error in errors if error is not None}
    assert {("protocol_error", "not_found"), ("tool_error", "not_found")} <= kinds
    codes = {error.code for error in errors if error is not None and error.kind == "not_found"}
    assert -32602 in codes  # in a JSON-RPC error, and in the text of a tool's error alike
