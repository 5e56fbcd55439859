"""Language server, features: what they found -> JSON of the protocol, made as it is sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcpeval_dsl.language_server.features.completion.model import Item, ItemKind
from mcpeval_dsl.language_server.features.definition import Target
from mcpeval_dsl.language_server.features.folding import Fold
from mcpeval_dsl.language_server.features.hover import Hover
from mcpeval_dsl.language_server.features.rename import Change
from mcpeval_dsl.language_server.features.signature_help import Signature
from mcpeval_dsl.language_server.features.symbols import Named, Symbol, SymbolKind
from mcpeval_dsl.language_server.positions import Encoding, TextLines
from mcpeval_dsl.language_server.snapshot import Snapshot

Json = dict[str, Any]

ITEM_KINDS: dict[ItemKind, int] = {
    "keyword": 14,
    "word": 20,
    "variable": 6,
    "field": 5,
    "function": 3,
    "tool": 2,
    "argument": 10,
    "value": 12,
    "server": 9,
    "name": 7,
    "file": 17,
    "unit": 11,
    "metric": 10,
    "tag": 21,
}
"""Kinds of proposals, as the protocol numbers them."""

SYMBOL_KINDS: dict[SymbolKind, int] = {
    "namespace": 2,
    "class": 5,
    "function": 12,
    "variable": 13,
    "field": 8,
    "property": 7,
    "event": 24,
    "array": 18,
}


def markdown(text: str) -> Json:
    return {"kind": "markdown", "value": text}


def range_of(snapshot: Snapshot, start: int, end: int) -> Json:
    """The range of two offsets."""
    (line, character), (end_line, end_character) = snapshot.position(start), snapshot.position(end)
    return {"start": {"line": line, "character": character}, "end": {"line": end_line, "character": end_character}}


def location(snapshot: Snapshot, start: int, end: int) -> Json:
    return {"uri": snapshot.uri, "range": range_of(snapshot, start, end)}


def completion(snapshot: Snapshot, found: list[Item], most: int, *, snippets: bool) -> Json:
    """A list in the order of the proposals."""
    ranges = {span: range_of(snapshot, *span) for span in {(item.start, item.end) for item in found}}
    items = [_item(item, ranges[item.start, item.end], number, snippets) for number, item in enumerate(found)]
    return {"isIncomplete": len(found) >= most, "items": items}


def _item(item: Item, where: Json, number: int, snippets: bool) -> Json:
    as_snippet = snippets and bool(item.snippet) and item.snippet != item.text
    made: Json = {
        "label": item.label,
        "kind": ITEM_KINDS[item.kind],
        "sortText": f"{number:04}",
        "insertTextFormat": 2 if as_snippet else 1,
        "textEdit": {"range": where, "newText": item.snippet if as_snippet else item.text},
    }
    if item.detail:
        made["detail"] = item.detail
    if item.documentation:
        made["documentation"] = markdown(item.documentation)
    return made


def hover(snapshot: Snapshot, found: Hover) -> Json:
    return {"contents": markdown(found.text), "range": range_of(snapshot, found.start, found.end)}


def signature(found: Signature, encoding: Encoding) -> Json:
    """One signature; places in its label count in units of the encoding."""
    lines = TextLines(found.label)
    parameters: list[Json] = []
    for each in found.parameters:
        place = [lines.position(offset, encoding)[1] for offset in (each.start, each.end)]
        parameters.append({"label": place, **({"documentation": markdown(each.text)} if each.text else {})})
    shown: Json = {"label": found.label, "parameters": parameters}
    if found.text:
        shown["documentation"] = markdown(found.text)
    # behind the last one where none of them is typed: then none is marked
    active = len(parameters) if found.active is None else found.active
    return {"signatures": [shown], "activeSignature": 0, "activeParameter": active}


def link(target: Target, origin: Json) -> Json:
    """A definition for editors that show what led there."""
    return {
        "originSelectionRange": origin,
        "targetUri": target.snapshot.uri,
        "targetRange": range_of(target.snapshot, target.whole_start, target.whole_end),
        "targetSelectionRange": range_of(target.snapshot, target.start, target.end),
    }


def workspace_edit(changes: Iterable[Change], *, versions: bool) -> Json:
    """Edits by file; with `versions` each file's are for the version of its text that they were made from."""
    edits: dict[str, list[Json]] = {}
    numbers: dict[str, int | None] = {}
    for change in changes:
        edit = {"range": range_of(change.snapshot, change.start, change.end), "newText": change.text}
        edits.setdefault(change.snapshot.uri, []).append(edit)
        numbers[change.snapshot.uri] = change.snapshot.version
    if not versions:
        return {"changes": edits}
    return {
        "documentChanges": [
            {"textDocument": {"uri": uri, "version": numbers[uri]}, "edits": found} for uri, found in edits.items()
        ]
    }


def symbol(snapshot: Snapshot, found: Symbol) -> Json:
    """One entry of the outline, with what is in it."""
    made: Json = {
        "name": found.name,
        "kind": SYMBOL_KINDS[found.kind],
        "range": range_of(snapshot, found.start, found.end),
        "selectionRange": range_of(snapshot, found.name_start, found.name_end),
    }
    if found.detail:
        made["detail"] = found.detail
    if found.children:
        made["children"] = [symbol(snapshot, child) for child in found.children]
    return made


def named(found: Named) -> Json:
    return {
        "name": found.name,
        "kind": SYMBOL_KINDS[found.kind],
        "containerName": found.container,
        "location": location(found.site.snapshot, *found.site.name_span),
    }


def fold(found: Fold) -> Json:
    return {"startLine": found.start, "endLine": found.end, "kind": found.kind}


def selection(snapshot: Snapshot, spans: Iterable[tuple[int, int]]) -> Json:
    """Spans from the smallest to the largest, each within the next."""
    found: Json = {}
    for start, end in reversed(list(spans)):
        found = {"range": range_of(snapshot, start, end), **({"parent": found} if found else {})}
    return found
