"""Plan: one task instance for each row of a table, or for each of the N rows that a harvest may give."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.semantics.expressions import Expression
from mcpeval_dsl.semantics.model import Task


@dataclass(frozen=True, slots=True)
class Instance:
    """A task, or one row of it. `row` counts from 0; `twin` tells equal rows of one table apart."""

    task: Task
    row: int | None = None
    row_key: str | None = None
    row_value: Expression | None = None
    twin: int = 0

    @property
    def name(self) -> str:
        """`lookup`, `lookup[q7]` (the row's key) or `lookup[3]`."""
        return self.task.name if self.row is None else f"{self.task.name}[{self.label}]"

    @property
    def label(self) -> str:
        if self.row_key is None:
            return str(self.row)
        return self.row_key if self.twin == 0 else f"{self.row_key}~{self.twin + 1}"


def instances(task: Task) -> tuple[tuple[Instance, ...], tuple[Diagnostic, ...]]:
    """Instances in order of the rows. A loop over a harvest needs `limit N`, which bounds the plan."""
    loop = task.loop
    if loop is None:
        return (Instance(task),), ()
    if loop.rows is None:
        if loop.limit is None:
            return (), (_unbounded(task),)
        return tuple(Instance(task, row) for row in range(loop.limit)), ()
    rows = loop.rows if loop.limit is None else loop.rows[: loop.limit]
    keys: tuple[str | None, ...] = loop.keys[: len(rows)] if loop.keys is not None else (None,) * len(rows)
    seen: Counter[str] = Counter()
    found: list[Instance] = []
    for row, (value, key) in enumerate(zip(rows, keys, strict=True)):
        mark = key if key is not None else digest(value)
        found.append(Instance(task, row, key, value, seen[mark]))
        seen[mark] += 1
    return tuple(found), ()


def _unbounded(task: Task) -> Diagnostic:
    assert task.loop is not None
    return Diagnostic(
        code="MCPE578",
        title=f"`for {task.loop.variable}` over a harvest has no limit, so the plan has no end",
        at=task.loop.at or task.at,
        body="The rows of a harvest are known only when it runs; `limit N` bounds the plan, and rows that do not come"
        " are not applicable.",
        hint="add `limit 20` before the `{` of the `for`",
    )
