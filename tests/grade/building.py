"""Graders and records in the short form that the case files use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcpeval_dsl.agents.model import Answer, ToolRequest, TurnRecord, Usage
from mcpeval_dsl.gateway.model import CallError, CallRecord, Permission
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import AgentIdentity, InfraTrouble, Permissions, TrialRecord
from mcpeval_dsl.semantics import graders as kinds
from mcpeval_dsl.semantics.graders import Claim, Common, Grader, Normalisation
from mcpeval_dsl.source import Location
from mcpeval_dsl.values.model import Reading, Scope
from mcpeval_dsl.values.sources import BEFORE, REFERENCE, source_key
from tests.values.shorthand import condition, expression, pattern

SERVICES = GradeServices(project=Path(__file__).parent)
PLACE = Location("specs/x.mcpe", 7, 3, 7, 20)


def grader(written: dict[str, Any], id: str = "g1") -> Grader:
    """`{KIND: operand, …}`: the operand as the grader needs it, then `weight`, `ignore`, `format`, `as` and the like."""
    kind, operand = next(iter(written.items()))
    common = Common(id, float(written.get("weight", 1)), _normalisation(written), kind, PLACE, written.get("timeout"))
    negated = bool(written.get("not", False))
    match kind:
        case "exact":
            return kinds.Exact(common, expression(operand), negated)
        case "one_of":
            return kinds.OneOf(common, expression(operand))
        case "contains":
            return kinds.Contains(common, tuple(expression(each) for each in operand), negated)
        case "regex":
            return kinds.Regex(common, operand, written.get("flags", ""), negated)
        case "number":
            within = expression(written["within"]) if "within" in written else None
            return kinds.Number(common, expression(operand), within)
        case "set":
            return kinds.SetOf(common, expression(operand))
        case "json":
            return kinds.Json(common, condition(operand))
        case "state":
            return kinds.State(common, condition(operand))
        case "same_state":
            return kinds.SameState(common, tuple(expression(each) for each in operand))  # type: ignore[misc]
        case "unchanged":
            excepted = tuple(expression(each) for each in written.get("except", []))
            return kinds.Unchanged(common, expression(operand), excepted)  # type: ignore[arg-type]
        case "results":
            return kinds.ResultsHasReference(common)
        case "calls":
            return kinds.Calls(common, tuple(pattern(each) for each in operand))
        case "evidence":
            return kinds.Evidence(common)
        case "refusal":
            return kinds.Refusal(common)
        case "judge":
            return _judge(common, operand, written)
        case "command":
            return kinds.CommandVerdict(common, tuple(expression(each) for each in operand), written.get("exit", 0))
        case "python":
            return kinds.Python(common, operand)
        case "any":
            inner = tuple(grader(each, f"{id}.{number}") for number, each in enumerate(operand, start=1))
            return kinds.AnyOf(common, inner)
        case _:
            raise ValueError(kind)


def _judge(common: Common, claims: list[Any], written: dict[str, Any]) -> Grader:
    made = tuple(
        Claim(expression(each["claim"]), float(each.get("weight", 1)))
        if isinstance(each, dict) and "claim" in each
        else Claim(expression(each))
        for each in claims
    )
    return kinds.Judge(
        common,
        made,
        written.get("model", "sonnet"),
        written.get("threshold", 1.0),
        written.get("repeats", 1),
        written.get("second"),
        written.get("transcript", "answer"),
    )


def _normalisation(written: dict[str, Any]) -> Normalisation:
    return Normalisation(
        ignore=tuple(written.get("ignore", ())),
        ignore_paths=tuple(expression(each) for each in written.get("ignore_paths", ())),
        format=written.get("format"),
        reading=written.get("as"),
        unordered=bool(written.get("unordered", False)),
        numbers_within=written.get("numbers_within"),
        any_message=bool(written.get("any_message", False)),
    )


def record(written: dict[str, Any] | None = None, **more: Any) -> TrialRecord:
    """A record: `answer` (a text, `none`, `refusal`, or `{data: …}`), `calls`, `names`, `readings`, `trouble`, `prompt`."""
    facts = {**(written or {}), **more}
    names = facts.get("names", {})
    calls = tuple(call(number, each) for number, each in enumerate(facts.get("calls", ()), start=1))
    trouble = facts.get("trouble")
    return TrialRecord(
        id="task@canned#1",
        key="k",
        suite="s",
        task="task",
        cell="canned",
        trial=1,
        seed=7,
        agent=AgentIdentity(host="loop", host_version="1", model="canned", driver="script"),
        prompt=facts.get("prompt", ""),
        answer=answer(facts.get("answer", "none" if trouble else "fine")),
        termination=facts.get("termination", "answered"),
        trouble=None if trouble is None else InfraTrouble(kind=trouble[0], when=trouble[1], chain=(trouble[0],)),
        calls=calls,
        turns=tuple(turn(number, each) for number, each in enumerate(facts.get("turns", ()), start=1)),
        scope=names,
        evidence=evidence(facts.get("readings", ()), Scope(names)),
        permissions=Permissions(simulated=facts.get("simulated", 0)),
        policy=facts.get("policy", "deny"),
    )


def answer(written: Any) -> Answer:
    if written in ("none", "refusal"):
        return Answer(written)
    if isinstance(written, dict):
        return Answer("given", str(written.get("text", "")), written["data"], True)
    return Answer("given", str(written))


def call(number: int, written: Any) -> CallRecord:
    """A tool's name (`!` failed, `-` denied), or an object with `tool`, `arguments`, `text`, `data`, `actor`."""
    facts = written if isinstance(written, dict) else {"tool": written}
    name = facts["tool"].rstrip("!-")
    failed, denied = facts["tool"].endswith("!"), facts["tool"].endswith("-")
    error = CallError("denied" if denied else "tool_error", "unknown", "no") if failed or denied else None
    return CallRecord(
        id=f"c{number}",
        actor=facts.get("actor", "agent"),
        server=facts.get("server", "tracker"),
        tool=name,
        arguments=facts.get("arguments", {}),
        turn=facts.get("turn"),
        permission=Permission(
            facts.get("permission", "denied" if denied else "allowed"), facts.get("effect", "unknown")
        ),
        is_error=failed or denied,
        error=error,
        text=facts.get("text", ""),
        structured=facts.get("data"),
        has_structured="data" in facts,
        truncated=facts.get("truncated", False),
    )


def turn(number: int, written: Any) -> TurnRecord:
    facts = written if isinstance(written, dict) else {"text": written}
    requests = tuple(ToolRequest(f"r{n}", name, {}) for n, name in enumerate(facts.get("requests", ())))
    return TurnRecord(number, facts.get("text", ""), requests, (), "end_turn", Usage(), "m", 0.0, 0.0, 0.0, 0)


def evidence(readings: Any, scope: Scope) -> dict[str, Reading]:
    """Readings under their keys: each has `of` (a source), what it gave, and `when` (after, before, reference)."""
    prefixes = {"after": "", "before": BEFORE, "reference": REFERENCE}
    found: dict[str, Reading] = {}
    for each in readings:
        key = prefixes[each.get("when", "after")] + source_key(expression(each["of"]), scope)  # type: ignore[arg-type]
        found[key] = Reading(
            text=each.get("text", ""),
            structured=each.get("data"),
            has_structured="data" in each,
            fields=each.get("fields", {}),
            error=each.get("error"),
            error_class=each.get("class"),
            calls=tuple(each.get("calls", ())),
        )
    return found
