"""The trial's door as an MCP server: what a foreign host calls, in either era, is carried out as any call of an agent.

Place in the pipeline: in the run, around the same `Gateway` that the host in process uses; `outlet` gives it a transport.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcpeval_dsl import __version__
from mcpeval_dsl.gateway.connection import silence_sdk
from mcpeval_dsl.gateway.model import CallRecord, Stop, ToolDefinition
from mcpeval_dsl.gateway.passing import PASSED, Passed, correlation
from mcpeval_dsl.gateway.results import readable_object
from mcpeval_dsl.gateway.underway import CallsUnderWay, Context, UnderWay

PROGRESS_QUEUE = 256

Carry = Callable[[str, str, Mapping[str, Any], int, str], Awaitable[CallRecord]]
"""Makes a call of the agent: server, tool, arguments, turn, name that the host used."""


class Proxy:
    """One trial's, for all connections of its host. `hosts` are their own words on who they are, with the revision; `stop` is
    why the host is to be ended, once there is a reason.

    `shown` are tools by the names that the host sees. Turns are counted by answers: calls that a host makes before it has
    any new answer are of one turn.
    """

    def __init__(
        self,
        carry: Carry,
        shown: Mapping[str, ToolDefinition],
        *,
        instructions: str | None = None,
        show_protocol_errors: bool = False,
    ) -> None:
        silence_sdk()
        self.hosts: list[Mapping[str, Any]] = []
        self.stop: Stop | None = None
        self.calls = CallsUnderWay()
        self._carry = carry
        self._shown = shown
        self._show_protocol_errors = show_protocol_errors
        self._turn, self._answered = 0, True
        self.server: Server[Any] = Server(
            "mcpe",
            version=__version__,
            instructions=instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        self._met(context)
        return types.ListToolsResult(tools=[_offered(name, tool) for name, tool in self._shown.items()])

    def _met(self, context: Context) -> None:
        known = context.session.client_params
        said = known.client_info.model_dump(mode="json", by_alias=True, exclude_none=True) if known is not None else {}
        host = {**said, "revision": context.protocol_version}
        if host not in self.hosts:
            self.hosts.append(host)

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        self._met(context)
        if params.request_state is None:
            call = self._begun(context, params)
        else:
            resumed = self.calls.resumed(context, params.request_state, params.input_responses)
            if resumed is None:
                raise MCPError(types.INVALID_PARAMS, "no call waits for this answer")
            call = resumed
        wanted = await self.calls.until_told(call)
        if wanted is not None:
            return wanted
        record = await call.task
        self._answered = True
        self.stop = self.stop or record.stop
        error = record.error
        if self._show_protocol_errors and error is not None and error.error_class == "protocol_error":
            raise MCPError(error.code if error.code is not None else types.INTERNAL_ERROR, error.message, error.data)
        return _result(record)

    def _begun(self, context: Context, params: types.CallToolRequestParams) -> UnderWay:
        if self._answered:
            self._turn, self._answered = self._turn + 1, False
        tool = self._shown.get(params.name)
        server = tool.server if tool is not None else next((each.server for each in self._shown.values()), "")
        meta = correlation(context.params.get("_meta") if context.params is not None else None)
        call = UnderWay(server, context)
        arguments = params.arguments or {}
        self.calls.begin(call, self._carried(call, tool.name if tool else params.name, arguments, params.name, meta))
        return call

    async def _carried(
        self, call: UnderWay, tool: str, arguments: Mapping[str, Any], name: str, meta: Mapping[str, Any]
    ) -> CallRecord:
        """One call through the door; progress is told in the server's order, and all of it before the answer."""
        said: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue(PROGRESS_QUEUE)
        telling = asyncio.create_task(_tell_progress(said, call))
        PASSED.set(Passed(meta, lambda params: _keep_up(said, params)))
        try:
            record = await self._carry(call.server, tool, arguments, self._turn, name)
            await said.put(None)
            await telling
            return record
        finally:
            telling.cancel()


def _keep_up(said: asyncio.Queue[Mapping[str, Any] | None], params: Mapping[str, Any]) -> None:
    """Progress is told as far as the host keeps up; a flood of it is thinned out."""
    if said.qsize() < PROGRESS_QUEUE - 1:
        said.put_nowait(params)


async def _tell_progress(said: asyncio.Queue[Mapping[str, Any] | None], call: UnderWay) -> None:
    while (params := await said.get()) is not None:
        progress, total, message = (params.get(name) for name in ("progress", "total", "message"))
        if isinstance(progress, int | float):
            ended = total if isinstance(total, int | float) else None
            words = message if isinstance(message, str) else None
            await call.context.session.report_progress(progress, ended, words)


def _offered(name: str, tool: ToolDefinition) -> types.Tool:
    """A tool as its server gave it, under the name of this host."""
    data: dict[str, Any] = {"name": name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
    data |= {"title": tool.title, "annotations": dict(tool.annotations) or None, "outputSchema": tool.output_schema}
    kept = {key: value for key, value in data.items() if value is not None}
    try:
        return types.Tool.model_validate(kept)
    except ValidationError:
        return types.Tool.model_validate({key: kept[key] for key in ("name", "description", "inputSchema")})


def _block(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A content block as it came; one that a record keeps only the size of as words that say so."""
    if block.get("type") in ("image", "audio") and not block.get("data") and "bytes" in block:
        return {"type": "text", "text": f"[{block['type']} {block.get('mimeType', '')}, {block['bytes']} bytes]"}
    return block


def _result(record: CallRecord) -> types.CallToolResult:
    """What the host is given: what came over the wire where it went well, else the door's own words."""
    text = {"type": "text", "text": record.text}
    data: dict[str, Any] = {"content": [text], "isError": record.is_error}
    if record.content and record.error is None and not record.truncated:
        blocks = [_block(block) for block in record.content]
        others = [block for block in blocks if block.get("type") != "text"]
        data["content"] = [text, *others] if record.planted else blocks
    if record.has_structured and not record.is_error:
        changed = readable_object(record.text) if record.planted else None
        data["structuredContent"] = record.structured if changed is None else changed
    try:
        return types.CallToolResult.model_validate(data)
    except ValidationError:
        data["content"] = [text]
        return types.CallToolResult.model_validate(data)
