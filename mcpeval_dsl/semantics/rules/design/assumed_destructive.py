"""Rule: a tool that writes and does not say how is taken for destructive."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.design.shown_tools import listed, shown


def assumed_destructive(lowered: Lowered) -> None:
    """Warn, once for each locked server, about tools that are not read-only, without `destructiveHint` or annotation."""
    for each in shown(lowered):
        silent = [
            tool.name
            for tool in each.tools
            if tool.read_only_hint is False and tool.destructive_hint is None and not each.annotated(tool.name)
        ]
        if silent:
            several = len(silent) != 1
            lowered.ctx.problems.found.append(
                Diagnostic(
                    "MCPE380",
                    f"{len(silent)} tool{'s' if several else ''} of `{each.server.name}` "
                    f"{'are' if several else 'is'} treated as destructive: {listed(silent)}",
                    each.server.at,
                    "They say that they write, and not whether they destroy: the protocol's default is that they do.",
                    f"write `additive {silent[0]}` or `destructive {silent[0]}` in `annotations {each.catalogue.name} {{ … }}`",
                    "warning",
                )
            )
