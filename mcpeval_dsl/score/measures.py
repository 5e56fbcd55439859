"""Score: how one trial used the tools it was shown. Averaged later over trials, then over tasks.

`expect` entries say which calls are necessary; besides, a call is necessary when a value of its result stands in the
arguments of a later necessary call or in the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.grade.observe import behaviours
from mcpeval_dsl.provenance.forms import bits, exact
from mcpeval_dsl.provenance.leaves import hits
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score.facts import failed_by_tool, same_call
from mcpeval_dsl.semantics.expressions import AnyPattern, Behaviour, CallPattern, Combined
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.patterns import matches, named, tool_name

TOOLS = (
    "required_recall",
    "tool_precision",
    "argument_validity",
    "argument_accuracy",
    "distractor_rate",
    "redundancy",
    "recovery",
)
BEHAVIOURS = ("question", "confirmation", "recovery")
"""Of `expect`; `refusal` decides as a grader does."""
NAMES = (*TOOLS, *(f"expected_{name}" for name in BEHAVIOURS))
_TOKEN = re.compile(r"[^\s\"'`,;()\[\]{}<>]+")
_TELLING = 12.0


@dataclass(frozen=True, slots=True)
class Measures:
    """Shares in [0, 1]; None where there was nothing to measure. `recovery` is 1 or 0, None without a tool error.

    The last three are 1 or 0: whether a behaviour that `expect` names was seen; None where it does not.
    """

    required_recall: float | None = None
    tool_precision: float | None = None
    argument_validity: float | None = None
    argument_accuracy: float | None = None
    distractor_rate: float | None = None
    redundancy: float | None = None
    recovery: float | None = None
    expected_question: float | None = None
    expected_confirmation: float | None = None
    expected_recovery: float | None = None


def measure(record: TrialRecord, expect: Sequence[AnyPattern], passed: bool, faulted: bool = False) -> Measures:
    """All measures of a trial; `expect` are the task's patterns. `faulted`: the task has faults.

    A trial that came to none of its task's faults says nothing of recovery, whatever else failed in it.
    """
    calls = [call for call in record.calls if call.actor == "agent"]
    scope = Scope(record.scope)
    failed = any(failed_by_tool(call) for call in calls)
    unreached = faulted and not any(call.error is not None and call.error.cause == "fault" for call in calls)
    distracted = any(tool.distractor for tool in record.tools)
    judged = [call for call in calls if call.schema_valid is not None]
    seen = _behaved(record, expect, failed and not unreached)
    base = Measures(
        expected_question=seen.get("question"),
        expected_confirmation=seen.get("confirmation"),
        expected_recovery=seen.get("recovery"),
        argument_validity=_share(sum(call.schema_valid is True for call in judged), len(judged)),
        redundancy=_share(_repeats(calls), len(calls)),
        recovery=float(passed) if failed and not unreached else None,
        distractor_rate=_share(sum(call.distractor for call in calls), len(calls)) if distracted else None,
    )
    entries = list(_entries(expect))
    if not entries:
        return base
    try:
        return _against(base, record, calls, expect, entries, scope)
    except EvaluationError:
        return base


def _against(
    base: Measures,
    record: TrialRecord,
    calls: Sequence[CallRecord],
    expect: Sequence[AnyPattern],
    entries: Sequence[CallPattern],
    scope: Scope,
) -> Measures:
    wanted = [not call.distractor and any(_speaks(entry, call, scope) for entry in entries) for call in calls]
    fed = _feeding(calls, wanted, record)
    known = [not call.distractor and any(_names(entry, call, scope) for entry in entries) for call in calls]
    strays = sum(not (k or f) for k, f in zip(known, fed, strict=True))
    to_expected = sum(known)
    return replace(
        base,
        required_recall=_recall(expect, record, calls, scope),
        tool_precision=_share(sum(w or f for w, f in zip(wanted, fed, strict=True)), len(calls)),
        argument_accuracy=_share(sum(wanted), to_expected),
        distractor_rate=_share(strays, len(calls)),
    )


def _behaved(record: TrialRecord, expect: Sequence[AnyPattern], failed: bool) -> dict[str, float]:
    """1 or 0 for each behaviour that is expected; of a recovery only where something failed that should be recovered from."""
    expected = {name for name in _expected(expect) if name in BEHAVIOURS and (failed or name != "recovery")}
    if not expected:
        return {}
    seen = behaviours(record)
    return {name: float(name in seen) for name in expected}


def _expected(patterns: Iterable[AnyPattern]) -> Iterable[str]:
    """Behaviours that are wished for, not those that shall not be."""
    for pattern in patterns:
        if isinstance(pattern, Behaviour):
            yield pattern.name
        elif isinstance(pattern, Combined) and pattern.combinator not in ("none", "at_most"):
            yield from _expected(pattern.patterns)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _entries(patterns: Iterable[AnyPattern]) -> Iterable[CallPattern]:
    """Every call that `expect` names; what it forbids is none."""
    for pattern in patterns:
        if isinstance(pattern, CallPattern):
            yield pattern
        elif isinstance(pattern, Combined) and pattern.combinator not in ("none", "at_most"):
            yield from _entries(pattern.patterns)


def required(patterns: Iterable[AnyPattern]) -> Iterable[tuple[CallPattern, ...]]:
    """What is required, each unit met by any of its calls."""
    for pattern in patterns:
        if isinstance(pattern, CallPattern):
            yield (pattern,)
        elif isinstance(pattern, Combined) and pattern.combinator in ("ordered", "errors"):
            yield from required(pattern.patterns)
        elif isinstance(pattern, Combined) and pattern.combinator in ("any", "exactly", "at_least"):
            inside = tuple(_entries(pattern.patterns))
            if inside and pattern.count != 0:
                yield inside


def _recall(
    expect: Sequence[AnyPattern], record: TrialRecord, calls: Sequence[CallRecord], scope: Scope
) -> float | None:
    shown = [(tool.server, tool.name) for tool in record.tools if tool.usable and not tool.distractor]
    units = [unit for unit in required(expect) if any(is_tool(e, s, t, scope) for e in unit for s, t in shown)]
    made = [call for call in calls if call.permission.decision != "denied" and not call.distractor]
    return _share(sum(any(_names(e, call, scope) for e in unit for call in made) for unit in units), len(units))


def _speaks(entry: CallPattern, call: CallRecord, scope: Scope) -> bool:
    return matches(entry, call.server, call.tool, call.arguments, scope, effect=call.permission.effect)


def _names(entry: CallPattern, call: CallRecord, scope: Scope) -> bool:
    return is_tool(entry, call.server, call.tool, scope)


def is_tool(entry: CallPattern, server: str, tool: str, scope: Scope) -> bool:
    return (entry.server is None or entry.server == server) and named(tool_name(entry, scope), tool)


def _feeding(calls: Sequence[CallRecord], wanted: Sequence[bool], record: TrialRecord) -> list[bool]:
    """Backwards, one look at each result: does it give something that the answer or a later necessary call uses?"""
    sought = set(_telling(record.answer.text))
    fed = [False] * len(calls)
    for number in range(len(calls) - 1, -1, -1):
        call = calls[number]
        fed[number] = call.error is None and not call.distractor and _gives(call, sought)
        if wanted[number] or fed[number]:
            sought.update(form for form in map(exact, _leaves(call.arguments)) if form is not None)
    return fed


def _gives(call: CallRecord, sought: set[str]) -> bool:
    if not sought:
        return False
    if any(hit.form for hit in hits(call, sought)):
        return True
    return not call.has_structured and any(token in sought for token in _telling(call.text))


def _telling(text: str) -> Iterable[str]:
    for token in _TOKEN.findall(text):
        form = token.strip(".:!?*_")
        if form and bits(form) >= _TELLING:
            yield form


def _leaves(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _repeats(calls: Sequence[CallRecord]) -> int:
    if len(calls) < 2:
        return 0
    seen: set[tuple[str, str]] = set()
    repeats = 0
    for call in calls:
        result = json.dumps([call.text, call.structured], sort_keys=True, default=str)
        key = (same_call(call), result)
        repeats += key in seen
        seen.add(key)
    return repeats
