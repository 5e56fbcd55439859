"""Semantics, the table: how messages and the manual speak of operands and units."""

from __future__ import annotations

from typing import NamedTuple

from mcpeval_dsl.semantics.directives import operands as op


class UnitWords(NamedTuple):
    """`counts` after a directive's name, `is_a` for a number that has the unit, `example` to copy."""

    counts: str
    is_a: str
    example: str


UNITS: dict[op.Unit, UnitWords] = {
    "duration": UnitWords("takes a time", "a time", "10s"),
    "count": UnitWords("takes a plain number", "a plain number", "10"),
    "tokens": UnitWords("counts tokens", "a number of tokens", "40k"),
    "money": UnitWords("takes dollars", "an amount of money", "$0.05"),
    "percent": UnitWords("takes a percentage", "a percentage", "80%"),
    "size": UnitWords("takes a size", "a size", "25k"),
    "number": UnitWords("takes a number without a unit", "a plain number", "1"),
}
OF_TREE: dict[str, str] = {
    "": "a plain number",
    "time": "a time",
    "bytes": "a number of bytes",
    "count": "a plain number",
    "money": "an amount of money",
    "percent": "a percentage",
}
_FIXED: dict[type, str] = {
    op.Value: "a value",
    op.ListValue: "a list",
    op.ObjectValue: "an object `{name: value}`",
    op.RegexValue: "a regex `/…/`",
    op.Path: "a JSONPath such as `$.items[0]`",
    op.Pattern: "a call pattern",
    op.Source: "a source: a tool call, `sql(…)`, `file(…)`, `files(…)`, `command(…)`, `http(…)` or `resource(…)`",
    op.Condition: "a condition such as `count(ids) >= 1`",
    op.MetricCondition: "a condition on a metric, such as `task_success >= 80%`",
    op.Segment: "a condition on an axis, such as `model == sonnet`",
    op.Argv: "a command line in quotes",
    op.Iteration: "`name in list`",
    op.Grader: "a grader",
}
_SHORT: dict[type, str] = {
    op.Value: "VALUE",
    op.ListValue: "LIST",
    op.ObjectValue: "OBJECT",
    op.RegexValue: "REGEX",
    op.Path: "JSONPATH",
    op.Pattern: "PATTERN",
    op.Source: "SOURCE",
    op.Condition: "CONDITION",
    op.MetricCondition: "METRIC OPERATOR QUANTITY",
    op.Segment: "AXIS OPERATOR WORD",
    op.Argv: "ARGV",
    op.Iteration: "NAME in LIST",
    op.Grader: "[not] GRADER",
    op.Quoted: "TEXT",
    op.TextValue: "TEXT",
    op.Tag: "WORD",
    op.NewName: "NAME",
    op.NameOf: "NAME",
}


def listed(words: tuple[str, ...]) -> str:
    """`a`, `b` or `c`."""
    quoted = [f"`{w}`" for w in words]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]


def article(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"


def wanted(leaf: op.Leaf) -> str:
    """What the leaf takes, for the middle of a sentence."""
    if isinstance(leaf, op.Word):
        return listed(leaf.words)
    if isinstance(leaf, op.NewName):
        return f"a name for the {leaf.what}"
    if isinstance(leaf, op.NameOf):
        return "the name of " + " or ".join(article(kind) for kind in leaf.kinds)
    if isinstance(leaf, op.Tag):
        return f"{leaf.what} (a bare word)"
    if isinstance(leaf, (op.Quoted, op.TextValue)):
        return f"{leaf.what} in quotes" if leaf.what[:1] != '"' else leaf.what
    if isinstance(leaf, op.NameList):
        return "words in brackets, such as `[tag, model]`"
    if isinstance(leaf, op.Limit):
        return f"`{leaf.name} <= {UNITS[leaf.unit].example}`"
    if isinstance(leaf, (op.Quantity, op.Below)):
        unit = UNITS[leaf.unit]
        return f"{unit.is_a} such as `{unit.example}`"
    if isinstance(leaf, op.Assign):
        return f"`{leaf.kind} = value`"
    return _FIXED[type(leaf)]


def signature(operand: op.Operand) -> str:
    """The operands in the short notation of the manual."""
    if isinstance(operand, op.Word):
        return operand.words[0] if len(operand.words) == 1 else "(" + " | ".join(operand.words) + ")"
    if isinstance(operand, op.NameList):
        return "[NAME, …]"
    if isinstance(operand, op.Limit):
        return f"{operand.name} <= {operand.unit.upper()}"
    if isinstance(operand, op.Below):
        return f"<= {operand.unit.upper()}"
    if isinstance(operand, op.Quantity):
        return operand.unit.upper()
    if isinstance(operand, op.Assign):
        return "NAME = " + ("SOURCE" if operand.value == "source" else "VALUE")
    if isinstance(operand, op.Sequence):
        return " ".join(s for s in map(signature, operand.parts) if s)
    if isinstance(operand, op.Maybe):
        return f"[{signature(operand.part)}]"
    if isinstance(operand, op.Options):
        return " ".join(f"[{signature(part)}]" for part in operand.parts)
    if isinstance(operand, op.Choice):
        return "(" + " | ".join(signature(part) or "nothing" for part in operand.parts) + ")"
    if isinstance(operand, op.Commas):
        return f"{signature(operand.part)}, …"
    return _SHORT[type(operand)]
