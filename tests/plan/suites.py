"""Typed suites for the tests of this room: the tracker of the language's page, built in Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mcpeval_dsl.plan.build import build
from mcpeval_dsl.plan.model import HarvestNode, Lock, LockedServer, LockedTool, Node, Plan, Selection, TrialGroup
from mcpeval_dsl.semantics.dialogues import Dialogue, ScriptedTurn, SimulatedUser
from mcpeval_dsl.semantics.expressions import (
    ArgumentPattern,
    CallPattern,
    Condition,
    CopyStep,
    Entry,
    Expression,
    Literal,
    Ref,
    Select,
    Subject,
    Template,
    ToolCall,
)
from mcpeval_dsl.semantics.graders import Claim, Common, Contains, Grader, Judge, State
from mcpeval_dsl.semantics.model import (
    Annotation,
    Budget,
    Catalogue,
    Cell,
    Environment,
    Gate,
    Harvest,
    Host,
    Let,
    Limit,
    Loop,
    Model,
    Price,
    Server,
    Task,
    TypedSuite,
)
from mcpeval_dsl.source import Location

DIGESTS = {
    "specs/tracker.mcpe": "0" * 64,
    "specs/fixtures/tracker.db": "1" * 64,
    "specs/scripts/tracker.yaml": "2" * 64,
    "specs/fixtures/other.db": "3" * 64,
}


def at(line: int) -> Location:
    return Location("specs/tracker.mcpe", line, 1, line, 9)


def text(value: str) -> Literal:
    return Literal(value)


def call(tool: str, server: str = "tracker", **arguments: Expression) -> ToolCall:
    return ToolCall(server, tool, tuple(Entry(k, v) for k, v in arguments.items()), at(1))


def contains(expected: Expression) -> Grader:
    return Contains(Common("g1", text="grade contains …", at=at(2)), (expected,))


def judged(claim: str = "says which", model: str = "sonnet") -> Grader:
    return Judge(Common("g2"), (Claim(text(claim)),), model)


def state(tool: str = "get_issue") -> State:
    left = Select("$.labels", call(tool, key=Ref(("billing", "key"))))
    return State(Common("g3"), Condition(left, "has", text("needs-review")))


BILLING = Harvest(
    "billing",
    "billing",
    call("list_issues", project=text("Billing")),
    bindings=(Entry("key", Select("$.issues[0].key", Subject())),),
    environment="desk",
    at=at(10),
)
OLDEST = Harvest(
    "oldest",
    "oldest",
    call("get_issue", key=Ref(("billing", "key"))),
    bindings=(Entry("title", Select("$.title", Subject())),),
    depends_on=("billing",),
    environment="desk",
    at=at(11),
)


def task(name: str = "label_it", **changes: Any) -> Task:
    values: dict[str, Any] = {
        "title": "Label",
        "prompt": Template("Add the label to '{{ oldest.title }}'.", ("oldest",)),
        "tags": ("search", "write"),
        "kind": "write",
        "trials": 5,
        "environment": "desk",
        "servers": ("tracker",),
        "budget": Budget(calls=Limit(6, 15), tokens=Limit(None, 40000), cost=Limit(0.05), time=Limit(60, 120)),
        "may": (CallPattern("update_issue", arguments=(ArgumentPattern("key", "==", Ref(("billing", "key"))),)),),
        "graders": (state(),),
        "uses": ("billing", "oldest"),
        "at": at(20),
    }
    return Task(name, **(values | changes))


def plain(name: str, **changes: Any) -> Task:
    """A task without harvests."""
    values: dict[str, Any] = {"prompt": text(f"Do {name}."), "graders": (contains(text("x")),), "uses": (), "may": ()}
    return task(name, **(values | {"tags": ("read",), "kind": None} | changes))


def looped(name: str, count: int, **changes: Any) -> Task:
    """A task with one instance for each of `count` rows of a table."""
    rows = tuple(Literal(f"row {i}") for i in range(count))
    loop = Loop("q", Ref(("questions",)), rows=rows, keys=tuple(f"q{i}" for i in range(count)))
    return plain(name, **({"loop": loop} | changes))


SONNET = Model("sonnet", "anthropic", "claude-sonnet-4-5", at=at(30))
CANNED = Model("canned", "script", "scripts/tracker.yaml", at=at(31))


def suite(**changes: Any) -> TypedSuite:
    values: dict[str, Any] = {
        "name": "tracker",
        "title": "Issue tracker",
        "path": "specs/tracker.mcpe",
        "seed": 7,
        "trials": 5,
        "judge": "sonnet",
        "policy": "deny",
        "heldout_share": 0.0,
        "heldout_by": None,
        "servers": (
            Server("tracker", argv=(text("python"), text("-m"), text("tracker_server")), timeout=10.0, at=at(3)),
        ),
        "catalogues": (Catalogue("tracker", (Annotation("readonly", (CallPattern("list_*"),)),)),),
        "environments": (Environment("desk", (CopyStep(text("fixtures/tracker.db"), Ref(("db",)), at(5)),), at=at(4)),),
        "models": (SONNET, CANNED),
        "hosts": (Host("loop"),),
        "arms": (),
        "lets": (Let("db", Template("{{ workdir }}/tracker.db", ("workdir",))), Let("unused", text("nobody"))),
        "harvests": (BILLING, OLDEST),
        "tasks": (task(), plain("longest_waiting"), plain("leaves_alone", tags=("safety",), kind="safety")),
        "cells": (Cell("sonnet", "sonnet", "loop"), Cell("canned", "canned", "loop")),
        "comparisons": (),
        "checks": (),
        "gate": Gate(),
        "weights": (),
        "files": ("specs/tracker.mcpe",),
        "fixtures": ("specs/fixtures/tracker.db", "specs/scripts/tracker.yaml"),
        "at": at(1),
    }
    return TypedSuite(**(values | changes))


def with_task(**changes: Any) -> TypedSuite:
    """The suite with its first task changed."""
    base = suite()
    return replace(base, tasks=(replace(base.tasks[0], **changes), *base.tasks[1:]))


def made(typed: TypedSuite | None = None, lock: Lock | None = None, digests: Any = None, **selection: Any) -> Plan:
    """The plan, where there must be one."""
    checked = build(typed or suite(), lock, DIGESTS if digests is None else digests, Selection(**selection))
    assert checked.value is not None, checked.diagnostics
    return checked.value


def refused(typed: TypedSuite | None = None, **selection: Any) -> list[tuple[str, str]]:
    """(code, hint) of each error, where there must be no plan."""
    checked = build(typed or suite(), None, DIGESTS, Selection(**selection))
    assert checked.value is None
    return [(d.code, d.hint) for d in checked.diagnostics if d.severity == "error"]


def node(plan: Plan, name: str) -> Node:
    return next(n for n in plan.nodes if n.id == name)


def groups(plan: Plan) -> list[TrialGroup]:
    return [n for n in plan.nodes if isinstance(n, TrialGroup)]


def harvest_nodes(plan: Plan) -> list[HarvestNode]:
    return [n for n in plan.nodes if isinstance(n, HarvestNode)]


def locked(description: str = "Lists issues.", **changes: Any) -> Lock:
    tool = LockedTool(name="list_issues", description=description, input_schema={"type": "object"}, sha256="a" * 64)
    values: dict[str, Any] = {
        "server": "tracker",
        "revision": "2025-11-25",
        "era": "initialize",
        "transport": "stdio",
        "tools": (tool,),
        "catalogue_sha256": "b" * 64,
    }
    return Lock(servers=(LockedServer(**(values | changes)),))


def priced(model: Model, price: Price | None) -> Model:
    return replace(model, price=price)


def dialogue(
    said: str = "Now label it.",
    graders: tuple[Grader, ...] = (),
    every: tuple[Grader, ...] = (),
    user: SimulatedUser | None = None,
) -> Dialogue:
    return Dialogue((ScriptedTurn(text(said), graders=graders),), every, user)


def user(model: str, goal: str = "a label") -> SimulatedUser:
    return SimulatedUser(model, text(goal))
