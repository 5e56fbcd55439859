"""What a lock file tells the checker about a server's tools, without any contact with the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from mcpeval_dsl.frozen import dataclass


@dataclass(frozen=True, slots=True)
class KnownTool:
    """`input_schema` and `output_schema` are JSON Schemas as the server gave them; hints are None where absent."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


@dataclass(frozen=True, slots=True)
class KnownServer:
    """The tools of one server as locked, by name."""

    server: str
    tools: Mapping[str, KnownTool] = field(default_factory=dict)
