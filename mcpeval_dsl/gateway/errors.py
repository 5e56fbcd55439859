"""Error classes and kinds of one call, judged by what was on the wire and not by what an SDK made of it.

Place in the pipeline: from a wire result to the `CallError` of a call record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcpeval_dsl.gateway.model import CallError, ToolDefinition
from mcpeval_dsl.gateway.results import blocks_of, model_text
from mcpeval_dsl.gateway.schemas import Validators, schema_key
from mcpeval_dsl.gateway.wire import WireResult

# The first kind whose words are found decides; "not found" goes before "invalid", since servers say both at once.
KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        ("rate", r"rate.?limit|too many requests|\b429\b|quota|throttl|slow down"),
        ("expired", r"\bexpired?\b|no longer valid|\bstale\b|session (?:has )?ended"),
        (
            "denied",
            r"permission|forbidden|unauthori[sz]ed|not (?:allowed|permitted|authori[sz]ed)|access denied|\b40[13]\b|read.?only|"
            r"\bonly (?:\w+ ){1,3}(?:is|are) (?:allowed|permitted)",
        ),
        (
            "not_found",
            r"not found|no such|does(?: not|n't) exist|unknown (?:tool|resource|\w+ id)|(?:could not|cannot|can't) find|"
            r"there is no\b|\bno \w+ (?:with|named|called)\b|\bno (?:\w+ ){1,3}found\b|"
            r"did not resolve\b|(?:could|can) ?not (?:be )?resolved?\b|\b404\b",
        ),
        ("conflict", r"already (?:exists|\w+ed)\b|conflict|duplicate|unique constraint|\blocked\b|\b409\b"),
        (
            "validation",
            r"invalid|validation|required|missing|must (?:be|not|have)|expected|malformed|out of range|unsupported|"
            r"not a valid|illegal|syntax error|cannot specify|mutually exclusive|(?:division|divided?) by zero|"
            r"unknown (?:unit|identifier|option|argument|parameter|property|field|format|type)\b|\b422\b|\b400\b|-3260[02]",
        ),
        (
            "internal",
            r"internal (?:server )?error|exception|traceback|unexpected|panic|segmentation|error executing|\b50[0-4]\b|-32603",
        ),
        ("business", r"cannot|can't|insufficient|not enough|exceed|\bclosed\b|\barchived\b|not open|only .* can\b"),
    )
)
_CODES = {-32601: "not_found", -32602: "validation", -32600: "validation", -32603: "internal", -32700: "internal"}
_STATUSES = {400: "validation", 401: "denied", 403: "denied", 404: "not_found", 409: "conflict", 429: "rate"}
_SAYS_ERROR = re.compile(
    r"\s*(?:mcp error -32\d{3}\b|(?:[\w.]+ ){0,2}?[\w.]*(?:error|exception)\s*:|traceback \(most recent|"
    r"(?:encountered|received|caught) (?:\w+ ){1,3}(?:error|exception)\s*:)",
    re.IGNORECASE,
)
_ERROR_ELEMENT = re.compile(r"<error>[^<>]*</error>\s*$", re.IGNORECASE)
_FAILED_STATUS = re.compile(r"(?:\w+_)?(?:error|not_found)$", re.IGNORECASE)
_CODE_IN_TEXT = re.compile(r"MCP error (-32\d{3})")
_ERROR_FIELDS = frozenset(
    {"error", "errors", "message", "code", "status", "success", "ok", "details", "detail", "hint"}
)
ERROR_TEXT = 2_000
MESSAGE = 2_000


def kind_of(text: str) -> str:
    """The kind of trouble a text speaks of, `unknown` where no word is known."""
    head = text[:ERROR_TEXT]
    return next((kind for kind, words in KINDS if words.search(head)), "unknown")


def classify(
    wire: WireResult, tool: ToolDefinition | None = None, validators: Validators | None = None
) -> CallError | None:
    """The error of a call, None for a good result. `tool` gives the output schema to hold the result against."""
    error = _class_of(wire, tool, validators)
    if error is None or (wire.status is None and not wire.headers):
        return error
    return replace(error, status=wire.status, headers=dict(wire.headers))


def _class_of(wire: WireResult, tool: ToolDefinition | None, validators: Validators | None) -> CallError | None:
    if wire.ending == "result":
        # Of a result that was cut, only the ends of its text are known: no schema can be held against them.
        return _result_error(wire.result or {}, None if wire.cut else tool, validators)
    if wire.ending == "rpc_error":
        kind = kind_of(wire.message)
        kind = _CODES.get(wire.code or 0, kind) if kind in ("unknown", "business") else kind
        return CallError("protocol_error", kind, wire.message[:MESSAGE], wire.code, wire.data)
    if wire.ending == "malformed":
        return CallError("invalid_result", "unknown", wire.message[:MESSAGE], wire.code)
    if wire.ending == "timeout":
        return CallError("timeout", "timeout", wire.message[:MESSAGE])
    if wire.ending == "http_error":
        status = wire.code or 0
        kind = _STATUSES.get(status, "internal" if status >= 500 else "unknown")
        return CallError("transport_error", kind, _http_words(wire), status)
    kind = "crash" if wire.exit_code is not None else "closed"
    return CallError(
        "transport_error", "resource_limit" if wire.limit is not None else kind, _death_words(wire), wire.exit_code
    )


def _http_words(wire: WireResult) -> str:
    extra = [f"{name}: {wire.headers[name]}" for name in ("retry-after", "www-authenticate") if name in wire.headers]
    return wire.message + (f" ({'; '.join(extra)})" if extra else "")


def _death_words(wire: WireResult) -> str:
    tail = wire.stderr_tail.strip()[-MESSAGE:]
    return f"{wire.message}; the end of its standard error:\n{tail}" if tail else wire.message


def _result_error(
    result: Mapping[str, Any], tool: ToolDefinition | None, validators: Validators | None
) -> CallError | None:
    text = model_text(result)
    shape = shape_problem(result)
    if result.get("isError") is True:
        return CallError("tool_error", kind_of(text), text[:MESSAGE], _code_in(text))
    if shape is not None:
        return CallError("invalid_result", "unknown", shape)
    said = error_in_success(result, text)
    if said is not None:
        return CallError("error_in_success", kind_of(said), said[:MESSAGE], _code_in(said))
    problem = output_problem(result, tool, validators)
    return None if problem is None else CallError("invalid_result", "validation", problem[:MESSAGE])


def _code_in(text: str) -> int | None:
    found = _CODE_IN_TEXT.search(text[:ERROR_TEXT])
    return int(found.group(1)) if found else None


def shape_problem(result: Mapping[str, Any]) -> str | None:
    """What is wrong with the shape of a tool's result, whatever any schema says."""
    content = result.get("content")
    if content is None:
        return None if "structuredContent" in result else "the result has neither content nor structuredContent"
    if not isinstance(content, list):
        return f"content is {_type_word(content)}, not a list"
    flag = result.get("isError")
    if flag is not None and not isinstance(flag, bool):
        return f"isError is {json.dumps(flag, default=str)[:60]}, not true or false"
    for number, block in enumerate(content, start=1):
        problem = _block_problem(block)
        if problem is not None:
            return f"content block {number}: {problem}"
    return None


