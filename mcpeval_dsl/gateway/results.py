"""What a tool's result is to the model and to the record: text from content blocks, within limits.

Place in the pipeline: after the wire, before redaction and the call record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

STORED_BYTES = 4 * 1024 * 1024
BLOB_BYTES = 64 * 1024


def blocks_of(result: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The content blocks that are objects, without their `_meta`."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else ()
    return tuple(_without_meta(block) for block in blocks if isinstance(block, Mapping))


def _without_meta(block: Mapping[str, Any]) -> Mapping[str, Any]:
    return block if "_meta" not in block else {key: value for key, value in block.items() if key != "_meta"}


def model_text(result: Mapping[str, Any]) -> str:
    """The result as a host shows it to a model: texts as they are, anything else as a short placeholder.

    Structured content stands in where there is no content; `_meta` never shows.
    """
    content = result.get("content")
    if isinstance(content, str):
        return content
    parts = [block_text(block) for block in blocks_of(result)]
    if not parts and "structuredContent" in result:
        return compact(result["structuredContent"])
    return "\n".join(parts)


def block_text(block: Mapping[str, Any]) -> str:
    """One content block as text."""
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return text if isinstance(text, str) else compact(text)
    if kind in ("image", "audio"):
        return f"[{kind} {block.get('mimeType', 'of unknown type')}, {blob_bytes(block.get('data'))} bytes]"
    if kind == "resource_link":
        return f"[resource {block.get('uri', '')} {block.get('name', '')}]".replace(" ]", "]")
    if kind == "resource":
        return resource_text(block.get("resource"))
    return compact(block)


def resource_text(resource: Any) -> str:
    """The contents of one resource: its text, or what kind of blob it is."""
    if not isinstance(resource, Mapping):
        return compact(resource)
    if isinstance(resource.get("text"), str):
        return str(resource["text"])
    kind = resource.get("mimeType", "of unknown type")
    return f"[resource {resource.get('uri', '')} {kind}, {blob_bytes(resource.get('blob'))} bytes]"


def blob_bytes(data: Any) -> int:
    """Bytes behind a base64 text, near enough."""
    return len(data) * 3 // 4 - data[-2:].count("=") if isinstance(data, str) and data else 0


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def readable_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def bounded(text: str, limit: int = STORED_BYTES) -> tuple[str, bool]:
    """Head and tail of a text above `limit` (code points), with what was left out between them; whether it was cut."""
    if len(text) <= limit:
        return text, False
    half = limit // 2
    left = len(text) - 2 * half
    return f"{text[:half]}\n[… {left} characters left out …]\n{text[len(text) - half :]}", True


def bounded_blocks(blocks: tuple[Mapping[str, Any], ...], limit: int = STORED_BYTES) -> tuple[Mapping[str, Any], ...]:
    """Blocks for the record: large blobs become their size, texts share one limit."""
    kept: list[Mapping[str, Any]] = []
    room = limit
    for block in blocks:
        data = block.get("data")
        if isinstance(data, str) and len(data) > BLOB_BYTES:
            block = {**block, "data": "", "bytes": blob_bytes(data)}
        text = block.get("text")
        if isinstance(text, str):
            short, cut = bounded(text, max(room, 0))
            room -= len(text)
            block = {**block, "text": short} if cut else block
        elif isinstance(block.get("resource"), Mapping):
            block = {**block, "resource": _bounded_resource(block["resource"])}
        kept.append(block)
    return tuple(kept)


def _bounded_resource(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    blob, text = resource.get("blob"), resource.get("text")
    if isinstance(blob, str) and len(blob) > BLOB_BYTES:
        return {**resource, "blob": "", "bytes": blob_bytes(blob)}
    if isinstance(text, str):
        return {**resource, "text": bounded(text)[0]}
    return resource
