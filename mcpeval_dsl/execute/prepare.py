"""From a plan and the operator's settings to a run that can start: drivers, secrets, redaction, what everything shares."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mcpeval_dsl.agents.drivers.registry import open_driver
from mcpeval_dsl.agents.drivers.settings import DriverSettings, DriverUnavailable
from mcpeval_dsl.agents.model import Driver
from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.identities import variables
from mcpeval_dsl.execute.manifest import commit_of, repository_commit
from mcpeval_dsl.execute.settings import RunSettings
from mcpeval_dsl.execute.startables import hosts_of, startables
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.plan.ceilings import judge_models
from mcpeval_dsl.plan.codec import encode
from mcpeval_dsl.plan.model import Plan, TrialGroup
from mcpeval_dsl.semantics.model import Model
from mcpeval_dsl.semantics.task_parts import user_model


def unsupported(plan: Plan) -> tuple[Diagnostic, ...]:
    """What the plan says and this version does not run: refused at its place, never ignored."""
    return tuple(
        Diagnostic(
            "MCPE502",
            f"`run` does not support {item.construct} yet",
            item.at,
            body="It is checked and planned, but leaving it out silently would change what is measured.",
            hint="take it out of this run with `--exclude`, or delete it",
        )
        for item in dict.fromkeys(plan.unsupported)
    )


def context_of(plan: Plan, run_folder: Path, settings: RunSettings, *, with_models: bool = True) -> Checked[RunContext]:
    """Everything the trials of a run share. Opens drivers unless no model will take part; connects nowhere."""
    spec_folder = (settings.project_root / plan.suite.spec).parent.resolve()
    secrets = {name: value for name in secret_names(plan) if (value := os.environ.get(name)) is not None}
    drivers: dict[str, Driver] = {}
    problems: list[Diagnostic] = []
    for model in used_models(plan) if with_models else ():
        try:
            drivers[model.name] = open_driver(model, driver_settings(model, plan, settings))
        except DriverUnavailable as error:
            problems.append(Diagnostic("MCPE503", f"model `{model.name}` cannot be used", model.at, body=error.reason))
    if problems:
        return Checked(None, tuple(problems))
    tokens = {name: value for name in variables(plan) if (value := os.environ.get(name))}
    keys = {f"key of {name}": provider.api_key for name, provider in settings.providers.items() if provider.api_key}
    context = RunContext(
        plan=plan,
        run_folder=run_folder,
        spec_folder=spec_folder,
        settings=settings,
        redactor=Redactor({**secrets, **tokens, **keys}),
        drivers=drivers,
        secrets=secrets,
        repository_commit=repository_commit(spec_folder),
        server_commits={
            server.name: commit for server in plan.servers if (commit := commit_of(server, spec_folder)) is not None
        },
        http_hosts=hosts_of(startables(plan, spec_folder)),
        starts=asyncio.Semaphore(settings.starts),
    )
    return Checked(context)


def used_models(plan: Plan) -> tuple[Model, ...]:
    """Models of the cells that have trials, every judge, and those that play users."""
    names = {plan_cell.model for plan_cell in plan.cells if plan_cell.id in _cells(plan)} | set(judges(plan))
    names |= set(user_models(plan))
    return tuple(model for model in plan.models if model.name in names)


def _cells(plan: Plan) -> set[str]:
    return {node.cell for node in plan.nodes if isinstance(node, TrialGroup)}


def judges(plan: Plan) -> tuple[str, ...]:
    """Models that `grade judge` asks, in any task of the plan."""
    return tuple(dict.fromkeys(name for task in plan.tasks for name in judge_models(task)))


def user_models(plan: Plan) -> tuple[str, ...]:
    """Models that play a user in any task of the plan that has trials."""
    due = {node.task for node in plan.nodes if isinstance(node, TrialGroup)}
    return tuple(dict.fromkeys(name for task in plan.tasks if task.name in due and (name := user_model(task))))


def driver_settings(model: Model, plan: Plan, settings: RunSettings) -> DriverSettings:
    """The operator's side of one model: endpoint, key and patience come from nowhere else."""
    provider = settings.provider(model.driver)
    spec_folder = (settings.project_root / plan.suite.spec).parent
    of_project = model.driver not in ("script", "replay") or (settings.project_root / model.target).exists()
    return DriverSettings(
        base_url=provider.base_url,
        api_key=provider.api_key,
        project_root=settings.project_root if of_project else spec_folder,
        request_timeout=provider.timeout,
        retry_time=provider.patience,
        seed=plan.suite.seed,
    )


def secret_names(plan: Plan) -> tuple[str, ...]:
    """Every variable that the plan reads with `secret("NAME")`, and every secret it needs."""
    found: dict[str, None] = {}
    parts: Iterable[Any] = (
        plan.servers,
        plan.environments,
        plan.harvests,
        plan.tasks,
        plan.checks,
        plan.arms,
        plan.lets,
    )
    todo: list[Any] = [encode(list(part)) for part in parts]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            if value.get("kind") == "secret" and isinstance(value.get("name"), str):
                found[value["name"]] = None
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return tuple(sorted(found))
