"""Rule: a private server is never shown to the agent."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered


def private_servers(lowered: Lowered) -> None:
    """Report `servers x` where x is private."""
    hidden = {server.name for server in lowered.suite.servers if server.private}
    for entry in lowered.parts.tasks:
        wrong = [name for name in entry.task.servers if name in hidden]
        if wrong and entry.servers_span is not None:
            lowered.ctx.problems.report(
                "MCPE325",
                entry.servers_span,
                f"the server `{wrong[0]}` is private, so the agent cannot have it",
                "Private servers serve set-up and graders only.",
                f"remove `{wrong[0]}` here, or `private` from the server",
            )
