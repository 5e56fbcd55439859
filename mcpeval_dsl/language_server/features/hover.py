"""Language server, hover: what stands at an offset, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mcpeval_dsl.diagnostics import registry
from mcpeval_dsl.language_server.features import describing
from mcpeval_dsl.language_server.index import names, shapes, tools
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.index.project import Found, Site, find
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.directives import directive_for, directives_named, grader_named
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS
from mcpeval_dsl.semantics.directives.metrics import METRICS
from mcpeval_dsl.semantics.directives.patterns import BEHAVIOURS, COMBINATORS, EFFECT_CLASSES
from mcpeval_dsl.semantics.directives.variables import VARIABLES
from mcpeval_dsl.syntax.numbers import number_value
from mcpeval_dsl.syntax.scanner import Token

_CODE = re.compile(r"\bMCPE\d{3}\b")
_LONGEST = 800


class Hover(NamedTuple):
    """`text` is Markdown about `start..end`."""

    start: int
    end: int
    text: str


def hover(snapshot: Snapshot, offset: int) -> Hover | None:
    """What is known of the word, number or code at an offset."""
    found = find(snapshot, offset)
    if found is not None:
        describe = _ROLES.get(found.occurrence.role)
        text = "" if describe is None else describe(found)
        return Hover(found.start, found.end, text) if text else None
    part = snapshot.part_at(offset)
    for token in part.body.tokens:
        if token.start > offset - part.start:
            return None
        if token.kind in ("NUMBER", "COMMENT") and token.end >= offset - part.start:
            return _token(part.body.text, token, part.start, offset)
    return None


def _token(text: str, token: Token, base: int, offset: int) -> Hover | None:
    if token.kind == "NUMBER":
        written = text[token.start : token.end]
        try:
            shown = number(written)
        except ValueError:
            return None
        return Hover(base + token.start, base + token.end, shown)
    for code in _CODE.finditer(text, token.start, token.end):
        if base + code.start() <= offset <= base + code.end():
            info = registry.info(code.group())
            if info is not None:
                body = f"**{info.code}** {info.title}\n\n{info.explanation}"
                return Hover(base + code.start(), base + code.end(), body)
    return None


def number(written: str) -> str:
    """A number in words: what `20k` is. Raises ValueError for what is none."""
    value, unit = number_value(written)
    plain = f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
    shown = {
        "": plain,
        "count": plain,
        "time": _time(value),
        "bytes": f"{plain} bytes",
        "money": f"{plain} US dollars",
        "percent": f"a share of {plain}",
    }[unit]
    return f"`{written}` is {shown}."


def _time(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size and seconds % size == 0:
            return f"{seconds:,.12g} seconds ({seconds / size:,.12g} {name})"
    return f"{seconds:,.12g} seconds"


def _directive(found: Found) -> str:
    occurrence = found.occurrence
    entry = directive_for(occurrence.name, occurrence.detail)
    return "" if entry is None else describing.directive(entry, occurrence.detail)


def _unknown(found: Found) -> str:
    """A word that does not stand where it may: where it may stand."""
    entries = directives_named(found.occurrence.name)
    if not entries:
        return ""
    where = ", ".join(sorted({f"`{parent}`" for entry in entries for parent in entry.parents}))
    return f"`{found.occurrence.name}` is a word of these blocks: {where}."


def _grader(found: Found) -> str:
    entry = grader_named(found.occurrence.name)
    return "" if entry is None else describing.directive(entry, "grade_any")


def _word(found: Found) -> str:
    entries = directives_named(found.occurrence.detail)
    if not entries:
        return ""
    default = f" Default: {entries[0].default}." if entries[0].default else ""
    return f"{describing.fenced(describing.usage(entries[0]), 'mcpe')}\n\n{entries[0].doc}{default}"


def _symbol(found: Found) -> str:
    if not found.sites:
        for variable in VARIABLES:
            if variable.name == found.occurrence.name and ("variable", variable.name) in found.occurrence.keys:
                return describing.variable(variable)
        return ""
    site = found.sites[0]
    definition = site.definition
    title = f": {describing.code(definition.title)}" if definition.title else ""
    where = "" if site.snapshot is found.snapshot else f" (in `{site.snapshot.path}`)"
    head = f"The {definition.kind} `{definition.name}`{title}{where}"
    if definition.kind in ("harvest", "truth"):
        when = "before the trials that need it" if definition.kind == "harvest" else "after the trial"
        head += f", read {when}"
    parts = [f"{head}.", describing.fenced(_shortened(site.statement), "mcpe")]
    if definition.kind == "server" and (known := tools.tools(found.snapshot, definition.name)):
        parts.append(f"{len(known)} tools, as locked: {', '.join(describing.code(name) for name in list(known)[:40])}.")
    return "\n\n".join(parts)


def _field(found: Found) -> str:
    """Where a field's value comes from: which call, and what of its result."""
    if found.key is None:
        return ""
    if not found.sites:
        schema = shapes.schema_of(found.snapshot, found.part, found.key)
        kind = tools.kind_of(schema)
        shown = f", of type {describing.code(kind)}" if kind else ""
        return (
            ""
            if schema is None
            else f"`{found.occurrence.name}`: a member of the result{shown} by the tool's output schema."
        )
    site = found.sites[0]
    definition = site.definition
    parts = [f"The {definition.kind} `{definition.name}`{_of(found)}: {describing.code(definition.origin or '…')}"]
    owner = _owner(found)
    if owner is not None and owner.definition.origin:
        parts.append(f"from {describing.code(owner.definition.origin)}")
        kind = tools.kind_of(shapes.schema_of(found.snapshot, site.part, found.key))
        if kind:
            parts.append(f"of type {describing.code(kind)} by the tool's output schema")
    return ", ".join(parts) + "."


