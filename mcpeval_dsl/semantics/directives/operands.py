"""Semantics, the table: the small typed language in which a directive says what may follow its word.

Leaves describe one item of a statement, the other kinds put leaves together. `label` names what was matched, so that
a later stage reads operands by label and need not know their order. Bare words are words, tags or names only where a
leaf here says so; any other bare name is a reference.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Unit = Literal["duration", "count", "tokens", "money", "percent", "size", "number"]
"""`count` and `tokens` take plain numbers, k and M; `size` also bytes; `percent` needs the sign; `number` has no unit."""


class Labelled(NamedTuple):
    """A leaf that needs nothing but a label; without one it has its kind's usual label."""

    label: str = ""


class Described(NamedTuple):
    """A leaf with `what`: the thing named, or words for messages."""

    what: str
    label: str = ""


class Word(NamedTuple):
    """One of a closed set of bare words."""

    words: tuple[str, ...]
    label: str = "word"


class NameOf(NamedTuple):
    """A bare word that names a declared thing of one of the `kinds`."""

    kinds: tuple[str, ...]
    label: str = "name"


class Limit(NamedTuple):
    """`name <= quantity`, or `name <= axis`: then the cell's value of that axis."""

    name: str
    unit: Unit
    label: str = "limit"


class Quantity(NamedTuple):
    """A number in `unit`; `least` and `most` in base units (seconds, bytes, dollars, a fraction for percent).

    `axis`: the name of an axis of the matrix may stand in its place.
    """

    unit: Unit
    label: str = "number"
    least: float | None = 0
    most: float | None = None
    whole: bool = False
    axis: bool = False


class Assign(NamedTuple):
    """`NAME = value`; `value` says what may stand right of the `=`."""

    kind: str
    value: Literal["value", "source"] = "value"
    label: str = "value"


# Leaves of one shape share one class, and all are named tuples: thirty dataclasses cost each command 9 ms.


class NewName(Described):
    """A bare word the author chooses for something; `what` is the kind of thing."""

    __slots__ = ()


class Tag(Described):
    """A bare word from an open set: a tag, a cluster, a capability; quoted when it is no identifier."""

    __slots__ = ()


class Quoted(Described):
    """A text in quotes; never a reference."""

    __slots__ = ()


class TextValue(Described):
    """A text in quotes, or a reference to one."""

    __slots__ = ()


class NameList(Described):
    """`[a, b]`: bare words in brackets."""

    __slots__ = ()


class Value(Labelled):
    """Any value: text, number, regex, JSONPath, list, object, reference or function."""

    __slots__ = ()


class ListValue(Labelled):
    """`[…]` or a reference to a list."""

    __slots__ = ()


class ObjectValue(Labelled):
    """`{name: value}`."""

    __slots__ = ()


class RegexValue(Labelled):
    """`/…/`, or `r"…"` where the pattern has slashes."""

    __slots__ = ()


class Path(Labelled):
    """A JSONPath."""

    __slots__ = ()


class Pattern(Labelled):
    """A call pattern: tool, glob, call with arguments, combinator, behaviour, effect class, or reference to a name."""

    __slots__ = ()


class Source(Labelled):
    """Something that is read: a tool call, `sql(…)`, `file(…)`, `files(…)`, `command(…)`, `http(…)`, `resource(…)`."""

    __slots__ = ()


class Condition(Labelled):
    """`value OPERATOR value`."""

    __slots__ = ()


class MetricCondition(Labelled):
    """`metric OPERATOR quantity`, the quantity in the metric's own unit."""

    __slots__ = ()


class Segment(Labelled):
    """`axis OPERATOR word`: a part of the trials. Both sides are bare words of the spec."""

    __slots__ = ()


class Argv(Labelled):
    """A command line: texts and references side by side, or one list of them."""

    __slots__ = ()


class Iteration(Labelled):
    """`name in list`."""

    __slots__ = ()


class Grader(Labelled):
    """`[not] GRADER …`: a grader's word, then that grader's own operands."""

    __slots__ = ()


class Below(NamedTuple):
    """The whole statement is `name <= quantity`."""

    unit: Unit
    label: str = "limit"


class Sequence(NamedTuple):
    parts: tuple[Operand, ...]


class Maybe(NamedTuple):
    part: Operand


class Options(NamedTuple):
    """Each part at most once, in any order."""

    parts: tuple[Operand, ...]


class Choice(NamedTuple):
    """The first part that fits."""

    parts: tuple[Operand, ...]


class Commas(NamedTuple):
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

_USUAL: dict[type, str] = {
    NewName: "name",
    Tag: "tag",
    Quoted: "names",
    Value: "list",
    ObjectValue: "object",
    RegexValue: "regex",
    Path: "path",
    Pattern: "pattern",
    Source: "source",
    Condition: "condition",
    MetricCondition: "condition",
    Segment: "segment",
    Argv: "argv",
    Iteration: "loop",
    Grader: "grader",
}

NOTHING = Sequence(())


def label_of(leaf: Leaf) -> str:
    """Under which label what the leaf matched is kept."""
    return leaf.label or _USUAL.get(type(leaf)) or ("text" if isinstance(leaf, Described) else "value")


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
