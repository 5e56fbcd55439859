"""What a scripted trial costs the harness in the loop alone: CPU milliseconds a trial, without server, gateway or store.

Run: `python benchmarks/loop_bench.py`. The whole harness has 20 ms a trial; this part is to stay under 3 ms. The bare loop
makes the same two calls, and reads and writes the same JSON, with nothing around it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from figures import heading, show

from mcpeval_dsl.agents.drivers.script import ScriptDriver
from mcpeval_dsl.agents.hosts.loop import LOOP_VERSION, LoopHost
from mcpeval_dsl.agents.model import Assignment, CallReply, HostProfile, Settings, TrialContext
from mcpeval_dsl.gateway.model import ToolDefinition

LIMIT_MS = 3.0
COUNT = 1000
SCRIPT = """
tasks:
  t:
    - call: {tool: tool_3, arguments: {key: "{{ capture(prompt, 'issue (.*)') }}"}}
    - call: {tool: tool_4, arguments: {key: "{{ last.structured.key }}"}}
    - reply: {answer: "{{ last.structured.key }}"}
"""


async def call(server: str, tool: str, arguments: Mapping[str, Any], turn: int, wire: str) -> CallReply:
    return CallReply("c", '{"key": "B-1", "items": [1, 2, 3]}', False)


async def trials(driver: ScriptDriver, count: int) -> float:
    """CPU seconds of `count` trials over 40 tools."""
    schema = {"type": "object", "properties": {"key": {"type": "string"}}}
    tools = tuple(ToolDefinition("s", f"tool_{i}", input_schema=schema, sha256=str(i)) for i in range(40))
    host = LoopHost(HostProfile("loop", LOOP_VERSION))
    started = time.process_time()
    for index in range(count):
        context = TrialContext(f"t#{index}", "t", "cell", index, 7)
        work = Assignment("issue B-1", "", tools, {}, "text", None, Settings(), context)
        result = await host.run(work, driver, call)
        assert result.answer.text == "B-1"
    return time.process_time() - started


async def bare(count: int) -> float:
    """CPU seconds of what each trial cannot do without."""
    started = time.process_time()
    for _ in range(count):
        key = "B-1"
        for tool in ("tool_3", "tool_4"):
            reply = await call("s", tool, json.loads(json.dumps({"key": key})), 1, "")
            key = json.loads(reply.text)["key"]
        assert json.loads(json.dumps({"answer": key}))["answer"] == "B-1"
    return time.process_time() - started


def main() -> int:
    heading(__file__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.yaml"
        path.write_text(SCRIPT, "utf-8")
        driver = ScriptDriver(path)
        asyncio.run(trials(driver, 1))
        cost = min(asyncio.run(trials(driver, COUNT)) for _ in range(3))
    least = min(asyncio.run(bare(COUNT)) for _ in range(3))
    within = show(
        "loop, one trial of two calls", cost / COUNT * 1000, "ms", LIMIT_MS, ("bare loop", least / COUNT * 1000)
    )
    return int(not within)


if __name__ == "__main__":
    sys.exit(main())
