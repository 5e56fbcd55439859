"""Language server, at its edge: values of the features -> types of the protocol."""

from __future__ import annotations

from typing import cast

from lsprotocol import types as lsp
from pygls.capabilities import ServerCapabilitiesBuilder

from mcpeval_dsl.language_server.features.diagnostics import Shown
from mcpeval_dsl.language_server.places import Range
from mcpeval_dsl.language_server.positions import Encoding, Position
from mcpeval_dsl.language_server.project import Project
from mcpeval_dsl.language_server.snapshot import Snapshot


def encoding(capabilities: lsp.ClientCapabilities) -> Encoding:
    """The encoding of positions: the first one the editor offers that we know, UTF-16 where it offers none."""
    chosen = ServerCapabilitiesBuilder.choose_position_encoding(capabilities)
    return cast(Encoding, chosen.value if isinstance(chosen, lsp.PositionEncodingKind) else chosen)


def position(found: lsp.Position) -> Position:
    return found.line, found.character


def range_(where: Range) -> lsp.Range:
    (line, character), (end_line, end_character) = where
    return lsp.Range(lsp.Position(line, character), lsp.Position(end_line, end_character))


def range_of(snapshot: Snapshot, start: int, end: int) -> lsp.Range:
    """The range of two offsets."""
    return range_((snapshot.position(start), snapshot.position(end)))


def diagnostic(item: Shown, project: Project, pages: str = "") -> lsp.Diagnostic:
    """`pages` is the address of a code's page, with `{code}` in it."""
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(project.uri(r.path), range_(r.range)), r.text)
        for r in item.related
    ]
    return lsp.Diagnostic(
        range_(item.range),
        item.message,
        lsp.DiagnosticSeverity(item.severity),
        item.code,
        lsp.CodeDescription(pages.replace("{code}", item.code)) if pages else None,
        "mcpe",
        [lsp.DiagnosticTag(tag) for tag in item.tags] or None,
        related or None,
    )
