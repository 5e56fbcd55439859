"""Score: what the `where` of a rule selects, by task and cell; needs no record."""

from __future__ import annotations

from collections.abc import Mapping

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.score.rows import cell_variables
from mcpeval_dsl.semantics.expressions import Condition, Ref
from mcpeval_dsl.semantics.model import GateRule, Task
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError, Scope


def names(task: Task, cell: Mapping[str, object], split: str, cluster: str) -> dict[str, object]:
    """The names that a `where` may use. `split` and `cluster` may be a trial's own."""
    return {
        **cell,
        "tag": list(task.tags),
        "split": split,
        "kind": task.kind,
        "cluster": cluster,
        "task": task.name,
        "purpose": task.purpose,
        "difficulty": task.difficulty,
    }


def holds(where: Condition, values: Mapping[str, object]) -> bool:
    """A task has several tags: `tag ==` asks for one of them, `tag !=` for none. Raises EvaluationError."""
    if isinstance(where.left, Ref) and where.left.path == ("tag",) and where.operator in ("==", "!="):
        tags = values["tag"]
        scopes = [Scope({**values, "tag": tag}) for tag in (tags if isinstance(tags, list) else [])]
        return (any if where.operator == "==" else all)(condition(where, scope).holds for scope in scopes)
    return condition(where, Scope(dict(values))).holds


def selected(rule: GateRule, task: Task, cell: str, plan: Plan) -> bool:
    """Whether a rule is about a planned task in a cell; not where its condition cannot be read."""
    found = next(each for each in plan.cells if each.id == cell)
    values = names(task, cell_variables(found), task.split, task.cluster or task.name)
    try:
        return all(holds(where, values) for where in rule.where)
    except EvaluationError:
        return False
