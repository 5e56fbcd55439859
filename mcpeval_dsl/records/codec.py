"""Records, first step of keeping them: a typed record to checked, compressed bytes and back.

A blob is zstd over JSON; its SHA-256 is kept beside it, because a database's own check does not see a flipped byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import zstandard
from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)
Redact = Callable[[Any], Any]
_LEVEL = 3


class DamagedRecord(Exception):
    """A blob is not what was written; `what` names the record."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what}: {reason}")
        self.what = what
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Blob:
    data: bytes
    sha256: str


def pack(record: BaseModel, redact: Redact | None = None) -> Blob:
    """The record as a blob; `redact` is given its plain JSON data before anything else happens."""
    data = zstandard.ZstdCompressor(level=_LEVEL).compress(plain_bytes(record, redact))
    return Blob(data, hashlib.sha256(data).hexdigest())


def unpack(cls: type[Model], data: bytes, sha256: str, what: str) -> Model:
    """The record that `pack` made `data` from. Raises DamagedRecord."""
    hashed(data, sha256, what)
    try:
        return cls.model_validate_json(zstandard.ZstdDecompressor().decompress(data))
    except (zstandard.ZstdError, ValueError) as error:
        raise DamagedRecord(what, f"it cannot be read: {str(error).splitlines()[0]}") from error


def hashed(data: bytes, sha256: str, what: str) -> bytes:
    """The hash of bytes of the ledger, whose columns may hold anything. Raises DamagedRecord if it is not `sha256` (hex)."""
    found = hashlib.sha256(data) if data.__class__ is bytes else None
    if found is None or found.hexdigest() != sha256:
        raise DamagedRecord(what, "its bytes are not those that were written")
    return found.digest()


def plain_bytes(record: BaseModel, redact: Redact | None = None) -> bytes:
    """JSON of a record in order of its fields. Lone surrogates, which no JSON reader takes back, become U+FFFD."""
    if redact is None:
        try:
            return record.model_dump_json().encode()
        except ValueError:
            plain = _without_surrogates(record.model_dump())
    else:
        plain = redact(_without_surrogates(record.model_dump()))
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
