"""Semantics, inside rules on design: how a rule reports about a task."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic, Fix, Label, Severity
from mcpeval_dsl.semantics.graders import Grader
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.tasks import LoweredTask


def about_task(
    lowered: Lowered,
    entry: LoweredTask,
    code: str,
    title: str,
    body: str,
    hint: str,
    severity: Severity = "warning",
    *,
    grader: Grader | None = None,
    labels: tuple[Label, ...] = (),
    fixes: tuple[Fix, ...] = (),
) -> None:
    """At the grader, or else at the task's name."""
    at = grader.common.at if grader is not None and grader.common.at is not None else entry.span.location()
    lowered.ctx.problems.found.append(Diagnostic(code, title, at, body, hint, severity, labels, fixes))
