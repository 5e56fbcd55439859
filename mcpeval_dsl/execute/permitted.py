"""Execution: what the agent of a task may do, as the gateway's rules: of the spec, the catalogues and the operator's switches."""

from __future__ import annotations

from dataclasses import replace

from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.remote import is_remote
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.semantics.model import Catalogue, Conditional, Task
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError, Scope


def rules_of(context: RunContext, task: Task | None, scope: Scope, *, disposable: bool) -> Rules:
    """Without a task: what holds for set-up and probes. `disposable`: the environment is a fresh copy for this trial."""
    catalogues: dict[str, Catalogue] = {}
    for name, server in context.servers.items():
        catalogue = context.catalogues.get(server.catalog or name)
        if catalogue is not None:
            catalogues[name] = catalogue
    rules = Rules(
        catalogues=catalogues,
        trust_hints=frozenset(name for name, server in context.servers.items() if server.trust_hints),
        disposable=disposable,
        allow_writes=context.settings.allow_writes,
        remote=frozenset(name for name, server in context.servers.items() if is_remote(server)),
        scope=scope,
    )
    if task is None:
        return rules
    extra = [item for item in task.conditionals if _holds(item, scope)]
    return replace(
        rules,
        policy=task.policy,
        may=(*task.may, *(pattern for item in extra for pattern in item.may)),
        never=(*task.never, *(line for item in extra for line in item.never)),
        simulate=task.simulate,
    )


def _holds(item: Conditional, scope: Scope) -> bool:
    try:
        return condition(item.condition, scope).holds
    except EvaluationError:
        return False
