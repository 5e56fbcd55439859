"""Score: trials that are no trials of their own, since they only play another one back. n counts distinct trials."""

from __future__ import annotations

import hashlib
import json

from mcpeval_dsl.records.model import TrialRecord

_OWN_IDS = frozenset({"anthropic", "litellm"})
_LONG = 16


def played(record: TrialRecord, instance: str) -> bytes | None:
    """32 bytes that are equal in trials of which one plays the other back; None where nothing proves that.

    In order of the plan the first of equal ones is the trial, and the others repeat it.
    """
    said = _what_the_model_said(record)
    if said is None:
        return None
    return hashlib.sha256(f"{instance}\0{record.cell}\0{said}".encode("utf-8", "replace")).digest()


def _what_the_model_said(record: TrialRecord) -> str | None:
    """The model's turns where equal ones prove a repeat; None where they prove nothing.

    A replayed model says what it said before. A provider gives each call it asks for an id of its own, so that equal ids come
    from a cache on the way; without such a call equal words may be chance. A script is a stand-in, and made to repeat.
    """
    asked = [request for turn in record.turns for request in turn.requests]
    replayed = record.agent.driver == "replay" and bool(record.turns)
    if not replayed and not (
        record.agent.driver in _OWN_IDS and asked and all(len(request.id) >= _LONG for request in asked)
    ):
        return None
    turns = [
        [turn.text, turn.stop, [(each.id, each.wire_name, each.arguments) for each in turn.requests]]
        for turn in record.turns
    ]
    return json.dumps(turns, sort_keys=True, default=str)
