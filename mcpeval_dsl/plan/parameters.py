"""Plan: a task as it is in one cell, where its budgets name axes of the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.model import Budget, Cell, Limit, Task


def in_cell(task: Task, cell: Cell) -> Task:
    """The task with the cell's values for limits that an axis gives; the task itself where there are none."""
    if not _by_axis(task.budget) and not _by_axis(task.budget_per_turn):
        return task
    values = {entry.key: entry.value.value for entry in cell.parameters if isinstance(entry.value, Literal)}
    return replace(task, budget=_with(task.budget, values), budget_per_turn=_with(task.budget_per_turn, values))


def _limits(budget: Budget) -> dict[str, Limit]:
    return {field.name: getattr(budget, field.name) for field in fields(budget)}


def _by_axis(budget: Budget) -> bool:
    return any(limit.soft_axis or limit.hard_axis for limit in _limits(budget).values())


def _with(budget: Budget, values: Mapping[str, object]) -> Budget:
    found = {
        name: Limit(_value(limit.soft, limit.soft_axis, values), _value(limit.hard, limit.hard_axis, values))
        for name, limit in _limits(budget).items()
    }
    return Budget(**found)


def _value(said: float | None, axis: str, values: Mapping[str, object]) -> float | None:
    """A member of an axis that a budget names is a number: the compiler has looked."""
    return float(str(values[axis])) if axis else said
