"""The world of one trial (or harvest, or reference): its folder, names, environment, and the one gateway to its servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.agents.model import Answer, CallReply
from mcpeval_dsl.execute import folders, watchdog
from mcpeval_dsl.execute.blocking import DRIFT, Blocked
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.environ import minimal
from mcpeval_dsl.execute.launching import launch_of, variables_of
from mcpeval_dsl.execute.names import Names, extended, starting
from mcpeval_dsl.execute.networking import Networking, opened, violations_of
from mcpeval_dsl.execute.pace import pace_of
from mcpeval_dsl.execute.permitted import rules_of
from mcpeval_dsl.execute.preparing import all_prepared, place_of
from mcpeval_dsl.execute.processes import sweep
from mcpeval_dsl.execute.shared import base_of, shared_lock
from mcpeval_dsl.execute.steps import StepFailed, Workspace, ports_of
from mcpeval_dsl.gateway.decoys import Decoys
from mcpeval_dsl.gateway.door import Gateway
from mcpeval_dsl.gateway.faults import Faults
from mcpeval_dsl.gateway.model import Actor, CallRecord, Launch, Pin, ServerInfo, SessionEnd, ToolDefinition, Violation
from mcpeval_dsl.gateway.network import Refused
from mcpeval_dsl.gateway.sandbox import Sandbox
from mcpeval_dsl.gateway.spaces import NetworkUnavailable
from mcpeval_dsl.plan.topology import in_arm
from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.expressions import CallPattern, CallStep, Step
from mcpeval_dsl.semantics.model import Cell, Environment, Server, Task
from mcpeval_dsl.semantics.task_parts import hard_calls
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import Reading, Scope
from mcpeval_dsl.values.patterns import matches
from mcpeval_dsl.values.reading import LocalReader
from mcpeval_dsl.values.sources import arguments_of
from mcpeval_dsl.values.subject import with_subject


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of one server at the end of a trial."""

    info: ServerInfo | None
    end: SessionEnd | None
    sessions: int


