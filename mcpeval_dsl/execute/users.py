"""Before the agent of a trial with a dialogue: who talks to it, with the tools that a simulated user has for itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mcpeval_dsl.agents.model import Assignment, Settings, TrialContext
from mcpeval_dsl.agents.tools import prepare_tools, provider_of
from mcpeval_dsl.agents.users.persona import Persona
from mcpeval_dsl.agents.users.simulated import Prices, SimulatedUser
from mcpeval_dsl.execute.between import Between, per_turn
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.pace import pace_of
from mcpeval_dsl.execute.safety import Safety
from mcpeval_dsl.execute.speaking import Conversation
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.semantics.dialogues import STOP_WORD
from mcpeval_dsl.semantics.dialogues import SimulatedUser as Declared
from mcpeval_dsl.semantics.expressions import CallPattern, Expression
from mcpeval_dsl.semantics.model import Model, Task
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.patterns import matches
from mcpeval_dsl.values.text import as_text


def conversing(world: World, task: Task) -> bool:
    """Whether somebody answers the agent: a dialogue, or `elicit` where a call has to be confirmed first."""
    if task.dialogue is not None:
        return True
    if not task.answers_for_user:
        return False
    catalogues = [world.context.catalogues.get(s.catalog or s.name) for s in world.shown_servers(task)]
    return any(line.effect == "confirm" for each in catalogues if each is not None for line in each.annotations)


def conversation_of(
    context: RunContext, world: World, task: Task, safety: Safety | None, given: Assignment
) -> Conversation | None:
    """The trial's, None where nobody answers. Raises EvaluationError."""
    if not given.conversing:
        return None
    between = Between(world, task, safety, given.tools)
    declared = task.dialogue.user if task.dialogue is not None else None
    stored = context.stored.get(given.context.trial)
    user = None if declared is None or stored is not None else _user(context, world, declared, given.context)
    return Conversation(world, task, given.prompt, between, user, stored if declared is not None else None)


def with_user(world: World, task: Task, given: Assignment) -> Assignment:
    """The assignment of a trial in which there is somebody to talk to, and the limits of each turn."""
    return replace(
        given,
        conversing=conversing(world, task),
        withheld=withheld(task, given.tools, world),
        per_turn=per_turn(task),
    )


def withheld(task: Task, tools: Iterable[ToolDefinition], world: World) -> frozenset[tuple[str, str]]:
    """The (server, tool) that `hide` keeps back until a turn shows them."""
    scope = world.names.scope()
    turns = task.dialogue.turns if task.dialogue is not None else ()
    shows = [pattern for turn in turns for pattern in turn.show]
    return frozenset(
        (tool.server, tool.name)
        for tool in tools
        if any(matches(pattern, tool.server, tool.name, {}, scope) for pattern in shows)
        and any(matches(pattern, tool.server, tool.name, {}, scope) for pattern in task.hide)
    )


def _user(context: RunContext, world: World, declared: Declared, trial: TrialContext) -> SimulatedUser:
    model = context.models[declared.model]
    driver = context.drivers[model.name]
    tools = prepare_tools(provider_of(driver.name), _tools(world, declared))

    async def call(server: str, tool: str, arguments: Mapping[str, Any], after: int) -> tuple[str, bool]:
        await pace_of(context.shared).wait(context.servers[server])
        record = await world.gateway.call("user", server, tool, arguments, turn=after)
        return record.text, record.is_error

    asking = TrialContext(f"{trial.trial}!user", trial.task, trial.cell, trial.index, trial.seed)
    return SimulatedUser(driver, _persona(world, declared), tools, call, _settings(model), asking, _prices(model))


def _tools(world: World, declared: Declared) -> tuple[ToolDefinition, ...]:
    """Tools of private servers that the user's patterns name."""
    scope = world.names.scope()
    patterns = [pattern for pattern in declared.tools if isinstance(pattern, CallPattern) and pattern.server]
    servers = {pattern.server: world.context.server_of(pattern.server or "", world.cell) for pattern in patterns}
    found: list[ToolDefinition] = []
    for named, server in servers.items():
        if server is None or not server.private:
            continue
        own = [pattern for pattern in patterns if pattern.server == named]
        for tool in world.gateway.tools_of(server.name):
            if any(matches(p, tool.server, tool.name, {}, scope, catalogue=server.catalog or None) for p in own):
                found.append(tool)
    return tuple(found)


def _persona(world: World, declared: Declared) -> Persona:
    scope = world.names.scope()

    def text(value: Expression | None) -> str:
        return "" if value is None else as_text(evaluate(value, scope)).strip()

    return Persona(
        goal=text(declared.goal),
        persona=text(declared.persona),
        rules=text(declared.rules),
        knows=tuple(map(text, declared.knows)),
        unknown=tuple(map(text, declared.unknown)),
        never=tuple(map(text, declared.never)),
        stop_says=declared.stop_says or (STOP_WORD,),
    )


def _settings(model: Model) -> Settings:
    return Settings(model.max_tokens, model.temperature, model.thinking)


def _prices(model: Model) -> Prices:
    price = model.price
    return Prices() if price is None else Prices(price.input, price.output, price.cached)
