"""Language server, completion: what may stand as an operand, for each leaf of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mcpeval_dsl.language_server.features import describing
from mcpeval_dsl.language_server.features.completion import tools
from mcpeval_dsl.language_server.features.completion.model import Draft
from mcpeval_dsl.language_server.features.completion.place import Place
from mcpeval_dsl.language_server.features.completion.values import axis_members, loop_variables, named, sources, values
from mcpeval_dsl.language_server.index import names
from mcpeval_dsl.language_server.index.values import SERVERS
from mcpeval_dsl.semantics.directives import grader_named
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.metrics import METRICS, SEGMENTS
from mcpeval_dsl.semantics.directives.patterns import BEHAVIOURS, COMBINATORS, EFFECT_CLASSES
from mcpeval_dsl.semantics.directives.variables import ERROR_CLASSES
from mcpeval_dsl.semantics.directives.wording import UNITS, wanted
from mcpeval_dsl.syntax.tree import Directive

_TAGS = {"a tag": "tag", "a cluster": "cluster", "a level": "difficulty"}
_CAPABILITIES = ("tools", "resources", "prompts", "logging", "completions")
_UNITS: dict[op.Unit, tuple[str, ...]] = {
    "duration": ("ms", "s", "m", "h", "d"),
    "count": ("k", "M"),
    "tokens": ("k", "M"),
    "size": ("k", "KB", "MB"),
    "percent": ("%",),
    "money": (),
    "number": (),
}


def leaf(place: Place, wanted_leaf: op.Leaf) -> Iterator[Draft]:
    """Proposals for one leaf."""
    provider = _LEAVES.get(type(wanted_leaf))
    if provider is not None:
        yield from provider(place, wanted_leaf)


def _words(place: Place, entry: op.Word) -> Iterator[Draft]:
    if entry.label == "grader" and not place.negated:
        yield Draft("not", "keyword", 30, "the grader must say no")
    for word in entry.words:
        grader = grader_named(word) if entry.label == "grader" else None
        if grader is not None:
            text = describing.directive(grader, "grade_any")
            yield Draft(word, "keyword", 10, describing.usage(grader), text, word)
        else:
            yield Draft(word, "word", 12, wanted(entry) if len(entry.words) < 2 else "")


def _tags(place: Place, entry: op.Tag) -> Iterator[Draft]:
    if entry.what in _TAGS:
        for word in names.words_used(place.snapshot, _TAGS[entry.what], but=place.word):
            yield Draft(word, "tag", 15, "used elsewhere", "", tools.named(word))
    elif entry.what == "a tool":
        yield from tools.of_server(place.snapshot, "", called=False)
    elif entry.what == "a capability":
        yield from (Draft(word, "word", 15, "a capability") for word in _CAPABILITIES)
    elif entry.what == "an axis":
        yield from axes(place)


def axes(place: Place) -> Iterator[Draft]:
    """What trials are told apart by."""
    for name in SEGMENTS:
        yield Draft(name, "word", 20, "trials are told apart by it")
    for known in names.of_kinds(place.snapshot, ("value",)):
        if known.kind == "axis":
            yield Draft(known.name, "name", 18, "an axis of the matrix")


def metrics(place: Place, entry: op.Leaf | None = None) -> Iterator[Draft]:
    """Metrics of a gate, each with its bounds."""
    for name, metric in METRICS.items():
        detail = f"{metric.unit}{', with an interval' if metric.bounds else ''}"
        for number in (3, 5) if name.endswith("k") and name.startswith("pass") else (None,):
            shown = name if number is None else f"{name[:-1]}{number}"
            yield Draft(shown, "metric", 20, detail, describing.metric(metric))
            if metric.bounds and "." not in name and number is None:
                yield Draft(f"{shown}.low", "metric", 25, f"{metric.unit}, lower bound", describing.metric(metric))


def patterns(place: Place, entry: op.Leaf | None = None) -> Iterator[Draft]:
    """Call patterns: tools, servers, combinators, behaviours, effect classes."""
    yield from tools.of_server(place.snapshot, place.catalogue, called=False)
    if place.kind == "annotations":
        return
    yield from loop_variables(place)
    yield from named(place, SERVERS, "server", 40)
    for name, combinator in COMBINATORS.items():
        opening = "${1:2}, $0" if combinator.counted else "$0"
        text = f"{combinator.doc}\n\n{describing.fenced(combinator.example, 'mcpe')}"
        yield Draft(name, "function", 30, combinator.doc, text, f"{name}(", f"{name}({opening})")
    for name, behaviour in BEHAVIOURS.items():
        yield Draft(name, "word", 35, behaviour.doc)
    for name, doc in EFFECT_CLASSES.items():
        yield Draft(name, "word", 38, doc)


def _limits(place: Place, entry: op.Limit) -> Iterator[Draft]:
    example = UNITS[entry.unit].example
    yield Draft(
        entry.name, "word", 12, wanted(entry), "", f"{entry.name} <= ", f"{entry.name} <= ${{1:{_dollar(example)}}}"
    )


def _dollar(text: str) -> str:
    return text.replace("$", "\\$")


def _quantity(place: Place, entry: op.Quantity | op.Below | op.Limit) -> Iterator[Draft]:
    """The number typed so far with each unit that fits, or an example."""
    typed = place.prefix
    if typed[:1].isdigit():
        digits = typed.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%")
        for number, unit in enumerate(_UNITS[entry.unit]):
            yield Draft(f"{digits}{unit}", "unit", 10 + number, UNITS[entry.unit].is_a)
    elif not typed:
        yield Draft(UNITS[entry.unit].example, "unit", 15, UNITS[entry.unit].is_a)
    if not typed[:1].isdigit() and (isinstance(entry, op.Limit) or getattr(entry, "axis", False)):
        for known in names.of_kinds(place.snapshot, ("value",)):
            if known.kind == "axis":
                yield Draft(known.name, "name", 18, "an axis of the matrix gives it")


def _conditions(place: Place, entry: op.Condition) -> Iterator[Draft]:
    statement = place.cursor.statement
    if isinstance(statement, Directive) and statement.name.text == "latency":
        yield from (Draft(word, "word", 10, "of the time that calls took") for word in ("mean", "p50", "p95", "max"))
        return
    if entry.label == "tool":
        return  # a pattern may stand there too
    yield from values(place)
    if place.kind in ("known_failure", "task", "profile"):
        yield from axes(place)


def _sources(place: Place, entry: op.Leaf) -> Iterator[Draft]:
    yield from sources(place)
    if place.kind.startswith("grade") or place.kind in ("task", "profile", "turn", "when"):
        yield from values(place)


def compared(place: Place, leaves: tuple[op.Leaf, ...], left: Any) -> Iterator[Draft]:
    """The right side of a comparison."""
    axis = getattr(getattr(left, "root", None), "text", "")
    if place.slot.mode == "segment" or (axis in SEGMENTS and not left.postfixes):
        yield from axis_members(place, axis)
        return
    if axis == "class":
        yield from (Draft(word, "word", 10, "an error class on the wire") for word in ERROR_CLASSES)
        return
    quantities = [leaf for leaf in leaves if isinstance(leaf, op.Below) or getattr(leaf, "name", None) == axis]
    if quantities and isinstance(quantities[0], (op.Limit, op.Below)):
        yield from _quantity(place, quantities[0])
    elif place.slot.mode == "metric":
        metric = METRICS.get(left.span.text.removesuffix(".low").removesuffix(".high"))
        unit = metric.unit if metric is not None else "percent" if "pass" in left.span.text else None
        if unit is not None:
            yield from _quantity(place, op.Quantity(unit))
    else:
        yield from values(place)


_LEAVES: dict[type, Callable[[Place, Any], Iterator[Draft]]] = {
    op.Word: _words,
    op.NameOf: lambda place, entry: named(place, entry.kinds, "name", 15),
    op.Tag: _tags,
    op.TextValue: lambda place, entry: values(place),
    op.Value: lambda place, entry: values(place),
    op.ListValue: lambda place, entry: values(place),
    op.ObjectValue: lambda place, entry: values(place),
    op.Argv: lambda place, entry: values(place),
    op.Source: _sources,
    op.Condition: _conditions,
    op.MetricCondition: metrics,
    op.Segment: lambda place, entry: axes(place),
    op.NameList: lambda place, entry: axes(place),
    op.Limit: _limits,
    op.Quantity: _quantity,
    op.Below: _quantity,
    op.Pattern: patterns,
    op.Iteration: lambda place, entry: iter(()),
}
