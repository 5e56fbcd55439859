"""What the tests of this room share: a tool box without a server, and one trial run with a driver."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mcpeval_dsl.agents.drivers.script import ScriptDriver
from mcpeval_dsl.agents.hosts.loop import LOOP_VERSION, LoopHost
from mcpeval_dsl.agents.model import Assignment, CallReply, Driver, HostProfile, HostResult, Settings, TrialContext
from mcpeval_dsl.gateway.model import ToolDefinition

LIST = ToolDefinition(
    "tracker",
    "list_issues",
    description="Issues of a project",
    input_schema={"type": "object", "properties": {"project": {"type": "string"}}, "required": ["project"]},
)
GET = ToolDefinition(
    "tracker",
    "get_issue",
    description="One issue",
    input_schema={"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
)
ISSUES = {"issues": [{"key": "B-1", "items": 3, "title": "late"}, {"key": "B-2", "items": 5, "title": "early"}]}

Answering = Callable[[str, Mapping[str, Any]], CallReply]


class ToolBox:
    """Stands where the gateway stands: answers calls from a function and remembers them in order."""

    def __init__(self, answering: Answering | None = None) -> None:
        self.calls: list[tuple[str, str, dict[str, Any], int, str]] = []
        self._answering = answering or usual

    async def __call__(self, server: str, tool: str, arguments: Mapping[str, Any], turn: int, wire: str) -> CallReply:
        self.calls.append((server, tool, dict(arguments), turn, wire))
        await asyncio.sleep(0)
        return self._answering(tool, arguments)


def usual(tool: str, arguments: Mapping[str, Any]) -> CallReply:
    """`list_issues` gives both issues, `get_issue` the one asked for or an error."""
    if tool == "list_issues":
        return CallReply("c1", json.dumps(ISSUES), False)
    found = [issue for issue in ISSUES["issues"] if issue["key"] == arguments.get("key")]
    return CallReply("c2", json.dumps(found[0]), False) if found else CallReply("c2", "no such issue", True)


def context(task: str = "t", index: int = 1, seed: int = 7, **facts: Any) -> TrialContext:
    return TrialContext(f"{task}@cell#{index}", task, "cell", index, seed, facts)


def assignment(**changes: Any) -> Assignment:
    """A plain assignment over the two tools; `changes` are fields of Assignment."""
    fields: dict[str, Any] = {
        "prompt": "Which issue is late?",
        "system": "",
        "tools": (LIST, GET),
        "instructions": {},
        "answer_form": "text",
        "answer_schema": None,
        "settings": Settings(),
        "context": context(),
    }
    return Assignment(**{**fields, **changes})


def profile(**changes: Any) -> HostProfile:
    return HostProfile(**{"name": "loop", "version": LOOP_VERSION, **changes})


def run(driver: Driver, box: ToolBox | None = None, host: HostProfile | None = None, **changes: Any) -> HostResult:
    """One trial of `driver`, which is closed afterwards."""

    async def trial() -> HostResult:
        try:
            return await LoopHost(host or profile()).run(assignment(**changes), driver, box or ToolBox())
        finally:
            await driver.close()

    return asyncio.run(trial())


def scripted(folder: Path, text: str) -> ScriptDriver:
    path = folder / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return ScriptDriver(path, "script.yaml")
