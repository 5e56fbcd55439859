"""Semantics, the table: the small typed language in which a directive says what may follow its word.

Leaves describe one item of a statement, the other kinds put leaves together. `label` names what was matched, so that
a later stage reads operands by label and need not know their order. Bare words are words, tags or names only where a
leaf here says so; any other bare name is a reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Unit = Literal["duration", "count", "tokens", "money", "percent", "size", "number"]
"""`count` and `tokens` take plain numbers, k and M; `size` also bytes; `percent` needs the sign; `number` has no unit."""


@dataclass(frozen=True, slots=True)
class Word:
    """One of a closed set of bare words."""

    words: tuple[str, ...]
    label: str = "word"


@dataclass(frozen=True, slots=True)
class NewName:
    """A bare word the author chooses for something of `kind`."""

    kind: str
    label: str = "name"


@dataclass(frozen=True, slots=True)
class NameOf:
    """A bare word that names a declared thing of one of the `kinds`."""

    kinds: tuple[str, ...]
    label: str = "name"


@dataclass(frozen=True, slots=True)
class Tag:
    """A bare word from an open set: a tag, a cluster, a capability; quoted when it is no identifier."""

    what: str
    label: str = "tag"


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text in quotes; never a reference."""

    what: str
    label: str = "text"


@dataclass(frozen=True, slots=True)
class TextValue:
    """A text in quotes, or a reference to one."""

    what: str
    label: str = "text"


@dataclass(frozen=True, slots=True)
class Value:
    """Any value: text, number, regex, JSONPath, list, object, reference or function."""

    label: str = "value"


@dataclass(frozen=True, slots=True)
class ListValue:
    """`[…]` or a reference to a list."""

    label: str = "list"


@dataclass(frozen=True, slots=True)
class NameList:
    """`[a, b]`: bare words in brackets."""

    what: str
    label: str = "names"


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """`{name: value}`."""

    label: str = "object"


@dataclass(frozen=True, slots=True)
class RegexValue:
    """`/…/`, or `r"…"` where the pattern has slashes."""

    label: str = "regex"


@dataclass(frozen=True, slots=True)
class Path:
    """A JSONPath."""

    label: str = "path"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A call pattern: tool, glob, call with arguments, combinator, behaviour, effect class, or reference to a tool name."""

    label: str = "pattern"


@dataclass(frozen=True, slots=True)
class Source:
    """Something that is read: a tool call, `sql(…)`, `file(…)`, `files(…)`, `command(…)`, `http(…)`, `resource(…)`."""

    label: str = "source"


@dataclass(frozen=True, slots=True)
class Condition:
    """`value OPERATOR value`."""

    label: str = "condition"


@dataclass(frozen=True, slots=True)
class MetricCondition:
    """`metric OPERATOR quantity`, the quantity in the metric's own unit."""

    label: str = "condition"


@dataclass(frozen=True, slots=True)
class Segment:
    """`axis OPERATOR word`: a part of the trials. Both sides are bare words of the spec."""

    label: str = "segment"


@dataclass(frozen=True, slots=True)
class Limit:
    """`name <= quantity`."""

    name: str
    unit: Unit
    label: str = "limit"


@dataclass(frozen=True, slots=True)
class Below:
    """The whole statement is `name <= quantity`."""

    unit: Unit
    label: str = "limit"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in `unit`; `least` and `most` in base units (seconds, bytes, dollars, a fraction for percent)."""

    unit: Unit
    label: str = "number"
    least: float | None = 0
    most: float | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Argv:
    """A command line: texts and references side by side, or one list of them."""

    label: str = "argv"


@dataclass(frozen=True, slots=True)
class Iteration:
    """`name in list`."""

    label: str = "loop"


@dataclass(frozen=True, slots=True)
class Grader:
    """`[not] GRADER …`: a grader's word, then that grader's own operands."""

    label: str = "grader"


@dataclass(frozen=True, slots=True)
class Assign:
    """`NAME = value`; `value` says what may stand right of the `=`."""

    kind: str
    value: Literal["value", "source"] = "value"
    label: str = "value"


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    part: Operand


@dataclass(frozen=True, slots=True)
class Options:
    """Each part at most once, in any order."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first part that fits."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Commas:
    """One or more of `part` with commas between."""

    part: Operand


Leaf: TypeAlias = (
    Word
    | NewName
    | NameOf
    | Tag
    | Quoted
    | TextValue
    | Value
    | ListValue
    | NameList
    | ObjectValue
    | RegexValue
    | Path
    | Pattern
    | Source
    | Condition
    | MetricCondition
    | Segment
    | Limit
    | Below
    | Quantity
    | Argv
    | Iteration
    | Grader
    | Assign
)
Operand: TypeAlias = Leaf | Sequence | Maybe | Options | Choice | Commas

NOTHING = Sequence(())


def word(*words: str, label: str = "word") -> Word:
    return Word(words, label)


def seq(*parts: Operand) -> Sequence:
    return Sequence(parts)


def either(*parts: Operand) -> Choice:
    return Choice(parts)


def options(*parts: Operand) -> Options:
    return Options(parts)


def file_of(what: str, label: str = "file") -> Sequence:
    """`file "path"`."""
    return Sequence((Word(("file",), "file_word"), Quoted(what, label)))


def text(what: str) -> Choice:
    """A longer text: in quotes, from a file, or by reference."""
    return Choice((file_of("the path of a file"), TextValue(what)))


def quantity(unit: Unit, label: str = "number", *, least: float | None = 0, whole: bool = False) -> Quantity:
    return Quantity(unit, label, least, 1 if unit == "percent" else None, whole)


WEIGHT = Sequence((Word(("weight",), "weight_word"), Quantity("number", "weight")))
BECAUSE = Sequence((Word(("because",), "because_word"), Quoted("the reason", "because")))
WITHIN = Sequence((Word(("within",), "within_word"), Value("within")))
