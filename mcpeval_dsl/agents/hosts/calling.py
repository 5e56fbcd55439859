"""Inside a host: carries out the calls of one turn, and says what the model is told about each.

Calls to servers go through the gateway; native tools are used here, and kept apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mcpeval_dsl.agents.hosts.offer import Offer
from mcpeval_dsl.agents.model import (
    CallReply,
    CallTool,
    HostProfile,
    NativeCall,
    NativeReply,
    NativeTool,
    Settings,
    Termination,
    ToolAnswer,
    ToolRequest,
)
from mcpeval_dsl.agents.results import bad_arguments, limit_result, unknown_tool


class ToolCaller:
    """One trial's calls. `largest_result` is in characters, before any limit; `clock` gives ms since the agent began."""

    def __init__(
        self, profile: HostProfile, settings: Settings, offer: Offer, call: CallTool, clock: Callable[[], float]
    ) -> None:
        self._limit = profile.tool_result_limit
        self._parallel = profile.parallel_tools and settings.parallel_tools
        self._offer = offer
        self._call = call
        self._clock = clock
        self._native: dict[int, NativeCall] = {}
        self._begun = 0
        self.findings: list[str] = []
        self.largest_result = 0

    @property
    def native(self) -> tuple[NativeCall, ...]:
        """Uses of native tools, in the order they were begun."""
        return tuple(self._native[number] for number in sorted(self._native))

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
        native = self._offer.native(request.wire_name)
        if native is not None:
            return await self._use(native, request, turn), None
        tool = self._offer.tool(request.wire_name)
        if tool is None:
            self.findings.append(f"unknown_tool: {request.wire_name}")
            return ToolAnswer(request.id, unknown_tool(request.wire_name, self._offer.names()), True), None
        if request.problem is not None:
            self.findings.append(f"malformed_arguments: {tool.server}.{tool.tool}")
            return ToolAnswer(request.id, bad_arguments(request.problem), True), None
        reply: CallReply = await self._call(tool.server, tool.tool, request.arguments, turn, request.wire_name)
        text = self._limited(reply.text, f"{tool.server}.{tool.tool} ({reply.call})")
        return ToolAnswer(request.id, text, reply.is_error), reply.stop

    async def _use(self, native: NativeTool, request: ToolRequest, turn: int) -> ToolAnswer:
        """A tool of the host's own: used, recorded, and no call to a server."""
        began, name = self._clock(), native.definition.name
        self._begun += 1
        number = self._begun
        if request.problem is not None:
            self.findings.append(f"malformed_arguments: {name}")
            reply = NativeReply(bad_arguments(request.problem), True, refused="malformed arguments")
        else:
            reply = await native.use(request.arguments)
        kept = NativeCall(
            f"n{number}",
            name,
            request.wire_name,
            request.arguments,
            turn,
            at_ms=began,
            duration_ms=self._clock() - began,
            text=reply.text,
            is_error=reply.is_error,
            exit=reply.exit,
            status=reply.status,
            refused=reply.refused,
            truncated=reply.truncated,
        )
        self._native[number] = kept
        return ToolAnswer(request.id, self._limited(reply.text, f"{name} ({kept.id})"), reply.is_error)

    def _limited(self, whole: str, shown: str) -> str:
        self.largest_result = max(self.largest_result, len(whole))
        text, left_out = limit_result(whole, self._limit)
        if left_out:
            self.findings.append(f"truncated: {shown}, {left_out} characters left out")
        return text
