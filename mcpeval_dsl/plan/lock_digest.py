"""Plan, beside the lock: its name and format, and the digest by which an entry knows itself. Imports nothing heavy."""

from __future__ import annotations

import hashlib
import json
from typing import Any

LOCK_FILE = "mcpe.lock"
FORMAT = "mcpe-lock/1"
MOST_BYTES = 64 * 1024 * 1024
HINTS = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}
"""Hints as `semantics.catalogue` has them -> as the protocol names them."""


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def entry_digest(entry: dict[str, Any]) -> str:
    """SHA-256 of everything else in an entry, as it is written: defaults left out."""
    plain = {key: value for key, value in entry.items() if key != "sha256"}
    return hashlib.sha256(canonical(plain).encode("ascii")).hexdigest()
