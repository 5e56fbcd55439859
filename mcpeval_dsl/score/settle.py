"""Score, between grading and the store: a record with its verdicts becomes one with its leads and outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.examine import examine
from mcpeval_dsl.records.model import HarvestRecord, TrialRecord, VerdictRecord
from mcpeval_dsl.score.facts import facts_of
from mcpeval_dsl.score.outcomes import decide
from mcpeval_dsl.score.rows import expected_calls
from mcpeval_dsl.semantics.expressions import AnyPattern, Combined
from mcpeval_dsl.semantics.graders import Calls
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.task_parts import graders_of
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.patterns import matches


def settle(
    record: TrialRecord,
    verdicts: Sequence[VerdictRecord],
    task: Task,
    harvests: Iterable[HarvestRecord] = (),
    grade_key: str = "",
) -> TrialRecord:
    """Pure: the same record and verdicts give the same leads, traces and outcome. A cancelled trial keeps no outcome."""
    calls = {call.id: call for harvest in harvests for call in harvest.calls}
    used = [calls[id_] for id_ in dict.fromkeys(record.harvested.values()) if id_ in calls]
    failing = list(_expected_to_fail([*expected_calls(task, record), *_graded_calls(task)]))
    scope = Scope(record.scope)
    found = examine(record, used, lambda call: any(_speaks(pattern, call, scope) for pattern in failing))
    record = record.model_copy(update={"leads": found.leads, "arguments": found.arguments})
    return record.model_copy(
        update={
            "verdicts": tuple(verdicts),
            "outcome": decide(facts_of(record, verdicts)),
            "grade_key": grade_key or record.grade_key,
        }
    )


def _graded_calls(task: Task) -> Iterable[AnyPattern]:
    for grader in graders_of(task):
        if isinstance(grader, Calls):
            yield from grader.patterns


def _expected_to_fail(patterns: Iterable[AnyPattern]) -> Iterable[AnyPattern]:
    """What the task itself wants to see fail is no sign of a defect."""
    for pattern in patterns:
        if isinstance(pattern, Combined):
            if pattern.combinator == "errors":
                yield from pattern.patterns
            else:
                yield from _expected_to_fail(pattern.patterns)


def _speaks(pattern: AnyPattern, call: CallRecord, scope: Scope) -> bool:
    try:
        return matches(pattern, call.server, call.tool, call.arguments, scope, effect=call.permission.effect)
    except EvaluationError:
        return False
