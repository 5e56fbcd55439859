"""Requests and turns for tests of drivers."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.agents.model import Message, Settings, TurnRequest
from mcpeval_dsl.agents.tools import prepare_tools
from tests.agents.conversation import GET, LIST, context


def request(*messages: Message, **changes: Any) -> TurnRequest:
    """A first turn over the two tools of `conversation`, unless messages say otherwise."""
    fields: dict[str, Any] = {
        "system": "Be brief.",
        "messages": messages or (Message("user", "Which issue is late?"),),
        "tools": prepare_tools("script", (LIST, GET)).wire,
        "settings": Settings(),
        "context": context(),
    }
    return TurnRequest(**{**fields, **changes})
