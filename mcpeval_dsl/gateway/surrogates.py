"""Lone surrogates out of texts: JSON can spell them, but no file, model API or pattern takes them.

Place in the pipeline: where JSON of servers and models enters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")


def whole(value: Any) -> Any:
    """The value with each lone surrogate in its texts and keys replaced by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() or _encodable(value) else _LONE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {whole(key): whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole(item) for item in value]
    return value


def _encodable(text: str) -> bool:
    """Six times as fast as to look for them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
