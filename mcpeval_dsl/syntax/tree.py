"""The tree of one file, as `grammar/mcpe.lark` describes it: statements, blocks and values, a span on each node.

The tree knows no words: which directive may stand where is the business of `semantics`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.source import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Name:
    """A bare word: directive, identifier or reference root."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Glob:
    """`list_*`, `*`."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class String:
    """A text. `value` has its escapes undone and triple-quoted text dedented; templates are still inside.

    `offsets[i]` is the offset in the file of `value[i]`, with one more entry for the end, so that a span inside
    the text (of a template, say) can be pointed at.
    """

    value: str
    quote: Literal['"', '"""', 'r"', 'r"""']
    offsets: tuple[int, ...]
    span: Span

    @property
    def has_templates(self) -> bool:
        return not self.quote.startswith("r")


@dataclass(frozen=True, slots=True)
class Number:
    """`value` in base units: seconds (ms s m h d), bytes (KB MB GB), plain counts (k M), dollars, a fraction for `%`."""

    value: int | float
    unit: Literal["", "time", "bytes", "count", "money", "percent"]
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Regex:
    pattern: str
    flags: str
    span: Span


@dataclass(frozen=True, slots=True)
class JsonPath:
    """RFC 9535 text, starting with `$`."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Metric:
    """`pass^3`, `pass@5`."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class ListValue:
    items: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Pair:
    key: Name | String
    value: Value
    span: Span


@dataclass(frozen=True, slots=True)
class ObjectValue:
    pairs: tuple[Pair, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """`.name`, `."quoted name"`, `.glob_*`."""

    name: Name | String | Glob
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    """`[value]` glued to what stands before it."""

    value: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Argument:
    """`name: value`, `name OP value` (operator is the CMP text), or a positional value (name None, operator '')."""

    name: Name | String | None
    operator: str
    value: Value | Comparison
    span: Span


@dataclass(frozen=True, slots=True)
class CallSuffix:
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Ref:
    """A name with what follows it: `billing.key`, `ids[0]`, `tracker.get_issue(key: x)`, `first(a)`, `list_*`."""

    root: Name | Glob
    postfixes: tuple[Postfix, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left OP right`; `operator` in == != < <= > >= ~ !~ in has under, `not in`, `not has`, `not under`."""

    left: Value
    operator: str
    operator_span: Span
    right: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Group:
    """Words that stand side by side, between commas: `not contains x`, `calls <= 6 hard 15`."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Directive:
    """`NAME [groups] [block]`."""

    name: Name
    groups: tuple[Group, ...]
    block: Block | None
    span: Span


@dataclass(frozen=True, slots=True)
class Action:
    """`NAME postfix+ [block]`: a call as a step, `kanban.set_current_project(project_dir: d)`."""

    ref: Ref
    block: Block | None
    span: Span


@dataclass(frozen=True, slots=True)
class Bound:
    """`NAME {postfix} CMP value [block]`: `turns <= 12`, `order.qty == 2`."""

    comparison: Comparison
    block: Block | None
    span: Span


@dataclass(frozen=True, slots=True)
class Binding:
    """`NAME = value [block]`."""

    name: Name
    value: Value
    block: Block | None
    span: Span


@dataclass(frozen=True, slots=True)
class NamedBinding:
    """`NAME (NAME|STRING) = value [block]`: `harvest x = …`, `let y = …`, `header "X" = …`, `env K = …`."""

    keyword: Name
    name: Name | String
    value: Value
    block: Block | None
    span: Span


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """All statements that could be read, in order; `complete` is False for a file in which some were lost to errors."""

    file: SourceFile
    statements: tuple[Statement, ...]
    complete: bool = True


Postfix: TypeAlias = Field | Index | CallSuffix
Value: TypeAlias = String | Number | Regex | JsonPath | Metric | ListValue | ObjectValue | Ref | Glob
Item: TypeAlias = Value | Comparison
Statement: TypeAlias = Directive | Action | Bound | Binding | NamedBinding
