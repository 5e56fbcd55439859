"""Grade, the things an answer names: of a list its items, of prose its bullets, lines or the parts between commas."""

from __future__ import annotations

import re
from typing import Any

from mcpeval_dsl.values.decode import json_container
from mcpeval_dsl.values.model import EvaluationError

_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+(.*)")
_AROUND = " \t*_`'\"“”‘’"


def items_of(value: Any) -> list[Any]:
    """Items of an answer given as data (a list, or an object with a single list) or as text."""
    if isinstance(value, dict):
        lists = [member for member in value.values() if isinstance(member, list)]
        return lists[0] if len(lists) == 1 else list(value.values())
    if isinstance(value, list):
        return value
    return _of_text(value) if isinstance(value, str) else [value]


def _of_text(text: str) -> list[Any]:
    read = _from_json(text)
    if read is not None:
        return items_of(read)
    lines = [line for line in text.splitlines() if line.strip()]
    bullets = [match[1] for line in lines if (match := _BULLET.fullmatch(line))]
    if bullets:
        return [_bare(item) for item in bullets]
    kept = [line for line in lines if not line.rstrip().endswith(":")]
    if len(kept) > 1:
        return [_bare(line) for line in kept]
    line = kept[0] if kept else ""
    after = re.split(r":\s+", line, maxsplit=1)[-1]
    return [_bare(part) for part in re.split(r"[,;]\s*(?:and\s+|or\s+)?|\s+and\s+", after) if part.strip()]


def _from_json(text: str) -> Any:
    from mcpeval_dsl.grade.normalise import from_json

    if json_container(text) is None and "```" not in text:
        return None
    try:
        return from_json(text)
    except EvaluationError:
        return None


def _bare(item: str) -> str:
    return item.strip().rstrip(".,;").strip(_AROUND)
