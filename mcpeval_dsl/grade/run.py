"""Grade, the room's door: all verdicts on one trial, from its record, as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.publish import to_record
from mcpeval_dsl.grade.registry import grade
from mcpeval_dsl.grade.saying import missing, scope_of
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.grade.turns import grade_turns, whole
from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError


async def grade_trial(task: Task, record: TrialRecord, services: GradeServices) -> tuple[VerdictRecord, ...]:
    """Verdicts of a dialogue's turns, then of the whole trial in the order of the text.

    Those under a `when` count only where its condition holds in the trial.

    `task.expect` decides nothing; the grader of an expected refusal is among the task's own.
    """
    of_turns = await grade_turns(task.dialogue, record, services) if task.dialogue is not None else []
    record = whole(record)
    found = [await grade(grader, record, services) for grader in task.graders]
    for conditional in task.conditionals:
        if not conditional.graders:
            continue
        try:
            counts = condition(conditional.condition, scope_of(record, services)).holds
        except EvaluationError as problem:
            reason = f"its `when` has no value: {problem.reason}"
            found += [missing(grader, "no_evidence", reason) for grader in conditional.graders]
            continue
        if counts:
            found += [await grade(grader, record, services) for grader in conditional.graders]
    return tuple(to_record(verdict) for verdict in (*of_turns, *found))


def total_cost(verdicts: Iterable[Verdict | VerdictRecord]) -> float:
    """USD that grading cost, as far as prices are known."""
    return sum(verdict.cost_usd for verdict in verdicts if verdict.cost_usd is not None)
