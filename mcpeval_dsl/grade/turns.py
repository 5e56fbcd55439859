"""Grade, turns of a dialogue: each grader of a turn sees the record of that turn alone, as if it were a trial.

Answer, calls, evidence and what the agent was asked are the turn's; `evidence` also counts results of earlier turns, since
the agent had read them. A turn that was not come to, because the agent stopped before, is a no.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcpeval_dsl.agents.model import Exchange
from mcpeval_dsl.grade.any_of import joined
from mcpeval_dsl.grade.model import Reads, Verdict
from mcpeval_dsl.grade.registry import MODULES, grade
from mcpeval_dsl.grade.saying import missing, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.dialogues import Dialogue
from mcpeval_dsl.semantics.graders import AnyOf, Grader
from mcpeval_dsl.values.sources import turn_prefix

_AGENTS_OWN = ("content_filter", "context_overflow")


async def grade_turns(dialogue: Dialogue, record: TrialRecord, services: GradeServices) -> list[Verdict]:
    """Verdicts in order of the turns, each with the number of its turn; graders of `every turn` once for each."""
    found: list[Verdict] = []
    scripted = [exchange for exchange in record.exchanges if exchange.by == "script"]
    for place, turn in enumerate(dialogue.turns):
        if place < len(scripted):
            for grader in turn.graders:
                found.append(await _in_turn(grader, record, scripted[place], services))
        else:
            number = len(record.exchanges) + 1 + place - len(scripted)
            found += [replace(_not_reached(grader, record), turn=number) for grader in turn.graders]
    for exchange in record.exchanges:
        for grader in dialogue.every:
            given = await _in_turn(grader, record, exchange, services)
            found.append(replace(given, grader=f"{given.grader}@{exchange.number}"))
    if not record.exchanges:
        found += [_not_reached(grader, record) for grader in dialogue.every]
    return sorted(found, key=lambda each: each.turn or 0)


async def _in_turn(grader: Grader, record: TrialRecord, exchange: Exchange, services: GradeServices) -> Verdict:
    return replace(await _graded(grader, record, exchange, services), turn=exchange.number)


async def _graded(grader: Grader, record: TrialRecord, exchange: Exchange, services: GradeServices) -> Verdict:
    if isinstance(grader, AnyOf):
        return joined(grader, [await _graded(inner, record, exchange, services) for inner in grader.graders])
    return await grade(grader, turn_of(record, exchange, so_far=grader.kind == "evidence"), services)


def turn_of(record: TrialRecord, exchange: Exchange, so_far: bool = False) -> TrialRecord:
    """The record of one turn; `so_far` with the calls of those before it."""
    first = 1 if so_far else exchange.first
    last_of_all = exchange.number == len(record.exchanges)
    return record.model_copy(
        update={
            "prompt": exchange.said,
            "turns": tuple(turn for turn in record.turns if first <= turn.number <= exchange.last),
            "exchanges": record.exchanges[: exchange.number],
            "calls": tuple(
                call
                for call in record.calls
                if (call.actor == "agent" and first <= (call.turn or 0) <= exchange.last)
                or (call.actor == "reference" and call.id.startswith(turn_prefix(exchange.number)))
                or call.actor not in ("agent", "reference")
            ),
            "native_calls": tuple(call for call in record.native_calls if first <= call.turn <= exchange.last),
            "answer": exchange.answer,
            "termination": exchange.termination,
            "trouble": record.trouble if last_of_all else None,
            "evidence": dict(_own(record, turn_prefix(exchange.number))),
        }
    )


def whole(record: TrialRecord) -> TrialRecord:
    """The record as graders of the whole trial see it: without what was read for single turns."""
    if not record.exchanges:
        return record
    return record.model_copy(
        update={
            "calls": tuple(c for c in record.calls if c.actor != "reference" or not c.id.startswith("turn:")),
            "evidence": {key: value for key, value in record.evidence.items() if not key.startswith("turn:")},
        }
    )


def _own(record: TrialRecord, prefix: str) -> Iterator[tuple[str, object]]:
    for key, reading in record.evidence.items():
        if key.startswith(prefix):
            yield key.removeprefix(prefix), reading


def _not_reached(grader: Grader, record: TrialRecord) -> Verdict:
    reads = _reads(grader)
    trouble = record.trouble
    if record.termination == "not_started" or (trouble is not None and trouble.kind not in _AGENTS_OWN):
        return missing(grader, "not_run", "the dialogue did not come to this turn", reads)
    said = f"the dialogue ended before this turn: {record.termination}"
    return verdict(grader, False, reads, actual=said, reason=said)


def _reads(grader: Grader) -> Reads:
    return MODULES[grader.kind][1] if grader.kind in MODULES else "answer"
