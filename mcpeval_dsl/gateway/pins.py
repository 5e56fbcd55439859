"""A pin as JSON and back: what the record of a probe carries, so that every trial connects the same way.

Place in the pipeline: beside the probe; plain data in both directions.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from mcpeval_dsl.gateway.model import Pin, ServerInfo, ToolDefinition


def pin_to_json(pin: Pin) -> dict[str, Any]:
    """The pin as plain JSON values."""
    return asdict(pin) | {"tools": [asdict(tool) for tool in pin.tools], "findings": list(pin.findings)}


def pin_from_json(data: dict[str, Any]) -> Pin:
    """The inverse of `pin_to_json`. Raises KeyError or TypeError for what is no pin."""
    return Pin(
        data["server"],
        data["era"],
        data["revision"],
        data["state"],
        ServerInfo(**data["info"]),
        tuple(ToolDefinition(**tool) for tool in data["tools"]),
        tuple(data["findings"]),
    )
