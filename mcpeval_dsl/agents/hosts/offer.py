"""Inside a host: what the model is offered in one trial. Tools of servers, at once or as they are found, and native ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcpeval_dsl.agents.hosts.search import MOST_FOUND, ToolIndex
from mcpeval_dsl.agents.model import NativeReply, NativeTool, WireTool
from mcpeval_dsl.agents.tools import PreparedTools
from mcpeval_dsl.gateway.model import ToolDefinition

SEARCH = "tool_search"
"""Name of the tool by which the others are found."""


class Offer:
    """`wire` grows as tools are found; a native tool keeps its own name unless a server's tool has it."""

    def __init__(
        self,
        tools: PreparedTools,
        native: tuple[NativeTool, ...] = (),
        *,
        deferred: bool = False,
        withheld: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        """`withheld` are (server, tool) that are there for nobody until they are shown."""
        self._tools = tools
        self._withheld = {tool.wire_name for tool in tools.wire if (tool.server, tool.tool) in withheld}
        self._index = ToolIndex(tools.wire) if deferred else None
        self._found: dict[str, WireTool] = {}
        search = (self._search(),) if deferred and tools.wire else ()
        self._native: dict[str, NativeTool] = {}
        for tool in (*search, *native):
            name = tool.definition.name
            self._native[name if name not in tools.by_wire_name else f"host__{name}"] = tool
        self._own = tuple(_wire(name, tool.definition) for name, tool in self._native.items())

    @property
    def wire(self) -> tuple[WireTool, ...]:
        """What the next turn is offered, native tools last."""
        shown = self._tools.wire if self._index is None else tuple(self._found.values())
        return (*(tool for tool in shown if tool.wire_name not in self._withheld), *self._own)

    def show(self, tools: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Puts withheld (server, tool) on offer; their names on the wire."""
        wanted = set(tools)
        shown = tuple(
            tool.wire_name
            for tool in self._tools.wire
            if tool.wire_name in self._withheld and (tool.server, tool.tool) in wanted
        )
        self._withheld.difference_update(shown)
        return shown

    @property
    def natives(self) -> tuple[ToolDefinition, ...]:
        return tuple(tool.definition for tool in self._native.values())

    def native(self, wire_name: str) -> NativeTool | None:
        return self._native.get(wire_name)

    def tool(self, wire_name: str) -> WireTool | None:
        """A server's tool that the model may call now."""
        known = self._tools.by_wire_name if self._index is None else self._found
        return known.get(wire_name) if wire_name not in self._withheld else None

    def names(self) -> tuple[str, ...]:
        return tuple(tool.wire_name for tool in self.wire)

    def _search(self) -> NativeTool:
        servers = ", ".join(dict.fromkeys(tool.server for tool in self._tools.wire))
        schema = {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What the tool should do, in a few words."}},
            "required": ["query"],
        }
        text = (
            f"Finds tools among {len(self._tools.wire)} of {servers}. Those found can be called from the next turn on; "
            f"at most {MOST_FOUND} are found at a time."
        )
        return NativeTool(ToolDefinition("", SEARCH, description=text, input_schema=schema), self._find)

    async def _find(self, arguments: Mapping[str, Any]) -> NativeReply:
        query = arguments.get("query")
        if not isinstance(query, str) or self._index is None:
            return NativeReply("`query` is a text.", True, refused="no query")
        found = tuple(tool for tool in self._index.find(query) if tool.wire_name not in self._withheld)
        self._found |= {tool.wire_name: tool for tool in found}
        if not found:
            return NativeReply("No tool was found. Try other words.")
        lines = [f"- {tool.wire_name}: {_first_line(tool.description)}" for tool in found]
        return NativeReply("\n".join(["These tools can be called now:", *lines]))


def _wire(name: str, tool: ToolDefinition) -> WireTool:
    return WireTool(name, tool.server, tool.name, tool.description, tool.input_schema)


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:200]
