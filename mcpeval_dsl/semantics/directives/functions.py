"""Semantics, the table: the one list of functions, for values and for templates (`{{ x | first }}` is `first(x)`)."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["any", "text", "number", "list", "object", "regex", "pattern", "server", "date", "source"]
Where = Literal["anywhere", "values", "metrics"]


class Parameter(NamedTuple):
    """`rest`: any number of further positional ones. `named`: only as `name: value`; `optional`: may be left out."""

    name: str
    kind: Kind
    optional: bool = False
    rest: bool = False
    named: bool = False


class Function(NamedTuple):
    """`where`: `values` may not stand in templates, `metrics` only in a gate. `reads`: it is a source."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Kind
    doc: str
    example: str
    where: Where = "anywhere"
    reads: bool = False

    @property
    def least(self) -> int:
        return sum(1 for p in self.parameters if not (p.optional or p.named or p.rest))

    @property
    def most(self) -> int | None:
        """Most positional arguments; None: no limit."""
        if any(p.rest for p in self.parameters):
            return None
        return sum(1 for p in self.parameters if not p.named)


def _p(name: str, kind: Kind, *, optional: bool = False, rest: bool = False, named: bool = False) -> Parameter:
    return Parameter(name, kind, optional, rest, named)


_LIST = _p("list", "list")
_TEXT = _p("text", "text")

_PLAIN: tuple[Function, ...] = (
    Function("first", (_LIST,), "any", "The first member; of an empty list nothing.", "first(ada.employer)"),
    Function("last", (_LIST,), "any", "The last member.", "last(log.shas)"),
    Function("count", (_p("of", "any"),), "number", "Number of members, or of characters.", "count(graph.people)"),
    Function("sum", (_LIST,), "number", "Sum of a list of numbers.", "sum(revenue.totals)"),
    Function("min", (_LIST,), "any", "The least member.", "min(prices.all)"),
    Function("max", (_LIST,), "any", "The greatest member.", "max(prices.all)"),
    Function("unique", (_LIST,), "list", "Without repetitions, in order of first sight.", "unique(graph.types)"),
    Function("sorted", (_LIST,), "list", "In ascending order.", "sorted(tree.files)"),
    Function("concat", (_p("lists", "list", rest=True),), "list", "Lists one after the other.", 'concat(["a"], fixes)'),
    Function("keys", (_p("object", "object"),), "list", "Names of an object's members.", "keys(facts.first)"),
    Function(
        "join", (_LIST, _p("separator", "text", optional=True)), "text", "One text; `, ` between.", 'join(facts, "; ")'
    ),
    Function(
        "lines", (_p("text", "any"),), "list", "Lines of a text, without empty ones at the end.", "lines(notes.text)"
    ),
    Function("upper", (_TEXT,), "text", "In capitals.", "upper(key)"),
    Function("lower", (_TEXT,), "text", "In small letters.", "lower(key)"),
    Function("trim", (_TEXT,), "text", "Without blanks at the ends.", "trim(name)"),
    Function(
        "number",
        (_p("of", "any"),),
        "number",
        "Read as a number, thousands separators undone.",
        "number(/Total: ([\\d.,]+)/)",
    ),
    Function("json", (_p("of", "any"),), "any", "A text read as JSON.", "json(reply.body)"),
    Function("text", (_p("of", "any"),), "text", "Written as a text.", "text(order.id)"),
    Function(
        "plus_days", (_p("date", "date"), _p("days", "number")), "date", "So many days later.", "plus_days(today, 7)"
    ),
    Function(
        "minus_days",
        (_p("date", "date"), _p("days", "number")),
        "date",
        "So many days earlier.",
        "minus_days(today, 1)",
    ),
)

_VALUES: tuple[Function, ...] = (
    Function(
        "all",
        (_p("pattern", "regex"),),
        "list",
        "Every match of a regex: its capture, or an object by number where it has several.",
        "all(/^Commit: (\\w+)/m)",
        "values",
    ),
    Function("absent", (), "any", "Matches an argument or member that is not there.", "absent()", "values"),
    Function(
        "secret",
        (_p("name", "text"),),
        "text",
        "A secret of the operator's: named here, read only when the run starts, redacted everywhere.",
        'secret("TRACKER_TOKEN")',
        "values",
    ),
    Function(
        "sql",
        (_p("query", "text"), _p("on", "text", named=True, optional=True)),
        "source",
        "Rows of a query on a database file. One row with one column is the value itself.",
        'sql("select count(*) from orders", on: db)',
        "values",
        True,
    ),
    Function(
        "file", (_p("path", "text"),), "source", "The text of a file.", 'file("{{ workdir }}/todo.md")', "values", True
    ),
    Function(
        "files",
        (_p("folder", "text"),),
        "source",
        "Path and digest of each file under a folder.",
        "files(root)",
        "values",
        True,
    ),
    Function(
        "command",
        (_p("program", "any"), _p("arguments", "any", rest=True)),
        "source",
        "Standard output of a command; `.exit` is its exit code.",
        'command("git", "-C", repo, "log", "-1")',
        "values",
        True,
    ),
    Function(
        "http",
        (
            _p("method", "text"),
            _p("url", "text"),
            _p("body", "any", named=True, optional=True),
            _p("headers", "object", named=True, optional=True),
            _p("auth", "text", named=True, optional=True),
        ),
        "source",
        "The reply of an HTTP request; `.status` is its status.",
        'http("GET", "{{ site }}/api/products/17")',
        "values",
        True,
    ),
    Function(
        "resource",
        (_p("server", "server"), _p("uri", "text", optional=True)),
        "source",
        "An MCP resource; the server may be left out where there is one.",
        'resource(sqlite, "memo://insights")',
        "values",
        True,
    ),
)

FUNCTIONS: dict[str, Function] = {f.name: f for f in (*_PLAIN, *_VALUES)}
"""Functions of values by name; those with `where == "anywhere"` are the filters and functions of templates too."""

TEMPLATE_FUNCTIONS: frozenset[str] = frozenset(f.name for f in _PLAIN)
SOURCE_FUNCTIONS: frozenset[str] = frozenset(f.name for f in _VALUES if f.reads)
