"""Why a trial cannot be tested before its agent has begun: a server, a harvest or a `needs`. Never a failure."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.environ import search_path
from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.reading import with_readings
from mcpeval_dsl.plan.model import TrialGroup
from mcpeval_dsl.records.model import InfraTrouble
from mcpeval_dsl.semantics.expressions import Ref
from mcpeval_dsl.semantics.model import Cell, Conditional, Need, Task
from mcpeval_dsl.semantics.task_parts import user_model
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError

if TYPE_CHECKING:
    from mcpeval_dsl.execute.world import World


NO_ROW = "not_applicable: no such row"
"""Why a harvest of a row was not read: the loop has fewer rows. Its trials are not applicable, not untestable."""

DRIFT = ("drift:tool_changed",)
"""The chain of a trial whose server is not the one that was pinned."""


@dataclass(eq=False)
class Blocked(Exception):
    """`chain` names the causes, first cause first; `message` is a sentence."""

    kind: str
    chain: tuple[str, ...]
    message: str = ""
    by_defect: bool = False
    labels: tuple[str, ...] = field(default=())

    def trouble(self) -> InfraTrouble:
        return InfraTrouble(
            kind=self.kind,
            when="before_agent",
            chain=self.chain,
            message=self.message,
            blocked_by_defect=self.by_defect,
        )


def blocked_by_plan(context: RunContext, group: TrialGroup, cell: Cell) -> Blocked | None:
    """A node the group waits for did not succeed: a server, a harvest, or the look at the model."""
    problem = context.preflights.get(cell.model)
    if problem:
        return Blocked("model_api", ("model_api:preflight",), str(problem))
    user = user_model(context.tasks[group.task])
    problem = context.preflights.get(user or "")
    if problem:
        return Blocked("model_api", ("user_model:preflight",), f"the model that plays the user: {problem}")
    return blocked_by_needs(context, group.needs)


def blocked_by_needs(context: RunContext, needs: tuple[str, ...]) -> Blocked | None:
    """The first need that failed, with its own causes before it."""
    connects = {node.id: node for node in context.connect_nodes.values()}
    for need in needs:
        if need in connects:
            record = context.connects.get(need)
            if record is None or record.status != "ok":
                message = record.message if record is not None else "the server was never reached"
                return Blocked("server_start", ("server:start_failed",), f"server {connects[need].server}: {message}")
        node = context.harvest_nodes.get(need)
        if node is None:
            continue
        harvested = context.harvests.get(need)
        if harvested is None:
            return Blocked("harvest", (f"harvest {node.harvest}: not read",))
        if harvested.status != "ok":
            return Blocked("harvest", harvested.because, harvested.message)
    return None


async def unmet(context: RunContext, task: Task, cell: Cell, world: World) -> Blocked | None:
    """The first `needs` of the task (those under a `when` that holds too) or its environment that does not hold."""
    environment = context.environments.get(task.environment or "")
    extra = [need for item in task.conditionals if item.needs and _holds(item, world) for need in item.needs]
    needs = (*(environment.needs if environment is not None else ()), *task.needs, *extra)
    return await unmet_by(context, needs, cell, world)


def _holds(item: Conditional, world: World) -> bool:
    try:
        return condition(item.condition, world.names.scope()).holds
    except EvaluationError:
        return False


async def unmet_by(context: RunContext, needs: Iterable[Need], cell: Cell | None, world: World) -> Blocked | None:
    """The first of these needs that does not hold, by its words."""
    for need in needs:
        reason = await _unmet(context, need, cell, world)
        if reason is not None:
            return Blocked("needs", (f"needs {reason}",), f"it needs {reason}")
    return None


def servers_to_be_healthy(context: RunContext, task_name: str, cell_id: str) -> tuple[str, ...]:
    """Connect nodes that a task needs only since a `needs healthy` of it, its environment or its harvests names them."""
    task, cell = context.tasks[task_name], context.cells[cell_id]
    environment = context.environments.get(task.environment or "")
    lists = [task.needs, *(item.needs for item in task.conditionals), *(harvest.needs for harvest in task.harvests)]
    lists += [harvest.needs for harvest in context.plan.harvests if harvest.id in task.uses]
    lists += [environment.needs] if environment is not None else []
    names = [need.name for needs in lists for need in needs if need.kind == "healthy"]
    servers = [server for name in names if (server := context.server_of(name, cell)) is not None]
    return tuple(context.connect_nodes[server.name].id for server in servers if server.name in context.connect_nodes)


async def _unmet(context: RunContext, need: Need, cell: Cell | None, world: World) -> str | None:
    match need.kind:
        case "secret":
            return None if os.environ.get(need.name) else f"the secret {need.name}, which is not set"
        case "binary":
            return None if shutil.which(need.name, path=search_path()) else f"the program {need.name}"
        case "healthy":
            server = context.server_of(need.name, cell)
            node = None if server is None else context.connect_nodes.get(server.name)
            record = None if node is None else context.connects.get(node.id)
            return None if record is not None and record.status == "ok" else f"the server {need.name} to be healthy"
        case "harvest":
            ids = [node.id for node in context.harvest_nodes.values() if node.harvest == need.name]
            known = [context.harvests[node_id] for node_id in ids if node_id in context.harvests]
            return None if all(record.status == "ok" for record in known) else f"the harvest {need.name}"
        case "tool":
            return _tool_missing(need, cell, context)
        case "condition":
            return await _condition_unmet(need, world)


def _tool_missing(need: Need, cell: Cell | None, context: RunContext) -> str | None:
    server_name, _, tool_name = need.name.rpartition(".")
    server = context.server_of(server_name, cell) if server_name else None
    pins = [context.pin(server.name)] if server is not None else [context.pin(name) for name in context.servers]
    tools = [tool for pin in pins if pin is not None for tool in pin.tools if tool.name == tool_name]
    if not tools:
        return f"the tool {need.name}"
    if need.condition is None:
        return None
    wanted = getattr(need.condition.right, "value", None)
    has = wanted in tools[0].input_schema.get("properties", {})
    negated = need.condition.operator == "not has"
    return f"the tool {need.name} with{'out' if negated else ''} `{wanted}`" if has == negated else None


async def _condition_unmet(need: Need, world: World) -> str | None:
    if need.condition is None:
        return None
    scope = await with_readings([need.condition], extended(world.names.scope()), world.reader("setup"))
    try:
        result = condition(need.condition, scope)
    except EvaluationError as error:
        return f"a condition that cannot be checked ({error.reason})"
    left = need.condition.left
    what = ".".join(map(str, left.path)) + " " if isinstance(left, Ref) else ""
    return None if result.holds else f"{what}{result.expected}, found {result.actual}"
