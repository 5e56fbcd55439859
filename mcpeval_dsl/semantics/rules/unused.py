"""Rule: what is defined and never used is a leftover, or a slip elsewhere."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.fixes import without
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.symbols import Kind

WATCHED: tuple[Kind, ...] = ("let", "harvest", "profile", "table", "environment")


def unused(lowered: Lowered) -> None:
    """Warn about definitions of the spec itself that nothing mentions; silent while there are errors."""
    problems = lowered.ctx.problems
    if problems.failed or not lowered.parts.tasks:
        return
    for kind in WATCHED:
        for symbol in lowered.ctx.of(kind).values():
            if symbol.used or symbol.imported or symbol.span is None:
                continue
            if kind == "environment" and len(lowered.ctx.of(kind)) == 1:
                continue
            problems.report(
                "MCPE280",
                symbol.span,
                f"the {kind} `{symbol.name}` is not used",
                "Nothing reads it.",
                "use it, or remove it",
                severity="warning",
                fixes=(without(symbol.statement.span, f"Remove the {kind} `{symbol.name}`"),)
                if symbol.statement
                else (),
            )
