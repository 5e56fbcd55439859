"""Plan, beside the lock: the digest by which an entry knows itself, over plain JSON data. Imports nothing heavy."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def entry_digest(entry: dict[str, Any]) -> str:
    """SHA-256 of everything else in an entry, as it is written: defaults left out."""
    plain = {key: value for key, value in entry.items() if key != "sha256"}
    return hashlib.sha256(canonical(plain).encode("ascii")).hexdigest()