def _block_problem(block: Any) -> str | None:
    if not isinstance(block, Mapping):
        return f"{_type_word(block)}, not an object"
    needed = {"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}
    kind = block.get("type")
    if kind not in needed:
        return f"unknown type {kind!r}"
    value = block.get(needed[kind])
    wanted: type[Any] = Mapping if kind == "resource" else str
    return None if isinstance(value, wanted) else f"{needed[kind]} is {_type_word(value)}"


def _type_word(value: Any) -> str:
    if value is None:
        return "missing"
    words = {str: "a text", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return words.get(type(value), "something else")


def error_in_success(result: Mapping[str, Any], text: str) -> str | None:
    """What a result that claims success says of an error: servers do that, and a model may take it for an answer."""
    if len(text) <= ERROR_TEXT and len(blocks_of(result)) <= 1:
        if _SAYS_ERROR.match(text) or _ERROR_ELEMENT.search(text):
            return text
        if text.lstrip().startswith("{"):
            try:
                if _admits_failure(json.loads(text)):
                    return text
            except ValueError:
                return None
    structured = result.get("structuredContent")
    return text or json.dumps(structured, default=str) if _admits_failure(structured) else None


def _admits_failure(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    if value.get("success") is False or value.get("ok") is False:
        return True
    if not value.keys() <= _ERROR_FIELDS:
        return False
    status = value.get("status")
    return bool(value.get("error")) or (isinstance(status, str) and _FAILED_STATUS.match(status) is not None)


def output_problem(result: Mapping[str, Any], tool: ToolDefinition | None, validators: Validators | None) -> str | None:
    """How structuredContent breaks the tool's own outputSchema; None where it does not or where nothing can be said."""
    if tool is None or tool.output_schema is None or validators is None:
        return None
    if "structuredContent" not in result:
        return "the tool declares an outputSchema and gave no structuredContent"
    key = schema_key(tool.sha256, "output", tool.output_schema)
    problems = validators.problems(key, tool.output_schema, result["structuredContent"])
    return f"structuredContent breaks the outputSchema: {'; '.join(problems)}" if problems else None
