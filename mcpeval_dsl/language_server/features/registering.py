"""Language server, features: each answers its method of the protocol. Only here they meet the protocol's types."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from mcpeval_dsl.language_server.converting import position, range_of
from mcpeval_dsl.language_server.features import (
    completion,
    definition,
    folding,
    formatting,
    hover,
    links,
    references,
    rename,
    selection,
    semantic_tokens,
    signature_help,
    symbols,
)
from mcpeval_dsl.language_server.features.completion.model import Item
from mcpeval_dsl.language_server.positions import Encoding, TextLines
from mcpeval_dsl.language_server.server import Server
from mcpeval_dsl.language_server.snapshot import Snapshot

_ITEM_KINDS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "word": lsp.CompletionItemKind.EnumMember,
    "variable": lsp.CompletionItemKind.Variable,
    "field": lsp.CompletionItemKind.Field,
    "function": lsp.CompletionItemKind.Function,
    "tool": lsp.CompletionItemKind.Method,
    "argument": lsp.CompletionItemKind.Property,
    "value": lsp.CompletionItemKind.Value,
    "server": lsp.CompletionItemKind.Module,
    "name": lsp.CompletionItemKind.Class,
    "file": lsp.CompletionItemKind.File,
    "unit": lsp.CompletionItemKind.Unit,
    "metric": lsp.CompletionItemKind.Property,
    "tag": lsp.CompletionItemKind.Constant,
}
_SYMBOL_KINDS = {
    "namespace": lsp.SymbolKind.Module,
    "class": lsp.SymbolKind.Class,
    "function": lsp.SymbolKind.Function,
    "variable": lsp.SymbolKind.Variable,
    "field": lsp.SymbolKind.Field,
    "property": lsp.SymbolKind.Property,
    "event": lsp.SymbolKind.Event,
    "array": lsp.SymbolKind.Array,
}
_KEPT_ANSWERS = 32


def register(server: Server) -> None:
    """Answer every method that the features of names are for."""
    _writing(server)
    _names(server)
    _structure(server)
    _colours(server)
    _forms(server)


def _at(server: Server, params: Any) -> tuple[Snapshot, int] | None:
    """The snapshot and offset that a request is about."""
    snapshot = server.snapshot(params.text_document.uri)
    return None if snapshot is None else (snapshot, snapshot.offset(position(params.position)))


def _everything(server: Server) -> Iterator[Snapshot]:
    """Every spec of the projects that have a file open."""
    for project in server.service.projects():
        for path in project.paths():
            snapshot = project.snapshot(path)
            if snapshot is not None:
                yield snapshot


def _markdown(text: str) -> lsp.MarkupContent:
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, text)


def _takes_snippets(server: Server) -> bool:
    documents = server.client_capabilities.text_document
    items = documents.completion.completion_item if documents is not None and documents.completion is not None else None
    return bool(items is not None and items.snippet_support)


def _writing(server: Server) -> None:
    @server.answer(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=list(completion.TRIGGERS)))
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        at = _at(server, params)
        if at is None:
            return None
        found = completion.complete(*at)
        snippets = _takes_snippets(server)
        ranges: dict[tuple[int, int], lsp.Range] = {}
        for item in found:
            ranges.setdefault((item.start, item.end), range_of(at[0], item.start, item.end))
        items = [_item(item, ranges[item.start, item.end], number, snippets) for number, item in enumerate(found)]
        return lsp.CompletionList(is_incomplete=len(found) == completion.MOST, items=items)

    @server.answer(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=list(signature_help.TRIGGERS))
    )
    def signature(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        at = _at(server, params)
        found = None if at is None else signature_help.signature_help(*at)
        if found is None:
            return None
        parameters = [_parameter(found.label, p, server.service.encoding) for p in found.parameters]
        active = len(parameters) if found.active is None else found.active
        shown = lsp.SignatureInformation(found.label, _markdown(found.text) if found.text else None, parameters)
        return lsp.SignatureHelp([shown], 0, active)

    @server.answer(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        at = _at(server, params)
        found = None if at is None else hover.hover(*at)
        if at is None or found is None:
            return None
        return lsp.Hover(_markdown(found.text), range_of(at[0], found.start, found.end))


def _item(item: Item, where: lsp.Range, number: int, snippets: bool) -> lsp.CompletionItem:
    use_snippet = snippets and bool(item.snippet) and item.snippet != item.text
    return lsp.CompletionItem(
        label=item.label,
        kind=_ITEM_KINDS[item.kind],
        detail=item.detail or None,
        documentation=_markdown(item.documentation) if item.documentation else None,
        sort_text=f"{number:04}",
        filter_text=item.label,
        insert_text_format=lsp.InsertTextFormat.Snippet if use_snippet else lsp.InsertTextFormat.PlainText,
        text_edit=lsp.TextEdit(where, item.snippet if use_snippet else item.text),
    )


def _parameter(label: str, found: signature_help.Parameter, encoding: Encoding) -> lsp.ParameterInformation:
    lines = TextLines(label)
    start, end = lines.position(found.start, encoding)[1], lines.position(found.end, encoding)[1]
    return lsp.ParameterInformation((start, end), _markdown(found.text) if found.text else None)


def _location(snapshot: Snapshot, start: int, end: int) -> lsp.Location:
    return lsp.Location(snapshot.uri, range_of(snapshot, start, end))


def _names(server: Server) -> None:
    @server.answer(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> list[lsp.LocationLink] | list[lsp.Location] | None:
        at = _at(server, params)
        found = None if at is None else definition.definition(*at)
        if at is None or found is None:
            return None
        documents = server.client_capabilities.text_document
        linked = documents is not None and documents.definition is not None and documents.definition.link_support
        if not linked:
            return [_location(t.snapshot, t.start, t.end) for t in found.targets]
        origin = range_of(at[0], found.start, found.end)
        return [_link(target, origin) for target in found.targets]

    @server.answer(lsp.TEXT_DOCUMENT_REFERENCES)
    def referred(params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        at = _at(server, params)
        if at is None:
            return None
        found = references.references(*at, definitions=params.context.include_declaration)
        return [_location(place.snapshot, place.start, place.end) for place in found]

    @server.answer(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight] | None:
        at = _at(server, params)
        if at is None:
            return None
        kinds = (lsp.DocumentHighlightKind.Read, lsp.DocumentHighlightKind.Write)
        found = references.highlights(*at)
        return [lsp.DocumentHighlight(range_of(at[0], h.start, h.end), kinds[h.written]) for h in found]

    _renaming(server)


def _link(target: definition.Target, origin: lsp.Range) -> lsp.LocationLink:
    whole = range_of(target.snapshot, target.whole_start, target.whole_end)
    return lsp.LocationLink(target.snapshot.uri, whole, range_of(target.snapshot, target.start, target.end), origin)


def _renaming(server: Server) -> None:
    @server.answer(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        at = _at(server, params)
        found = None if at is None else rename.prepare(*at)
        if at is None or found is None:
            return None
        if isinstance(found, rename.Refusal):
            raise JsonRpcInvalidParams(found.reason)
        return lsp.PrepareRenamePlaceholder(range_of(at[0], found.start, found.end), found.name)

    @server.answer(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        at = _at(server, params)
        found = None if at is None else rename.rename(*at, params.new_name)
        if found is None:
            return None
        if isinstance(found, rename.Refusal):
            raise JsonRpcInvalidParams(found.reason)
        edits: dict[str, list[lsp.TextEdit]] = {}
        for change in found:
            edit = lsp.TextEdit(range_of(change.snapshot, change.start, change.end), change.text)
            edits.setdefault(change.snapshot.uri, []).append(edit)
        return lsp.WorkspaceEdit(changes=edits)


def _structure(server: Server) -> None:
    @server.answer(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol] | None:
        snapshot = server.snapshot(params.text_document.uri)
        return None if snapshot is None else [_symbol(snapshot, s) for s in symbols.document_symbols(snapshot)]

    @server.answer(lsp.WORKSPACE_SYMBOL)
    def searched(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        found = symbols.workspace_symbols(_everything(server), params.query)
        return [
            lsp.WorkspaceSymbol(
                _location(n.site.snapshot, *n.site.name_span), n.name, _SYMBOL_KINDS[n.kind], container_name=n.container
            )
            for n in found
        ]

    @server.answer(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folded(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange] | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        return [lsp.FoldingRange(f.start, f.end, kind=lsp.FoldingRangeKind(f.kind)) for f in folding.folding(snapshot)]

    @server.answer(lsp.TEXT_DOCUMENT_SELECTION_RANGE)
    def selected(params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange] | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        return [_selection(snapshot, snapshot.offset(position(where))) for where in params.positions]

    @server.answer(lsp.TEXT_DOCUMENT_DOCUMENT_LINK)
    def linked(params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink] | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        uri = snapshot.files.uri
        return [lsp.DocumentLink(range_of(snapshot, f.start, f.end), uri(f.path)) for f in links.links(snapshot)]


def _symbol(snapshot: Snapshot, found: symbols.Symbol) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        found.name,
        _SYMBOL_KINDS[found.kind],
        range_of(snapshot, found.start, found.end),
        range_of(snapshot, found.name_start, found.name_end),
        found.detail or None,
        children=[_symbol(snapshot, child) for child in found.children] or None,
    )


def _selection(snapshot: Snapshot, offset: int) -> lsp.SelectionRange:
    found: lsp.SelectionRange | None = None
    for start, end in reversed(selection.selection(snapshot, offset)):
        found = lsp.SelectionRange(range_of(snapshot, start, end), found)
    return found or lsp.SelectionRange(range_of(snapshot, offset, offset))


def _colours(server: Server) -> None:
    kept: OrderedDict[str, list[int]] = OrderedDict()  # answers by their id, for what changed since
    legend = lsp.SemanticTokensLegend(list(semantic_tokens.LEGEND), list(semantic_tokens.MODIFIERS))
    count = 0

    def keep(data: list[int]) -> str:
        nonlocal count
        count += 1
        kept[str(count)] = data
        while len(kept) > _KEPT_ANSWERS:
            kept.popitem(last=False)
        return str(count)

    @server.answer(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    def full(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        data = semantic_tokens.semantic_tokens(snapshot)
        return lsp.SemanticTokens(data, keep(data))

    @server.answer(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, legend)
    def changed(params: lsp.SemanticTokensDeltaParams) -> lsp.SemanticTokens | lsp.SemanticTokensDelta | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        data = semantic_tokens.semantic_tokens(snapshot)
        before = kept.pop(params.previous_result_id, None)
        if before is None:
            return lsp.SemanticTokens(data, keep(data))
        edits = [lsp.SemanticTokensEdit(e.start, e.delete, e.data) for e in semantic_tokens.delta(before, data)]
        return lsp.SemanticTokensDelta(edits, keep(data))

    @server.answer(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, legend)
    def ranged(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        start, end = snapshot.offset(position(params.range.start)), snapshot.offset(position(params.range.end))
        return lsp.SemanticTokens(semantic_tokens.semantic_tokens_between(snapshot, start, end))


def _forms(server: Server) -> None:
    def edits(snapshot: Snapshot, within: tuple[int, int] | None) -> list[lsp.TextEdit]:
        found = formatting.formatting(snapshot, within)
        return [lsp.TextEdit(range_of(snapshot, e.start, e.end), e.text) for e in found]

    @server.answer(lsp.TEXT_DOCUMENT_FORMATTING)
    def whole(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        snapshot = server.snapshot(params.text_document.uri)
        return None if snapshot is None else edits(snapshot, None)

    @server.answer(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    def ranged(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit] | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        start, end = snapshot.offset(position(params.range.start)), snapshot.offset(position(params.range.end))
        return edits(snapshot, (start, end))
