"""Plan, on the finished graph: cycles, the longest chain, and the graph as text, JSON Lines, DOT and Mermaid."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from mcpeval_dsl.diagnostics.model import Diagnostic, Label
from mcpeval_dsl.plan.model import ConnectNode, HarvestNode, Plan, TrialGroup
from mcpeval_dsl.semantics.model import Harvest

if TYPE_CHECKING:
    import networkx as nx

    from mcpeval_dsl.plan.model import Node


def cycle_of_harvests(edges: Mapping[str, Iterable[str]], known: Mapping[str, Harvest]) -> Diagnostic | None:
    """The first cycle among harvests as a path with a place for each step; `edges` are id -> ids it waits for."""
    try:
        TopologicalSorter(edges).prepare()
        return None
    except CycleError:
        path = _a_cycle(edges)
    round_trip = " → ".join((*path, path[0]))
    labels = [
        Label(place, f"`{name}` needs `{path[(i + 1) % len(path)]}`")
        for i, name in enumerate(path)
        if (place := known[name].at) is not None
    ]
    return Diagnostic(
        code="MCPE577",
        title=f"these harvests wait for each other: {round_trip}",
        at=known[path[0]].at,
        body="A harvest is read before everything that uses it, so harvests cannot go round in a circle.",
        hint=f"take the value of `{path[0]}` out of harvest `{path[-1]}`",
        labels=tuple(labels),
    )


def _a_cycle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """A cycle that goes round once, from its first name; the graph is known to have one."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph([(name, need) for name, needs in edges.items() for need in needs])
    # `find_cycle` on a whole graph is quadratic where it finds none; inside a component there is one
    knots = [c for c in nx.strongly_connected_components(graph) if len(c) > 1 or graph.has_edge(*(2 * tuple(c)))]
    knot = min(knots, key=min)
    path = [edge[0] for edge in nx.find_cycle(graph.subgraph(knot), min(knot))]
    first = path.index(min(path))
    return path[first:] + path[:first]


def critical_path(nodes: Iterable[Node], seconds: Mapping[str, float]) -> tuple[str, ...]:
    """The chain with most nodes; among equals the one with most seconds, then the first by name."""
    best: dict[str, tuple[int, float, str]] = {}
    before: dict[str, str | None] = {}
    for node in nodes:
        chosen = max(node.needs, key=lambda n: (best[n][0], best[n][1], _reverse(n)), default=None)
        length, time, _ = best[chosen] if chosen is not None else (0, 0.0, "")
        best[node.id] = (length + 1, time + seconds.get(node.id, 0.0), node.id)
        before[node.id] = chosen
    if not best:
        return ()
    last: str | None = max(best, key=lambda n: (best[n][0], best[n][1], _reverse(n)))
    path: list[str] = []
    while last is not None:
        path.append(last)
        last = before[last]
    return tuple(reversed(path))


def _reverse(name: str) -> tuple[int, ...]:
    """Orders names backwards, so that `max` takes the first by name."""
    return tuple(-ord(c) for c in name)


def as_networkx(plan: Plan) -> nx.DiGraph[str]:
    """Edges point from what is needed to what needs it; each node carries its `kind`."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in plan.nodes:
        graph.add_node(node.id, kind=node.kind)
        graph.add_edges_from((need, node.id) for need in node.needs)
    return graph


def as_text(plan: Plan) -> str:
    """One line per node in order of execution, with what it needs."""
    lines = [f"suite {plan.suite.name}"]
    for node in plan.nodes:
        count = f" × {node.trials}" if isinstance(node, TrialGroup) else ""
        needs = f"  ← {', '.join(node.needs)}" if node.needs else ""
        lines.append(f"  {label(node)}{count}{needs}")
    if plan.critical_path:
        lines.append(f"critical path: {' → '.join(plan.critical_path)}")
    return "\n".join(lines) + "\n"


def as_dot(plan: Plan) -> str:
    """Graphviz; the critical path is drawn bold."""
    path = set(zip(plan.critical_path, plan.critical_path[1:], strict=False))
    shapes = {"connect": "cylinder", "harvest": "note", "trial": "box", "check": "diamond"}
    lines = [f"digraph {_quoted(plan.suite.name)} {{", "  rankdir=LR;"]
    lines += [f"  {_quoted(n.id)} [label={_quoted(_caption(n))}, shape={shapes[n.kind]}];" for n in plan.nodes]
    for node in plan.nodes:
        for need in node.needs:
            bold = " [style=bold]" if (need, node.id) in path else ""
            lines.append(f"  {_quoted(need)} -> {_quoted(node.id)}{bold};")
    return "\n".join([*lines, "}"]) + "\n"


def as_mermaid(plan: Plan) -> str:
    """A Mermaid flowchart; names become `n0`, `n1`, … since Mermaid allows few characters in them."""
    names = {node.id: f"n{i}" for i, node in enumerate(plan.nodes)}
    path = set(zip(plan.critical_path, plan.critical_path[1:], strict=False))
    lines = ["flowchart LR"]
    for node in plan.nodes:
        text = _caption(node).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        lines.append(f'  {names[node.id]}["{text}"]')
    for node in plan.nodes:
        arrow = [("==>" if (need, node.id) in path else "-->", need) for need in node.needs]
        lines += [f"  {names[need]} {line} {names[node.id]}" for line, need in arrow]
    return "\n".join(lines) + "\n"


def as_lines(plan: Plan) -> str:
    """JSON Lines: a version line, then a line per node in order of execution; `critical` marks the longest chain."""
    chain = frozenset(plan.critical_path)
    lines: list[dict[str, object]] = [
        {"type": "version", "format": "mcpe.graph", "version": 1, "suite": plan.suite.name}
    ]
    for node in plan.nodes:
        count = {"trials": node.trials} if isinstance(node, TrialGroup) else {}
        line = {"type": "node", "id": node.id, "kind": node.kind, "needs": node.needs, "critical": node.id in chain}
        lines.append({**line, **count})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def label(node: Node) -> str:
    """The node's id with its kind in front."""
    if isinstance(node, TrialGroup):
        return f"trial:{node.id}"
    return node.id


def _caption(node: Node) -> str:
    if isinstance(node, ConnectNode | HarvestNode):
        return node.id.replace(":", " ", 1)
    return f"trial {node.id} × {node.trials}" if isinstance(node, TrialGroup) else node.id.replace(":", " ", 1)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
