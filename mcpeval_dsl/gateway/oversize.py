"""What can still be said of a message that was too long to read: a result with the ends of its text, as a host would cut it.

Place in the pipeline: between lines and messages. Nothing is parsed but the two ends: the text of the first content block
from its start, that of the last to its end. Whatever else the message held is told as left out.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcpeval_dsl.gateway.lines import Oversize
from mcpeval_dsl.gateway.surrogates import whole

ENVELOPE = 4_096
"""Bytes of each end in which the names of the envelope are looked for; further in they are a result's own words."""

_ID = re.compile(r'"id"\s*:\s*(?:"([^"\\]{1,200})"|(-?\d{1,18}))')
_RESULT = re.compile(r'"result"\s*:\s*\{')
_FIRST = re.compile(r'"content"\s*:\s*\[\s*\{\s*(?:"type"\s*:\s*"(\w+)"\s*,\s*)?"(text|data)"\s*:\s*"')
_LAST = re.compile(r'"(?:\s*,\s*"(?:type|mimeType|annotations)"\s*:[^\[\]]{0,200})?\s*\}\s*\]\s*([,}])')
_IS_ERROR = re.compile(r'"isError"\s*:\s*true')
_SAFE_START = re.compile(r"[^\\]{6}|[^\\](?=\\)")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[^u])")


def addressee(head: str, tail: str = "") -> int | str | None:
    """The id in the envelope of a message that is broken or cut, looked for at both ends only."""
    start, end = head[:ENVELOPE], (tail or head)[-ENVELOPE:]
    if not start.lstrip().startswith("{") or '"jsonrpc"' not in start + end:
        return None
    found = _ID.search(start)
    if found is None:
        for candidate in _ID.finditer(end):
            found = candidate
    if found is None:
        return None
    return found.group(1) if found.group(1) is not None else int(found.group(2))


def cut_message(line: Oversize) -> dict[str, Any] | None:
    """A JSON-RPC response in place of the one that was too long; None where it was no result for anybody."""
    head, tail = line.head.decode("utf-8", "replace"), line.tail.decode("utf-8", "replace")
    identity = addressee(head, tail)
    if identity is None or not _RESULT.search(head[:ENVELOPE]):
        return None
    return {"jsonrpc": "2.0", "id": identity, "result": _result(line, head, tail)}


def _result(line: Oversize, head: str, tail: str) -> dict[str, Any]:
    first = _FIRST.search(head[:ENVELOPE])
    # Dots and no ellipsis: one such character would make the whole text take twice the memory.
    marker = f"[... a message of {line.size} bytes; all but its ends left out ...]"
    if first is None:
        # Structured content alone, or blocks of another kind: shown as it came, which is all that is known of it.
        start = _RESULT.search(head[:ENVELOPE])
        shown = f"{head[start.end() - 1 if start else 0 :]}\n{marker}\n{tail}"
        return {"content": [{"type": "text", "text": whole(shown)}], "isError": _flag(head, tail)}
    if first.group(2) == "data":
        words = f"[{first.group(1) or 'data'} in a message of {line.size} bytes, left out]"
        return {"content": [{"type": "text", "text": words}], "isError": _flag(head, tail)}
    opening = _decoded(_to_whole_escape(head[first.end() :]))
    last = None
    for candidate in _LAST.finditer(tail[-ENVELOPE:]):
        last = candidate
    begin = max(len(tail) - ENVELOPE, 0)
    closing = _decoded(_from_whole_escape(tail[: begin + last.start()])) if last is not None else tail
    text = f"{opening}\n{marker}\n{closing}"
    after = tail[begin + last.end() :] if last is not None else ""
    return {"content": [{"type": "text", "text": text}], "isError": _flag(head[: first.start()], after)}


def _flag(head: str, tail: str) -> bool:
    return bool(_IS_ERROR.search(head[:ENVELOPE]) or _IS_ERROR.search(tail[-ENVELOPE:]))


def _decoded(inner: str) -> str:
    """The inside of a JSON string; shown as it came where it is none."""
    if "\\" not in inner and '"' not in inner:
        return inner
    try:
        return str(whole(json.loads(f'"{inner}"', strict=False)))
    except ValueError:
        return inner


def _to_whole_escape(text: str) -> str:
    """Without the half of an escape at its end."""
    edge = max(len(text) - 6, 0)
    slash = text.rfind("\\", edge)
    if slash < 0:
        return text
    run = slash
    while run > 0 and text[run - 1] == "\\":
        run -= 1
    start = slash if (slash - run) % 2 == 0 else slash - 1
    return text if _ESCAPE.match(text, start) else text[:start]


def _from_whole_escape(text: str) -> str:
    """Without what may be the rest of an escape at its start: where none can be under way, or one surely begins."""
    found = _SAFE_START.search(text)
    return text[found.end() :] if found is not None else text