class World:
    """Made, set up, used and closed by one trial. `close` ends every process, whatever happened before."""

    def __init__(
        self,
        context: RunContext,
        owner: str,
        cell: Cell | None,
        environment: Environment | None,
        *,
        trial: int = 0,
        base: bool = False,
    ) -> None:
        """`base`: this is the shared part of a `scope run` environment, which other worlds then stand on."""
        self.context = context
        self.owner = owner
        self.cell = cell
        self.environment = environment
        self.trial = trial
        self.folder = folders.create(context.run_folder, owner)
        watchdog.watch(self.folder.root)
        self.paused_ms = 0.0
        self._base: World | None = None
        self._is_base = base
        self._task: Task | None = None
        self.show_protocol_errors = False
        self.names = Names()
        self._gateway: Gateway | None = None
        self._workspace: Workspace | None = None
        self._variables: dict[str, str] = {}
        self.network = Networking(context.sandbox)
        self._refused_before = 0

    @property
    def disposable(self) -> bool:
        """A fresh copy for every trial: then a permitted write may be carried out."""
        return self.environment is None or self.environment.scope == "trial"

    @property
    def sandbox(self) -> Sandbox:
        """For what the environment starts; a server's own network is its own."""
        return self.network.sandbox_of()

    @property
    def created(self) -> bool:
        """Whether steps can be carried out in it."""
        return self._workspace is not None

    @property
    def gateway(self) -> Gateway:
        if self._gateway is None:
            raise RuntimeError("the world has not been created")
        return self._gateway

    @property
    def workspace(self) -> Workspace:
        if self._workspace is None:
            raise RuntimeError("the world has not been created")
        return self._workspace

    @asynccontextmanager
    async def isolation(self) -> AsyncIterator[None]:
        """Trials of an environment with `scope run` or a `lock` go one after the other."""
        environment = self.environment
        if environment is None or (environment.scope == "trial" and environment.lock is None):
            yield
            return
        async with shared_lock(self.context.shared, environment):
            yield

    async def take_place(self) -> None:
        """In a `scope run` environment the folder is the shared one from now on. Raises StepFailed, EvaluationError."""
        environment = self.environment
        if environment is None or environment.scope == "trial" or self._is_base or self._base is not None:
            return
        self._base = await base_of(self.context, environment, self.cell)
        watchdog.forget(self.folder.root)
        folders.remove(self.folder.root)
        self.folder = self._base.folder

    async def create(self, harvested: Iterable[tuple[str, Any]] = ()) -> None:
        """Names, variables and the gateway; nothing of its own is started. Raises EvaluationError.

        The first world of a `scope run` environment sets that up, and raises StepFailed where it cannot.
        """
        steps = self.environment.steps if self.environment is not None else ()
        cell = self.cell or next(iter(self.context.plan.cells), Cell("", model="", host=""))
        await self.take_place()
        ports = ports_of(steps) if self._base is None else self._base.names.values["port"]
        self.names = starting(
            self.context.plan,
            cell,
            workdir=str(self.folder.work),
            home=str(self.folder.home),
            trial=self.trial,
            run=self.context.run_folder.name,
            ports=ports,
            harvested=harvested,
            secrets=self.context.secrets,
        )
        if self._base is not None and self.environment is not None:
            bound = self._base.names.values.get(self.environment.name)
            self.names.values |= {} if bound is None else {self.environment.name: bound}
        scope = self.names.scope()
        await self._connect(scope, ports.values())
        if self.environment is not None:
            self._variables = variables_of(self.environment.env, scope)
        servers = self._servers()
        await all_prepared(self.context, servers.values(), scope)
        self._gateway = Gateway(
            [self.launch_of(server) for server in servers.values()],
            self._pins(servers),
            redactor=self.context.redactor,
            private=frozenset(name for name, server in servers.items() if self.withholds(server)),
            allow_drift={name: server.allow_drift for name, server in servers.items()},
            elicit=self._elicited,
            validators=self.context.validators,
        )
        self._workspace = Workspace(
            self.folder,
            self.names,
            spec_folder=self.context.spec_folder,
            project_root=self.context.settings.project_root,
            variables=lambda: minimal(self.folder, self._variables),
            reader=self.reader("setup"),
            call=self._call_step,
            wrap=self.sandbox.wrapping(self.folder.root, self.folder.work),
            answers=self.network.answers,
        )

    async def _connect(self, scope: Scope, ports: Iterable[int]) -> None:
        """The network of everything that is started here; a shared environment's is its own. Raises StepFailed."""
        if self._base is not None:
            self.network = self._base.network
            self._refused_before = len(self.network.refused)
            return
        plan = self.context.plan
        try:
            self.network = await opened(
                *(self.context.sandbox, self.environment, plan.servers, self.folder.root, scope),
                ports=ports,
                tasks=plan.tasks,
            )
        except NetworkUnavailable as problem:
            raise StepFailed(str(problem), None if self.environment is None else self.environment.at) from problem

    @property
    def refused(self) -> tuple[Refused, ...]:
        """Hosts that something asked for beyond its list."""
        return self.network.refused[self._refused_before :]

    def launch_of(self, server: Server) -> Launch:
        """How this world reaches a server. Raises EvaluationError."""
        scope, sandbox = self.names.scope(), self.network.sandbox_of(server.name)
        made = place_of(self.context.run_folder, server).work
        return launch_of(server, scope, self.folder, self.context.spec_folder, self._variables, sandbox, made)

    def _servers(self) -> dict[str, Server]:
        """One server for each catalogue: the cell's where several versions share one."""
        found: dict[str, Server] = {}
        for server in self.context.plan.servers:
            chosen = self.context.server_of(server.catalog or server.name, self.cell) or server
            if chosen.name == server.name or not server.catalog:
                found[server.name] = server
        return found

    def _pins(self, servers: Mapping[str, Server]) -> dict[str, Pin]:
        pins = ((name, self.context.pin(name)) for name in servers)
        return {name: pin for name, pin in pins if pin is not None}

    async def set_up(self, task: Task | None) -> None:
        """The environment's steps, then the sessions the task needs. Raises StepFailed, ServerStartError."""
        self._set_rules(task)
        if self.environment is not None:
            steps = self.environment.steps
            again = steps if self._base is None else tuple(step for step in steps if step.kind == "reset")
            await self.workspace.perform(again, self.environment.name)
        if task is not None:
            async with self.context.starts:
                await self.gateway.open([server.name for server in self.shown_servers(task)])
            for name, seen in self.gateway.drift.items():
                self.gateway.pulled(name, None)
                raise Blocked("drift", DRIFT, f"server {name} is not as it was when it was probed: {seen.detail}")
            self._set_rules(task)

    def ready_for(self, task: Task, canaries: Mapping[str, str], seed: int = 0) -> None:
        """What the agent may do and what goes wrong for it, now that all names they may depend on have values.

        `canaries` are secrets it may not pass on; `seed` is the trial's.
        """
        self._set_rules(task)
        named = {name: catalogue.name for name, catalogue in self.gateway.rules.catalogues.items()}
        self.gateway.faults = Faults(task.faults, seed, self.names.scope(), named)
        self.gateway.guard.watch_for(canaries)

    def stand_in(self, tools: Iterable[ToolDefinition], seed: int) -> None:
        """Distractors that the agent is shown, to be answered in no server's name."""
        self.gateway.decoys = Decoys(tools, seed)

    @property
    def faults(self) -> Faults:
        return self._gateway.faults if self._gateway is not None else Faults()

    @property
    def delayed_ms(self) -> float:
        """How long faults held the agent up."""
        return self._gateway.delayed_ms if self._gateway is not None else 0.0

    def check_answer(self, answer: Answer) -> None:
        """An answer with a secret in it is a violation."""
        self.gateway.check_answer([answer.text, answer.structured])

    def _elicited(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the task says a person would answer to a server's question."""
        task = self._task
        if task is None:
            return {"action": "decline"}
        if task.elicit != "accept":
            return {"action": task.elicit}
        content = None if task.elicit_content is None else evaluate(task.elicit_content, self.names.scope())
        return {"action": "accept", "content": content if content is not None else {}}

    def _set_rules(self, task: Task | None) -> None:
        self._task = task
        self.gateway.rules = rules_of(self.context, task, self.names.scope(), disposable=self.disposable)
        if task is not None:
            self.gateway.hard_calls = hard_calls(task)

    def shown_servers(self, task: Task) -> tuple[Server, ...]:
        """The servers whose tools the agent of this task and cell sees."""
        found = [self.context.server_of(name, self.cell) for name in task.servers]
        shown = {server.name: server for server in found if server is not None and not self.withholds(server)}
        return tuple(shown.values())

    def withholds(self, server: Server) -> bool:
        """The agent never reaches it: it is private, or not in the cell's arm."""
        return server.private or not in_arm(server, self.arm)

    @property
    def arm(self) -> Arm | None:
        """The cell's; None where the suite has no arms."""
        return self.context.arms.get(self.cell.arm) if self.cell is not None and self.cell.arm is not None else None

    def tools(self) -> tuple[ToolDefinition, ...]:
        """Tools of the servers that the agent has; others may be open too, for the set-up."""
        infos = self.infos()
        return tuple(tool for tool in self.gateway.tools() if tool.server in infos)

    def infos(self) -> Mapping[str, ServerInfo]:
        """What was negotiated with the servers that the agent has."""
        shown = {server.name for server in self.shown_servers(self._task)} if self._task is not None else set()
        return {name: info for name, info in self.gateway.infos.items() if name in shown}

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        return self._gateway.calls if self._gateway is not None else ()

    @property
    def findings(self) -> list[str]:
        """What differs from the pins, in sentences."""
        return list(self._gateway.findings) if self._gateway is not None else []

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment's own variables."""
        return self._variables

    @property
    def violations(self) -> list[Violation]:
        return [*(self._gateway.violations if self._gateway is not None else ()), *violations_of(self.refused)]

    @property
    def pieces_told(self) -> Mapping[str, str]:
        """Pieces of the operator's secrets that the agent has put together, with the names."""
        return self._gateway.guard.pieces_told if self._gateway is not None else {}

    @property
    def redactions(self) -> list[str]:
        return list(self._gateway.redactions) if self._gateway is not None else []

    @property
    def seen(self) -> Mapping[str, Seen]:
        if self._gateway is None:
            return {}
        gateway = self._gateway
        return {
            name: Seen(gateway.infos.get(name), gateway.ends.get(name), number)
            for name, number in gateway.sessions.items()
            if number > 0
        }

    async def agent_call(
        self, server: str, tool: str, arguments: Mapping[str, Any], turn: int, wire_name: str
    ) -> CallReply:
        """A call of the agent, and what its host is told."""
        record = await self.agent_record(server, tool, arguments, turn, wire_name)
        return CallReply(record.id, record.text, record.is_error, record.stop)

    async def agent_record(
        self, server: str, tool: str, arguments: Mapping[str, Any], turn: int, wire_name: str
    ) -> CallRecord:
        """A call of the agent, and all that is known of it."""
        self.gateway.show_protocol_errors = self.show_protocol_errors
        found = self.context.servers.get(server)
        if found is not None:
            self.paused_ms += 1000.0 * await pace_of(self.context.shared).wait(found)
        return await self.gateway.call("agent", server, tool, arguments, turn=turn, wire_name=wire_name)

    def reader(self, actor: Actor, *, permit: bool = False) -> LocalReader:
        """Reads sources for somebody who is not the agent."""

        async def call(
            server: str, tool: str, arguments: Mapping[str, Any], session: Literal["own", "same"]
        ) -> Reading:
            found = self.context.server_of(server, self.cell)
            if found is None:
                return Reading(error=f"there is no server {server!r}", error_class="source")
            await pace_of(self.context.shared).wait(found)
            record = await self.gateway.call(actor, found.name, tool, arguments, permit=permit)
            if actor in ("grader", "truth") and record.died and not record.effect_unknown:
                # A state is judged by what a living server says: one restart, then its refusal counts.
                record = await self.gateway.call(actor, found.name, tool, arguments, permit=permit)
            return reading_of_call(record)

        async def resource(server: str | None, uri: str) -> Reading:
            public = [name for name, each in self.context.servers.items() if not each.private]
            found = self.context.server_of(server or public[0], self.cell) if server or public else None
            if found is None:
                return Reading(error=f"there is no server {server!r}", error_class="source")
            return reading_of_call(await self.gateway.read_resource(actor, found.name, uri))

        return LocalReader(
            self.folder.work,
            self.context.spec_folder,
            call,
            resource,
            env=minimal(self.folder, self._variables),
            hosts=self.context.http_hosts,
            wrap=self.sandbox.wrapping(self.folder.root, self.folder.work),
        )

    async def _call_step(self, step: CallStep, scope: Scope) -> Any:
        call = step.call
        found = self.context.server_of(call.server, self.cell)
        if found is None:
            raise StepFailed(f"there is no server `{call.server}`", step.at)
        await pace_of(self.context.shared).wait(found)
        record = await self.gateway.call("setup", found.name, call.tool, arguments_of(call.arguments, scope))
        if record.error is not None or record.is_error:
            said = record.error.message if record.error is not None else record.text
            raise StepFailed(f"{call.server}.{call.tool} failed: {said[:400]}", step.at)
        inner = with_subject(scope, reading_of_call(record))
        bound: dict[str, Any] = {}
        for entry in step.bindings:
            bound[entry.key] = evaluate(entry.value, extended(inner, **bound))
        for requirement in step.requires:
            if not condition(requirement.condition, extended(inner, **bound)).holds:
                raise StepFailed(f"{call.server}.{call.tool} did not give what is required", requirement.at or step.at)
        return bound if step.bindings else inner.subject

    async def undo(self, lines: Sequence[tuple[CallPattern, tuple[Step, ...]]]) -> None:
        """For each executed call of the agent that a line speaks of: its steps, with `args` and `result`."""
        for record in self.calls:
            if record.actor != "agent" or record.permission.decision != "allowed" or record.is_error:
                continue
            for pattern, steps in lines:
                if matches(pattern, record.server, record.tool, record.arguments, self.names.scope()):
                    inner = with_subject(self.names.scope(), reading_of_call(record))
                    self.names.values |= {"args": dict(record.arguments), "result": inner.subject}
                    await self.workspace.perform(steps)
                    self.names.values.pop("args")
                    self.names.values.pop("result")

    async def end_sessions(self) -> None:
        """End the agent's sessions; what is read afterwards opens fresh ones."""
        await self.gateway.end_sessions()

    async def tear_down(self) -> None:
        if self.environment is not None and self._base is None and self._workspace is not None:
            await self.workspace.perform(self.environment.teardown, self.environment.name)

    async def close(self) -> None:
        """End every session and process of this world."""
        if self._gateway is not None:
            await self._gateway.close()
        if self._workspace is not None:
            await self._workspace.stop()
        if self._base is None:
            await self.network.close()
            sweep(str(self.folder.temporary))
            watchdog.forget(self.folder.root)

    def remove(self) -> None:
        """Delete the folder, unless the operator keeps folders."""
        if self._base is None and not self.context.settings.keep_folders:
            folders.remove(self.folder.root)


def reading_of_call(record: CallRecord) -> Reading:
    """A call's result as a reading; an error of any class is the reading's error."""
    failed = record.error is not None and record.error.error_class not in ("error_in_success", "invalid_result")
    if failed or record.is_error:
        message = record.error.message if record.error is not None else record.text
        kind = record.error.error_class if record.error is not None else "tool_error"
        return Reading(text=record.text, error=message[:2000], error_class=kind, calls=(record.id,))
    return Reading(
        text=record.text,
        structured=record.structured,
        has_structured=record.has_structured,
        calls=(record.id,),
    )


__all__ = ["Seen", "World", "reading_of_call"]
