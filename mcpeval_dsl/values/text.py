"""Values, last step of rendering: a JSON value as text, in full for templates and shortened for people."""

from __future__ import annotations

import json
from typing import Any

SHORT = 200


def as_text(value: Any) -> str:
    """A text as it is, whole numbers without a fraction, everything else as JSON (`true`, `null`, `["a"]`)."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, default=str)


def short(value: Any, limit: int = SHORT) -> str:
    """At most about `limit` characters for a message; texts stand in quotes so that blanks are seen."""
    if isinstance(value, list) and len(value) > 50:
        return f"{shown(value[:8])[: limit // 2]} … ({len(value)} items)"
    text = shown(value)
    if len(text) <= limit:
        return text
    return f"{text[: limit - 40]} … {text[-20:]} ({len(text)} characters)"


def shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def clipped(text: str, limit: int = SHORT) -> str:
    """A text for a message, without quotes, at most about `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 24]} … {text[-20:]}"