def _owner(found: Found) -> Site | None:
    """The definition that has the field."""
    assert found.key is not None
    owner = found.key[1] if found.key[0] == "field" else None
    site = found.sites[0]
    known = index(site.part.body).definitions
    return next((Site(site.snapshot, site.part, d) for d in known if d.key == owner), None)


def _of(found: Found) -> str:
    owner = _owner(found)
    return f" of the {owner.definition.kind} `{owner.definition.name}`" if owner is not None else ""


def _tool(found: Found) -> str:
    known = tools.tool(found.snapshot, found.occurrence.detail, found.occurrence.name)
    if known is None:
        return f"Tool {describing.code(found.occurrence.name)}. No lock knows it: `mcpe lock` asks the server."
    return describing.tool(*known)


def _argument(found: Found) -> str:
    server, _, tool = found.occurrence.detail.partition(".")
    known = tools.tool(found.snapshot, server, tool)
    schema = tools.properties(known[1].input_schema).get(found.occurrence.name) if known is not None else None
    if known is None or schema is None:
        return ""
    needed = found.occurrence.name in tools.required(known[1].input_schema)
    return describing.argument(known[0], tool, found.occurrence.name, schema, needed)


def _function(found: Found) -> str:
    entry = FUNCTIONS.get(found.occurrence.name)
    return "" if entry is None else describing.function(entry)


def _parameter(found: Found) -> str:
    entry = FUNCTIONS.get(found.occurrence.detail)
    return "" if entry is None else describing.function(entry)


def _metric(found: Found) -> str:
    name = re.sub(r"(?<=pass[\^@])\d+", "k", found.occurrence.name)
    for bound in ("", ".low", ".high"):
        entry = METRICS.get(name.removesuffix(bound))
        if entry is not None and name.endswith(bound):
            which = {"": "", ".low": " Here: the lower bound.", ".high": " Here: the upper bound."}[bound]
            return describing.metric(entry) + which
    return ""


def _combinator(found: Found) -> str:
    entry = COMBINATORS.get(found.occurrence.name)
    return "" if entry is None else f"{entry.doc}\n\n{describing.fenced(entry.example, 'mcpe')}"


def _behaviour(found: Found) -> str:
    entry = BEHAVIOURS.get(found.occurrence.name)
    return "" if entry is None else entry.doc


def _effect(found: Found) -> str:
    return EFFECT_CLASSES.get(found.occurrence.name, "")


def _tag(found: Found) -> str:
    assert found.key is not None
    space, name = found.key[0], found.key[1]
    count = names.uses(found.snapshot, found.key)
    return f"The {space} {describing.code(name)}: stands in {count} place{'s' if count != 1 else ''}."


def _axis(found: Found) -> str:
    return f"`{found.occurrence.name}`: an axis, by which trials are told apart."


def _path(found: Found) -> str:
    return f"A file of the project, named relative to `{found.snapshot.path}`."


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_ROLES: dict[str, Callable[[Found], str]] = {
    "directive": _directive,
    "unknown": _unknown,
    "grader": _grader,
    "word": _word,
    "symbol": _symbol,
    "field": _field,
    "tool": _tool,
    "argument": _argument,
    "function": _function,
    "parameter": _parameter,
    "metric": _metric,
    "combinator": _combinator,
    "behaviour": _behaviour,
    "effect": _effect,
    "tag": _tag,
    "axis": _axis,
    "path": _path,
}
