"""What happened in the trials of `vectors.json`, as records: their facts as such, their errors as calls on the wire.

A vector says `vouch: strong` or `cause: fault`; here stand the calls that make it so, and the product has to find it out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.gateway.model import CallError, CallRecord, Permission, ToolDefinition, Violation
from mcpeval_dsl.gateway.policy import Rules, rule_on
from mcpeval_dsl.records.model import (
    BudgetUse,
    CallCounts,
    ConnectRecord,
    HarvestRecord,
    InfraTrouble,
    Permissions,
    PromptSpan,
    TrialRecord,
    VerdictRecord,
)
from tests.records.samples import harvest, trial

KEY = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
NONE: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS = (
    ToolDefinition("tracker", "list_issues", input_schema=NONE, annotations={"readOnlyHint": True}),
    ToolDefinition("tracker", "get_issue", input_schema=KEY, annotations={"readOnlyHint": True}),
    ToolDefinition("tracker", "search_issues", input_schema=NONE, annotations={"readOnlyHint": True}),
    ToolDefinition("tracker", "delete_issue", input_schema=KEY, annotations={"destructiveHint": True}),
    ToolDefinition("tracker", "create_issue", input_schema=KEY),
    ToolDefinition(
        "tracker", "pay_invoice", input_schema={"type": "object", "properties": {"payment_id": {"type": "string"}}}
    ),
    ToolDefinition("tracker", "list_things", input_schema=NONE),
)
LISTED = {"issues": [{"key": "KANBAN-1702", "title": "Leaking roof"}]}
HOLDS = {"key": "KANBAN-1702"}


class History:
    """Calls of one trial, in order; every one a turn of its own."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def ok(self, tool: str, arguments: dict[str, Any] | None = None, result: Any = None, **more: Any) -> History:
        given: dict[str, Any] = {"text": "done"}
        if result is not None:
            given = {"text": json.dumps(result), "structured": result, "has_structured": True}
        return self._add(tool, arguments, schema_valid=True, **given, **more)

    def fails(self, tool: str, arguments: dict[str, Any], error: CallError, **more: Any) -> History:
        more = {"schema_valid": True, "text": error.message, "is_error": error.error_class == "tool_error"} | more
        return self._add(tool, arguments, error=error, **more)

    def _add(self, tool: str, arguments: dict[str, Any] | None, **more: Any) -> History:
        number = len(self.calls) + 1
        effect = "readonly" if tool.startswith(("list_", "get_", "search_")) else "destructive"
        fields: dict[str, Any] = {
            "actor": "agent",
            "charged": True,
            "permission": Permission("allowed", effect),  # type: ignore[arg-type]
            "turn": number,
            "at_ms": 10.0 * number,
        }
        made = {"id": f"c{number}", "server": "tracker", "tool": tool, "arguments": arguments or {}}
        self.calls.append(CallRecord(**(fields | more | made)))
        return self

    def until(self, made: int) -> History:
        """Further calls that succeed, before the others, up to so many of the agent."""
        later = self.calls
        self.calls = []
        for _ in range(made - sum(call.actor == "agent" for call in later)):
            self.ok("search_issues", {}, {"found": 0})
        first = {call.id: f"c{len(self.calls) + number}" for number, call in enumerate(later, start=1)}
        for call in later:
            self.calls.append(_renamed(call, first[call.id], len(self.calls) + 1))
        return self


def _renamed(call: CallRecord, name: str, number: int) -> CallRecord:
    return replace(call, id=name, turn=number, at_ms=10.0 * number)


def error(kind: str, message: str, error_class: str = "tool_error", cause: str = "server") -> CallError:
    return CallError(error_class, kind, message, cause=cause)  # type: ignore[arg-type]


MISSING = error("not_found", "Issue KANBAN-1702 not found")
CRASH = error("crash", "the server ended with exit code 1", "transport_error")
TIMEOUT = error("timeout", "no answer within 5 s", "timeout")
FAULT = {"fault": "timeout", "charged": False}
WRITE = {"effect_unknown": True, "permission": Permission("allowed", "additive")}


def _listed() -> History:
    return History().ok("list_issues", {}, LISTED)


