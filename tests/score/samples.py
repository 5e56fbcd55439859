"""Plans, and graded trials of them, for the tests of score and report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcpeval_dsl.plan.model import Ceiling, Ceilings, Counts, Node, Plan, Suite, TrialGroup, trial_id, trial_key
from mcpeval_dsl.records.model import CallCounts, OutcomeRecord, TrialRecord, VerdictRecord
from mcpeval_dsl.score.facts import facts_of
from mcpeval_dsl.score.outcomes import decide
from mcpeval_dsl.semantics.model import Budget, Cell, Gate, GateRule, Host, KnownFailure, Limit, Model, Task
from mcpeval_dsl.source import Location
from tests.records.samples import trial as facts

AT = Location("specs/demo.mcpe", 4, 3, 4, 30)


def task(name: str, **changes: Any) -> Task:
    values: dict[str, Any] = {"budget": Budget(calls=Limit(soft=4, hard=15)), "at": AT}
    return Task(name, **(values | changes))


def rule(text: str, metric: str, operator: str, value: float, **changes: Any) -> GateRule:
    return GateRule(metric, operator, value, text=f"require {text}", at=AT, **changes)  # type: ignore[arg-type]


def plan(
    tasks: Iterable[Task] | None = None,
    cells: Iterable[str] = ("m",),
    trials: int = 3,
    rules: Iterable[GateRule] = (),
    **changes: Any,
) -> Plan:
    chosen = tuple(tasks) if tasks is not None else (task("one"), task("two"), task("three"))
    made = tuple(Cell(id=cell, model=cell, host="loop") for cell in cells)
    nodes: tuple[Node, ...] = tuple(
        TrialGroup(
            id=f"{each.name}@{cell.id}",
            task=each.name,
            cell=cell.id,
            trials=trials,
            key=f"key {each.name} {cell.id}",
            grade_key="g",
        )
        for each in chosen
        for cell in made
    )
    gate = Gate(tuple(rules), bool(tuple(rules)))
    unknown = Ceiling(value=None, reason="not asked")
    values: dict[str, Any] = {
        "harness": "0.1.0",
        "suite": Suite(
            name="demo", title="Demo", spec="specs/demo.mcpe", seed=1, judge=None, gate=gate, weights=(), comparisons=()
        ),
        "tasks": chosen,
        "models": tuple(Model(name=cell, driver="script", target="canned.yaml") for cell in cells),
        "hosts": (Host(name="loop"),),
        "cells": made,
        "nodes": nodes,
        "counts": Counts(
            tasks=len(chosen),
            instances=len(chosen),
            cells=len(made),
            trials=trials * len(nodes),
            harvests=0,
            connects=0,
            checks=0,
        ),
        "critical_path": (),
        "ceilings": Ceilings(calls=unknown, tokens=unknown, cost_usd=unknown, seconds=unknown),
        "key": "plan key",
    }
    for name in Plan.model_fields:
        if name not in values and Plan.model_fields[name].is_required():
            values[name] = ()
    return Plan(**(values | changes))


def verdict(said: str = "yes", **changes: Any) -> VerdictRecord:
    values: dict[str, Any] = {
        "grader": "g1",
        "kind": "exact",
        "verdict": said,
        "deciding": True,
        "weight": 1.0,
        "reads": "answer",
        "actual": "B-2" if said == "no" else "A-1",
        "expected": "A-1",
        "at": str(AT),
    }
    return VerdictRecord(**(values | changes))


def graded(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"outcome": decide(facts_of(record))})


def trial(group: str, number: int, said: str = "yes", **changes: Any) -> TrialRecord:
    """A trial of `task@cell`, graded by one verdict."""
    id_ = trial_id(group, number)
    values: dict[str, Any] = {
        "key": trial_key(f"key {group}", number),
        "cluster": id_.split("@")[0],
        "verdicts": (verdict(said),),
        "violations": (),
        "counts": CallCounts(made=1, charged=1),
    }
    return graded(facts(id_, **(values | changes)))


def run(made: Plan, said: dict[str, str], **changes: Any) -> list[TrialRecord]:
    """One letter for each trial of a group: y(es), n(o), m(issing), u(ntestable), - (not run)."""
    from mcpeval_dsl.records.model import InfraTrouble

    words = {"y": "yes", "n": "no", "m": "missing"}
    found = []
    for group in made.nodes:
        if not isinstance(group, TrialGroup):
            continue
        for number, letter in enumerate(said.get(group.id, "y" * group.trials), start=1):
            if letter == "u":
                trouble = InfraTrouble(kind="model_api", when="before_answer", chain=("model_api:429",))
                found.append(trial(group.id, number, "missing", trouble=trouble, termination="model_api", **changes))
            elif letter == "p":
                both = (verdict("yes"), verdict("missing", grader="g2", missing_because="judge_api"))
                found.append(trial(group.id, number, verdicts=both, **changes))
            elif letter != "-":
                found.append(trial(group.id, number, words[letter], **changes))
    return found


def known(reason: str) -> tuple[KnownFailure, ...]:
    return (KnownFailure(reason),)


def outcomes(records: Iterable[TrialRecord]) -> list[OutcomeRecord | None]:
    return [record.outcome for record in records]
