"""One trial from an empty folder to its record: set-up, agent, evidence, and the end of every process, whatever happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from mcpeval_dsl.agents.hosts.loop import LOOP_VERSION, LoopHost
from mcpeval_dsl.agents.model import CallReply, TrialContext
from mcpeval_dsl.execute import capture, recording
from mcpeval_dsl.execute.assignment import assign, profile_of, shown_tools, trial_seed
from mcpeval_dsl.execute.blocking import DRIFT, NO_ROW, Blocked, blocked_by_plan, unmet
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.distraction import decoys_among, with_distractors
from mcpeval_dsl.execute.folders import unmask
from mcpeval_dsl.execute.harvest import read_values
from mcpeval_dsl.execute.moved import MOVED, truth_moved
from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.native import about, missing_program, native_tools
from mcpeval_dsl.execute.progress import Progress
from mcpeval_dsl.execute.reference import read_reference_world, read_turn_references
from mcpeval_dsl.execute.rows import row_of
from mcpeval_dsl.execute.safety import armed
from mcpeval_dsl.execute.steps import StepFailed
from mcpeval_dsl.execute.users import conversation_of, with_user
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.consent import Consent
from mcpeval_dsl.gateway.model import ServerStartError
from mcpeval_dsl.plan.model import HarvestNode, TrialGroup, trial_id, trial_key
from mcpeval_dsl.plan.parameters import in_cell
from mcpeval_dsl.records.model import InfraTrouble, TrialRecord
from mcpeval_dsl.semantics.expressions import CallStep, FileText
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.regular import regular_text
from mcpeval_dsl.values.sources import arguments_of
from mcpeval_dsl.values.text import as_text

AFTER_AGENT_SECONDS = 300.0
TEARDOWN_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial whose processes are gone; its folder (None where it never had one) stands until `remove`."""

    record: TrialRecord
    world: World | None = None

    @property
    def workdir(self) -> Path | None:
        return self.world.folder.work if self.world is not None else None

    def remove(self) -> None:
        if self.world is not None:
            self.world.remove()


async def run_trial(context: RunContext, group: TrialGroup, number: int) -> Ended:
    """Never raises for what server, agent or model do; cancellation ends everything it started and passes through."""
    cell = context.cells[group.cell]
    task = in_cell(context.tasks[group.task], cell)
    name = trial_id(group.id, number)
    progress = Progress(
        name,
        trial_key(group.key, number),
        group,
        task,
        cell,
        number,
        trial_seed(context.plan.suite.seed, name),
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        time.monotonic(),
    )
    blocked = blocked_by_plan(context, group, cell)
    if blocked is not None:
        progress.not_applicable = NO_ROW in blocked.chain
        progress.trouble = None if progress.not_applicable else blocked.trouble()
        return Ended(recording.record_of(context, progress))
    world = World(context, name, cell, context.environments.get(task.environment or ""), trial=number)
    progress.world = world
    try:
        await _live(context, progress, world)
        await asyncio.shield(world.close())
    except BaseException:
        await asyncio.shield(world.close())
        world.remove()
        raise
    return Ended(recording.record_of(context, progress), world)


async def _live(context: RunContext, progress: Progress, world: World) -> None:
    async with world.isolation():
        await _until_answered(context, progress, world)
        if progress.host is not None:
            await _after_in_time(context, progress, world)
        await _put_back(progress, world)


async def _until_answered(context: RunContext, progress: Progress, world: World) -> None:
    """Set-up and agent; what keeps the agent from beginning is the trial's trouble."""
    try:
        await set_up_trial(context, progress, world)
        if not progress.not_applicable:
            progress.start_ms = (time.monotonic() - progress.began) * 1000.0
            await _agent(context, progress, world)
    except Blocked as blocked:
        progress.trouble = blocked.trouble()
    except StepFailed as failed:
        where = f" ({failed.at})" if failed.at is not None else ""
        progress.trouble = InfraTrouble(
            kind="setup", when="before_agent", chain=("setup",), message=f"{failed.reason}{where}"
        )
    except ServerStartError as error:
        progress.trouble = InfraTrouble(
            kind="server_start",
            when="before_agent",
            chain=("server:start_failed",),
            message=f"server {error.server}: {error.message}",
        )
    except EvaluationError as error:
        progress.trouble = InfraTrouble(
            kind="setup", when="before_agent", chain=("setup",), message=f"a value is missing: {error.reason}"
        )


async def _after_in_time(context: RunContext, progress: Progress, world: World) -> None:
    """Evidence, within its own deadline; what could not be read leaves the graders that ask for it without."""
    try:
        async with asyncio.timeout(AFTER_AGENT_SECONDS):
            await _after(context, progress, world)
    except TimeoutError:
        progress.flags.append("evidence_timeout")
        progress.findings.append(f"evidence could not be read within {AFTER_AGENT_SECONDS:g} s")
    except (StepFailed, ServerStartError, EvaluationError) as error:
        progress.findings.append(f"evidence could not be read: {error}")


