"""Language server, symbols: the outline of a file, and names of the whole project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from mcpeval_dsl.language_server.features.completion import fits
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.index.project import Site, definitions
from mcpeval_dsl.language_server.index.values import inner, written
from mcpeval_dsl.language_server.parts import Body, once
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.directives import directive_for
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree

SymbolKind = Literal["namespace", "class", "function", "variable", "field", "property", "event", "array"]
MOST = 400
_KINDS: dict[str, SymbolKind] = {
    "server": "namespace",
    "task": "function",
    "harvest": "variable",
    "truth": "variable",
    "let": "variable",
    "canary": "variable",
    "table": "array",
    "turn": "event",
    "binding": "field",
    "step": "field",
}


class Symbol(NamedTuple):
    """`start..end` is the whole statement, `name_start..name_end` the name in it; offsets of the text."""

    name: str
    detail: str
    kind: SymbolKind
    start: int
    end: int
    name_start: int
    name_end: int
    children: tuple[Symbol, ...] = ()


def document_symbols(snapshot: Snapshot) -> list[Symbol]:
    """What a file defines, and the blocks in it."""
    return [_moved(s, part.start) for part in snapshot.parts for s in outline(part.body)]


@once
def outline(body: Body) -> tuple[Symbol, ...]:
    """The symbols of one part, relative to it."""
    return tuple(_statements(body.statements, "file")) if index(body).whole else ()


def _moved(symbol: Symbol, by: int) -> Symbol:
    children = tuple(_moved(child, by) for child in symbol.children)
    spans = (symbol.start + by, symbol.end + by, symbol.name_start + by, symbol.name_end + by)
    return Symbol(symbol.name, symbol.detail, symbol.kind, *spans, children)


def _statements(statements: Iterable[tree.Statement], kind: str) -> Iterable[Symbol]:
    for statement in statements:
        if isinstance(statement, tree.Directive):
            if statement.block is not None or kind == "file":
                yield _directive(statement, kind)
        elif isinstance(statement, tree.NamedBinding):
            if statement.keyword.text in _KINDS:
                yield _named(statement, kind)
        elif isinstance(statement, tree.Binding):
            inside = tuple(_statements(statement.block.statements if statement.block else (), "call"))
            detail = _short(statement.value.span.text)
            yield _symbol(statement.name.text, detail, "field", statement.span, statement.name.span, inside)


def _directive(statement: tree.Directive, kind: str) -> Symbol:
    word = statement.name.text
    entry = directive_for(word, kind)
    block = entry.block.kind if entry is not None and entry.block is not None else "when"
    inside = tuple(_statements(statement.block.statements if statement.block else (), block))
    items = statement.groups[0].items if statement.groups else ()
    first = bare(items[0]) if items else None
    title = next((i.value for i in items if isinstance(i, tree.String)), "")
    if first is not None and _names_something(entry):
        return _symbol(
            first, f"{word} {title}".strip(), _KINDS.get(word, "class"), statement.span, items[0].span, inside
        )
    head = statement.name.span.to(statement.groups[-1].span) if statement.groups else statement.name.span
    return _symbol(_short(head.text), "", _KINDS.get(word, "property"), statement.span, head, inside)


def _names_something(entry: object) -> bool:
    """Whether the directive's first operand is a name that the author chooses."""
    operands = getattr(entry, "operands", None)
    while isinstance(operands, op.Sequence) and operands.parts:
        operands = operands.parts[0]
    return isinstance(operands, op.NewName)


def _named(statement: tree.NamedBinding, kind: str) -> Symbol:
    keyword = statement.keyword.text
    inside = tuple(_statements(statement.block.statements if statement.block else (), "harvest"))
    detail = f"{keyword} {_short(statement.value.span.text)}"
    return _symbol(written(statement.name), detail, _KINDS[keyword], statement.span, inner(statement.name), inside)


def _symbol(name: str, detail: str, kind: SymbolKind, whole: Span, place: Span, inside: tuple[Symbol, ...]) -> Symbol:
    return Symbol(name or "(no name)", detail, kind, whole.start, whole.end, place.start, place.end, inside)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:59]}…"


class Named(NamedTuple):
    """A definition anywhere in the project."""

    name: str
    kind: SymbolKind
    container: str
    site: Site


def workspace_symbols(snapshots: Iterable[Snapshot], query: str) -> list[Named]:
    """Definitions whose name has the letters of the query in their order; shorter names first."""
    found = [
        Named(site.definition.name, _KINDS.get(site.definition.kind, "class"), site.snapshot.path, site)
        for snapshot in snapshots
        for key, sites in definitions(snapshot).items()
        if key[0] != "field" and fits(query, key[1])
        for site in sites[:1]
    ]
    return sorted(found, key=lambda n: (len(n.name), n.name, n.container))[:MOST]
