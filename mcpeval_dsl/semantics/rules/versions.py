"""Rule: where several servers share a catalogue, the matrix says which one a trial uses; and it chooses among nothing else."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic, Label
from mcpeval_dsl.semantics.lower.assemble import Lowered


def versions(lowered: Lowered) -> None:
    """Report a catalogue with several versions and no `server` axis, and an axis of servers that are no versions."""
    parts = lowered.parts
    if lowered.ctx.problems.earlier or not parts.tasks:
        return
    if parts.matrix is not None and "server" in parts.matrix.axes:
        _unrelated(lowered)
        return
    by_catalogue: dict[str, list[int]] = {}
    for index, server in enumerate(parts.servers):
        if server.catalog:
            by_catalogue.setdefault(server.catalog, []).append(index)
    for name, places in by_catalogue.items():
        if len(places) < 2:
            continue
        servers = [parts.servers[i] for i in places]
        listed = ", ".join(server.name for server in servers)
        labels = tuple(Label(s.at, f"`{s.name}`") for s in servers if s.at is not None)
        lowered.ctx.problems.found.append(
            Diagnostic(
                "MCPE319",
                f"the catalogue `{name}` has {len(servers)} servers and the matrix chooses none",
                servers[0].at,
                "Versions of one server share a catalogue; each cell uses one of them.",
                f"add `server = [{listed}]` to the matrix",
                labels=labels,
            )
        )


def _unrelated(lowered: Lowered) -> None:
    """The axis `server` lists servers of more than one catalogue."""
    chosen = {cell.server for cell in lowered.suite.cells}
    catalogues = {server.catalog or server.name: server for server in lowered.parts.servers if server.name in chosen}
    if len(catalogues) < 2:
        return
    labels = tuple(Label(s.at, f"`{s.name}`") for s in catalogues.values() if s.at is not None)
    matrix = lowered.parts.matrix
    span = matrix.span if matrix is not None else None
    lowered.ctx.problems.found.append(
        Diagnostic(
            "MCPE351",
            f"the axis `server` mixes {len(catalogues)} catalogues: {', '.join(catalogues)}",
            span.location() if span is not None else None,
            "Its members are versions of one server, of which each cell uses one. Other servers are compared as arms.",
            "give the versions one `catalog`, or write an `arm` for each server",
            labels=labels,
        )
    )
