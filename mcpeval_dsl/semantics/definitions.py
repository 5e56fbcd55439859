"""Semantics, first pass over the trees: collects what every file defines and reports names defined twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcpeval_dsl.diagnostics.model import Label
from mcpeval_dsl.semantics.directives.variables import VARIABLES
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.environments import environment_shape, ports
from mcpeval_dsl.semantics.problems import Problems
from mcpeval_dsl.semantics.symbols import (
    BLOCK_KINDS,
    VALUE_KINDS,
    Kind,
    Shape,
    Symbol,
    binding_names,
    defined_name,
    name_text,
    noun,
    word,
)
from mcpeval_dsl.syntax.tree import (
    Binding,
    Directive,
    NamedBinding,
    ObjectValue,
    Statement,
    String,
    SyntaxTree,
)

LITERALS: Mapping[str, str] = {
    "true": "the word for yes",
    "false": "the word for no",
    "null": "the word for nothing",
    "none": "the word for nothing",
}


def report_twice(problems: Problems, symbol: Symbol, first: Symbol) -> None:
    """A name that is already taken; points at the first."""
    if symbol.span is None:
        return
    labels = () if first.span is None else (Label(first.span.location(), f"`{first.name}` is first defined here"),)
    what = f"the {symbol.kind} `{symbol.name}`" if symbol.kind == first.kind else f"`{symbol.name}`"
    title = f"{what} is defined twice"
    if symbol.kind != first.kind:
        title = f"`{symbol.name}` is already {noun(first.kind)}"
    problems.report("MCPE253", symbol.span, title, "A name means one thing.", "choose another name", labels=labels)


def collect(ctx: Context, trees: Sequence[SyntaxTree], main: SyntaxTree) -> None:
    """Fill `ctx.symbols` and the outermost scope of values."""
    for tree in trees:
        for statement in tree.statements:
            _define(ctx, statement, tree is not main)
    _builtins(ctx, trees)
    _members(ctx)
    if main is not None:
        _parameters(ctx, main)


def _define(ctx: Context, statement: Statement, imported: bool) -> None:
    if isinstance(statement, NamedBinding) and statement.keyword.text in ("let", "harvest"):
        kind: Kind = "let" if statement.keyword.text == "let" else "harvest"
        name = name_text(statement.name)
        shape = _let_shape(statement) if kind == "let" else _harvest_shape(statement)
        _add(ctx, Symbol(kind, name, statement.name.span, statement, shape, name, imported))
    elif isinstance(statement, Directive):
        if statement.name.text == "for":
            for inner in statement.block.statements if statement.block else ():
                if isinstance(inner, Directive) and inner.name.text == "task" and not imported:
                    _define(ctx, inner, imported)
            return
        found = BLOCK_KINDS.get(statement.name.text)
        named = defined_name(statement)
        if found is None or named is None or (imported and found == "task"):
            return
        if found == "judge" and statement.block is None:
            return
        shape = None
        if found == "environment":
            shape = environment_shape(statement)
        elif found == "table":
            shape = Shape({})
        _add(ctx, Symbol(found, named[0], named[1], statement, shape, named[0], imported))


def _add(ctx: Context, symbol: Symbol) -> None:
    table = ctx.of(symbol.kind)
    first = table.get(symbol.name)
    if first is None and symbol.kind in VALUE_KINDS:
        first = ctx.values.names.get(symbol.name)
    if first is not None and first.statement is not symbol.statement:
        report_twice(ctx.problems, symbol, first)
        return
    if symbol.kind in VALUE_KINDS and symbol.name.lower() in LITERALS and symbol.span is not None:
        title = f"`{symbol.name}` is already {LITERALS[symbol.name.lower()]}"
        ctx.problems.report("MCPE253", symbol.span, title, "In a template it would mean that.", "choose another name")
    table[symbol.name] = symbol
    if symbol.kind in VALUE_KINDS:
        ctx.values.names[symbol.name] = symbol


def _harvest_shape(statement: NamedBinding) -> Shape | None:
    bound = binding_names(statement.block)
    return Shape(dict.fromkeys(bound)) if bound else None


def _let_shape(statement: NamedBinding) -> Shape | None:
    value = statement.value
    if isinstance(value, ObjectValue):
        return Shape({name_text(pair.key): None for pair in value.pairs})
    if isinstance(value, String):
        return Shape({})
    return None


def _builtins(ctx: Context, trees: Iterable[SyntaxTree]) -> None:
    names: dict[str, Shape | None] = {}
    for tree in trees:
        for statement in tree.statements:
            if isinstance(statement, Directive) and statement.name.text == "environment":
                names.update(dict.fromkeys(ports(statement)))
    for variable in VARIABLES:
        if not variable.blocks and variable.name not in ("true", "false", "null"):
            shape = Shape(names) if variable.name == "port" else None
            ctx.values.names.setdefault(
                variable.name, Symbol("variable", variable.name, None, None, shape, variable.name)
            )


def _members(ctx: Context) -> None:
    """Servers behind each catalogue; a catalogue without a server of that name is a symbol of its own."""
    members: dict[str, list[str]] = {}
    for name, symbol in ctx.of("server").items():
        catalogue = name
        statement = symbol.statement
        for line in _block(statement):
            if isinstance(line, Directive) and line.name.text == "catalog" and (named := defined_name(line)):
                catalogue = named[0]
                if catalogue not in ctx.of("server") and catalogue not in ctx.of("catalogue"):
                    ctx.of("catalogue")[catalogue] = Symbol("catalogue", catalogue, named[1], statement)
        members.setdefault(catalogue, []).append(name)
        members.setdefault(name, [name])
    ctx.members = {name: tuple(servers) for name, servers in members.items()}


def _block(statement: Statement | None) -> Iterator[Statement]:
    if statement is not None and statement.block is not None:
        yield from statement.block.statements


AXES = ("model", "host", "server", "arm")


def _parameters(ctx: Context, main: SyntaxTree) -> None:
    """Free axes of the matrix are values; tags, splits and the like are words for conditions over cells."""
    dimensions: dict[str, set[str]] = {
        "model": set(ctx.of("model")),
        "host": set(ctx.of("host")),
        "server": set(ctx.of("server")),
        "arm": set(ctx.of("arm")),
        "task": set(ctx.of("task")),
        "split": {"train", "heldout"},
        "purpose": {"capability", "regression"},
        "kind": set(KINDS),
        "tag": _labels(main, "tags"),
        "cluster": _labels(main, "cluster"),
        "difficulty": _labels(main, "difficulty"),
    }
    for statement in main.statements:
        if isinstance(statement, Directive) and statement.name.text == "matrix":
            for line in _block(statement):
                if isinstance(line, Binding) and line.name.text not in AXES:
                    name = line.name.text
                    ctx.values.names[name] = Symbol("matrix parameter", name, line.name.span, line, None, name)
    ctx.dimensions = {name: frozenset(words) for name, words in dimensions.items()}


KINDS = (
    "single_step",
    "multi_step",
    "ambiguous",
    "long_horizon",
    "recovery",
    "distractor",
    "safety",
    "write",
)


def _labels(tree: SyntaxTree, directive: str) -> set[str]:
    """Words of all `tags`, `cluster` or `difficulty` lines."""
    found: set[str] = set()
    pending: list[Statement] = list(tree.statements)
    while pending:
        statement = pending.pop()
        if isinstance(statement, Directive) and statement.name.text == directive:
            for group in statement.groups:
                for item in group.items:
                    text = item.value if isinstance(item, String) else word(item)
                    if text is not None:
                        found.add(text)
        elif statement.block is not None:
            pending.extend(statement.block.statements)
    return found
