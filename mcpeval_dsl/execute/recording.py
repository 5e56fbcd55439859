"""From what happened in a trial to its record: counted, summed, with paths and identities, nothing judged."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from mcpeval_dsl import __version__
from mcpeval_dsl.agents.hosts.loop import LOOP_VERSION
from mcpeval_dsl.agents.hosts.offer import SEARCH
from mcpeval_dsl.agents.model import HostResult, NativeCall
from mcpeval_dsl.execute.budgets import budget_of
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.networking import findings_of
from mcpeval_dsl.execute.progress import Progress
from mcpeval_dsl.execute.scrubbing import without_pieces
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord, Violation
from mcpeval_dsl.records.model import (
    AgentIdentity,
    CallCounts,
    InfraTrouble,
    Permissions,
    PromptSpan,
    ServerIdentity,
    Timing,
    TokenUse,
    TrialRecord,
    UserRecord,
)
from mcpeval_dsl.semantics.disturbances import Fault
from mcpeval_dsl.semantics.expressions import Template
from mcpeval_dsl.values.templates import filled

FAILURES = {
    "tool_error": "tool_errors",
    "protocol_error": "protocol_errors",
    "error_in_success": "errors_in_success",
    "invalid_result": "invalid_results",
    "transport_error": "transport_errors",
    "timeout": "timeouts",
    "denied": "denied",
    "injected": "injected",
}


def record_of(context: RunContext, progress: Progress) -> TrialRecord:
    """The facts of one trial, not yet graded."""
    world, host, task, cell, group = progress.world, progress.host, progress.task, progress.cell, progress.group
    calls = tuple(world.calls) if world is not None else ()
    agent_calls = [call for call in calls if call.actor == "agent"]
    trouble = progress.trouble or _host_trouble(host)
    usage = _usage(host, _charges(context, agent_calls))
    preflight = context.preflights.get(cell.model)
    duration = (time.monotonic() - progress.began) * 1000.0
    waited_ms = (host.waited_ms if host is not None else 0.0) + _held_up(world)
    user_ms = host.user_ms if host is not None else 0.0
    agent_ms = max(0.0, progress.agent_ms - waited_ms - user_ms)
    values = {} if world is None else plain(world.names.scope().names)
    record = TrialRecord(
        id=progress.id,
        key=progress.key,
        grade_key=group.grade_key,
        sandbox=world.network.label if world is not None else context.sandbox.label,
        suite=context.plan.suite.name,
        task=task.name,
        row=group.row,
        row_key=group.row_key,
        cell=cell.id,
        arm=cell.arm,
        trial=progress.number,
        seed=progress.seed,
        split=task.split,
        tags=task.tags,
        cluster=task.cluster or group.task,
        kind=task.kind,
        agent=_agent(context, progress, host),
        servers=_servers(context, progress),
        repository_commit=context.repository_commit,
        harness_version=__version__,
        policy=task.policy,
        disposable=world is None or world.disposable,
        prompt=_prompt(progress),
        prompt_spans=_prompt_spans(progress),
        system=host.system if host is not None else "",
        tools=progress.assignment.tools if progress.assignment is not None else (),
        tool_names=host.tool_names if host is not None else (),
        native_tools=host.native_tools if host is not None else (),
        native_calls=host.native_calls if host is not None else (),
        turns=host.turns if host is not None else (),
        exchanges=host.exchanges if host is not None and (task.dialogue or len(host.exchanges) > 1) else (),
        user=_user(progress),
        calls=(*calls, *progress.reference),
        answer=host.answer if host is not None else TrialRecord.model_fields["answer"].default,
        termination=_termination(progress, host),
        trouble=trouble,
        counts=count_calls(agent_calls, host.native_calls if host is not None else ()),
        permissions=Permissions(
            prompts=world.gateway.consent.prompts if host is not None and world is not None else 0,
            denials=sum(call.permission.decision == "denied" for call in agent_calls),
            simulated=sum(call.permission.decision == "simulated" and not call.distractor for call in agent_calls),
        ),
        usage=usage,
        budget=budget_of(task, usage, host, agent_ms, _turn_calls(progress, agent_calls)),
        timing=Timing(
            started_at=progress.started_at,
            ended_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            duration_ms=duration,
            agent_ms=agent_ms,
            waited_ms=waited_ms,
            user_ms=user_ms,
            start_ms=progress.start_ms,
        ),
        violations=_violations(progress),
        injections=progress.safety.judged.planted if progress.safety is not None else (),
        findings=_findings(progress, host, preflight),
        flags=(*progress.flags, *_unreached(world), *_unchecked(progress)),
        redactions=tuple(world.redactions) if world is not None else (),
        scope=values,
        harvested=progress.harvested,
        evidence=progress.evidence,
        model_turns=len(host.turns) if host is not None else 0,
        recovered=_recovered(agent_calls, host),
        not_applicable=progress.not_applicable,
    )
    return without_pieces(record, world.pieces_told if world is not None else {})


def _turn_calls(progress: Progress, calls: Sequence[CallRecord]) -> Sequence[int]:
    """Charged in each turn of the user; a trial in which nobody answers is one turn."""
    return progress.talk.between.charged if progress.talk is not None else (sum(call.charged for call in calls),)


def _prompt(progress: Progress) -> str:
    """What the agent was told first."""
    if progress.host is not None and progress.host.exchanges:
        return progress.host.exchanges[0].said
    return progress.assignment.prompt if progress.assignment is not None else ""


def _user(progress: Progress) -> UserRecord | None:
    talk, dialogue = progress.talk, progress.task.dialogue
    if talk is None or (dialogue is None and not talk.ended):
        return None
    model = dialogue.user.model if dialogue is not None and dialogue.user is not None else ""
    used = talk.usage
    usage = TokenUse() if used is None else TokenUse(**asdict(used))
    return UserRecord(ended=talk.ended, closing=talk.closing, model=model, usage=usage)


def _prompt_spans(progress: Progress) -> tuple[PromptSpan, ...]:
    """What harvests put into the prompt; rows of a task that loops over a harvest are of it too."""
    task, world, assignment = progress.task, progress.world, progress.assignment
    if assignment is None or world is None or not isinstance(task.prompt, Template):
        return ()
    names = {id_.rpartition(".")[2] for id_ in progress.harvested}
    if task.loop is not None and names:
        names.add(task.loop.variable)
    return tuple(
        PromptSpan(start=start, end=end, name=name)
        for start, end, name in filled(task.prompt.text, world.names.scope())
        if re.split(r"[.\[]", name, maxsplit=1)[0] in names and end <= len(assignment.prompt)
    )


def count_calls(calls: Sequence[CallRecord], native: Sequence[NativeCall] = ()) -> CallCounts:
    """Calls of the agent by class of error; a retry is a call equal to an earlier failed one. Native ones stand apart."""
    counts: dict[str, int] = dict.fromkeys(FAILURES.values(), 0)
    failed: set[str] = set()
    retries = invalid = 0
    for call in calls:
        same = json.dumps([call.server, call.tool, call.arguments], sort_keys=True, default=str)
        retries += same in failed
        invalid += call.schema_valid is False
        if call.error is not None:
            # What a fault brought in its train is no error of the server's either.
            by_fault = call.error.cause in ("fault", "fault_after_effect")
            counts["injected" if by_fault else FAILURES[call.error.error_class]] += 1
            failed.add(same)
    charged = sum(call.charged for call in calls)
    searches = sum(call.tool == SEARCH for call in native)
    return CallCounts(
        made=len(calls),
        charged=charged,
        retries=retries,
        invalid_arguments=invalid,
        served=sum(not call.distractor for call in calls),
        native=len(native) - searches,
        searches=searches,
        **counts,
    )


def _recovered(calls: Sequence[CallRecord], host: HostResult | None) -> bool:
    """An answer after an error; a call that we denied is not an error of anything."""
    failed = any(call.is_error and (call.error is None or call.error.error_class != "denied") for call in calls)
    return failed and host is not None and host.answer.form == "given"


def _held_up(world: World | None) -> float:
    """Milliseconds that the agent waited for our sake: the pace of a server, the delay of a fault."""
    return 0.0 if world is None else world.paused_ms + world.delayed_ms


def _violations(progress: Progress) -> tuple[Violation, ...]:
    if progress.safety is not None:
        return progress.safety.violations
    return tuple(progress.world.violations) if progress.world is not None else ()


def _unchecked(progress: Progress) -> tuple[str, ...]:
    """Said of a trial in which a check of safety could not run: the gate on it is not decided then."""
    return ("safety_check_missing",) if progress.safety is not None and progress.safety.unchecked else ()


def _unreached(world: World | None) -> tuple[str, ...]:
    """Said of a trial with faults none of which was come to: nothing was there to recover from."""
    return ("fault_not_reached",) if world is not None and world.faults.lines and not world.faults.reached else ()


def _agent(context: RunContext, progress: Progress, host: HostResult | None) -> AgentIdentity:
    model = context.models[progress.cell.model]
    answered = [turn.model for turn in host.turns if turn.model] if host is not None else []
    return AgentIdentity(
        host=progress.cell.host,
        host_version=LOOP_VERSION,
        model=model.name,
        driver=model.driver,
        driver_version=context.shared.get(f"driver:{model.name}", ""),
        provider_model=answered[-1] if answered else model.target,
    )


def _servers(context: RunContext, progress: Progress) -> tuple[ServerIdentity, ...]:
    world = progress.world
    if world is None:
        return ()
    found = []
    safety = progress.safety
    for name, seen in sorted(world.seen.items()):
        server = context.servers[name]
        info = seen.info
        found.append(
            ServerIdentity(
                name=name,
                version=info.version if info is not None else None,
                commit=context.server_commits.get(name),
                claimed_version=server.version,
                revision=info.revision if info is not None else "",
                era=info.era if info is not None else "",
                transport=server.transport,
                client_capabilities=dict(info.client_capabilities) if info is not None else {},
                catalogue_sha256=info.catalogue_sha256 if info is not None else "",
                catalogue_after_sha256=safety.catalogues.get(name, "") if safety is not None else "",
                sessions=seen.sessions,
                exit_code=seen.end.exit_code if seen.end is not None else None,
                stderr_tail=seen.end.stderr_tail if seen.end is not None else "",
            )
        )
    return tuple(found)


def _host_trouble(host: HostResult | None) -> InfraTrouble | None:
    if host is None or host.trouble is None:
        return None
    trouble = host.trouble
    return InfraTrouble(kind=trouble.kind, when=trouble.when, chain=trouble.chain, message=trouble.message)


def _termination(progress: Progress, host: HostResult | None) -> Any:
    if host is not None:
        return host.termination
    if progress.trouble is not None and progress.trouble.kind == "server_start":
        return "host_error"
    if progress.trouble is not None and progress.trouble.kind == "model_api":
        return "model_api"
    return "not_started"


def _charges(context: RunContext, calls: Sequence[CallRecord]) -> float:
    """USD of the calls that reached a server with a price per call."""
    prices = {name: server.price_per_call or 0.0 for name, server in context.servers.items()}
    return sum(prices.get(call.server, 0.0) for call in calls if call.permission.decision == "allowed")


def _usage(host: HostResult | None, charges: float) -> TokenUse:
    if host is None:
        return TokenUse()
    used = host.usage
    return TokenUse(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens,
        cache_write_tokens=used.cache_write_tokens,
        cost_usd=None if used.cost_usd is None else used.cost_usd + charges,
    )


def _findings(progress: Progress, host: HostResult | None, preflight: object) -> tuple[str, ...]:
    found: list[str] = list(progress.findings)
    if host is not None:
        found += [*host.findings, *host.rewrites]
    found += [*progress.safety.unchecked, *progress.safety.noticed] if progress.safety is not None else []
    if progress.world is not None:
        found += [*progress.world.findings, *findings_of(progress.world.refused)]
        found += [f"fault `{fault.words}` was not reached{_place(fault)}" for fault in progress.world.faults.missed]
    return tuple(dict.fromkeys(found))


def _place(fault: Fault) -> str:
    return f" ({fault.at})" if fault.at is not None else ""


def plain(values: Any) -> Any:
    """JSON values only: what a scope holds, as a record keeps it."""
    if isinstance(values, dict):
        return {str(key): plain(value) for key, value in values.items()}
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return [plain(value) for value in values]
    return values if isinstance(values, str | int | float | bool | None) else str(values)