async def set_up_trial(context: RunContext, progress: Progress, world: World) -> None:
    """Environment, needs, servers, the task's own set-up, harvests of the trial, and what `unchanged` compares with."""
    task, group = progress.task, progress.group
    await world.take_place()
    await world.create(_harvested(context, progress, world))
    row = None if task.loop is None else row_of(task.loop, group, world.names.scope())
    if task.loop is not None:
        if row is None:
            progress.not_applicable = True
            return
        world.names.values[task.loop.variable] = row[0]
    await world.set_up(task)
    canaries = _planted(task, world)
    world.names.values |= canaries
    await _own_harvests(context, progress, world)
    problem = await unmet(context, task, progress.cell, world) or missing_program(context, world, task)
    if problem is not None:
        raise problem
    await world.workspace.perform(task.setup)
    world.ready_for(task, canaries, progress.seed)
    before = capture.before_sources(task)
    if before:
        scope = world.names.scope()
        progress.evidence |= await capture.read_evidence(before, scope, world.reader("setup"), capture.BEFORE)
    progress.safety = await armed(world, task)


def _planted(task: Task, world: World) -> dict[str, str]:
    """The task's canaries: texts, or the contents of files beside the spec. Raises StepFailed, EvaluationError."""
    found: dict[str, str] = {}
    for name, value in task.canaries:
        if not isinstance(value, FileText):
            found[name] = as_text(evaluate(value, extended(world.names.scope(), **found)))
            continue
        try:
            found[name] = regular_text(world.workspace.source(value.path, world.names.scope())).strip()
        except (OSError, ValueError) as error:
            raise StepFailed(f"the file of the canary `{name}` cannot be read: {error}", value.at) from error
    return found


def _harvested(context: RunContext, progress: Progress, world: World) -> list[tuple[str, Any]]:
    """Values of the harvests that the trial's group waits for, with this trial's own work directory in them."""
    found = []
    for node in needed_harvests(context, progress.group.needs):
        record = context.harvests[node.id]
        harvest = context.harvest(node)
        found.append((harvest.name, unmask(record.value, world.folder)))
        progress.harvested[harvest.id] = record.calls[-1].id if record.calls else ""
    return found


def needed_harvests(context: RunContext, needs: tuple[str, ...]) -> list[HarvestNode]:
    """Harvest nodes among `needs` and what those wait for, each once, earlier ones first."""
    found: dict[str, HarvestNode] = {}
    todo = list(needs)
    while todo:
        node = context.harvest_nodes.get(todo.pop())
        if node is not None and node.id not in found:
            found[node.id] = node
            todo.extend(node.needs)
    return list(reversed(found.values()))


async def _own_harvests(context: RunContext, progress: Progress, world: World) -> None:
    """Harvests of scope `trial`: read in the trial's own world, before its agent."""
    known = [*context.plan.harvests, *progress.task.harvests]
    wanted = set(progress.task.uses) | {harvest.id for harvest in progress.task.harvests}
    for harvest in known:
        if harvest.scope != "trial" or harvest.id not in wanted:
            continue
        got = await read_values(
            harvest, world.names.scope(), world.reader("harvest", permit=harvest.permit is not None)
        )
        if got.status != "ok":
            raise Blocked("harvest", (f"harvest {harvest.id}: {got.status}",), got.message)
        world.names.values[harvest.name] = got.value
        progress.harvested[harvest.id] = got.calls[-1] if got.calls else ""


