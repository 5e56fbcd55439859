"""From a wire result, a ruling or a failure of ours to the call record: texts for the model, limits, effect unknown.

Place in the pipeline: the last but one step of the door, before redaction; pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcpeval_dsl.gateway.errors import MESSAGE, classify
from mcpeval_dsl.gateway.model import LOST, CallError, CallRecord, Stop, ToolDefinition
from mcpeval_dsl.gateway.results import (
    STORED_BYTES,
    blocks_of,
    bounded,
    bounded_blocks,
    compact,
    model_text,
    resource_text,
)
from mcpeval_dsl.gateway.schemas import Validators
from mcpeval_dsl.gateway.wire import WireResult

UNAVAILABLE = "The tool is unavailable."


def with_wire(
    record: CallRecord,
    wire: WireResult,
    tool: ToolDefinition | None,
    validators: Validators,
    *,
    show_protocol_errors: bool,
    writes: bool,
) -> CallRecord:
    """The record of a call that went to its server. `writes` False where the call is known to be read-only."""
    error = classify(wire, tool, validators)
    if wire.result is not None:
        return _with_result(record, wire, wire.result, error)
    record = replace(
        record, error=error, duration_ms=wire.duration_ms, result_bytes=wire.size, result_sha256=wire.sha256
    )
    assert error is not None
    lost = error.error_class in ("timeout", "transport_error", "invalid_result")
    text = told(error, show_protocol_errors)
    return replace(record, text=text, is_error=True, effect_unknown=lost and writes)


def _with_result(
    record: CallRecord, wire: WireResult, result: Mapping[str, Any], error: CallError | None
) -> CallRecord:
    text, cut = bounded(model_text(result))
    structured = result.get("structuredContent")
    # A structured result is as large as its text; only where the whole answer is large does it need to be measured.
    large = wire.size > STORED_BYTES and len(compact(structured)) > STORED_BYTES
    return replace(
        record,
        error=error,
        duration_ms=wire.duration_ms,
        result_bytes=wire.size,
        result_sha256=wire.sha256,
        text=text,
        is_error=result.get("isError") is True,
        structured=None if large else structured,
        has_structured="structuredContent" in result,
        content=bounded_blocks(blocks_of(result)),
        truncated=cut or large or wire.cut,
    )


def with_resource(record: CallRecord, wire: WireResult) -> CallRecord:
    """The record of a resource that was read: its contents as text, the wire's entries as content."""
    record = replace(record, duration_ms=wire.duration_ms, result_bytes=wire.size, result_sha256=wire.sha256)
    if wire.result is None:
        error = classify(wire)
        assert error is not None
        return replace(record, error=error, text=told(error, True), is_error=True)
    contents = wire.result.get("contents")
    entries = tuple(entry for entry in contents if isinstance(entry, Mapping)) if isinstance(contents, list) else ()
    text, cut = bounded("\n".join(resource_text(entry) for entry in entries))
    if not isinstance(contents, list):
        problem = CallError("invalid_result", "unknown", "contents of a resource is not a list")
        return replace(record, error=problem, text=UNAVAILABLE, is_error=True)
    blocks = tuple({"type": "resource", "resource": entry} for entry in entries)
    return replace(record, text=text, content=bounded_blocks(blocks), truncated=cut or wire.cut)


def told(error: CallError, show_protocol_errors: bool) -> str:
    """What the model is told where the server gave no result: one neutral sentence for each cause."""
    if error.error_class == "protocol_error" and show_protocol_errors:
        return f"MCP error {error.code}: {error.message}" if error.code is not None else error.message
    if error.error_class == "timeout":
        return f"The tool did not answer in time ({error.message})."
    if error.error_class == "transport_error" and error.kind in LOST:
        return f"{UNAVAILABLE} The connection to its server was lost."
    return UNAVAILABLE


def refused(record: CallRecord, message: str, stop: Stop | None = None, kind: str = "denied") -> CallRecord:
    """The record of a call that we did not make; to the model it is an ordinary tool error."""
    error = CallError("denied", kind, message, cause="policy")
    return replace(record, error=error, text=f"Error: {message}", is_error=True, charged=False, stop=stop)


def injected(record: CallRecord) -> CallRecord:
    """The record of a call that a fault answered, told apart from what servers do; kind and message stay."""
    error = record.error or CallError("injected", "unknown", record.text[:MESSAGE])
    return replace(record, error=replace(error, error_class="injected", cause="fault"))


def simulated(record: CallRecord, value: Any) -> CallRecord:
    """The record of a call answered in the server's place."""
    if isinstance(value, str):
        return replace(record, text=value, content=({"type": "text", "text": value},), result_bytes=len(value.encode()))
    text = compact(value)
    block = {"type": "text", "text": text}
    size = len(text.encode())
    return replace(record, text=text, structured=value, has_structured=True, content=(block,), result_bytes=size)
