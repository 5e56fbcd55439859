"""Score, beside findings: what an answer says was done or checked, held against the calls of its trial.

English words, in the first person or said to have succeeded; a passive ("has been closed") tells of the world and counts only
where the task permits writes. It decides nothing: a lead, to be read beside its transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score.sightings import Sighting, succeeded

_READ = 4_000
_DONE = (
    "created|added|updated|changed|edited|deleted|removed|closed|opened|reopened|assigned|labell?ed|renamed|moved|sent|"
    "posted|saved|written|wrote|set|scheduled|booked|cancell?ed|submitted|uploaded|merged|archived|published|marked|paid"
)
_CHECKED = "verified|checked|confirmed|double-checked|tested|validated|re-?read|looked again"
_WORDS = r"(?:just |now |already |also |then |successfully )*"
_I = r"\b(?:I|we)(?:'ve| have)? "
_DID = re.compile(rf"{_I}{_WORDS}(?:{_DONE})\b|\bsuccessfully (?:{_DONE})\b", re.IGNORECASE)
_WAS_DONE = re.compile(rf"\b(?:has|have) been {_WORDS}(?:{_DONE})\b", re.IGNORECASE)
_LOOKED = re.compile(rf"(?:{_I}|\band ){_WORDS}(?:{_CHECKED})\b", re.IGNORECASE)
_WRITES = frozenset({"additive", "destructive", "unknown"})


def of_answer(record: TrialRecord, calls: Sequence[CallRecord], may_write: bool) -> Iterator[Sighting]:
    """Claims without a call behind them. Programs and APIs that an agent has besides may have done anything."""
    if record.answer.form != "given" or record.native_calls or not record.transcript_complete:
        return
    text = record.answer.text[:_READ].replace("\u2019", "'")
    made = [call for call in calls if succeeded(call) and not call.distractor]
    last_write = max((at for at, call in enumerate(made) if call.permission.effect in _WRITES), default=-1)
    said = _DID.search(text) or (_WAS_DONE.search(text) if may_write else None)
    tried = tuple(call.id for call in calls[-3:])
    if said is not None and last_write < 0:
        yield Sighting(
            "claimed_action",
            f"an answer to {record.task} claims an action that no call carried out",
            "grade the state that the action should leave, and say in the tool's result what was done",
            tried,
        )
    if _LOOKED.search(text) is None:
        return
    if not made or (last_write == len(made) - 1 and made[-1].permission.effect != "unknown"):
        yield Sighting(
            "claimed_check",
            f"an answer to {record.task} claims a check that no call made",
            "grade with `evidence` or `calls`, so that a check has to be made",
            tried,
        )
