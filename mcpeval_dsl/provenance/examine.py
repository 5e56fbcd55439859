"""Provenance, the whole of it: from the record of one trial to its leads and to where each argument of a failing call came from.

A pure function, after the trial. The two sides are counted apart: "invented" comes from what the agent had been shown,
leads come from what the server had asserted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.provenance.arguments import Argument, arguments
from mcpeval_dsl.provenance.leads import Expected, lead_of
from mcpeval_dsl.provenance.origin import Origin, origins
from mcpeval_dsl.provenance.providers import Provider, Providers, Tools, asked_of
from mcpeval_dsl.provenance.vouching import Asked
from mcpeval_dsl.records.model import ArgumentTrace, Lead, TrialRecord

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Examined:
    """Leads and traces in order of the calls."""

    leads: tuple[Lead, ...] = ()
    arguments: tuple[ArgumentTrace, ...] = ()


def examine(
    record: TrialRecord, harvest_calls: Sequence[CallRecord] = (), expected: Expected | None = None
) -> Examined:
    """`harvest_calls` are calls of the run's harvests that the trial used; `expected` says which errors the task asks for."""
    failing = [call for call in record.calls if call.actor == "agent" and call.error is not None]
    if not failing:
        return Examined()
    tools: Tools = {(tool.server, tool.name): tool for tool in record.tools}
    calls = [*harvest_calls, *record.calls]
    asked = [asked_of(call, tools) for call in failing]
    providers = Providers(calls, asked, tools)
    vouched = [providers.of(each) for each in asked]
    wanted = expected or (lambda call: False)
    found = (
        lead_of(each, provider, tools) for each, provider in zip(asked, vouched, strict=True) if not wanted(each.call)
    )
    return Examined(
        tuple(lead for lead in found if lead is not None), tuple(_traces(record, asked, vouched, providers, tools))
    )


def leads(
    record: TrialRecord, harvest_calls: Sequence[CallRecord] = (), expected: Expected | None = None
) -> tuple[Lead, ...]:
    """The server's side alone."""
    return examine(record, harvest_calls, expected).leads


def leads_of_harvest(
    calls: Sequence[CallRecord], earlier: Sequence[CallRecord] = (), tools: Sequence[ToolDefinition] = ()
) -> tuple[Lead, ...]:
    """Leads of a harvest's own calls, which no agent chose. `earlier` are calls of the harvests whose values it used: what one
    of them named and the server does not find is a lead with two calls."""
    failing = [call for call in calls if call.error is not None]
    if not failing:
        return ()
    known: Tools = {(tool.server, tool.name): tool for tool in tools}
    asked = [asked_of(call, known) for call in failing]
    providers = Providers([*earlier, *calls], asked, known)
    found = (lead_of(each, providers.of(each), known) for each in asked)
    return tuple(lead for lead in found if lead is not None)


def _traces(
    record: TrialRecord, asked: Sequence[Asked], vouched: Sequence[Provider | None], providers: Providers, tools: Tools
) -> list[ArgumentTrace]:
    todo: list[tuple[Asked, Provider | None, Argument]] = []
    for each, provider in zip(asked, vouched, strict=True):
        tool = tools.get((each.call.server, each.call.tool))
        pointers = {reference.pointer for reference in (*each.references, *each.blamed)}
        for argument in arguments(each.call, tool.input_schema if tool is not None else {}):
            if argument.pointer in pointers and argument.form is not None:
                todo.append((each, provider, argument))
    known = origins(record, [(each.call, argument) for each, _, argument in todo])
    return [
        _trace(each, provider, argument, origin, providers)
        for (each, provider, argument), origin in zip(todo, known, strict=True)
    ]


def _trace(
    asked: Asked, provider: Provider | None, argument: Argument, origin: Origin, providers: Providers
) -> ArgumentTrace:
    reference = next((r for r in asked.blamed if r.pointer == argument.pointer), None)
    form = reference.form if reference is not None else argument.form or ""
    vouch: Literal["strong", "to_replay", "hint", "none"] = "none"
    by: CallRecord | None = None
    if reference is not None and provider is not None:
        vouch, by = provider.strength, provider.call
    elif reference is not None:
        mention = providers.mention(asked, reference)
        if mention is not None:
            vouch, by = "hint", mention
        elif origin.verdict == "derived" and origin.origin == "result":
            by = _of_same_server(origin, asked, providers)
            vouch = "hint" if by is not None else "none"
    return ArgumentTrace(
        call=asked.call.id,
        argument=argument.pointer,
        value=form if len(form) <= _SHOWN else form[: _SHOWN - 1] + "…",
        decisive=reference is not None,
        verdict=origin.verdict,
        origin=origin.origin,
        source=origin.source,
        form=origin.form,
        vouch=vouch,
        vouched_by=by.id if by is not None else None,
        vouched_tool=by.tool if by is not None else "",
    )


def _of_same_server(origin: Origin, asked: Asked, providers: Providers) -> CallRecord | None:
    number = providers.position.get(origin.source)
    call = providers.calls[number] if number is not None else None
    return call if call is not None and call.server == asked.call.server else None
