"""Semantics, shape: how a finding becomes a diagnostic."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.fixes import replacing
from mcpeval_dsl.diagnostics.model import Diagnostic, Label
from mcpeval_dsl.source import Span


def finding(
    code: str,
    at: Span,
    title: str,
    body: str = "",
    hint: str = "",
    *,
    edit: str | None = None,
    edit_at: Span | None = None,
    safe: bool = False,
    label: tuple[Span, str] | None = None,
) -> Diagnostic:
    """A diagnostic at `at`; with `edit` the text at `edit_at` (or `at`) becomes that, `safe` if nothing else can be meant."""
    labels = (Label(label[0].location(), label[1]),) if label else ()
    fixes = (replacing(edit_at or at, edit, safe=safe),) if edit is not None else ()
    return Diagnostic(code, title, at.location(), body, hint, labels=labels, fixes=fixes)


def after(span: Span) -> Span:
    """The empty place behind `span`."""
    return Span(span.file, span.end, span.end)
