"""Runs in which anything may have happened to a trial, made from a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from mcpeval_dsl.agents.model import ToolRequest, TurnRecord, Usage
from mcpeval_dsl.gateway.model import CallError, CallRecord, Violation
from mcpeval_dsl.plan.model import Plan, TrialGroup
from mcpeval_dsl.records.model import (
    AgentIdentity,
    ArgumentTrace,
    CallCounts,
    HarvestRecord,
    InfraTrouble,
    Lead,
    Planted,
    Timing,
    TokenUse,
    TrialRecord,
    VerdictRecord,
)
from mcpeval_dsl.semantics.model import Task
from tests.records.samples import call, harvest
from tests.score.samples import known, plan, task, trial, verdict

_LOST = Lead(kind="not_found", server="tracker", tool="list", call="h1", evidence=("h1",), message="no such list")
_CACHED = TurnRecord(
    1, "I look", (ToolRequest("t" * 20, "get", {"k": 1}),), (), "tool_use", Usage(9, 5), "m", 0.0, 1.0, 0.0, 0
)


@dataclass(slots=True)
class Run:
    plan: Plan
    records: list[TrialRecord] = field(default_factory=list)
    earlier: list[TrialRecord] = field(default_factory=list)
    harvests: tuple[HarvestRecord, ...] = (
        harvest(),
        harvest("bad", status="failed", value=None, leads=(_LOST,)),
    )


def random_run(number: int, again: bool = True) -> Run:
    """`again`: some trials were run once more."""
    chance = Random(number)
    made = _plan(chance)
    found = Run(made)
    for node in made.nodes:
        if not isinstance(node, TrialGroup):
            continue
        for at in range(1, node.trials + 1):
            if chance.random() < 0.93:
                found.records.append(_record(chance, made, node, at))
                if again and chance.random() < 0.1:
                    found.earlier.append(_record(chance, made, node, at))
    return found


def _plan(chance: Random) -> Plan:
    tasks = [
        task(
            f"t{number}",
            tags=tuple(chance.sample(["read", "write"], chance.randint(0, 2))),
            split=chance.choice(["train", "train", "heldout"]),
            cluster=chance.choice([None, None, "c1", "c2"]),
            purpose=chance.choice(["capability", "regression"]),
            known_failures=known("not mended yet") if chance.random() < 0.2 else (),
        )
        for number in range(chance.randint(1, 5))
    ]
    return plan(tasks, cells=["m", "n"][: chance.randint(1, 2)], trials=chance.randint(1, 6))


def _record(chance: Random, made: Plan, node: TrialGroup, number: int) -> TrialRecord:
    of: Task = next(each for each in made.tasks if each.name == node.task)
    calls = tuple(_call(chance, at) for at in range(chance.randint(0, 5)))
    changes: dict[str, Any] = {
        "task": node.task,
        "cell": node.cell,
        "split": of.split,
        "cluster": chance.choice([of.cluster or node.task] * 4 + ["another"]),
        "calls": calls,
        "verdicts": tuple(_verdict(chance, at) for at in range(chance.randint(1, 3))),
        "leads": tuple(_lead(chance) for _ in range(chance.choice([0, 0, 0, 1, 2]))),
        "harvested": chance.choice([{}, {"billing": "h1"}]),
        "findings": chance.choice([(), (), ("odd",), ("odd", "strange")]),
        "violations": chance.choice([(), (), (), (_violation("critical", "c0"),), (_violation("minor", None),) * 2]),
        "injections": chance.choice([(), (Planted(at="a:1:1", place="file", planted=True, obeyed=False),)]),
        "sandbox": chance.choice(["none", "bwrap"]),
        "model_turns": chance.choice([0, 1, 3]),
        "flags": chance.choice([(), (), ("safety_check_missing",)]),
        "counts": CallCounts(made=len(calls), charged=len(calls), tool_errors=chance.randint(0, 2)),
        "usage": TokenUse(
            input_tokens=chance.randint(0, 99), output_tokens=5, cost_usd=chance.choice([None, 0.01, 0.1])
        ),
        "timing": Timing(
            started_at=f"2026-11-{chance.randint(10, 28)}T00:00:00+00:00", agent_ms=chance.uniform(0, 100)
        ),
    }
    if chance.random() < 0.3:
        changes["arguments"] = (_trace(chance),)
    changes |= _trouble(chance) | _agent(chance, node.cell)
    record = trial(node.id, number, **changes)
    if chance.random() < 0.03:
        gone = {"not_applicable": True, "outcome": None, "verdicts": (), "violations": (), "model_turns": 0}
        return record.model_copy(update=gone)
    return record.model_copy(update={"outcome": None}) if chance.random() < 0.03 else record


def _call(chance: Random, at: int) -> CallRecord:
    kind = chance.choice(["", "", "", "not_found", "validation", "rate"])
    return call(
        f"c{at}",
        chance.choice(["get", "list", "del"]),
        text=chance.choice(["lamp", "vase"]),
        duration_ms=chance.uniform(0, 10),
        error=CallError("tool_error", kind, "no") if kind else None,  # type: ignore[arg-type]
        schema_valid=chance.choice([None, True, False]),
        schema_errors=("/key: is missing",),
        arguments={"key": chance.choice(["1", "2"])},
        truncated=chance.random() < 0.1,
    )


def _verdict(chance: Random, at: int) -> VerdictRecord:
    return verdict(
        chance.choice(["yes", "yes", "no", "missing"]),
        grader=f"g{at}",
        kind=chance.choice(["exact", "judge", "command"]),
        actual=chance.choice(["B", "C", "é ✓ <b>"]),
        missing_because="judge_api",
        deciding=chance.random() < 0.8,
    )


def _lead(chance: Random) -> Lead:
    return Lead(
        kind="not_found",
        server="tracker",
        tool="get",
        call="c0",
        evidence=chance.choice([("c0",), ("h1", "c0"), ("gone",)]),
        message=chance.choice(["no 1", "no such thing"]),
        strength=chance.choice(["lead", "to_replay"]),
    )


def _violation(severity: str, call_id: str | None) -> Violation:
    return Violation("write outside", severity, ("attempted", "blocked"), call_id)  # type: ignore[arg-type]


def _trace(chance: Random) -> ArgumentTrace:
    return ArgumentTrace(
        call="c0",
        argument="/key",
        value="1",
        verdict=chance.choice(["known", "invented"]),
        origin=chance.choice(["prompt", "instructions", "result"]),
        source="tracker",
    )


def _trouble(chance: Random) -> dict[str, Any]:
    if chance.random() > 0.15:
        return {}
    kind, chain, ended = chance.choice(
        [("model_api", "model_api:429", "model_api"), ("harvest", "harvest bad: failed", "not_started")]
    )
    return {"trouble": InfraTrouble(kind=kind, when="before_answer", chain=(chain,)), "termination": ended}


def _agent(chance: Random, model: str) -> dict[str, Any]:
    """Now and then one that plays back what was said before."""
    if chance.random() > 0.2:
        return {}
    driver, answered = chance.choice(["replay", "anthropic"]), chance.choice(["large-1", "large-2"])
    identity = AgentIdentity(host="loop", host_version="1", model=model, driver=driver, provider_model=answered)
    return {"agent": identity} | ({"turns": (_CACHED,)} if chance.random() < 0.5 else {})
