"""Command line, for `mcpe score --spec`: verdicts that stay, since the grader that gave them is as it was.

Judges cost money and may answer otherwise, and a command cannot be run when the trial's folder is gone: neither is asked again
for a change elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
    from mcpeval_dsl.semantics.graders import Grader
    from mcpeval_dsl.semantics.model import Task

Kept = Callable[["TrialRecord"], "Mapping[str, VerdictRecord]"]


def kept_by(before: Plan, now: Plan) -> Kept:
    """For a trial: id of a judge, command or function of the spec as it is now -> what the same one said before."""
    earlier = {task.name: task for task in before.tasks}
    same = {task.name: _same(before, now, earlier[task.name], task) for task in now.tasks if task.name in earlier}

    def kept(record: TrialRecord) -> Mapping[str, VerdictRecord]:
        said = dict(_flat(record.verdicts))
        found = {}
        for new, old in same.get(record.task, {}).items():
            verdict = said.get(old)
            if verdict is not None and verdict.verdict in ("yes", "no"):
                found[new] = verdict.model_copy(update={"grader": new})
        return found

    return kept


def _same(before: Plan, now: Plan, old: Task, new: Task) -> dict[str, str]:
    """Ids of graders that ask somebody, now -> then. Those of a dialogue's turns have ids of their own turn: they are asked."""
    if old.dialogue is not None or new.dialogue is not None:
        return {}
    from mcpeval_dsl.grade.starting import STARTING
    from mcpeval_dsl.semantics.task_parts import all_graders

    then: dict[str, str] = {}
    for grader in all_graders(old):
        if grader.kind in STARTING:
            then.setdefault(_identity(before, grader), grader.common.id)
    found = {}
    for grader in all_graders(new):
        was = then.pop(_identity(now, grader), None) if grader.kind in STARTING else None
        if was is not None:
            found[grader.common.id] = was
    return found


def _identity(plan: Plan, grader: Grader) -> str:
    """Everything that its verdict on a given trial can depend on."""
    from mcpeval_dsl.plan.keys import digest
    from mcpeval_dsl.semantics.graders import Judge

    plain = replace(grader, common=replace(grader.common, id=""))
    if not isinstance(grader, Judge):
        return digest([plain, plan.lets])
    asked = [model for model in plan.models if model.name in (grader.model, grader.second)]
    scripts = [entry for entry in plan.fixtures if any(entry.path.endswith(model.target) for model in asked)]
    return digest([plain, asked, scripts, plan.lets])


def _flat(verdicts: tuple[VerdictRecord, ...]) -> list[tuple[str, VerdictRecord]]:
    found = []
    for verdict in verdicts:
        found.append((verdict.grader, verdict))
        found += _flat(verdict.parts)
    return found