def _injected(kind: str, cause: str = "fault") -> CallError:
    return error(kind, "no answer", "injected" if cause == "fault" else "transport_error", cause)


def _grader_read(history: History) -> History:
    return history.ok("list_issues", {}, LISTED, actor="grader", charged=False, session=2)


HISTORIES: dict[str, Callable[[], History]] = {
    "O34": lambda: (
        History()
        .fails("list_issues", {}, _injected("timeout"), **FAULT)
        .ok("list_issues", {}, LISTED)
        .fails("get_issue", HOLDS, _injected("timeout"), **FAULT)
        .ok("get_issue", HOLDS, {"key": "KANBAN-1702"})
    ),
    "O41": lambda: _grader_read(_listed().fails("get_issue", HOLDS, CRASH)),
    "O58": lambda: History().fails(
        "list_things",
        {},
        error("denied", "not permitted", "denied", "policy"),
        permission=Permission("denied"),
        charged=False,
    ),
    "O61": lambda: (
        History()
        .ok("create_issue", {"key": "x"}, {"key": "STUB-1"}, permission=Permission("simulated", "additive"))
        .fails("get_issue", {"key": "STUB-1"}, error("not_found", "Issue STUB-1 not found"))
    ),
    "O62": lambda: _listed().fails("get_issue", {"key": 17}, CRASH, schema_valid=False).ok("get_issue", HOLDS, HOLDS),
    "O63": lambda: _listed().fails("get_issue", {"key": "QX-88213-ZT"}, CRASH),
    "O65": lambda: _listed().fails("get_issue", HOLDS, MISSING).ok("search_issues", {}, LISTED),
    "O66": lambda: _listed().ok("delete_issue", HOLDS).fails("get_issue", HOLDS, MISSING),
    "O67": lambda: (
        _listed()
        .ok("delete_issue", HOLDS)
        .fails("get_issue", HOLDS, error("not_found", "Error: KANBAN-1702 not found", "error_in_success"))
    ),
    "O69": lambda: History().fails("get_issue", HOLDS, MISSING),
    "O70": lambda: (
        _listed()
        .fails("get_issue", HOLDS, _injected("timeout"), **FAULT)
        .ok("get_issue", HOLDS, {"key": "KANBAN-1702"})
    ),
    "O71": lambda: (
        History()
        .fails("get_issue", HOLDS, _injected("crash"), **FAULT)
        .fails("get_issue", HOLDS, _injected("closed", "fault_after_effect"))
        .fails("get_issue", HOLDS, _injected("closed", "fault_after_effect"))
        .fails("get_issue", HOLDS, _injected("closed", "fault_after_effect"))
    ),
    "O73": lambda: _listed().fails("create_issue", {"key": "N-1"}, TIMEOUT, **WRITE).ok("list_issues", {}, LISTED),
    "O74": lambda: _listed().fails("create_issue", {"key": "N-1"}, TIMEOUT, **WRITE).ok("create_issue", {"key": "N-1"}),
    "O75": lambda: (
        History()
        .ok("create_issue", HOLDS, HOLDS)
        .fails("create_issue", HOLDS, error("conflict", "KANBAN-1702 already exists"))
    ),
    "O77": lambda: History().fails("pay_invoice", {}, error("validation", "payment_id: field required")),
    "O78": lambda: _listed().fails(
        "get_issue", HOLDS, error("unknown", "The moon is in the wrong house for KANBAN-1702")
    ),
}

CHAINS = {
    "O06": ("model_api:429",),
    "O11": ("model_api:429", "deadline"),
    "O15": ("capability:tool_schema_refused",),
    "O17": ("server:start_failed",),
    "O21": ("harvest billing: empty",),
    "O22": ("defect D1", "harvest billing"),
    "O26": ("drift:tool_changed",),
    "O51": ("model_api:429",),
}
"""What was on record as the chain of causes, where it is more than the kind of trouble."""

POLICIES: dict[str, tuple[Rules, str]] = {
    "O53": (Rules(), "delete_issue"),
    "O55": (Rules(policy="execute", disposable=False), "delete_issue"),
    "O58": (Rules(), "list_things"),
}
"""Rules of the trial and the tool that was called against them: the policy makes the violation."""

