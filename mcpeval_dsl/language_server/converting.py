"""Language server, at its edge: values of the features -> JSON of the protocol, and what its parameters mean.

JSON is made as it is sent: making it through the protocol's classes took four times as long for a thousand items.
"""

from __future__ import annotations

from typing import Any, cast

from lsprotocol import types as lsp
from pygls.capabilities import ServerCapabilitiesBuilder

from mcpeval_dsl.language_server.features.code_actions import Action
from mcpeval_dsl.language_server.features.diagnostics import Shown
from mcpeval_dsl.language_server.places import Range
from mcpeval_dsl.language_server.positions import Encoding, Position
from mcpeval_dsl.language_server.project import Project

Json = dict[str, Any]
TERMINAL = "mcpe.runInTerminal"


def encoding(capabilities: lsp.ClientCapabilities) -> Encoding:
    """The encoding of positions: the first one the editor offers that we know, UTF-16 where it offers none."""
    chosen = ServerCapabilitiesBuilder.choose_position_encoding(capabilities)
    return cast(Encoding, chosen.value if isinstance(chosen, lsp.PositionEncodingKind) else chosen)


def position(found: lsp.Position) -> Position:
    return found.line, found.character


def range_in(where: lsp.Range) -> Range:
    return position(where.start), position(where.end)


def position_out(where: Position) -> Json:
    return {"line": where[0], "character": where[1]}


def range_out(where: Range) -> Json:
    return {"start": position_out(where[0]), "end": position_out(where[1])}


def diagnostic(item: Shown, project: Project, pages: str = "") -> Json:
    """`pages` is the address of a code's page, with `{code}` in it."""
    found: Json = {
        "range": range_out(item.range),
        "severity": item.severity,
        "code": item.code,
        "source": "mcpe",
        "message": item.message,
    }
    if pages:
        found["codeDescription"] = {"href": pages.replace("{code}", item.code)}
    if item.tags:
        found["tags"] = list(item.tags)
    if item.related:
        found["relatedInformation"] = [
            {"location": {"uri": project.uri(r.path), "range": range_out(r.range)}, "message": r.text}
            for r in item.related
        ]
    return found


def action(item: Action, project: Project, pages: str, versions: bool) -> Json:
    """With `versions` the edits name the version of the text they are for, so that an editor refuses them for another."""
    edits = {
        project.uri(path): [{"range": range_out(edit.range), "newText": edit.text} for edit in found]
        for path, found in item.edits.items()
    }
    found: Json = {"title": item.title, "kind": item.kind, "edit": {"changes": edits}}
    if versions:
        opened = {each.uri: each.version for each in project.opened.values()}
        found["edit"] = {
            "documentChanges": [
                {"textDocument": {"uri": uri, "version": opened.get(uri)}, "edits": each} for uri, each in edits.items()
            ]
        }
    if item.of is not None:
        found["diagnostics"] = [diagnostic(item.of, project, pages)]
        found["isPreferred"] = item.likely
    return found


def command(title: str, project: Project, arguments: tuple[str, ...]) -> Json:
    """A command line that the editor starts in a terminal; the server itself starts nothing."""
    run = {"cwd": str(project.root), "command": ["mcpe", *arguments]}
    return {"title": title, "command": TERMINAL if arguments else "", "arguments": [run] if arguments else []}
