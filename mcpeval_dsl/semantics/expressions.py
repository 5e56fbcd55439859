"""What values, sources, conditions and call patterns become once names are bound: plain data that a plan can carry.

Each node has a `kind`, so that the same data can be written as JSON and read back. Nothing here is evaluated;
that is the business of the room `values`. `at` is the place in the spec and never part of a content key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal as Word
from typing import TypeAlias

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.source import Location

Scalar: TypeAlias = None | bool | int | float | str
CONSTANTS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
"""Bare words that are values."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, text, boolean or null in base units (seconds, bytes, dollars, fractions)."""

    value: Scalar
    unit: Word["", "time", "bytes", "count", "money", "percent"] = ""
    kind: Word["literal"] = "literal"


@dataclass(frozen=True, slots=True)
class Template:
    """A text with `{{ … }}`; `names` are the roots it refers to, `at` the place of the text."""

    text: str
    names: tuple[str, ...]
    at: Location | None = None
    kind: Word["template"] = "template"


@dataclass(frozen=True, slots=True)
class Ref:
    """A bound name with static fields and indexes: `("billing", "key")`, `("commits", "shas", -1)`."""

    path: tuple[str | int, ...]
    at: Location | None = None
    kind: Word["ref"] = "ref"


@dataclass(frozen=True, slots=True)
class Subject:
    """`$`: what the surrounding harvest, state or answer read."""

    kind: Word["subject"] = "subject"


@dataclass(frozen=True, slots=True)
class Select:
    """A JSONPath (RFC 9535) over a value; a singular path gives a value, any other a list.

    `path` may hold `{{ … }}` as a filter literal; it is rendered as a JSON literal.
    """

    path: str
    of: Expression | None = None
    names: tuple[str, ...] = ()
    at: Location | None = None
    kind: Word["select"] = "select"


@dataclass(frozen=True, slots=True)
class Capture:
    """A regular expression over a text: the first capture group of the first match (the match where there is none)."""

    pattern: str
    flags: str = ""
    every: bool = False
    of: Expression | None = None
    at: Location | None = None
    kind: Word["capture"] = "capture"


@dataclass(frozen=True, slots=True)
class Access:
    """Field or index of a computed value: `command(…).exit`, `rows[i]`."""

    of: Expression
    key: Expression
    kind: Word["access"] = "access"


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the language over arguments: `count(x)`, `first(x)`, `number(…)`, `absent()`."""

    function: str
    arguments: tuple[Expression, ...]
    at: Location | None = None
    kind: Word["apply"] = "apply"


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple[Expression, ...]
    kind: Word["list"] = "list"


@dataclass(frozen=True, slots=True)
class Entry:
    key: str
    value: Expression


@dataclass(frozen=True, slots=True)
class ObjectOf:
    entries: tuple[Entry, ...]
    kind: Word["object"] = "object"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression as a value (right of `~`)."""

    pattern: str
    flags: str = ""
    kind: Word["regex"] = "regex"


# --- sources: one notion for harvest, truth, state and view -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`server.tool(arguments)`; `server` is a server or catalogue name, `session` whose session is used."""

    server: str
    tool: str
    arguments: tuple[Entry, ...]
    at: Location | None = None
    session: Word["own", "same"] = "own"
    kind: Word["tool"] = "tool"


@dataclass(frozen=True, slots=True)
class Sql:
    query: Expression
    on: Expression
    at: Location | None = None
    kind: Word["sql"] = "sql"


@dataclass(frozen=True, slots=True)
class FileText:
    path: Expression
    at: Location | None = None
    kind: Word["file"] = "file"


@dataclass(frozen=True, slots=True)
class FileTree:
    """`files(dir)`: relative path -> digest of every file below a directory."""

    path: Expression
    at: Location | None = None
    kind: Word["files"] = "files"


@dataclass(frozen=True, slots=True)
class Command:
    """`command(argv…)`: the value is {exit, stdout, stderr}; `$` is stdout."""

    argv: tuple[Expression, ...]
    at: Location | None = None
    kind: Word["command"] = "command"


@dataclass(frozen=True, slots=True)
class Http:
    method: Expression
    url: Expression
    body: Expression | None = None
    headers: tuple[Entry, ...] = ()
    auth: Expression | None = None
    at: Location | None = None
    kind: Word["http"] = "http"


@dataclass(frozen=True, slots=True)
class Resource:
    """`resource(uri)` or `resource(server, uri)`."""

    uri: Expression
    server: str | None = None
    at: Location | None = None
    kind: Word["resource"] = "resource"


@dataclass(frozen=True, slots=True)
class Secret:
    """`secret("NAME")`: an environment variable of the operator, read only at run time and redacted."""

    name: str
    at: Location | None = None
    kind: Word["secret"] = "secret"


Source: TypeAlias = ToolCall | Sql | FileText | FileTree | Command | Http | Resource
Expression: TypeAlias = (
    Literal
    | Template
    | Ref
    | Subject
    | Select
    | Capture
    | Access
    | Apply
    | ListOf
    | ObjectOf
    | Pattern
    | ToolCall
    | Sql
    | FileText
    | FileTree
    | Command
    | Http
    | Resource
    | Secret
)

Operator: TypeAlias = Word[
    "==", "!=", "<", "<=", ">", ">=", "~", "!~", "in", "not in", "has", "not has", "under", "not under"
]


