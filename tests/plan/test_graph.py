"""The graph as text, JSON Lines, DOT, Mermaid and networkx."""

from __future__ import annotations

import json

import networkx as nx

from mcpeval_dsl.plan import graph
from mcpeval_dsl.semantics.model import Cell

from . import suites as s

PLAN = s.made(s.suite(tasks=(s.task(),), cells=(Cell("canned", "canned", "loop"),)))


def test_text() -> None:
    assert graph.as_text(PLAN) == (
        "suite tracker\n"
        "  connect:tracker\n"
        "  harvest:billing  ← connect:tracker\n"
        "  harvest:oldest  ← connect:tracker, harvest:billing\n"
        "  trial:label_it@canned × 5  ← connect:tracker, harvest:billing, harvest:oldest\n"
        "critical path: connect:tracker → harvest:billing → harvest:oldest → label_it@canned\n"
    )


def test_json_lines() -> None:
    first, *nodes = (json.loads(line) for line in graph.as_lines(PLAN).splitlines())
    assert first == {"type": "version", "format": "mcpe.graph", "version": 1, "suite": "tracker"}
    assert [n["id"] for n in nodes if n["critical"]] == list(PLAN.critical_path)
    assert nodes[-1]["trials"] == 5 and nodes[-1]["kind"] == "trial"


def test_dot() -> None:
    lines = graph.as_dot(PLAN).splitlines()
    assert lines[0] == 'digraph "tracker" {' and lines[-1] == "}"
    assert '  "harvest:billing" -> "harvest:oldest" [style=bold];' in lines
    assert '  "label_it@canned" [label="trial label_it@canned × 5", shape=box];' in lines


def test_mermaid() -> None:
    assert graph.as_mermaid(PLAN) == (
        "flowchart LR\n"
        '  n0["connect tracker"]\n'
        '  n1["harvest billing"]\n'
        '  n2["harvest oldest"]\n'
        '  n3["trial label_it@canned × 5"]\n'
        "  n0 ==> n1\n"
        "  n0 --> n2\n"
        "  n1 ==> n2\n"
        "  n0 --> n3\n"
        "  n1 --> n3\n"
        "  n2 ==> n3\n"
    )


def test_names_with_quotes_are_escaped() -> None:
    plan = s.made(s.suite(tasks=(s.plain('say_"hi"'),)))
    assert r'"say_\"hi\"@canned"' in graph.as_dot(plan)
    assert "say_&quot;hi&quot;@canned" in graph.as_mermaid(plan)


def test_networkx_graph_is_acyclic_and_complete() -> None:
    found = graph.as_networkx(s.made())
    assert nx.is_directed_acyclic_graph(found)
    assert nx.ancestors(found, "label_it@canned") == {"connect:tracker", "harvest:billing", "harvest:oldest"}
    assert found.nodes["harvest:oldest"]["kind"] == "harvest"


def test_among_equally_long_chains_the_slower_is_critical() -> None:
    from mcpeval_dsl.semantics.model import Budget, Limit

    tasks = (s.plain("quick"), s.plain("slow", budget=Budget(time=Limit(None, 500))))
    assert s.made(s.suite(tasks=tasks)).critical_path == ("connect:tracker", "slow@canned")
