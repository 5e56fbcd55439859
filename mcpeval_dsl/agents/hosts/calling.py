"""Inside a host: carries out the calls of one turn through the gateway, and says what the model is told about each."""

from __future__ import annotations

import asyncio

from mcpeval_dsl.agents.model import (
    CallReply,
    CallTool,
    HostProfile,
    Settings,
    Termination,
    ToolAnswer,
    ToolRequest,
)
from mcpeval_dsl.agents.results import bad_arguments, limit_result, unknown_tool
from mcpeval_dsl.agents.tools import PreparedTools


class ToolCaller:
    """One trial's calls. `largest_result` is in characters, before any limit."""

    def __init__(self, profile: HostProfile, settings: Settings, tools: PreparedTools, call: CallTool) -> None:
        self._limit = profile.tool_result_limit
        self._parallel = profile.parallel_tools and settings.parallel_tools
        self._tools = tools
        self._call = call
        self.findings: list[str] = []
        self.largest_result = 0

    async def answer(
        self, requests: tuple[ToolRequest, ...], turn: int
    ) -> tuple[tuple[ToolAnswer, ...], Termination | None]:
        """Answers in the order of the requests, and the gateway's wish to end, if any.

        One after the other, the first wish to end leaves the rest uncalled; in parallel all have been sent by then.
        """
        if self._parallel and len(requests) > 1:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(request, turn)) for request in requests]
            done = [task.result() for task in tasks]
        else:
            done = []
            for request in requests:
                done.append(await self._one(request, turn))
                if done[-1][1] is not None:
                    break
        stops = [stop for _, stop in done if stop is not None]
        return tuple(answer for answer, _ in done), (stops[0] if stops else None)

    async def _one(self, request: ToolRequest, turn: int) -> tuple[ToolAnswer, Termination | None]:
        tool = self._tools.by_wire_name.get(request.wire_name)
        if tool is None:
            self.findings.append(f"unknown_tool: {request.wire_name}")
            return ToolAnswer(request.id, unknown_tool(request.wire_name, tuple(self._tools.by_wire_name)), True), None
        if request.problem is not None:
            self.findings.append(f"malformed_arguments: {tool.server}.{tool.tool}")
            return ToolAnswer(request.id, bad_arguments(request.problem), True), None
        reply: CallReply = await self._call(tool.server, tool.tool, request.arguments, turn, request.wire_name)
        self.largest_result = max(self.largest_result, len(reply.text))
        text, left_out = limit_result(reply.text, self._limit)
        if left_out:
            self.findings.append(f"truncated: {tool.server}.{tool.tool} ({reply.call}), {left_out} characters left out")
        return ToolAnswer(request.id, text, reply.is_error), reply.stop