async def _agent(context: RunContext, progress: Progress, world: World) -> None:
    task, cell = progress.task, progress.cell
    model, host = context.models[cell.model], context.hosts[cell.host]
    scope = world.names.scope()
    trial = TrialContext(progress.id, task.name, cell.id, progress.number, progress.seed, facts_of(task, scope))
    tools = shown_tools(task, world.tools(), scope)
    if world.arm is None or world.shown_servers(task):
        # In an arm without a server there is no choice to be distracted from.
        tools = with_distractors(context, task, tools, scope)
    plants = progress.safety.plants if progress.safety is not None else None
    tools = tools if plants is None else plants.into_descriptions(tools)
    world.stand_in(decoys_among(tools), progress.seed)
    profile = profile_of(host, scope, LOOP_VERSION, dict.fromkeys(tool.server for tool in tools))
    progress.assignment = assign(task, progress.group, model, host, tools, world.infos(), scope, trial)
    if progress.safety is not None:
        own = native_tools(context, world, task, progress.safety.writes)
        progress.assignment = replace(progress.assignment, native=own, about=about(world, task))
    if plants is not None:
        progress.assignment = replace(progress.assignment, prompt=plants.into_prompt(progress.assignment.prompt))
    world.show_protocol_errors = profile.show_protocol_errors
    world.gateway.consent = Consent(host.permissions, leave=task.elicit == "accept")
    progress.assignment = with_user(world, task, progress.assignment)
    progress.talk = conversation_of(context, world, task, progress.safety, progress.assignment)

    async def call(server: str, tool: str, arguments: Any, turn: int, wire_name: str) -> CallReply:
        return await world.agent_call(server, tool, arguments, turn, wire_name)

    began = time.monotonic()
    progress.host = await LoopHost(profile).run(progress.assignment, context.drivers[cell.model], call, progress.talk)
    progress.agent_ms = (time.monotonic() - began) * 1000.0
    if progress.talk is not None:
        progress.evidence |= await progress.talk.over(progress.host.exchanges)
    for answer in (*(exchange.answer for exchange in progress.host.exchanges[:-1]), progress.host.answer):
        world.check_answer(answer)
    if progress.safety is not None:
        await progress.safety.agent_ended()
    if progress.host.termination == "drift":
        progress.trouble = _drifted(world, "before_answer")
    elif progress.safety is not None and progress.safety.changed and world.findings:
        progress.trouble = _drifted(world, "after_answer")


def _drifted(world: World, when: Literal["before_answer", "after_answer"]) -> InfraTrouble:
    return InfraTrouble(kind="drift", when=when, chain=DRIFT, message="; ".join(world.findings))


def facts_of(task: Task, scope: Scope) -> dict[str, Any]:
    """What a model that is none may know: the trial's folders and names, and the task's reference calls that have values."""
    facts: dict[str, Any] = {name: scope.names[name] for name in ("workdir", "home") if name in scope.names}
    facts["scope"] = scope
    calls = [step.call for step in task.reference if isinstance(step, CallStep)]
    try:
        facts["reference"] = [
            {"server": call.server, "tool": call.tool, "arguments": arguments_of(call.arguments, scope)}
            for call in calls
        ]
    except EvaluationError:
        return facts
    return facts


async def _after(context: RunContext, progress: Progress, world: World) -> None:
    """Evidence for the graders, undo, teardown; in the agent's session first, then over fresh connections."""
    task = progress.task
    scope = world.names.scope()
    progress.evidence |= await capture.read_evidence(capture.same_session_sources(task), scope, world.reader("grader"))
    await world.end_sessions()
    reader = world.reader("grader")
    for truth in task.truths:
        got = await read_values(truth, world.names.scope(), world.reader("truth"))
        if got.status == "failed":
            progress.findings.append(f"truth {truth.name} could not be read: {got.message}")
        else:
            world.names.values[truth.name] = got.value
    scope = world.names.scope()
    progress.evidence |= await capture.read_evidence(capture.fresh_sources(task), scope, reader)
    place = (context, progress.id, task, progress.cell, world)
    try:
        if capture.needs_reference(task):
            evidence, progress.reference = await read_reference_world(*place)
            progress.evidence |= evidence
        evidence, calls = await read_turn_references(*place, _scripted_turns(progress))
        progress.evidence |= evidence
        progress.reference = (*progress.reference, *calls)
    except (StepFailed, ServerStartError, EvaluationError) as error:
        progress.findings.append(f"the reference could not be carried out: {error}")
    await _safety_after(context, progress, world)


def _scripted_turns(progress: Progress) -> list[int]:
    exchanges = progress.host.exchanges if progress.host is not None else ()
    return [exchange.number for exchange in exchanges if exchange.by == "script"]


async def _safety_after(context: RunContext, progress: Progress, world: World) -> None:
    """What is found out when the graders have their evidence: others' writes, obedience, hidden state."""
    if await truth_moved(context, needed_harvests(context, progress.group.needs), progress.task, world):
        progress.flags.append(MOVED)
    if progress.safety is not None:
        await progress.safety.evidence_read(progress.number)


async def _put_back(progress: Progress, world: World) -> None:
    """`undo` for each matching call of the agent, then both teardowns, whatever the trial's end was.

    Each is tried though the one before failed; trouble there is a finding, not an outcome.
    """
    if not world.created:
        return
    parts: tuple[Callable[[], Awaitable[None]], ...] = (
        lambda: world.undo(progress.task.undo),
        lambda: world.workspace.perform(progress.task.teardown),
        world.tear_down,
    )
    for part in parts:
        try:
            async with asyncio.timeout(TEARDOWN_SECONDS):
                await part()
        except TimeoutError:
            progress.findings.append(f"teardown took longer than {TEARDOWN_SECONDS:g} s")
        except (StepFailed, ServerStartError, EvaluationError) as error:
            progress.findings.append(f"teardown failed: {error}")
