"""Report, the page: data in the form that HTML may carry: JSON that closes no tag, and transcripts in compressed pieces.

A piece is zlib over a JSON list of trials, in base64; a browser undoes it with DecompressionStream when it is asked for.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

_PIECE = 400_000
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


# What a terminal or an eye would obey, escaped as JSON escapes it: the page itself may be written to a terminal.
_OBEYED = (*range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_UNOBEYED = {code: f"\\u{code:04x}" for code in _OBEYED}


def for_script(data: Any) -> str:
    """JSON that can stand inside a script element: it has no `<`, `>` or `&`, whatever the data says."""
    return plain(data).translate(_ESCAPES).translate(_UNOBEYED)


def plain(data: Any) -> str:
    """Compact JSON. Infinities and NaN, which JSON has no word for, become texts; a lone surrogate becomes U+FFFD."""
    try:
        text = _JSON.encode(data)
    except ValueError:
        text = _JSON.encode(_finite(data))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


@dataclass(slots=True)
class Pieces:
    """Trials in order, put together until a piece is large enough. `places` says of each in which piece it is, and where.

    None for one that is left out: from `most` bytes on those that passed are, from twice as many on all.
    """

    most: int = 32_000_000
    done: list[str] = field(default_factory=list)
    places: list[tuple[int, int] | None] = field(default_factory=list)
    size: int = 0
    _waiting: list[str] = field(default_factory=list)
    _size: int = 0

    def wants(self, passed: bool) -> bool:
        """Whether one more trial goes in; it is noted as left out where not."""
        room = self.size < (self.most if passed else 2 * self.most)
        if not room:
            self.places.append(None)
        return room

    def add(self, trial: Mapping[str, Any]) -> None:
        text = plain(trial)
        self.places.append((len(self.done), len(self._waiting)))
        self._waiting.append(text)
        self._size += len(text)
        if self._size >= _PIECE:
            self.close()

    def close(self) -> None:
        """Ends the piece under way."""
        if self._waiting:
            data = zlib.compress(f"[{','.join(self._waiting)}]".encode(), 6)
            self.done.append(base64.b64encode(data).decode("ascii"))
            self.size += len(self.done[-1])
            self._waiting, self._size = [], 0


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