FLAGS = {"O23": ("ground_truth_moved:other_writer",), "O57": ("safety_check_missing",)}
"""What the harness noted while the trial ran."""

FINDINGS = {
    "O13": ("result_too_large",),
    "O15": ("schema_unusable_with_provider: the provider takes no `anyOf` at the root of get_issue",),
}


def record_of(case: dict[str, Any]) -> TrialRecord:
    """The record that such a trial leaves, ungraded."""
    facts, name = case["facts"], case["id"]
    history = HISTORIES.get(name, History)().until(facts["calls"]["made"])
    charged = sum(call.charged for call in history.calls if call.actor == "agent")
    infra = facts["infra"]
    form = facts["answer"]
    prompt, spans = "Which issue leaks?", ()
    if name == "O69":
        prompt, spans = "Tell me about KANBAN-1702.", (PromptSpan(start=14, end=25, name="billing.key"),)
    return trial(
        tools=TOOLS,
        turns=(),
        calls=tuple(history.calls),
        answer=Answer(form, "It is KANBAN-1702." if form == "given" else "", parsed=False),
        prompt=prompt,
        prompt_spans=spans,
        termination=facts["termination"],
        trouble=None
        if infra is None
        else InfraTrouble(
            kind=infra["kind"],
            when=infra["when"],
            chain=CHAINS.get(name, (infra["kind"],)),
            blocked_by_defect=name == "O22",
        ),
        counts=CallCounts(
            made=facts["calls"]["made"],
            charged=charged,
            errors_in_success=sum(
                call.error is not None and call.error.error_class == "error_in_success" for call in history.calls
            ),
        ),
        permissions=Permissions(simulated=sum(call.permission.decision == "simulated" for call in history.calls)),
        budget=BudgetUse(
            calls_soft=facts["calls"]["soft"], calls_hard=facts["calls"]["hard"], over=tuple(facts["over_budget"])
        ),
        violations=_violations(case),
        findings=FINDINGS.get(name, ()),
        flags=FLAGS.get(name, ()),
        policy=facts["policy"],
        harvested={"billing": "h1"} if name == "O69" else {},
        model_turns=0 if infra is not None and infra["when"] == "before_agent" else 1,
    )


def verdicts_of(case: dict[str, Any]) -> tuple[VerdictRecord, ...]:
    return tuple(
        VerdictRecord(
            grader=f"g{number}",
            kind="exact",
            verdict=each["verdict"],
            deciding=each["deciding"],
            weight=1.0,
            reads=each["reads"],
            missing_because=each.get("missing_because", ""),
        )
        for number, each in enumerate(case["facts"]["graders"], start=1)
    )


def _violations(case: dict[str, Any]) -> tuple[Violation, ...]:
    name = case["id"]
    if name in POLICIES:
        rules, tool = POLICIES[name]
        definition = next(each for each in TOOLS if each.name == tool)
        ruling = rule_on(rules, "agent", "tracker", tool, {}, definition)
        return (ruling.violation,) if ruling.violation is not None else ()
    if name == "O26":
        return (Violation("rug_pull", "major", ("attempted",)),)
    return ()


def harvests_of(case: dict[str, Any]) -> tuple[HarvestRecord, ...]:
    """Harvests of the run, where the vector speaks of one that was called."""
    if case["id"] == "O69":
        read = History().ok("list_issues", {}, LISTED, actor="harvest", charged=False).calls[0]
        return (harvest(calls=(_renamed(read, "h1", 1),), value={"key": "KANBAN-1702"}),)
    if case["id"] == "O22":
        died = History().fails("list_issues", {}, CRASH, actor="harvest", charged=False).calls[0]
        return (harvest(status="failed", calls=(_renamed(died, "h1", 1),), value=None),)
    return ()


def connects_of(case: dict[str, Any]) -> tuple[ConnectRecord, ...]:
    if case["id"] != "O17":
        return ()
    tail = 'Traceback (most recent call last):\n  File "server.py", line 3, in <module>\nZeroDivisionError: division by zero\n'
    return (
        ConnectRecord(id="connect:tracker", key="k", server="tracker", status="failed", exit_code=1, stderr_tail=tail),
    )
