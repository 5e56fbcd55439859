"""The door as a server of its own: a foreign host speaks MCP to it, in either era, and it to the servers of the trial.

Place in the pipeline: around the same `Gateway` as in process. Standard output is protocol only (the SDK turns file
descriptor 1 over to standard error); every call is in the spool before the host has its answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcpeval_dsl import __version__
from mcpeval_dsl.gateway.connection import silence_sdk
from mcpeval_dsl.gateway.control import Control
from mcpeval_dsl.gateway.decoys import Decoys
from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.faults import Faults
from mcpeval_dsl.gateway.model import CallRecord, ServerStartError, ToolDefinition
from mcpeval_dsl.gateway.passing import PASSED, Passed, correlation
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.gateway.spool import SPOOL_FORMAT, Spool, Spooled, attempt_line, call_line, read_spool

Context = ServerRequestContext[Any]
PARENT_SECONDS = 1.0
PROGRESS_QUEUE = 256


class Proxy:
    """One process's share of a trial. `serve_stdio` and `proxy_http.serve_http` give it a transport."""

    def __init__(self, control: Control) -> None:
        silence_sdk()
        self.control = control
        self.process = uuid.uuid4().hex[:12]
        before = read_spool(Path(control.spool))
        self.spool = Spool(Path(control.spool))
        self.redactor = Redactor(dict(control.secrets))
        self.gateway = Gateway(
            control.launches,
            control.pins,
            control.rules,
            redactor=self.redactor,
            hard_calls=control.hard_calls,
            private=frozenset(control.private),
            allow_drift=control.allow_drift,
            show_protocol_errors=control.show_protocol_errors,
            elicit=lambda _: control.elicit,
            faults=faults_of(control, before),
        )
        self.gateway.decoys = Decoys(control.distractors, control.seed)
        # A host that starts its server anew does not get a new budget with it.
        self.gateway.charged = before.charged
        self.gateway.guard.watch_for(control.canaries)
        self.gateway.guard.bounds = control.bounds
        self.shown = self._shown()
        self.server: Server[Any] = Server(
            control.name,
            version=__version__,
            instructions=control.instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self._attempts = 0
        self._ended = False
        self._hosts: set[str] = set()
        self._opening: asyncio.Task[None] | None = None

    def _shown(self) -> dict[str, ToolDefinition]:
        """Tools by the name that the host sees."""
        offered = {(tool.server, tool.name): tool for tool in (*self.gateway.tools(), *self.control.distractors)}
        wanted = self.control.tools or tuple((server, tool, tool) for server, tool in offered)
        return {name: offered[server, tool] for server, tool, name in wanted if (server, tool) in offered}

    async def begin(self) -> None:
        """Note the start, and start the servers while the host still makes up its mind."""
        start = {"type": "start", "format": SPOOL_FORMAT, "process": self.process, "pid": os.getpid()}
        await self.spool.put({**start, "trial": self.control.trial})
        self._opening = asyncio.create_task(self._open())

    async def _open(self) -> None:
        names = {tool.server for tool in self.shown.values() if not tool.distractor}
        try:
            await self.gateway.open(sorted(names))
        except ServerStartError as problem:
            await self._note(f"server {problem.server}: {problem.message}")

    async def _note(self, message: str) -> None:
        clean, _ = self.redactor.text(message)
        await self.spool.put({"type": "problem", "process": self.process, "message": clean})

    async def end(self) -> None:
        """End every server; what is left to say goes into the spool. Safe to call while cancelled."""
        if self._ended:
            return
        self._ended = True
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        await self.gateway.close()
        for finding in self.gateway.findings:
            await self._note(finding)
        self.spool.close()

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        await self._met(context)
        return types.ListToolsResult(tools=[_offered(name, tool) for name, tool in self.shown.items()])

    async def _met(self, context: Context) -> None:
        """The host's own word on who it is, once."""
        known = context.session.client_params
        said = known.client_info.model_dump(mode="json", by_alias=True, exclude_none=True) if known is not None else {}
        name = f"{said.get('name')} {said.get('version')} {context.protocol_version}"
        if name not in self._hosts:
            self._hosts.add(name)
            host = {**self.redactor.value(said)[0], "revision": context.protocol_version}
            await self.spool.put({"type": "host", "process": self.process, "host": host})

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        await self._met(context)
        tool = self.shown.get(params.name)
        if self._opening is not None:
            await asyncio.shield(self._opening)
        server = tool.server if tool is not None else next((each.server for each in self.shown.values()), "")
        meta = correlation(context.params.get("_meta") if context.params is not None else None)
        record = await self._carried(
            server, tool.name if tool else params.name, params.arguments or {}, params.name, meta, context
        )
        error = record.error
        if self.control.show_protocol_errors and error is not None and error.error_class == "protocol_error":
            raise MCPError(error.code if error.code is not None else types.INTERNAL_ERROR, error.message, error.data)
        return _result(record)

    async def _carried(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        name: str,
        meta: Mapping[str, Any],
        context: Context,
    ) -> CallRecord:
        """One call through the door, in the spool before the server sees it and before the host sees the answer."""
        self._attempts += 1
        number = self._attempts
        clean, _ = self.redactor.value({"arguments": dict(arguments), "meta": dict(meta)})
        attempt = CallRecord(f"a{number}", "agent", server, tool, clean["arguments"], name)
        self.spool.put_now(attempt_line(self.process, number, attempt, clean["meta"]), sync=False)
        place, begun = len(self.gateway.calls), len(self.gateway.violations)
        said: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue(PROGRESS_QUEUE)
        telling = asyncio.create_task(_tell_progress(said, context))
        token = PASSED.set(Passed(meta, lambda params: _keep_up(said, params)))
        try:
            record = await self.gateway.call("agent", server, tool, arguments, wire_name=name)
        except asyncio.CancelledError:
            record = self.gateway.calls[place]
            with contextlib.suppress(OSError):
                self.spool.put_now(call_line(self.process, number, record, self._violations(record.id, begun)))
            telling.cancel()
            raise
        finally:
            PASSED.reset(token)
        await said.put(None)
        await telling
        await self.spool.put(call_line(self.process, number, record, self._violations(record.id, begun)))
        return record

    def _violations(self, call: str, begun: int) -> list[Any]:
        return [each for each in self.gateway.violations[begun:] if each.call == call]


def faults_of(control: Control, before: Spooled) -> Faults:
    """The trial's faults, as far as they have come: a host that starts its server anew does not meet them again."""
    launches = {launch.server: launch for launch in control.launches}
    named = {server: catalogue.name for server, catalogue in control.rules.catalogues.items()}
    faults = Faults(control.faults, control.seed, control.rules.scope, named)
    faults.count(before.calls, launches)
    return faults


def _keep_up(said: asyncio.Queue[Mapping[str, Any] | None], params: Mapping[str, Any]) -> None:
    """Progress is told as far as the host keeps up; a flood of it is thinned out."""
    if said.qsize() < PROGRESS_QUEUE - 1:
        said.put_nowait(params)


async def _tell_progress(said: asyncio.Queue[Mapping[str, Any] | None], context: Context) -> None:
    """In the server's order, and all of it before the answer."""
    while (params := await said.get()) is not None:
        progress, total, message = (params.get(name) for name in ("progress", "total", "message"))
        if isinstance(progress, int | float):
            ended = total if isinstance(total, int | float) else None
            words = message if isinstance(message, str) else None
            await context.session.report_progress(progress, ended, words)


def _offered(name: str, tool: ToolDefinition) -> types.Tool:
    """A tool as its server gave it, under the name of this host."""
    data: dict[str, Any] = {"name": name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
    data |= {"title": tool.title, "annotations": dict(tool.annotations) or None, "outputSchema": tool.output_schema}
    kept = {key: value for key, value in data.items() if value is not None}
    try:
        return types.Tool.model_validate(kept)
    except ValidationError:
        return types.Tool.model_validate({key: kept[key] for key in ("name", "description", "inputSchema")})


def _result(record: CallRecord) -> types.CallToolResult:
    """What the host is given: what came over the wire where it went well, else the door's own words."""
    data: dict[str, Any] = {"content": [{"type": "text", "text": record.text}], "isError": record.is_error}
    if record.content and record.error is None and not record.truncated:
        data["content"] = list(record.content)
    if record.has_structured and not record.is_error:
        data["structuredContent"] = record.structured
    try:
        return types.CallToolResult.model_validate(data)
    except ValidationError:
        data["content"] = [{"type": "text", "text": record.text}]
        return types.CallToolResult.model_validate(data)


async def serve_stdio(control: Control) -> None:
    """Until the host closes its end, or is gone. Raises OSError where the spool cannot be written."""
    proxy = Proxy(control)
    await proxy.begin()
    try:
        async with stdio_server() as (read, write):
            serving = asyncio.create_task(proxy.server.run(read, write, proxy.server.create_initialization_options()))
            watching = asyncio.create_task(until_orphaned())
            try:
                await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
                left = serving.done()
            except asyncio.CancelledError:
                left = False
            for task in (serving, watching):
                task.cancel()
            await asyncio.wait({serving, watching})
            await proxy.end()
            if not left:
                # A thread still waits for the host's next word, and nothing but the end of the process ends it.
                os._exit(0)
    finally:
        await asyncio.shield(proxy.end())


async def until_orphaned() -> None:
    """Returns when the process that started this one is gone, though something may still hold its pipe."""
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_SECONDS)
