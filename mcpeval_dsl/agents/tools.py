"""Between catalogue and driver: the tools of all servers as one provider can take them.

Every tool keeps one canonical name (server, tool) in all measures; the wire name is for the provider only. Arguments are
judged by the server's own schema in the gateway, never by the rewritten one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from mcpeval_dsl.agents.breakage import MAX_TOOLS, catalogue_findings, findings
from mcpeval_dsl.agents.model import WireTool
from mcpeval_dsl.agents.names import Affixes, wire_names
from mcpeval_dsl.agents.rewrites import rewrite
from mcpeval_dsl.gateway.model import ToolDefinition


@dataclass(frozen=True, slots=True)
class PreparedTools:
    """`error` is set where the provider would refuse the list as a whole; then nothing may be sent."""

    wire: tuple[WireTool, ...]
    by_wire_name: Mapping[str, WireTool]
    findings: tuple[str, ...]
    error: str | None = None

    @property
    def rewrites(self) -> tuple[str, ...]:
        """All lossy rewrites, each with its tool's canonical name."""
        return tuple(f"{tool.server}.{tool.tool}: {text}" for tool in self.wire for text in tool.rewrites)


def provider_of(driver: str) -> str:
    """Provider family behind a driver's name: `anthropic`, `litellm:openai` → `openai`, `litellm:vertex_ai` → `gemini`."""
    family = driver.rpartition(":")[2]
    if family in ("anthropic", "script", "replay"):
        return family
    return "gemini" if family.startswith(("gemini", "vertex", "google")) else "openai"


def prepare_tools(
    provider: str,
    tools: tuple[ToolDefinition, ...],
    prefix: str = "",
    suffix: str = "",
    affixes: Affixes | None = None,
    *,
    deferred: bool = False,
) -> PreparedTools:
    """Legal unique names, schemas the provider takes, and what that cost. Tools that are not usable are left out, said so.

    `deferred`: they are shown as they are found, so that their number is no matter.
    """
    usable = tuple(tool for tool in tools if tool.usable)
    names = wire_names([(tool.server, tool.name) for tool in usable], prefix, suffix, affixes=affixes)
    wire = tuple(_wire_tool(provider, tool, name) for tool, name in zip(usable, names, strict=True))
    found = [f"{tool.server}.{tool.name}: not offered: {tool.finding}" for tool in tools if not tool.usable]
    for tool in usable:
        found += findings(tool)
    found += catalogue_findings(usable)
    error = None
    if provider == "openai" and len(usable) > MAX_TOOLS and not deferred:
        error = f"{len(usable)} tools, and this provider takes {MAX_TOOLS}: narrow them with `tools only …`"
    return PreparedTools(wire, {tool.wire_name: tool for tool in wire}, tuple(found), error)


def _wire_tool(provider: str, tool: ToolDefinition, name: str) -> WireTool:
    schema, lost = rewrite(provider, tool.input_schema)
    return WireTool(name, tool.server, tool.name, tool.description, schema, lost)


class ToolPreparation:
    """Remembers preparations, since every trial of a cell offers the same list. Bounded."""

    def __init__(self) -> None:
        self._prepare = lru_cache(maxsize=64)(self._made)
        self._lists: dict[tuple[tuple[str, str, str], ...], tuple[ToolDefinition, ...]] = {}

    def prepare(
        self,
        provider: str,
        tools: tuple[ToolDefinition, ...],
        prefix: str = "",
        suffix: str = "",
        affixes: Affixes | None = None,
        *,
        deferred: bool = False,
    ) -> PreparedTools:
        """`prepare_tools`, remembered by digests where every tool has one."""
        if not all(tool.sha256 for tool in tools):
            return prepare_tools(provider, tools, prefix, suffix, affixes, deferred=deferred)
        identity = tuple((tool.server, tool.name, tool.sha256) for tool in tools)
        if len(self._lists) > 64:
            self._lists.clear()
            self._prepare.cache_clear()
        self._lists.setdefault(identity, tools)
        around = tuple(sorted((affixes or {}).items()))
        return self._prepare(provider, identity, prefix, suffix, around, deferred)

    def _made(
        self,
        provider: str,
        identity: tuple[tuple[str, str, str], ...],
        prefix: str,
        suffix: str,
        around: tuple[tuple[str, tuple[str, str]], ...],
        deferred: bool,
    ) -> PreparedTools:
        tools = self._lists[identity]
        return prepare_tools(provider, tools, prefix, suffix, dict(around), deferred=deferred)
