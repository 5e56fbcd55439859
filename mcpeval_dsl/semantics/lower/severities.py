"""Semantics, lowering: how bad an unpermitted call is, where the spec says so itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.words import only
from mcpeval_dsl.semantics.model import Severity
from mcpeval_dsl.syntax.tree import Directive

_RANK: Mapping[str, int] = {"minor": 0, "major": 1, "critical": 2}


def severity_of(ctx: Context, line: Directive, usual: Severity) -> tuple[Severity | None, str]:
    """`severity` and `because` of a block; a warning where less than the `usual` severity is given no reason."""
    severity: Severity | None = None
    because = ""
    place = line.name.span
    for inner in line.block.statements if line.block else ():
        if isinstance(inner, Directive) and inner.name.text == "severity":
            severity, place = cast(Severity, only(inner).name().text), inner.span
        elif isinstance(inner, Directive) and inner.name.text == "because":
            because = only(inner).string().value
        else:
            raise Unlowerable(inner.span, "`severity` or `because`")
    if severity is not None and _RANK[severity] < _RANK[usual] and not because:
        title = f"`severity {severity}` is less than `{line.name.text}` has, and nothing says why"
        body = f"A call of this kind without permission is `{usual}`; a lower severity is listed with its reason."
        ctx.problems.report(
            "MCPE326", place, title, body, f'add `because "…"`, or leave it at `{usual}`', severity="warning"
        )
    return severity, because