@dataclass(frozen=True, slots=True)
class Condition:
    """`left OP right`, with an optional tolerance (a fraction where `within` has the unit percent)."""

    left: Expression
    operator: Operator
    right: Expression
    within: Expression | None = None
    at: Location | None = None
    kind: Word["condition"] = "condition"


@dataclass(frozen=True, slots=True)
class Requirement:
    """`require COND [because TEXT]` of a harvest, truth, step or gate."""

    condition: Condition
    because: str = ""
    at: Location | None = None


# --- call patterns: one language for expect, grade calls, may, never, annotations, fault, inject, undo -------------


@dataclass(frozen=True, slots=True)
class ArgumentPattern:
    """One argument of a call pattern; `:` is written as `==`. `absent()` on the right means: not given."""

    name: str
    operator: Operator
    value: Expression


@dataclass(frozen=True, slots=True)
class CallPattern:
    """A tool or glob, of one catalogue or of any (`server` None), with conditions on its arguments.

    `tool_from` stands for the name where the tool is given by a value (`expect q.tool`).
    """

    tool: str
    server: str | None = None
    arguments: tuple[ArgumentPattern, ...] = ()
    tool_from: Expression | None = None
    at: Location | None = None
    kind: Word["call"] = "call"


@dataclass(frozen=True, slots=True)
class EffectPattern:
    """`readonly`, `additive`, `destructive` … inside `only(…)` and the like: calls of that effect class."""

    effect: str
    at: Location | None = None
    kind: Word["effect"] = "effect"


@dataclass(frozen=True, slots=True)
class Behaviour:
    name: Word["refusal", "question", "confirmation", "recovery"]
    at: Location | None = None
    kind: Word["behaviour"] = "behaviour"


@dataclass(frozen=True, slots=True)
class Combined:
    """`any(…)`, `ordered(…)`, `optional(…)`, `none(…)`, `only(…)`, `errors(…)`, `exactly|at_least|at_most(n, …)`."""

    combinator: Word["any", "ordered", "optional", "none", "only", "errors", "exactly", "at_least", "at_most"]
    patterns: tuple[AnyPattern, ...]
    count: int | None = None
    at: Location | None = None
    kind: Word["combined"] = "combined"


AnyPattern: TypeAlias = CallPattern | EffectPattern | Behaviour | Combined

# --- steps: what an environment, setup, teardown, reference or undo does, in order ---------------------------------


@dataclass(frozen=True, slots=True)
class CopyStep:
    source: Expression
    to: Expression | None
    at: Location | None = None
    kind: Word["copy"] = "copy"


@dataclass(frozen=True, slots=True)
class UnpackStep:
    source: Expression
    to: Expression
    at: Location | None = None
    kind: Word["unpack"] = "unpack"


@dataclass(frozen=True, slots=True)
class WriteStep:
    path: Expression
    text: Expression
    at: Location | None = None
    kind: Word["write"] = "write"


@dataclass(frozen=True, slots=True)
class RenderStep:
    source: Expression
    to: Expression
    bindings: tuple[Entry, ...] = ()
    at: Location | None = None
    kind: Word["render"] = "render"


@dataclass(frozen=True, slots=True)
class LoadStep:
    """An SQL script into a SQLite file."""

    script: Expression
    into: Expression
    at: Location | None = None
    kind: Word["load"] = "load"


@dataclass(frozen=True, slots=True)
class RunStep:
    """A command to completion; exit 0 is success. `timeout` in seconds."""

    argv: tuple[Expression, ...]
    timeout: float | None = None
    at: Location | None = None
    env: tuple[Entry, ...] = ()
    kind: Word["run"] = "run"


@dataclass(frozen=True, slots=True)
class StartStep:
    """A background process of the trial; ended with it."""

    argv: tuple[Expression, ...]
    timeout: float | None = None
    at: Location | None = None
    env: tuple[Entry, ...] = ()
    kind: Word["start"] = "start"


@dataclass(frozen=True, slots=True)
class CallStep:
    """A tool call as a step; `name` and `bindings` make its result usable (`login = kanban.new_item(…) { id = … }`)."""

    call: ToolCall
    name: str | None = None
    bindings: tuple[Entry, ...] = ()
    requires: tuple[Requirement, ...] = ()
    at: Location | None = None
    kind: Word["callstep"] = "callstep"


@dataclass(frozen=True, slots=True)
class PortStep:
    name: str
    at: Location | None = None
    kind: Word["port"] = "port"


@dataclass(frozen=True, slots=True)
class ReadyStep:
    probe: Word["http", "tcp", "exists"]
    target: Expression
    within: float
    at: Location | None = None
    kind: Word["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class ResetStep:
    source: Source
    requires: tuple[Requirement, ...] = ()
    at: Location | None = None
    kind: Word["reset"] = "reset"


@dataclass(frozen=True, slots=True)
class ForStep:
    variable: str
    over: Expression
    where: Condition | None
    limit: int | None
    steps: tuple[Step, ...]
    at: Location | None = None
    kind: Word["for"] = "for"


Step: TypeAlias = (
    CopyStep
    | UnpackStep
    | WriteStep
    | RenderStep
    | LoadStep
    | RunStep
    | StartStep
    | CallStep
    | PortStep
    | ReadyStep
    | ResetStep
    | ForStep
)
