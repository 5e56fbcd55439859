"""Plan: content keys, digests over everything that can change a node's result and nothing else.

Canonical form: JSON with sorted keys and no spaces, of the typed values without their places in the text, titles and
source lines, fields at their default left out. What the keys cover is in `contents`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from mcpeval_dsl.semantics.graders import Common
from mcpeval_dsl.semantics.model import GateRule

_NEVER = frozenset({"at", "title"})
_ALSO: dict[type[Any], frozenset[str]] = {Common: frozenset({"text"}), GateRule: frozenset({"text"})}


def digest(value: object) -> str:
    """SHA-256 in hex over the canonical JSON of `value`."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: object) -> bytes:
    plain = canonical(value)
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=True)
    return text.encode("utf-8", "surrogatepass")


def canonical(value: object) -> Any:
    """Plain data of typed values, without what is only there for people."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple | list):
        return [canonical(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        return {name: canonical(getattr(value, name)) for name in type(value).model_fields if name not in _NEVER}
    if not is_dataclass(value):
        raise TypeError(f"no canonical form for {type(value).__name__}")
    found: dict[str, Any] = {}
    cls: Any = type(value)
    for name, default in _fields(cls):
        item = getattr(value, name)
        if name == "kind" or isinstance(item, bool) != isinstance(default, bool) or item != default:
            found[name] = canonical(item)
    return found


@cache
def _fields(cls: type[Any]) -> tuple[tuple[str, Any], ...]:
    left_out = _NEVER | _ALSO.get(cls, frozenset())
    return tuple((f.name, f.default) for f in fields(cls) if f.name not in left_out)


def tree_digest(files: Mapping[str, str]) -> str:
    """Digest of a directory: relative path (with `/`) -> SHA-256 of each file below it, in order of path."""
    lines = "".join(f"{files[path]}  {path}\n" for path in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()
