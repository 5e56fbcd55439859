"""Provenance: could something have been taken away between the moment a server named it and the moment it was asked for?

Anything that may write counts, unless it only adds; the replay of a lead sorts out the rest.
"""

from __future__ import annotations

import re

from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.provenance.roles import word_set, words

_READING = word_set(
    "get list read show find search fetch describe lookup query view log stat status diff count check "
    "exists head tail tree info history blame grep browse inspect select summarize resolve"
)
_CHANGING_ONLY = frozenset({"update", "edit", "comment", "label", "assign", "create", "add", "insert", "append"})
_TAKING_PROGRAM = re.compile(r"\b(?:drop|truncate)\s+\w|\bdelete\s+from\b|\balter\s+table\b|\brename\s+\w|\brm\s", re.I)
_TAKING = frozenset({"delete", "remove", "drop", "move", "rename", "archive", "purge", "reset", "close", "merge"})


def may_take_away(call: CallRecord, tool: ToolDefinition | None) -> bool:
    """True for a call that was sent and may have removed, moved or renamed something."""
    if call.permission.decision != "allowed":
        return False
    if call.error is not None and call.error.error_class not in ("timeout", "transport_error"):
        return False
    if any(isinstance(value, str) and _TAKING_PROGRAM.search(value) for value in call.arguments.values()):
        return True
    said = set(words(call.tool))
    hints = tool.annotations if tool is not None else {}
    if call.permission.effect == "readonly" or hints.get("readOnlyHint") is True:
        return False
    if said & _TAKING or call.permission.effect == "destructive":
        return True
    if call.permission.effect == "additive" or said & _CHANGING_ONLY:
        return not call.arguments
    return not (said & _READING and hints.get("readOnlyHint") is not False)


def surely_takes(call: CallRecord) -> bool:
    """Of a call that may take away: whether that is what it is for, or all it could do. Else a replay may decide."""
    program = any(isinstance(value, str) and _TAKING_PROGRAM.search(value) for value in call.arguments.values())
    destructive = bool(set(words(call.tool)) & _TAKING) or call.permission.effect == "destructive"
    return program or destructive or not call.arguments
