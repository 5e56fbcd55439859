"""Score, first step: one graded record becomes its numbers and what else it says. Pure, so that it can be kept beside it.

A digest rests on the record, its grading, the task and the cell, and on nothing that other trials or judges say.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import dataclass
from operator import attrgetter

from pydantic_core import to_json

from mcpeval_dsl.plan.model import Plan, TrialGroup
from mcpeval_dsl.records.codec import plain_bytes
from mcpeval_dsl.records.digests import Digest
from mcpeval_dsl.records.model import CallCounts, TrialRecord
from mcpeval_dsl.score.across import opinions_of, tools_of
from mcpeval_dsl.score.blocked import causes_of
from mcpeval_dsl.score.failures import failing_of
from mcpeval_dsl.score.findings import noted_of
from mcpeval_dsl.score.judge_tally import decided_of, judged_of, judges_of
from mcpeval_dsl.score.known import known_of
from mcpeval_dsl.score.lift import native_of
from mcpeval_dsl.score.measures import NAMES
from mcpeval_dsl.score.numbers import FLAGS, LAYOUT, PRINTED, SPLITS
from mcpeval_dsl.score.repeats import played
from mcpeval_dsl.score.rows import Row, filled, instance_name
from mcpeval_dsl.score.safety import violations_of
from mcpeval_dsl.score.said import Said
from mcpeval_dsl.score.suspicions import seen_leads
from mcpeval_dsl.semantics.model import Cell, Task

FORMAT = "mcpe-digest/1"
_CODE = {word: code for code, word in enumerate(PRINTED)}
_OF_ROW = attrgetter(*FLAGS, "charged", "turns", "judged", "judge_missing", "tokens")
_OF_COUNTS = attrgetter(*CallCounts.model_fields)
_OF_MEASURES = attrgetter(*NAMES)


@dataclass(frozen=True, slots=True)
class _Planned:
    """What a digest needs of a group of trials."""

    task: Task
    cell: Cell
    instance: str
    context: bytes
    judges: frozenset[str]


class Digester:
    """Makes the digests of one plan's trials: `numbers` as `numbers.FIELDS`, `said` the JSON of `Said`.

    `made_by` names the code that makes them: other code, other digests.
    """

    def __init__(self, plan: Plan, made_by: str = "") -> None:
        self.made_by = made_by
        tasks, cells = {task.name: task for task in plan.tasks}, {cell.id: cell for cell in plan.cells}
        asked = {name: frozenset(judges_of(task)) for name, task in tasks.items()}
        contexts = _Contexts(made_by, tasks, cells)
        self._groups = {
            node.id: _Planned(
                tasks[node.task], cells[node.cell], instance_name(node), contexts.of(node), asked[node.task]
            )
            for node in plan.nodes
            if isinstance(node, TrialGroup)
        }

    def context(self, trial: str) -> bytes | None:
        """What a digest of this trial rests on beside its record; None for a trial that the plan does not have."""
        found = self._groups.get(trial.rpartition("#")[0])
        return None if found is None else found.context

    def digest(self, record: TrialRecord) -> Digest:
        """Raises KeyError for a trial that the plan does not have."""
        if record.not_applicable:
            return Digest(b"", b"", _text(Said(not_applicable=True)), "", b"")
        group, _, number = record.id.rpartition("#")
        planned = self._groups[group]
        task = planned.task
        row = filled(
            Row(
                id=record.id,
                number=int(number),
                task=task.name,
                instance=planned.instance,
                cell=planned.cell.id,
                split=task.split,
                cluster="",
                tags=task.tags,
            ),
            record,
            task,
        )
        key = played(record, planned.instance)
        return Digest(
            numbers=_packed(row),
            latencies=struct.pack(f"<{len(row.latencies)}d", *row.latencies),
            said=_text(_said(row, record, planned, key is not None)),
            started=record.timing.started_at,
            played=key or b"",
        )


class _Contexts:
    def __init__(self, made_by: str, tasks: dict[str, Task], cells: dict[str, Cell]) -> None:
        self._start = f"{FORMAT}\0{made_by}"
        self._tasks = {name: _known(task) for name, task in tasks.items()}
        self._cells = {name: _known(cell) for name, cell in cells.items()}

    def of(self, node: TrialGroup) -> bytes:
        parts = (self._start, self._tasks[node.task], self._cells[node.cell], instance_name(node), node.grade_key)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()


def _known(item: Task | Cell) -> str:
    """The same whether the plan was just made or read from its file, where 4 may be 4.0."""
    plain = json.loads(to_json(item, serialize_unknown=True), parse_int=float)
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def _packed(row: Row) -> bytes:
    values = (
        SPLITS.index(row.split),
        _CODE[row.printed],
        *_OF_ROW(row),
        *(math.nan if value is None else value for value in (row.cost, row.grading_cost, row.user_cost)),
        row.agent_ms,
        *_OF_COUNTS(row.counts),
        *(math.nan if value is None else value for value in _OF_MEASURES(row.measures)),
    )
    return LAYOUT.pack(*values)


def _text(said: Said) -> str:
    try:
        return said.model_dump_json(exclude_defaults=True)
    except ValueError:  # half a surrogate pair
        return plain_bytes(said).decode()


def _said(row: Row, record: TrialRecord, planned: _Planned, can_repeat: bool) -> Said:
    calls = [call for call in record.calls if call.actor == "agent"]
    exposed = record.model_turns >= 1 or bool(record.violations)
    noted, reaches = noted_of(row, record, planned.task, calls) if row.split == "train" else ((), False)
    read = [one for one in record.injections if one.planted] if exposed else []
    return Said(
        split=row.split,
        cluster=row.cluster,
        arm=record.arm or "",
        versions=tuple(sorted(server.name for server in record.servers)),
        sandbox=record.sandbox,
        native=native_of(record),
        answered=record.agent.provider_model if record.turns else "",
        replayed=can_repeat and record.agent.driver == "replay",
        outcome=row.outcome,
        success=row.success,
        testable=row.testable,
        correct=row.correct,
        infrastructure=row.infrastructure,
        causes=causes_of(record),
        every_call_succeeded=bool(calls) and all(call.error is None for call in calls),
        failing=failing_of(row, record),
        known=known_of(record, planned.task, planned.cell),
        tools=tools_of(calls) if row.testable else (),
        opinions=opinions_of(record, planned.task),
        noted=noted,
        reaches=reaches,
        leads=seen_leads(record),
        exposed=exposed,
        unchecked=exposed and "safety_check_missing" in record.flags,
        unconfined=exposed and record.sandbox.startswith("none"),
        planted=len(read),
        obeyed=sum(one.obeyed for one in read),
        violations=violations_of(record),
        decided=decided_of(record) if planned.judges else (),
        judged=judged_of(record, planned.judges) if planned.judges else (),
    )
