"""Records for the tests of this room and of those that read records."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from mcpeval_dsl.agents.model import Answer, ToolAnswer, ToolRequest, TurnRecord, Usage
from mcpeval_dsl.gateway.model import CallError, CallRecord, Violation
from mcpeval_dsl.records.model import AgentIdentity, HarvestRecord, Manifest, OutcomeRecord, TrialRecord
from mcpeval_dsl.values.model import Reading


def manifest(plan: bytes = b"", **changes: Any) -> Manifest:
    """Of a run that is made with the plan file `plan`."""
    values: dict[str, Any] = {
        "run": "r1",
        "plan_key": "a" * 64,
        "plan_sha256": sha256(plan).hexdigest(),
        "harness_version": "0.1.0",
        "python": "3.11.7",
        "packages": {"mcp": "2.3.0"},
    }
    return Manifest(**(values | changes))


def call(id_: str, tool: str = "get_issue", **changes: Any) -> CallRecord:
    values: dict[str, Any] = {"actor": "agent", "server": "tracker", "arguments": {"key": "A-1"}, "charged": True}
    return CallRecord(id=id_, tool=tool, **(values | changes))


def trial(id_: str = "label_it@canned#1", **changes: Any) -> TrialRecord:
    group, _, number = id_.rpartition("#")
    task, _, cell = group.partition("@")
    turn = TurnRecord(
        1,
        "looking",
        (ToolRequest("t1", "get_issue", {"key": "A-1"}),),
        (ToolAnswer("t1", "{}"),),
        "tool_use",
        Usage(10, 5, cost_usd=0.01),
        "m",
        0.0,
        1.0,
        0.0,
        0,
    )
    values: dict[str, Any] = {
        "id": id_,
        "key": f"key-{id_}",
        "suite": "demo",
        "task": task,
        "cell": cell,
        "trial": int(number),
        "seed": 1,
        "agent": AgentIdentity(host="loop", host_version="1", model=cell, driver="script"),
        "prompt": "Which issue?",
        "turns": (turn,),
        "calls": (call("c1", text='{"key": "A-1"}', structured={"key": "A-1"}, has_structured=True),),
        "answer": Answer("given", "A-1 ✓", parsed=False),
        "termination": "answered",
        "violations": (Violation("destructive call", "critical", ("attempted", "blocked"), "c1"),),
        "evidence": {"before:x": Reading(text="t", fields={"exit": 0})},
        "scope": {"billing": {"key": "A-1", "n": 1.5, "none": None}},
        "model_turns": 1,
    }
    return TrialRecord(**(values | changes))


def outcome(word: str = "pass", **changes: Any) -> OutcomeRecord:
    values: dict[str, Any] = {
        "outcome": word,
        "printed": word,
        "success": word == "pass",
        "correct": word in ("pass", "too_many_calls"),
        "counts_in_n": word != "untestable",
    }
    return OutcomeRecord(**(values | changes))


def harvest(id_: str = "billing", **changes: Any) -> HarvestRecord:
    error = CallError("tool_error", "not_found", "no such project")
    values: dict[str, Any] = {
        "key": f"key-{id_}",
        "harvest": id_,
        "status": "ok",
        "value": {"key": "A-1"},
        "calls": (call("h1", actor="harvest", error=error, is_error=True),),
    }
    return HarvestRecord(id=id_, **(values | changes))
