"""Language server, features: each answers its method of the protocol. Only here they meet the protocol's types."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from mcpeval_dsl.language_server.converting import position
from mcpeval_dsl.language_server.features import answers, completion, rename, semantic_tokens, signature_help
from mcpeval_dsl.language_server.features.definition import definition
from mcpeval_dsl.language_server.features.folding import folding
from mcpeval_dsl.language_server.features.formatting import formatting
from mcpeval_dsl.language_server.features.hover import hover
from mcpeval_dsl.language_server.features.links import links
from mcpeval_dsl.language_server.features.references import highlights, references
from mcpeval_dsl.language_server.features.selection import selection
from mcpeval_dsl.language_server.features.symbols import document_symbols, workspace_symbols
from mcpeval_dsl.language_server.index.project import around, too_large
from mcpeval_dsl.language_server.protocol import Ready, Refused
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.language_server.warming import Need

if TYPE_CHECKING:
    from mcpeval_dsl.language_server.server import Server

READ, WRITTEN = 2, 3  # kinds of highlights
_KEPT_ANSWERS = 32


def register(server: Server) -> None:
    """Answer every method that the features of names are for."""
    _writing(server)
    _names(server)
    _renaming(server)
    _structure(server)
    _colours(server)
    _forms(server)


def _at(server: Server, method: str, options: Any, find: Callable[[Snapshot, int, Any], Any]) -> None:
    """Answer a method that is about a place in an open file; `find` gives None where there is nothing to say."""

    @server.answer(method, options)
    def answer(params: Any) -> Any:
        def now(snapshot: Snapshot) -> Any:
            found = find(snapshot, snapshot.offset(position(params.position)), params)
            return found if found is None or isinstance(found, Refused) else Ready(found)

        return server.when_read(params.text_document.uri, "names", now, around)


def _look(server: Server, uri: str) -> None:
    """What is asked about all files waits until they were looked for."""
    project = server.service.project(uri)
    if project is not None and not project.scanned:
        project.scan()


def _of_file(
    server: Server, method: str, options: Any, find: Callable[[Snapshot, Any], Any], need: Need | None = None
) -> None:
    """Answer a method that is about a whole open file, unless it is too large to be read as a whole. `need` is what it
    looks at in all parts of it."""

    @server.answer(method, options)
    def answer(params: Any) -> Any:
        def now(snapshot: Snapshot) -> Any:
            return None if too_large(snapshot) else Ready(find(snapshot, params))

        uri = params.text_document.uri
        if need is not None:
            return server.when_read(uri, need, now, lambda snapshot: [snapshot])
        snapshot = server.snapshot(uri)
        return None if snapshot is None else now(snapshot)


def _document(server: Server) -> Any:
    """What the editor can do with texts."""
    return server.client_capabilities.text_document


def _writing(server: Server) -> None:
    def complete(snapshot: Snapshot, offset: int, params: lsp.CompletionParams) -> Any:
        known = _document(server) and _document(server).completion
        items = known and known.completion_item
        snippets = bool(items and items.snippet_support)
        return answers.completion(snapshot, completion.complete(snapshot, offset), completion.MOST, snippets=snippets)

    def signature(snapshot: Snapshot, offset: int, params: lsp.SignatureHelpParams) -> Any:
        found = signature_help.signature_help(snapshot, offset)
        return found and answers.signature(found, snapshot.encoding)

    def hovered(snapshot: Snapshot, offset: int, params: lsp.HoverParams) -> Any:
        found = hover(snapshot, offset)
        return found and answers.hover(snapshot, found)

    triggers = lsp.CompletionOptions(trigger_characters=list(completion.TRIGGERS))
    _at(server, lsp.TEXT_DOCUMENT_COMPLETION, triggers, complete)
    opening = lsp.SignatureHelpOptions(trigger_characters=list(signature_help.TRIGGERS))
    _at(server, lsp.TEXT_DOCUMENT_SIGNATURE_HELP, opening, signature)
    _at(server, lsp.TEXT_DOCUMENT_HOVER, None, hovered)


def _names(server: Server) -> None:
    def defined(snapshot: Snapshot, offset: int, params: lsp.DefinitionParams) -> Any:
        found = definition(snapshot, offset)
        if found is None:
            return None
        known = _document(server) and _document(server).definition
        if not (known and known.link_support):
            return [answers.location(t.snapshot, t.start, t.end) for t in found.targets]
        origin = answers.range_of(snapshot, found.start, found.end)
        return [answers.link(target, origin) for target in found.targets]

    def referred(snapshot: Snapshot, offset: int, params: lsp.ReferenceParams) -> Any:
        _look(server, snapshot.uri)
        found = references(snapshot, offset, definitions=params.context.include_declaration)
        return [answers.location(place.snapshot, place.start, place.end) for place in found]

    def highlighted(snapshot: Snapshot, offset: int, params: lsp.DocumentHighlightParams) -> Any:
        return [
            {"range": answers.range_of(snapshot, h.start, h.end), "kind": WRITTEN if h.written else READ}
            for h in highlights(snapshot, offset)
        ]

    _at(server, lsp.TEXT_DOCUMENT_DEFINITION, None, defined)
    _at(server, lsp.TEXT_DOCUMENT_REFERENCES, None, referred)
    _at(server, lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, None, highlighted)


def _renaming(server: Server) -> None:
    def prepared(snapshot: Snapshot, offset: int, params: lsp.PrepareRenameParams) -> Any:
        found = rename.prepare(snapshot, offset)
        if isinstance(found, rename.Refusal):
            return Refused(found.reason)
        return {"range": answers.range_of(snapshot, found.start, found.end), "placeholder": found.name}

    def renamed(snapshot: Snapshot, offset: int, params: lsp.RenameParams) -> Any:
        _look(server, snapshot.uri)
        found = rename.rename(snapshot, offset, params.new_name)
        if isinstance(found, rename.Refusal):
            return Refused(found.reason)
        return answers.workspace_edit(found, versions=server.versions)

    _at(server, lsp.TEXT_DOCUMENT_PREPARE_RENAME, None, prepared)
    _at(server, lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True), renamed)


def _everything(server: Server) -> Iterator[Snapshot]:
    """Every spec of the projects that have a file open."""
    for project in server.service.projects():
        if not project.scanned:
            project.scan()
        for path in project.paths():
            snapshot = project.snapshot(path)
            if snapshot is not None:
                yield snapshot


def _structure(server: Server) -> None:
    def outline(snapshot: Snapshot, params: lsp.DocumentSymbolParams) -> Any:
        return [answers.symbol(snapshot, found) for found in document_symbols(snapshot)]

    def selected(snapshot: Snapshot, params: lsp.SelectionRangeParams) -> Any:
        offsets = [snapshot.offset(position(where)) for where in params.positions]
        return [answers.selection(snapshot, selection(snapshot, offset)) for offset in offsets]

    def linked(snapshot: Snapshot, params: lsp.DocumentLinkParams) -> Any:
        return [
            {"range": answers.range_of(snapshot, f.start, f.end), "target": snapshot.files.uri(f.path)}
            for f in links(snapshot)
        ]

    _of_file(server, lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, None, outline, "shapes")
    _of_file(
        server, lsp.TEXT_DOCUMENT_FOLDING_RANGE, None, lambda s, _: [answers.fold(f) for f in folding(s)], "shapes"
    )
    _of_file(server, lsp.TEXT_DOCUMENT_SELECTION_RANGE, None, selected)
    _of_file(server, lsp.TEXT_DOCUMENT_DOCUMENT_LINK, None, linked, "names")

    @server.answer(lsp.WORKSPACE_SYMBOL)
    def searched(params: lsp.WorkspaceSymbolParams) -> Any:
        files = list(_everything(server))

        def now() -> Ready:
            return Ready([answers.named(found) for found in workspace_symbols(files, params.query)])

        return server.when_found(files, "names", now)


class _Answers:
    """The last answers by their number, for what changed since."""

    def __init__(self) -> None:
        self.kept: OrderedDict[str, list[int]] = OrderedDict()
        self.count = 0

    def keep(self, data: list[int]) -> str:
        self.count += 1
        self.kept[str(self.count)] = data
        while len(self.kept) > _KEPT_ANSWERS:
            self.kept.popitem(last=False)
        return str(self.count)


def _colours(server: Server) -> None:
    last = _Answers()
    legend = lsp.SemanticTokensLegend(list(semantic_tokens.LEGEND), list(semantic_tokens.MODIFIERS))

    def full(snapshot: Snapshot, params: lsp.SemanticTokensParams) -> Any:
        data = semantic_tokens.semantic_tokens(snapshot)
        return {"resultId": last.keep(data), "data": data}

    def changed(snapshot: Snapshot, params: lsp.SemanticTokensDeltaParams) -> Any:
        data = semantic_tokens.semantic_tokens(snapshot)
        before = last.kept.pop(params.previous_result_id, None)
        if before is None:
            return {"resultId": last.keep(data), "data": data}
        edits = [
            {"start": e.start, "deleteCount": e.delete, "data": e.data} for e in semantic_tokens.delta(before, data)
        ]
        return {"resultId": last.keep(data), "edits": edits}

    def ranged(snapshot: Snapshot, params: lsp.SemanticTokensRangeParams) -> Any:
        start, end = snapshot.offset(position(params.range.start)), snapshot.offset(position(params.range.end))
        return {"data": semantic_tokens.semantic_tokens_between(snapshot, start, end)}

    _of_file(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend, full, "shapes")
    _of_file(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, legend, changed, "shapes")
    _of_file(server, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, legend, ranged)


def _forms(server: Server) -> None:
    def edits(snapshot: Snapshot, within: tuple[int, int] | None) -> Any:
        found = formatting(snapshot, within)
        return [{"range": answers.range_of(snapshot, e.start, e.end), "newText": e.text} for e in found]

    def ranged(snapshot: Snapshot, params: lsp.DocumentRangeFormattingParams) -> Any:
        start, end = snapshot.offset(position(params.range.start)), snapshot.offset(position(params.range.end))
        return edits(snapshot, (start, end))

    _of_file(server, lsp.TEXT_DOCUMENT_FORMATTING, None, lambda snapshot, _: edits(snapshot, None), "form")
    _of_file(server, lsp.TEXT_DOCUMENT_RANGE_FORMATTING, None, ranged, "form")
