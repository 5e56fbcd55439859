"""Rule: where several servers share a catalogue, the matrix says which one a trial uses."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic, Label
from mcpeval_dsl.semantics.lower.assemble import Lowered


def versions(lowered: Lowered) -> None:
    """Report a catalogue with several versions and no `server` axis."""
    parts = lowered.parts
    if lowered.ctx.problems.earlier or not parts.tasks or (parts.matrix is not None and "server" in parts.matrix.axes):
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
