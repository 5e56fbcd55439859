"""Provenance: from the record of one trial to the suspicions that the server is wrong. A pure function, after the trial.

| the call's error | lead |
| --- | --- |
| crash, invalid result | yes, whatever the arguments |
| death at a limit of ours | `resource_limit`, no crash |
| internal error on a schema-valid call | yes |
| refusal that a JSON Schema could have said | `schema_mismatch` |
| not found | only of a value that the server itself named before, in a fitting role |
| timeout | to replay: only a replay can make a lead of it |
| all else (denied, conflict, rate, expired, business rule, unknown wording, a fault and its effects) | no |

A lead is seen in one trial; only a replay makes a defect of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.provenance.providers import Provider, Tools
from mcpeval_dsl.provenance.refusals import schema_could_say
from mcpeval_dsl.provenance.vouching import Asked
from mcpeval_dsl.records.model import Lead

Expected = Callable[[CallRecord], bool]
_TWO_CAUSES = re.compile(
    r"not (?:found|exist\w*) or |or (?:is )?not |permission|forbidden|unauthori[sz]ed|denied", re.I
)


def lead_of(asked: Asked, provider: Provider | None, tools: Tools) -> Lead | None:
    """The lead that one failing call of the agent gives, if any; `provider` is what vouches for its arguments."""
    call = asked.call
    if not _suspect(call):
        return None
    at_once = _at_once(call, tools.get((call.server, call.tool)))
    if at_once is not None or provider is None or not _says_not_found(call):
        return at_once
    return _vouched_lead(asked, provider)


def harvest_leads(calls: Sequence[CallRecord], tools: Sequence[ToolDefinition] = ()) -> tuple[Lead, ...]:
    """Leads of a harvest's own calls, which no agent chose: those that need no other call."""
    known = {(tool.server, tool.name): tool for tool in tools}
    found = (_at_once(call, known.get((call.server, call.tool))) for call in calls if _suspect(call))
    return tuple(lead for lead in found if lead is not None)


def _suspect(call: CallRecord) -> bool:
    return call.error is not None and call.error.cause == "server" and call.permission.decision == "allowed"


def _says_not_found(call: CallRecord) -> bool:
    """An existence was denied, and nothing else."""
    error = call.error
    if error is None or call.schema_valid is False or error.kind != "not_found":
        return False
    if error.error_class not in ("tool_error", "protocol_error", "error_in_success"):
        return False
    return _TWO_CAUSES.search(error.message) is None


def _at_once(call: CallRecord, tool: ToolDefinition | None) -> Lead | None:
    """Leads that need no other call."""
    error = call.error
    if error is None:
        return None
    kind, argument = "", None
    if error.error_class == "transport_error" and error.kind in ("crash", "resource_limit"):
        kind = error.kind
    elif error.error_class == "invalid_result":
        kind = "invalid_result"
    elif error.kind == "internal" and call.schema_valid is not False:
        kind = "internal_error"
    elif error.kind == "validation" and call.schema_valid is True and tool is not None:
        argument = schema_could_say(call, tool.input_schema)
        kind = "schema_mismatch" if argument is not None else ""
    elif error.error_class == "timeout":
        kind = "timeout"
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
        strength="to_replay" if kind == "timeout" else "lead",
    )


def _vouched_lead(asked: Asked, provider: Provider) -> Lead:
    decisive = asked.blamed[0]
    return Lead(
        kind="not_found of a vouched value",
        server=asked.call.server,
        tool=asked.call.tool,
        call=asked.call.id,
        evidence=(provider.call.id, asked.call.id),
        argument=decisive.pointer,
        value=decisive.form,
        message=asked.call.error.message if asked.call.error is not None else "",
        strength="to_replay" if provider.strength == "to_replay" else "lead",
    )
