"""Nodes, edges, instances, counts and the critical path of a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpeval_dsl.plan.build import build
from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.expressions import CopyStep, Entry, Literal, Ref, Template
from mcpeval_dsl.semantics.model import Catalogue, Cell, Check, Environment, Harvest, Loop, Need, Server

from . import suites as s


def test_trial_needs_connect_and_harvests_it_uses() -> None:
    plan = s.made()
    assert s.node(plan, "label_it@canned").needs == ("connect:tracker", "harvest:billing", "harvest:oldest")
    assert s.node(plan, "harvest:oldest").needs == ("connect:tracker", "harvest:billing")
    assert s.node(plan, "longest_waiting@canned").needs == ("connect:tracker",)


def test_nodes_come_after_what_they_need() -> None:
    plan = s.made(s.suite(harvests=(s.OLDEST, s.BILLING)))
    seen: set[str] = set()
    for node in plan.nodes:
        assert seen.issuperset(node.needs)
        seen.add(node.id)


def test_critical_path_is_the_longest_chain() -> None:
    assert s.made().critical_path == ("connect:tracker", "harvest:billing", "harvest:oldest", "label_it@canned")


def test_counts() -> None:
    counts = s.made().counts
    assert (counts.tasks, counts.cells, counts.trials, counts.harvests, counts.connects) == (3, 2, 30, 2, 1)


def test_harvest_of_environment_steps_is_needed() -> None:
    desk = Environment("desk", (CopyStep(Template("x/{{ seed_data.name }}", ("seed_data",)), None),))
    seed_data = Harvest("seed_data", "seed_data", s.call("list_issues"))
    plan = s.made(s.suite(environments=(desk,), harvests=(seed_data,), tasks=(s.plain("t"),)))
    assert "harvest:seed_data" in s.node(plan, "t@canned").needs


def test_circle_by_way_of_an_environment_is_found() -> None:
    """billing is read from desk, and desk needs billing."""
    desk = replace(s.suite().environments[0], needs=(Need("harvest", "billing"),))
    suite = s.suite(environments=(desk,), harvests=(s.BILLING,), tasks=(s.plain("t"),))
    assert [code for code, _ in s.refused(suite)] == ["MCPE577"]


def test_harvest_that_an_environment_needs() -> None:
    desk = replace(s.suite().environments[0], needs=(Need("harvest", "billing"),))
    billing = replace(s.BILLING, environment=None)
    plan = s.made(s.suite(environments=(desk,), harvests=(billing,), tasks=(s.plain("t"),)))
    assert "harvest:billing" in s.node(plan, "t@canned").needs


def test_unused_harvest_is_no_node() -> None:
    plan = s.made(s.suite(tasks=(s.plain("t"),)))
    assert s.harvest_nodes(plan) == [] and plan.harvests == ()


def test_harvest_of_scope_trial_is_no_node_but_what_it_waits_for_is() -> None:
    oldest = replace(s.OLDEST, scope="trial")
    plan = s.made(s.suite(harvests=(s.BILLING, oldest)))
    assert [n.id for n in s.harvest_nodes(plan)] == ["harvest:billing"]
    assert s.node(plan, "label_it@canned").needs == ("connect:tracker", "harvest:billing")
    assert [h.id for h in plan.harvests] == ["billing", "oldest"]


def test_one_group_for_each_row_with_its_key() -> None:
    plan = s.made(s.suite(tasks=(s.looped("ask", 3),)))
    assert {g.id for g in s.groups(plan)} == {f"ask[q{i}]@{c}" for i in range(3) for c in ("sonnet", "canned")}
    assert [(g.row, g.row_key, g.row_value) for g in s.groups(plan) if g.cell == "canned"] == [
        (i, f"q{i}", Literal(f"row {i}")) for i in range(3)
    ]


def test_equal_row_keys_give_different_ids_and_keys() -> None:
    loop = Loop("q", Ref(("t",)), rows=(Literal("a"), Literal("a")), keys=("k", "k"))
    found = s.groups(s.made(s.suite(tasks=(s.plain("ask", loop=loop),))))
    assert len({g.id for g in found}) == len({g.key for g in found}) == 4


def test_loop_over_a_harvest_gives_as_many_groups_as_its_limit() -> None:
    loop = Loop("c", Ref(("billing", "list")), limit=4)
    plan = s.made(s.suite(tasks=(s.plain("each", loop=loop, uses=("billing",)),)))
    assert [g.row for g in s.groups(plan) if g.cell == "canned"] == [0, 1, 2, 3]
    assert all("harvest:billing" in g.needs for g in s.groups(plan))


def test_loop_over_a_harvest_without_limit_is_refused() -> None:
    loop = Loop("c", Ref(("billing", "list")))
    assert [code for code, _ in s.refused(s.suite(tasks=(s.plain("each", loop=loop),)))] == ["MCPE578"]


def test_harvest_that_uses_the_row_is_read_for_each_row() -> None:
    wanted = Harvest("ask.wanted", "wanted", s.call("get_issue", key=Ref(("q",))), row=True)
    after = Harvest("ask.after", "after", s.call("get_issue", key=Ref(("wanted",))), depends_on=("ask.wanted",))
    plan = s.made(s.suite(tasks=(s.looped("ask", 2, harvests=(wanted, after), uses=("ask.wanted", "ask.after")),)))
    found = {n.id: n for n in s.harvest_nodes(plan)}
    assert set(found) == {f"harvest:ask.{n}[q{i}]" for n in ("wanted", "after") for i in range(2)}
    assert found["harvest:ask.after[q1]"].needs == ("connect:tracker", "harvest:ask.wanted[q1]")
    assert found["harvest:ask.wanted[q1]"].task == "ask" and found["harvest:ask.wanted[q1]"].row == 1


def _languages(*names: str) -> tuple[Cell, ...]:
    return tuple(Cell(n, "canned", "loop", parameters=(Entry("lang", Literal(n)),)) for n in names)


def test_harvest_that_uses_a_parameter_is_read_for_each_value() -> None:
    titles = Harvest("titles", "titles", s.call("list_issues", lang=Ref(("lang",))))
    after = Harvest("after", "after", s.call("get_issue", key=Ref(("titles",))), depends_on=("titles",))
    plan = s.made(
        s.suite(
            harvests=(titles, after, s.BILLING),
            cells=_languages("de", "fr"),
            tasks=(s.plain("t", uses=("after", "billing")),),
        )
    )
    assert [n.id for n in s.harvest_nodes(plan)] == [
        *("harvest:titles@de", "harvest:after@de", "harvest:billing", "harvest:titles@fr", "harvest:after@fr")
    ]
    assert s.node(plan, "t@fr").needs == ("connect:tracker", "harvest:after@fr", "harvest:billing")


def _versions() -> dict[str, Any]:
    servers = tuple(Server(f"v{i}", argv=(s.text(f"server{i}"),), catalog="tracker") for i in (1, 2))
    cells = tuple(Cell(f"canned+v{i}", "canned", "loop", server=f"v{i}") for i in (1, 2))
    return {"servers": servers, "cells": cells, "catalogues": (Catalogue("tracker"),)}


def test_catalogue_with_several_versions_follows_the_cell() -> None:
    plan = s.made(s.suite(**_versions()))
    assert s.node(plan, "label_it@canned+v2").needs == (
        "connect:v2",
        "harvest:billing@canned+v2",
        "harvest:oldest@canned+v2",
    )


def test_arm_restricts_the_servers() -> None:
    cells = (Cell("a", "canned", "loop", arm="mcp"), Cell("b", "canned", "loop", arm="cli"))
    arms = (Arm("mcp", ("tracker",)), Arm("cli", shell=("grep",)))
    plan = s.made(s.suite(cells=cells, arms=arms, tasks=(s.plain("t"),)))
    assert s.node(plan, "t@a").needs == ("connect:tracker",) and s.node(plan, "t@b").needs == ()


def test_check_is_a_node_after_its_connect() -> None:
    plan = s.made(s.suite(checks=(Check("tracker"),)))
    assert s.node(plan, "check:tracker").needs == ("connect:tracker",)


def test_suite_without_tasks_is_refused() -> None:
    assert [code for code, _ in s.refused(s.suite(tasks=()))] == ["MCPE579"]


def test_cycle_of_three_is_a_path_with_three_places() -> None:
    """Guard behind the checker's own message."""
    circle = tuple(
        Harvest(name, name, s.call("get_issue"), depends_on=(needs,), at=s.at(line))
        for name, needs, line in (("a", "b", 1), ("b", "c", 2), ("c", "a", 3))
    )
    checked = build(s.suite(harvests=circle), None, {})
    assert checked.value is None
    (found,) = checked.diagnostics
    assert found.code == "MCPE577" and "a → b → c → a" in found.title
    assert [label.at.line for label in found.labels] == [1, 2, 3]


def test_long_chain_of_harvests_is_no_recursion() -> None:
    chain = tuple(
        Harvest(f"h{i}", f"h{i}", s.call("get_issue"), depends_on=(f"h{i - 1}",) if i else ()) for i in range(3000)
    )
    plan = s.made(s.suite(harvests=chain, tasks=(s.plain("t", uses=("h2999",)),)))
    assert plan.counts.harvests == 3000 and len(plan.critical_path) == 3002


@pytest.mark.parametrize("trials", [1, 1_000_000])
def test_trials_are_counted_and_not_built(trials: int) -> None:
    plan = s.made(s.suite(tasks=(s.plain("t", trials=trials),)))
    assert plan.counts.trials == 2 * trials and len(s.groups(plan)) == 2


def test_constructs_that_run_refuses_travel_in_the_plan() -> None:
    from mcpeval_dsl.semantics.model import Unsupported

    suite = s.with_task(unsupported=(Unsupported("fault", s.at(3)),))
    assert [u.construct for u in s.made(suite).unsupported] == ["fault"]
    assert s.made(suite, select=("longest_waiting",)).unsupported == ()
