"""Provenance: did a server refuse a call that its own schema allows, for a reason that a JSON Schema could have said?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord

_NAME = r"[\"'`]?([A-Za-z_][A-Za-z0-9_.]*)[\"'`]?"
_REQUIRED = (
    re.compile(_NAME + r":? (?:field required|is a required (?:property|field|argument|parameter)|is required)", re.I),
    re.compile(
        r"missing (?:a )?(?:\d+ )?required (?:positional )?(?:property|field|argument|parameter)s?:? " + _NAME, re.I
    ),
    re.compile(r"required (?:property|field|argument|parameter):? " + _NAME + r" (?:is )?missing", re.I),
)
_NOT_VALID = re.compile(r"invalid (?:value|enum)|is not (?:a )?valid|not a valid|must be one of|is not one of", re.I)


def schema_could_say(call: CallRecord, schema: Mapping[str, Any]) -> str | None:
    """JSON pointer of the argument concerned; None for a refusal that a schema could not have said.

    An argument that is demanded but neither given nor declared required; a value of the schema's own enum, or its own
    default, that is refused; a closed list of values that the schema does not have.
    """
    message = call.error.message if call.error is not None else ""
    required = schema.get("required")
    declared = set(required) if isinstance(required, list) else set()
    for pattern in _REQUIRED:
        for name in pattern.findall(message):
            if name not in call.arguments and name not in declared:
                return f"/{name}"
    if not _NOT_VALID.search(message):
        return None
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    for name, value in call.arguments.items():
        if isinstance(value, str) and value and value in message and _promised(value, known.get(name), message):
            return f"/{name}"
    return None


def _promised(value: str, schema: Any, message: str) -> bool:
    if not isinstance(schema, Mapping):
        return False
    enum = schema.get("enum")
    if isinstance(enum, list):
        return value in enum
    closed = "one of" in message and not {"pattern", "format", "const", "anyOf", "oneOf", "$ref"} & schema.keys()
    return schema.get("default") == value or closed
