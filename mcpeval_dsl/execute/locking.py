"""What a probe learnt, in the form that a lock file keeps."""

from __future__ import annotations

from typing import Literal

from mcpeval_dsl.gateway.model import Pin
from mcpeval_dsl.plan.model import LockedServer, LockedTool


def locked(server: str, pin: Pin, transport: Literal["stdio", "streamable-http"]) -> LockedServer:
    """A pin as the lock keeps it; a broken tool keeps its digest and says what is wrong in `findings`."""
    state = pin.state.get("capabilities") if isinstance(pin.state, dict) else None
    return LockedServer(
        server=server,
        title=pin.info.name,
        version=pin.info.version,
        revision=pin.revision,
        era=pin.era,
        transport=transport,
        instructions=pin.info.instructions,
        capabilities=dict(state) if isinstance(state, dict) else {},
        tools=tuple(
            LockedTool(
                name=tool.name,
                title=tool.title,
                description=tool.description or None,
                input_schema=dict(tool.input_schema) if tool.usable else None,
                output_schema=dict(tool.output_schema) if tool.output_schema is not None else None,
                annotations=dict(tool.annotations) or None,
                sha256=tool.sha256,
            )
            for tool in pin.tools
        ),
        catalogue_sha256=pin.info.catalogue_sha256,
        findings=(*pin.findings, *(f"tool `{tool.name}`: {tool.finding}" for tool in pin.tools if tool.finding)),
    )
