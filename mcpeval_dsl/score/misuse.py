"""Score, beside findings: tools that were required and not reached, and arguments that were filled in wrongly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score.measures import is_tool, required
from mcpeval_dsl.score.sightings import Sighting, tool_of
from mcpeval_dsl.semantics.expressions import AnyPattern, CallPattern
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.patterns import argument_holds
from mcpeval_dsl.values.text import clipped, short

_ABOUT_ARGUMENTS = frozenset({"not_found", "validation"})


def of_expectations(
    record: TrialRecord, calls: Sequence[CallRecord], expect: Iterable[AnyPattern]
) -> Iterator[Sighting]:
    """What a trial that did not pass left out of `expect`, or called with other arguments."""
    scope = Scope(record.scope)
    try:
        for unit in required(expect):
            called = [call for call in calls if any(is_tool(e, call.server, call.tool, scope) for e in unit)]
            if not called:
                yield from _not_reached(record, unit, scope)
            elif len(unit) == 1:
                yield from _other_arguments(unit[0], called, scope)
    except EvaluationError:
        return


def _not_reached(record: TrialRecord, unit: Sequence[CallPattern], scope: Scope) -> Iterator[Sighting]:
    shown = [(tool.server, tool.name) for tool in record.tools if tool.usable and not tool.distractor]
    tools = sorted({f"{s}.{t}" for s, t in shown if any(is_tool(entry, s, t, scope) for entry in unit)})
    if not tools:
        if shown:
            names = " or ".join(sorted({entry.tool for entry in unit if entry.tool}))
            where = f" in arm {record.arm}" if record.arm else ""
            text = f"{record.task} requires {names}, which its agents{where} are not shown"
            yield Sighting("not_shown", text, "widen `tools` of the task, or take the call out of `expect`")
        return
    text = f"{' or '.join(tools[:3])} was never called, though {record.task} requires it"
    yield Sighting("not_reached", text, f"say in the description of {tools[0]} when it is the tool to call")


def _other_arguments(entry: CallPattern, called: Sequence[CallRecord], scope: Scope) -> Iterator[Sighting]:
    """Arguments that hold in no call: what each was filled with instead. An argument left out is told so."""
    for wanted in entry.arguments:
        if any(argument_holds(wanted, call.arguments, scope) for call in called):
            continue
        last = called[-1]
        given = _shown(last.arguments[wanted.name]) if wanted.name in last.arguments else "left out"
        expected = _shown(evaluate(wanted.value, scope))
        text = f"{tool_of(last)}: argument {wanted.name} is {given}, where {wanted.operator} {expected} is expected"
        yield Sighting("wrong_argument", text, _describe(last, wanted.name), (last.id,))


def of_arguments(record: TrialRecord, calls: Sequence[CallRecord]) -> Iterator[Sighting]:
    """Arguments that the schema refuses, or that were made up and that the server does not know."""
    told: set[str] = set()
    by_id: dict[str, CallRecord] = {}
    for call in calls:
        if call.schema_valid is False and call.schema_errors:
            text = f"{tool_of(call)}: arguments do not fit its schema: {clipped(call.schema_errors[0], 120)}"
            if text not in told:
                told.add(text)
                yield Sighting(
                    "wrong_argument", text, "say in the schema's descriptions what each argument is", (call.id,)
                )
        elif call.error is not None and call.error.kind in _ABOUT_ARGUMENTS:
            by_id[call.id] = call
    for trace in record.arguments:
        call_ = by_id.get(trace.call)
        if call_ is None or not trace.decisive or trace.verdict != "invented":
            continue
        name = trace.argument.strip("/").replace("/", ".")
        text = f"{tool_of(call_)}: argument {name} is {short(trace.value, 60)}, which is made up and not found"
        if text not in told:
            told.add(text)
            yield Sighting("wrong_argument", text, _describe(call_, name), (call_.id,))


def _describe(call: CallRecord, argument: str) -> str:
    return f"say in the schema of {tool_of(call)} what `{argument}` is and where to get it"


def _shown(value: Any) -> str:
    return short(value, 60)
