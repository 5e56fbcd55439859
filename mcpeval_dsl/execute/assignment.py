"""What the agent of one trial is given: prompt, system text, tools it may see, limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcpeval_dsl.agents.model import Assignment, HostProfile, Settings, TrialContext
from mcpeval_dsl.gateway.model import ServerInfo, ToolDefinition
from mcpeval_dsl.plan.model import TrialGroup
from mcpeval_dsl.semantics.model import Host, Model, Task
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.patterns import matches
from mcpeval_dsl.values.text import as_text

DEFAULT_TIME = 600.0


def trial_seed(suite_seed: int, trial_id: str) -> int:
    """The agent's seed for one trial: differs by trial, the same in every run of the plan."""
    return int.from_bytes(hashlib.sha256(f"{suite_seed}\x00{trial_id}".encode()).digest()[:6], "big")


def profile_of(host: Host, scope: Scope, version: str, servers: Iterable[str] = ()) -> HostProfile:
    """The host's settings with their templates rendered, for each server where they name it. Raises EvaluationError."""

    def around(server: str) -> tuple[str, str]:
        named = replace(scope, names={**scope.names, "server": server})
        prefix, suffix = (
            None if part is None else evaluate(part, named) for part in (host.tool_prefix, host.tool_suffix)
        )
        return "" if prefix is None else as_text(prefix), "" if suffix is None else as_text(suffix)

    return HostProfile(
        host.name,
        version,
        instructions=host.instructions == "include",
        affixes={server: around(server) for server in servers},
        tool_search=host.tool_search,
        tool_result_limit=host.tool_result_limit,
        max_turns=host.max_turns,
        parallel_tools=host.parallel_tools,
        show_protocol_errors=host.protocol_errors == "show",
    )


def shown_tools(task: Task, tools: Sequence[ToolDefinition], scope: Scope) -> tuple[ToolDefinition, ...]:
    """The usable tools that the task's filters leave; `only` lists add up, `not` and `hide` take away.

    What a later turn shows is among them: the host withholds it until then.
    """
    only = [pattern for part in task.tools if part.mode == "only" for pattern in part.patterns]
    without = [pattern for part in task.tools if part.mode == "not" for pattern in part.patterns]
    later = [pattern for turn in (task.dialogue.turns if task.dialogue is not None else ()) for pattern in turn.show]

    def shown(tool: ToolDefinition) -> bool:
        def hit(patterns: Sequence[Any]) -> bool:
            return any(matches(pattern, tool.server, tool.name, {}, scope) for pattern in patterns)

        kept_back = hit(task.hide) and not hit(later)
        return tool.usable and (not only or hit(only)) and not hit(without) and not kept_back

    return tuple(tool for tool in tools if shown(tool))


def assign(
    task: Task,
    group: TrialGroup,
    model: Model,
    host: Host,
    tools: tuple[ToolDefinition, ...],
    infos: Mapping[str, ServerInfo],
    scope: Scope,
    context: TrialContext,
) -> Assignment:
    """Everything the host needs. Raises EvaluationError where a prompt cannot be rendered."""
    budget = task.budget
    price = model.price
    schema = None if task.answer.schema is None else evaluate(task.answer.schema, scope)
    hard_tokens, hard_turns = budget.tokens.hard, budget.turns.hard
    return Assignment(
        prompt="" if task.prompt is None else as_text(evaluate(task.prompt, scope)),
        system="\n\n".join(as_text(evaluate(part, scope)) for part in task.system),
        tools=tools,
        instructions={name: info.instructions for name, info in infos.items() if info.instructions},
        answer_form=task.answer.form,
        answer_schema=schema,
        settings=Settings(model.max_tokens, model.temperature, model.thinking, host.parallel_tools),
        context=context,
        hard_tokens=None if hard_tokens is None else int(hard_tokens),
        hard_cost=budget.cost.hard,
        hard_turns=None if hard_turns is None else int(hard_turns),
        time_limit=budget.time.hard or max(DEFAULT_TIME, budget.time.soft or 0.0),
        price_input=None if price is None else price.input,
        price_output=None if price is None else price.output,
        price_cached=None if price is None else price.cached,
    )
