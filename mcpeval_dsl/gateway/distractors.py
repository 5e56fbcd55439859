"""Which tools stand in the agent's way: drawn from catalogues or made like a real tool, the same for the same seed.

Place in the pipeline: from `distract` and the tools of a trial to the list that its agent is shown; pure.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import resources
from itertools import islice

from mcpeval_dsl.gateway.catalogue import read_tools
from mcpeval_dsl.gateway.lookalikes import look_alikes
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.semantics.disturbances import CatalogueTools, Distraction, LookAlikes
from mcpeval_dsl.semantics.tool_lists import SHIPPED, read_tool_list
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.patterns import matches


class NoSuchTools(Exception):
    """What `distract` asks for cannot be had; the message is for people."""


def shipped(name: str) -> str:
    """The text of a shipped catalogue. Raises NoSuchTools."""
    if name not in SHIPPED:
        raise NoSuchTools(f"there is no catalogue `{name}`")
    return resources.files("mcpeval_dsl.gateway").joinpath("catalogues", f"{name}.json").read_text("utf-8")


def catalogue_tools(text: str, name: str, taken: Iterable[str] = ()) -> tuple[ToolDefinition, ...]:
    """The usable tools of a catalogue, each of a server that is none of `taken`. Raises NoSuchTools.

    `name` stands for the server where the catalogue names none.
    """
    listed = read_tool_list(text)
    if listed.problem:
        raise NoSuchTools(f"the catalogue `{name}` cannot be used: {listed.problem}")
    by_server: dict[str, list[object]] = {}
    for server, entry in listed.entries:
        by_server.setdefault(server or name, []).append(entry)
    reserved = set(taken)
    found: list[ToolDefinition] = []
    for server, entries in by_server.items():
        called = _free(server, reserved)
        found += [replace(tool, distractor=True) for tool in read_tools(called, entries) if tool.usable]
    return tuple(found)


def _free(name: str, reserved: set[str]) -> str:
    number, found = 1, name
    while found in reserved:
        number += 1
        found = f"{name}_{number}"
    return found


def distractors(
    lines: Sequence[Distraction],
    shown: Sequence[ToolDefinition],
    seed: str,
    load: Callable[[CatalogueTools], tuple[ToolDefinition, ...]],
    scope: Scope,
) -> tuple[ToolDefinition, ...]:
    """Every line's tools, none twice. `shown` are the real tools, `load` gives the tools of a catalogue.

    Raises NoSuchTools, and EvaluationError for a pattern without a value.
    """
    taken = {(tool.server, tool.name) for tool in shown}
    found: list[ToolDefinition] = []
    for number, line in enumerate(lines):
        dice = random.Random(f"{seed}/{number}")
        if isinstance(line, CatalogueTools):
            free = [tool for tool in load(line) if (tool.server, tool.name) not in taken]
            chosen = dice.sample(free, line.count) if line.count <= len(free) else free
        else:
            chosen, free = _near(line, shown, taken, dice, scope), []
        if len(chosen) < line.count:
            raise NoSuchTools(f"{line.count} distractors are asked for, and only {len(chosen)} can be had")
        taken |= {(tool.server, tool.name) for tool in chosen}
        found += chosen
    return tuple(found)


def _near(
    line: LookAlikes, shown: Sequence[ToolDefinition], taken: set[tuple[str, str]], dice: random.Random, scope: Scope
) -> list[ToolDefinition]:
    """Look-alikes of each tool named, in turn: nearest ones, drawn among twice as many as are needed."""
    models = [tool for tool in shown if matches(line.pattern, tool.server, tool.name, {}, scope)]
    if not models:
        raise NoSuchTools(f"no tool that the agent is shown is called `{line.pattern.tool}`")
    share = -(-line.count // len(models))
    pools = []
    for model in models:
        free = (tool for tool in look_alikes(model) if (tool.server, tool.name) not in taken)
        pool = list(islice(free, 2 * share))
        dice.shuffle(pool)
        pools.append(pool)
    found: dict[tuple[str, str], ToolDefinition] = {}
    for turn in range(2 * share):
        for pool in pools:
            if turn < len(pool) and len(found) < line.count:
                found.setdefault((pool[turn].server, pool[turn].name), pool[turn])
    return list(found.values())


def among(shown: Sequence[ToolDefinition], added: Sequence[ToolDefinition], seed: str) -> tuple[ToolDefinition, ...]:
    """Real tools and distractors in one list, as a host with more servers would have it: no place gives them away.

    Servers stand in drawn order; a server's own tools keep theirs, with its look-alikes at drawn places between them.
    """
    dice = random.Random(f"{seed}/places")
    groups: dict[str, list[ToolDefinition]] = {}
    for tool in shown:
        groups.setdefault(tool.server, []).append(tool)
    for tool in added:
        group = groups.setdefault(tool.server, [])
        group.insert(dice.randint(0, len(group)), tool)
    order = sorted(groups)
    dice.shuffle(order)
    return tuple(tool for server in order for tool in groups[server])
