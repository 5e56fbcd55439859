"""Execution, at the end of a trial: a secret that an agent put together piece by piece is taken out of the record piece by piece.

While the pieces were sent, nothing told that they were any; a record is written when the trial has ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.gateway.pieces import WORD_BITS, bits
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.records.codec import plain_bytes
from mcpeval_dsl.records.model import TrialRecord


def without_pieces(record: TrialRecord, told: Mapping[str, str]) -> TrialRecord:
    """The record without these texts, which are pieces of secrets; `told` has the secrets' names by piece.

    A piece that may be any word stays: it is said everywhere, and tells nothing without the others.
    """
    pieces = {piece: name for piece, name in told.items() if bits(piece) > WORD_BITS}
    if not pieces:
        return record
    names = {f"a piece of {name}, {number}": piece for number, (piece, name) in enumerate(pieces.items(), start=1)}
    redactor = Redactor(names, shapes=False)
    clean = _values(json.loads(plain_bytes(record)), redactor)
    clean["redactions"] = [*clean["redactions"], *(f"pieces ({name})" for name in dict.fromkeys(pieces.values()))]
    return TrialRecord.model_validate_json(json.dumps(clean))


def _values(value: Any, redactor: Redactor) -> Any:
    """Values alone: the names of a record's fields are no agent's."""
    if isinstance(value, str):
        return redactor.text(value)[0]
    if isinstance(value, dict):
        return {key: _values(item, redactor) for key, item in value.items()}
    return [_values(item, redactor) for item in value] if isinstance(value, list) else value
