"""Language server, completion: names of values and their fields, functions, sources, members of an axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcpeval_dsl.language_server.features import describing
from mcpeval_dsl.language_server.features.completion import tools
from mcpeval_dsl.language_server.features.completion.model import Draft, ItemKind
from mcpeval_dsl.language_server.features.completion.place import Place
from mcpeval_dsl.language_server.index import names, shapes
from mcpeval_dsl.language_server.index import tools as known_tools
from mcpeval_dsl.language_server.index.model import Key
from mcpeval_dsl.language_server.index.names import Known
from mcpeval_dsl.language_server.index.values import SERVERS
from mcpeval_dsl.semantics.directives import directive_for
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS, TEMPLATE_FUNCTIONS
from mcpeval_dsl.semantics.directives.metrics import METRICS
from mcpeval_dsl.semantics.directives.variables import VARIABLES
from mcpeval_dsl.semantics.expressions import CONSTANTS
from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.syntax.tree import Comparison, Directive

_AXIS_KINDS = {"model": ("model",), "host": ("host",), "server": SERVERS, "arm": ("arm",), "task": ("task",)}
_LONGEST = 600


def described(known: Known) -> str:
    """A definition as it is written."""
    if known.site is None:
        return ""
    text = known.site.statement
    return describing.fenced(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…", "mcpe")


def draft(known: Known, kind: ItemKind, rank: int) -> Draft:
    detail = known.kind
    if known.site is not None and known.site.definition.title:
        detail = f"{known.kind}: {known.site.definition.title}"
    return Draft(known.name, kind, rank, detail, described(known), tools.named(known.name))


def named(place: Place, kinds: Iterable[str], kind: ItemKind, rank: int) -> Iterator[Draft]:
    """Names of things of these kinds."""
    kinds = tuple(kinds)
    for known in names.of_kinds(place.snapshot, kinds):
        yield draft(known, kind, rank)
    if "host" in kinds:
        yield Draft("loop", kind, rank, "the host that is there without being defined")


def loop_variables(place: Place) -> Iterator[Draft]:
    """The names of the loops around, and the one of a loop's line that is typed."""
    statement = place.cursor.statement
    items = statement.groups[0].items if isinstance(statement, Directive) and statement.groups else ()
    if isinstance(statement, Directive) and statement.name.text == "for" and isinstance(items[0], Comparison):
        name = bare(items[0].left)
        if name is not None:
            yield Draft(name, "variable", 12, "loop variable")
    for known in names.values(place.snapshot, place.part, place.offset):
        if known.kind == "loop variable":
            yield draft(known, "variable", 15)


def values(place: Place, *, template: bool = False) -> Iterator[Draft]:
    """All that a bare name in a value may be."""
    yield from loop_variables(place)
    for known in names.values(place.snapshot, place.part, place.offset):
        if not (known.kind == "table" and place.kind not in ("file", "for")):
            yield draft(known, "variable", 15 if known.near else 25 if known.kind == "environment" else 20)
    for variable in names.variables((place.kind,)):
        constant = variable.name in CONSTANTS
        if not (constant and template):
            yield Draft(variable.name, "variable", 45 if constant else 30, variable.doc, describing.variable(variable))
    if not template:
        yield from functions(place)
        yield from named(place, SERVERS, "server", 42)  # for a call of a tool


def functions(place: Place, *, template: bool = False, piped: bool = False) -> Iterator[Draft]:
    """Functions; in templates those that may stand there, behind `|` with their first argument left out."""
    for name, function in FUNCTIONS.items():
        if template and name not in TEMPLATE_FUNCTIONS:
            continue
        more = sum(1 for p in function.parameters if not p.optional) > 1
        text = name if piped and not more else f"{name}("
        snippet = text if piped and not more else f"{name}($0)"
        rank = 10 if piped else 40
        yield Draft(name, "function", rank, describing.call(function), describing.function(function), text, snippet)


def sources(place: Place) -> Iterator[Draft]:
    """What something can be read from."""
    yield from named(place, SERVERS, "server", 15)
    for name, function in FUNCTIONS.items():
        if function.reads:
            text = describing.function(function)
            yield Draft(name, "function", 25, describing.call(function), text, f"{name}(", f"{name}($0)")


def members(place: Place, chain: tuple[str, ...], *, template: bool = False) -> Iterator[Draft]:
    """What may stand behind a dot."""
    root = chain[0]
    owner = names.owner_of(place.snapshot, place.part, place.offset, root)
    if owner is not None:
        key: Key = owner.fields
        for step in chain[1:]:
            key = ("field", key, step)
        declared = names.fields(place.snapshot, place.part, key)
        yield from (draft(known, "field", 10) for known in declared)
        if not declared:
            schema = shapes.schema_of(place.snapshot, place.part, key)
            for name, entry in known_tools.properties(schema).items():
                yield Draft(name, "field", 12, known_tools.kind_of(entry) or "any", "", tools.named(name))
        return
    if len(chain) > 1:
        return
    if root == "port":
        yield from named(place, ("port",), "field", 10)
    for variable in VARIABLES:
        if variable.name == root:
            yield from (Draft(member, "field", 10, variable.doc) for member in variable.members)
    if not template:
        yield from tools.of_server(place.snapshot, root, called=place.slot.mode != "pattern")


def metric_parts(chain: tuple[str, ...]) -> Iterator[Draft]:
    """What may stand behind the dot of a metric: a bound, or a part."""
    root = ".".join(chain)
    if root in METRICS and METRICS[root].bounds:
        yield from (
            Draft(b, "metric", 10, f"{w} bound of its interval") for b, w in (("low", "lower"), ("high", "upper"))
        )
    for name, metric in METRICS.items():
        if name.startswith(f"{root}."):
            yield Draft(name[len(root) + 1 :], "metric", 12, metric.unit, describing.metric(metric))


def axis_members(place: Place, axis: str) -> Iterator[Draft]:
    """What an axis is compared with, or made of."""
    if axis in _AXIS_KINDS:
        yield from named(place, _AXIS_KINDS[axis], "name", 15)
    elif axis in ("tag", "cluster", "difficulty"):
        for word in names.words_used(place.snapshot, axis):
            yield Draft(word, "tag", 15, "used elsewhere", "", tools.named(word))
    elif (entry := directive_for(axis, "task")) is not None and isinstance(entry.operands, op.Word):
        yield from (Draft(word, "word", 15) for word in entry.operands.words)
