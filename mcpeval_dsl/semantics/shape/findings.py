"""Semantics, shape: how a finding becomes a diagnostic."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic, Edit, Label
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
    label: tuple[Span, str] | None = None,
) -> Diagnostic:
    """A diagnostic at `at`; with `edit` the text at `edit_at` (or `at`) becomes that."""
    labels = (Label(label[0].location(), label[1]),) if label else ()
    change = Edit((edit_at or at).location(), edit) if edit is not None else None
    return Diagnostic(code, title, at.location(), body, hint, labels=labels, edit=change)


def after(span: Span) -> Span:
    """The empty place behind `span`."""
    return Span(span.file, span.end, span.end)
