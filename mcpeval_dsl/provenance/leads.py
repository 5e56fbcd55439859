"""Provenance: from the record of one trial to the suspicions that the server is wrong. A pure function, after the trial.

| the call's error | lead |
| --- | --- |
| crash, invalid result | yes, whatever the arguments |
| internal error on a schema-valid call | yes |
| refusal that a JSON Schema could have said | `schema_mismatch` |
| not found | only of a value that the server itself named before, in a fitting role |
| all else (denied, conflict, rate, expired, business rule, unknown wording, timeout, a fault and its effects) | no |

A lead is seen in one trial; only a replay makes a defect of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.provenance.decisive import blamed, references
from mcpeval_dsl.provenance.leaves import Hit, hits
from mcpeval_dsl.provenance.refusals import schema_could_say
from mcpeval_dsl.provenance.roles import role_of_argument
from mcpeval_dsl.provenance.vouching import Asked, vouches
from mcpeval_dsl.provenance.writes import may_take_away
from mcpeval_dsl.records.model import Lead, TrialRecord

Expected = Callable[[CallRecord], bool]
_TWO_CAUSES = re.compile(
    r"not (?:found|exist\w*) or |or (?:is )?not |permission|forbidden|unauthori[sz]ed|denied", re.I
)
_PROVIDERS = frozenset({"agent", "harvest", "setup"})


def leads(
    record: TrialRecord, harvest_calls: Sequence[CallRecord] = (), expected: Expected | None = None
) -> tuple[Lead, ...]:
    """Leads of a trial in order of its calls; `harvest_calls` are calls of the run's harvests that it used.

    `expected` says which errors the task itself asks for.
    """
    tools = {(tool.server, tool.name): tool for tool in record.tools}
    calls = [*harvest_calls, *record.calls]
    found = [
        lead
        for call in record.calls
        if call.actor == "agent" and _suspect(call) and not (expected is not None and expected(call))
        for lead in (_at_once(call, tools.get((call.server, call.tool))),)
        if lead is not None
    ]
    found.extend(_not_found(calls, [c for c in record.calls if _asks(c, expected)], tools))
    order = {call.id: number for number, call in enumerate(calls)}
    return tuple(sorted(found, key=lambda lead: order[lead.call]))


def harvest_leads(calls: Sequence[CallRecord], tools: Sequence[ToolDefinition] = ()) -> tuple[Lead, ...]:
    """Leads of a harvest's own calls, which no agent chose: those that need no other call."""
    known = {(tool.server, tool.name): tool for tool in tools}
    found = (_at_once(call, known.get((call.server, call.tool))) for call in calls if _suspect(call))
    return tuple(lead for lead in found if lead is not None)


def _suspect(call: CallRecord) -> bool:
    return call.error is not None and call.error.cause == "server" and call.permission.decision == "allowed"


def _asks(call: CallRecord, expected: Expected | None) -> bool:
    if call.actor != "agent" or call.error is None or not _suspect(call) or call.schema_valid is False:
        return False
    if call.error.error_class not in ("tool_error", "protocol_error", "error_in_success"):
        return False
    doubtful = call.error.kind != "not_found" or _TWO_CAUSES.search(call.error.message) is not None
    return not doubtful and not (expected is not None and expected(call))


def _at_once(call: CallRecord, tool: ToolDefinition | None) -> Lead | None:
    """Leads that need no other call."""
    error = call.error
    if error is None:
        return None
    kind, argument = "", None
    if error.error_class == "transport_error" and error.kind == "crash":
        kind = "crash"
    elif error.error_class == "invalid_result":
        kind = "invalid_result"
    elif error.kind == "internal" and call.schema_valid is not False:
        kind = "internal_error"
    elif error.kind == "validation" and call.schema_valid is True and tool is not None:
        argument = schema_could_say(call, tool.input_schema)
        kind = "schema_mismatch" if argument is not None else ""
    if not kind:
        return None
    return Lead(
        kind=kind,
        server=call.server,
        tool=call.tool,
        call=call.id,
        evidence=(call.id,),
        argument=argument,
        message=error.message,
    )


def _not_found(
    calls: Sequence[CallRecord], failing: Iterable[CallRecord], tools: Mapping[tuple[str, str], ToolDefinition]
) -> list[Lead]:
    asked = [_asked(call, tools.get((call.server, call.tool))) for call in failing]
    wanted = {reference.form for each in asked for reference in each.blamed}
    if not wanted:
        return []
    seen = {call.id: list(hits(call, wanted)) for call in calls if _can_vouch(call)}
    found = []
    for each in asked:
        provider = _provider(calls, each, seen, tools)
        if provider is not None:
            found.append(_vouched_lead(each, provider))
    return found


def _asked(call: CallRecord, tool: ToolDefinition | None) -> Asked:
    all_of_them = references(call, tool.input_schema if tool is not None else {})
    about, named = blamed(call, all_of_them)
    return Asked(call, about, named, all_of_them)


def _can_vouch(call: CallRecord) -> bool:
    return call.actor in _PROVIDERS and call.error is None and call.permission.decision == "allowed"


def _provider(
    calls: Sequence[CallRecord],
    asked: Asked,
    seen: Mapping[str, list[Hit]],
    tools: Mapping[tuple[str, str], ToolDefinition],
) -> CallRecord | None:
    """The latest call that vouches, with nothing in between that may have taken the thing away."""
    position = next(number for number, call in enumerate(calls) if call.id == asked.call.id)
    for call in reversed(calls[:position]):
        if call.server != asked.call.server:
            continue
        if call.id in seen and _came_before(call, asked.call) and vouches(call, seen[call.id], asked):
            return None if _refuted(call, asked) else call
        if may_take_away(call, tools.get((call.server, call.tool))) and not _of_another(call, asked):
            return None
    return None


def _of_another(call: CallRecord, asked: Asked) -> bool:
    """A call that takes away another thing of the same kind, named as such."""
    forms = {reference.form for reference in asked.references}
    named = references(call, {})
    if not named or any(reference.form in forms for reference in named):
        return False
    wanted = [role_of_argument(asked.call.tool, reference.names) for reference in asked.blamed]
    roles = [role_of_argument(call.tool, reference.names) for reference in named]
    return all(any(role == other for other in roles) for role in wanted)


def _came_before(provider: CallRecord, call: CallRecord) -> bool:
    return provider.actor != "agent" or provider.at_ms + provider.duration_ms <= call.at_ms


def _refuted(provider: CallRecord, asked: Asked) -> bool:
    """A call that itself takes something away does not vouch for what it took."""
    return may_take_away(provider, None) and any(
        str(value) == reference.form for value in provider.arguments.values() for reference in asked.blamed
    )


def _vouched_lead(asked: Asked, provider: CallRecord) -> Lead:
    decisive = asked.blamed[0]
    return Lead(
        kind="not_found of a vouched value",
        server=asked.call.server,
        tool=asked.call.tool,
        call=asked.call.id,
        evidence=(provider.id, asked.call.id),
        argument=decisive.pointer,
        value=decisive.form,
        message=asked.call.error.message if asked.call.error is not None else "",
    )
