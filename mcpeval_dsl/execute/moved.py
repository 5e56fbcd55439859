"""Whether somebody else changed, while a trial ran, what its ground truth was harvested from."""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.folders import mask
from mcpeval_dsl.execute.harvest import read_values
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.plan.model import HarvestNode
from mcpeval_dsl.semantics.model import Task

MOVED = "ground_truth_moved:other_writer"


async def truth_moved(context: RunContext, nodes: Iterable[HarvestNode], task: Task, world: World) -> bool:
    """Read the harvests again, where others could have written in the meantime and the trial itself did not.

    A fresh environment has no other writer; what the trial's set-up or its agent wrote is no news; a harvest that writes is
    not read twice; one that cannot be read now says nothing.
    """
    wrote = any(
        call.actor == "agent" and call.permission.decision == "allowed" and call.permission.effect != "readonly"
        for call in world.calls
    )
    if world.disposable or wrote or task.setup:
        return False
    for node in nodes:
        harvest = context.harvest(node)
        record = context.harvests[node.id]
        if harvest.permit is not None or record.status != "ok":
            continue
        got = await read_values(harvest, world.names.scope(), world.reader("truth"))
        if got.status == "empty" or (got.status == "ok" and mask(got.value, world.folder) != record.value):
            return True
    return False
