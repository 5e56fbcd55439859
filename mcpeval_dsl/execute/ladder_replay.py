"""Execution, for replays: one attempt of a rung, in a fresh environment of its own, and all attempts of a lead."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.execute.blocking import Blocked
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.folders import place as folder_of
from mcpeval_dsl.execute.folders import relocate
from mcpeval_dsl.execute.ladder import FIRST, Attempt, Judged, climb
from mcpeval_dsl.execute.ladder_places import Place, at, holds
from mcpeval_dsl.execute.ladder_slice import Rung, Step, rebound, refusal, rungs
from mcpeval_dsl.execute.nodes import earlier_values
from mcpeval_dsl.execute.progress import Progress
from mcpeval_dsl.execute.remote import is_remote
from mcpeval_dsl.execute.steps import StepFailed
from mcpeval_dsl.execute.trial import set_up_trial
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord, ServerStartError
from mcpeval_dsl.plan.model import HarvestNode, TrialGroup
from mcpeval_dsl.records.model import Lead, TrialRecord
from mcpeval_dsl.semantics.model import Cell, Environment
from mcpeval_dsl.values.model import EvaluationError

CONSISTENCY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Case:
    """A lead with what it was seen in: a trial (`record`), or a harvest (`node`). `calls` are all calls in order."""

    lead: Lead
    name: str
    calls: tuple[CallRecord, ...]
    record: TrialRecord | None = None
    node: HarvestNode | None = None


class Unreproduced(Exception):
    """An earlier call of the slice did not do what it did in the trial, so nothing is known of the last."""


async def replay(context: RunContext, case: Case, window: float = CONSISTENCY_SECONDS) -> Judged[Rung]:
    """Climb the ladder for one lead. Never raises for what a server or set-up does.

    `window`: seconds after which a value must be found though it was not at once; 0 asks no second time.
    """
    refused = refusal(case.lead, case.calls)
    if refused is not None:
        return Judged("unconfirmed", None, reason=refused)
    climbing = [rung for rung in rungs(case.lead, case.calls) if _may_be_replayed(context, case, rung)]
    if not climbing:
        reason = "it writes, and the server is not disposable: allow it with --allow-writes"
        return Judged("unconfirmed", None, reason=reason, infrastructure=True)
    return await climb(climbing, _Attempts(context, case, window).make)


def _may_be_replayed(context: RunContext, case: Case, rung: Rung) -> bool:
    if context.settings.allow_writes or not rung.writes:
        return True
    environment = _environment(context, case)
    servers = {step.call.server for step in rung.steps}
    remote = any(is_remote(context.servers[name]) for name in servers if name in context.servers)
    return not remote and (environment is None or environment.scope == "trial")


def _environment(context: RunContext, case: Case) -> Environment | None:
    name: str | None
    if case.record is not None:
        name = context.tasks[case.record.task].environment
    else:
        assert case.node is not None
        task = context.tasks[case.node.task] if case.node.task is not None else None
        name = context.harvest(case.node).environment or (task.environment if task is not None else None)
    return context.environments.get(name or "")


class _Attempts:
    """Numbers the attempts of one lead; as many at once as trials may be. The first of each rung are asked a second time."""

    def __init__(self, context: RunContext, case: Case, window: float) -> None:
        self.context, self.case, self.window = context, case, window
        self.made: dict[str, int] = {}
        self.places = asyncio.Semaphore(context.settings.jobs)

    async def make(self, rung: Rung, number: int) -> Sequence[Attempt]:
        first = self.made.get(rung.name, 0)
        self.made[rung.name] = first + number
        async with asyncio.TaskGroup() as group:  # unlike `gather`, it lets each clean up when they are cancelled
            tasks = [group.create_task(self._one(rung, first + each)) for each in range(number)]
        return [task.result() for task in tasks]

    async def _one(self, rung: Rung, number: int) -> Attempt:
        async with self.places:
            again = _Again(self.context, self.case, rung, number)
            return await again.attempt(self.window if number < FIRST else 0.0)


class _Again:
    """One attempt: its world, and what its calls gave."""

    def __init__(self, context: RunContext, case: Case, rung: Rung, number: int) -> None:
        self.context, self.case, self.rung = context, case, rung
        cell = self._cell()
        owner = f"{case.name} {case.lead.call} replay {rung.name} {number}"
        trial = case.record.trial if case.record is not None else 0
        self.world = World(context, owner, cell, _environment(context, case), trial=trial)
        self.results: dict[str, CallRecord] = {}
        self.values: dict[tuple[str, Place], str] = {}

    def _cell(self) -> Cell | None:
        record, node = self.case.record, self.case.node
        if record is not None:
            return self.context.cells[record.cell]
        return self.context.cells[node.cell] if node is not None and node.cell is not None else None

    async def attempt(self, window: float) -> Attempt:
        try:
            async with self.world.isolation():
                await self._set_up()
                for step in self.rung.steps[:-1]:
                    self._keep(step, await self._made(step))
                return await self._judged(self.rung.steps[-1], window)
        except Unreproduced as lost:
            return Attempt("invalid", str(lost))
        except Blocked as blocked:
            return Attempt("invalid", blocked.message or ", ".join(blocked.chain), infrastructure=True)
        except (StepFailed, EvaluationError, ServerStartError) as problem:
            return Attempt("invalid", f"the environment could not be set up: {problem}", infrastructure=True)
        finally:
            await asyncio.shield(self.world.close())
            self.world.remove()

    async def _set_up(self) -> None:
        """The environment of the trial or harvest, up to where its first call was made."""
        world, record = self.world, self.case.record
        if record is None:
            assert self.case.node is not None
            await world.take_place()
            await world.create(earlier_values(self.context, self.case.node, world))
            await world.set_up(None)
            return
        group = _group(self.context, record)
        task = self.context.tasks[record.task]
        cell = self.context.cells[record.cell]
        progress = Progress(
            record.id, record.key, group, task, cell, record.trial, record.seed, "", time.monotonic(), world=world
        )
        await set_up_trial(self.context, progress, world)

    async def _made(self, step: Step) -> CallRecord:
        """The call made again; set-up and the trial's own harvests have made theirs already."""
        call = step.call
        if _is_given(call):
            return self._given(call)
        arguments = relocate(rebound(step, self.values), self._old_folder(call), str(self.world.folder.root))
        return await self.world.gateway.call("probe", call.server, call.tool, _mapping(arguments), permit=True)

    def _given(self, call: CallRecord) -> CallRecord:
        """The call of the same number among those of its actor, tool and server."""

        def alike(other: CallRecord) -> bool:
            return (other.actor, other.server, other.tool) == (call.actor, call.server, call.tool)

        number = sum(alike(other) for other in self.case.calls[: self._position(call)])
        now = [other for other in self.world.calls if alike(other)]
        if number >= len(now):
            raise Unreproduced(f"the set-up did not call {call.server}.{call.tool} again")
        return now[number]

    def _position(self, call: CallRecord) -> int:
        return next(number for number, other in enumerate(self.case.calls) if other.id == call.id)

    def _old_folder(self, call: CallRecord) -> str:
        """The folder that paths in the arguments lie in: the trial's, or the harvest's that made the call."""
        harvest, slash, _ = call.id.rpartition("/")
        if slash:
            return str(folder_of(self.context.run_folder.parent, harvest).root)
        workdir = self.case.record.scope.get("workdir") if self.case.record is not None else None
        return str(workdir).removesuffix("/work") if workdir else "\x00"

    def _keep(self, step: Step, now: CallRecord) -> None:
        """What later steps are bound to. Raises Unreproduced where the call does not say again what it said."""
        succeeded = step.call.error is None and not step.call.is_error
        name = f"{step.call.server}.{step.call.tool}"
        if succeeded and (now.error is not None or now.is_error):
            what = "the provider" if step.provider else "an earlier call"
            raise Unreproduced(f"{what} was not reproduced: {name} fails now")
        self.results[step.call.id] = now
        for later in self.rung.steps:
            for each in later.bound:
                if each.source != step.call.id:
                    continue
                value = at(now, each.place)
                if value is None:
                    what = "provider not reproduced" if step.provider else "an earlier call was not reproduced"
                    raise Unreproduced(f"{what}: {name} gives no value there now")
                self.values[each.source, each.place] = value

    async def _judged(self, step: Step, window: float) -> Attempt:
        now = await self._made(step)
        found = _compared(step.call, now)
        if found.outcome != "fails" or step.call.error is None or step.call.error.kind != "not_found":
            return found
        missing = await self._no_longer_named(step)
        if missing is not None:
            return Attempt("invalid", missing)
        if window > 0:
            await asyncio.sleep(window)
            later = await self._made(step)
            if later.error is None and not later.is_error:
                return Attempt("later", f"it fails at once and passes {window:g} s later")
        return found

    async def _no_longer_named(self, failing: Step) -> str | None:
        """Why the failure is explained: an earlier write took away what the provider named."""
        for each in failing.bound:
            source = next((step for step in self.rung.steps if step.call.id == each.source), None)
            if source is None or not source.provider or source.call.permission.effect != "readonly":
                continue
            if _is_given(source.call):
                continue
            again = await self._made(source)
            if not holds(again, self.values[each.source, each.place]):
                return f"provider not reproduced: {source.call.server}.{source.call.tool} no longer names the value"
        return None


def _is_given(call: CallRecord) -> bool:
    """Set-up and the trial's own harvests make their calls themselves; harvests of the run were in other worlds."""
    return call.actor == "setup" or (call.actor == "harvest" and "/" not in call.id)


def _compared(then: CallRecord, now: CallRecord) -> Attempt:
    """The same class and kind of error fails; another one says nothing."""
    if now.error is not None and now.error.kind == "resource_limit":
        return Attempt("limit", now.error.message)
    if now.error is None and not now.is_error:
        return Attempt("passes")
    before = _kind(then)
    after = _kind(now)
    if before == after:
        return Attempt("fails")
    return Attempt("invalid", f"it fails otherwise now: {after[0]} ({after[1]}) in place of {before[0]} ({before[1]})")


def _kind(call: CallRecord) -> tuple[str, str]:
    return (call.error.error_class, call.error.kind) if call.error is not None else ("tool_error", "unknown")


def _mapping(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def _group(context: RunContext, record: TrialRecord) -> TrialGroup:
    name = record.id.rpartition("#")[0]
    return next(node for node in context.plan.nodes if isinstance(node, TrialGroup) and node.id == name)


__all__ = ["CONSISTENCY_SECONDS", "Case", "replay"]
