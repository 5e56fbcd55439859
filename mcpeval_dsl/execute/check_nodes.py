"""Execution, without a model: the checks of one server as a node of the plan, after the harvests they use; never raises."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.execute.check_lines import LineResult
from mcpeval_dsl.execute.checking import not_tested, run_check
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.folders import unmask
from mcpeval_dsl.execute.nodes import connect, harvest_node
from mcpeval_dsl.execute.shared import end_shared
from mcpeval_dsl.execute.trial import needed_harvests
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.plan.model import CheckNode, ConnectNode, HarvestNode, Plan
from mcpeval_dsl.plan.names import uses
from mcpeval_dsl.records.checks import CheckRecord
from mcpeval_dsl.semantics.model import Check


def checks_of(plan: Plan, node: CheckNode) -> tuple[Check, ...]:
    """The blocks that a node stands for, in order."""
    return tuple(check for check in plan.checks if check.server == node.server)


async def check_node(context: RunContext, node: CheckNode) -> CheckRecord:
    """Every line of every check of the node's server, on record."""
    lines: list[LineResult] = []
    for number, check in enumerate(checks_of(context.plan, node), start=1):
        lines += await check_of_node(context, node, check, number)
    return CheckRecord(id=node.id, key=node.key, server=node.server, lines=tuple(line.record() for line in lines))


async def checks_of_plan(context: RunContext) -> list[tuple[Check, tuple[LineResult, ...]]]:
    """All checks of a plan without its trials, one after the other, in order of the spec; what they need is read before."""
    nodes = {node.server: node for node in context.plan.nodes if isinstance(node, CheckNode)}
    harvests = {need.id for node in nodes.values() for need in needed_harvests(context, node.needs)}
    for node in context.plan.nodes if harvests else ():
        if isinstance(node, ConnectNode):
            context.connects[node.id] = await connect(context, node)
        elif isinstance(node, HarvestNode) and node.id in harvests:
            context.harvests[node.id] = await harvest_node(context, node)
    found: list[tuple[Check, tuple[LineResult, ...]]] = []
    try:
        for number, check in enumerate(context.plan.checks, start=1):
            found.append((check, await check_of_node(context, nodes[check.server], check, number)))
    finally:
        await end_shared(context)
    return found


async def check_of_node(context: RunContext, node: CheckNode, check: Check, number: int) -> tuple[LineResult, ...]:
    """One check, with the values of the harvests it needs; `not tested` where one of them has none."""
    missing = _without_value(context, node, check)
    if missing is not None:
        return tuple(not_tested(check.lines, missing))

    def harvested(world: World) -> list[tuple[str, Any]]:
        return [
            (context.harvest(need).name, unmask(context.harvests[need.id].value, world.folder))
            for need in needed_harvests(context, node.needs)
            if need.id in context.harvests
        ]

    return await run_check(context, check, number, harvested)


def _without_value(context: RunContext, node: CheckNode, check: Check) -> str | None:
    """Why a harvest that this check names, or its environment, has no value."""
    environment = context.environments.get(check.environment or "")
    named = set(check.uses) | uses(environment).names
    for need in needed_harvests(context, node.needs):
        record = context.harvests.get(need.id)
        if need.harvest in named and (record is None or record.status != "ok"):
            why = f"{record.status} ({record.message})" if record is not None else "not read"
            return f"harvest {need.harvest}: {why}"
    return None


__all__ = ["check_node", "checks_of", "checks_of_plan"]
