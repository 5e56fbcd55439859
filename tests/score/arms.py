"""A plan with arms, and runs of it whose rates by arm are set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcpeval_dsl.agents.model import NativeCall
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.model import CallCounts, TokenUse, TrialRecord
from mcpeval_dsl.semantics.model import Cell, Comparison, Gate, GateRule, Model, Task
from tests.score.samples import plan, run, task

LIFT = Comparison("lift", "mcp", "cli", ("tag",))
SHELL = ToolDefinition(server="", name="shell")


def tasks(count: int, **changes: Any) -> list[Task]:
    return [
        task(f"t{number:02}", tags=("read",) if number % 2 else ("read", "write"), **changes) for number in range(count)
    ]


def armed(
    of: Iterable[Task],
    agents: Iterable[str] = ("sonnet",),
    comparisons: Iterable[Comparison] = (LIFT,),
    rules: Iterable[GateRule] = (),
    trials: int = 4,
    arms: Iterable[str] = ("mcp", "cli"),
) -> Plan:
    """Cells are `agent/arm`."""
    cells = [Cell(id=f"{agent}/{arm}", model=agent, host="loop", arm=arm) for agent in agents for arm in arms]
    made = plan(of, cells=[cell.id for cell in cells], trials=trials)
    suite = made.suite.model_copy(
        update={"comparisons": tuple(comparisons), "gate": Gate(tuple(rules), bool(tuple(rules)))}
    )
    models = tuple(Model(name=agent, driver="script", target="canned.yaml") for agent in agents)
    return made.model_copy(update={"cells": tuple(cells), "suite": suite, "models": models})


def ran(
    made: Plan,
    passed: Mapping[str, int],
    calls: Mapping[str, int] | None = None,
    cost: float | None = 0.01,
    by_task: Mapping[str, str] | None = None,
    **changes: Any,
) -> list[TrialRecord]:
    """`passed`: cell -> how many trials of each task pass; `by_task`: group -> letters as in `samples.run`."""
    said = {
        node.id: "y" * passed.get(node.cell, 0) + "n" * (node.trials - passed.get(node.cell, 0))
        for node in made.nodes
        if node.kind == "trial"
    }
    found = []
    for record in run(made, said | dict(by_task or {}), **changes):
        cell = next(cell for cell in made.cells if cell.id == record.id.partition("@")[2].rpartition("#")[0])
        charged = (calls or {}).get(cell.id, 2)
        found.append(
            record.model_copy(
                update={
                    "cell": cell.id,
                    "arm": cell.arm,
                    "counts": CallCounts(made=charged, charged=charged),
                    "usage": TokenUse(input_tokens=100 * charged, output_tokens=10, cost_usd=cost),
                }
            )
        )
    return found


def natively(record: TrialRecord) -> TrialRecord:
    """The same trial, in which the agent used a shell and called no server."""
    used = NativeCall("n1", "shell", "shell", {"argv": ["grep"]}, 1)
    return record.model_copy(update={"calls": (), "native_tools": (SHELL,), "native_calls": (used,)})
