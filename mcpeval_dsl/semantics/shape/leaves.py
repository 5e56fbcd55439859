"""Semantics, shape: whether one item fits one leaf of the table, and how near it comes when it does not."""

from __future__ import annotations

from collections.abc import Callable

from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.shape.items import bare, has_call, is_glob, word_like
from mcpeval_dsl.syntax import tree

FITS = -1
OTHER = 0
NEAR = 1
UNIT = 2
RANGE = 3

_UNITS: dict[op.Unit, tuple[str, ...]] = {
    "duration": ("time",),
    "count": ("", "count"),
    "tokens": ("", "count"),
    "money": ("money",),
    "percent": ("percent",),
    "size": ("", "count", "bytes"),
    "number": ("",),
}
_VALUES = (
    tree.String,
    tree.Number,
    tree.Regex,
    tree.JsonPath,
    tree.ListValue,
    tree.ObjectValue,
    tree.Ref,
)


def unit_fits(unit: op.Unit, number: tree.Number) -> bool:
    return number.unit in _UNITS[unit]


def _fits(condition: bool) -> int:
    return FITS if condition else OTHER


def _word(leaf: op.Word, item: object) -> int:
    if bare(item) in leaf.words:
        return FITS
    return NEAR if isinstance(item, tree.String) and item.value in leaf.words else OTHER


def _tag(leaf: op.Tag, item: object) -> int:
    if isinstance(item, tree.String):
        return NEAR if word_like(item) else FITS
    return _fits(bare(item) is not None)


def _reference(item: object) -> bool:
    return isinstance(item, tree.Ref) and not is_glob(item)


def _pattern(leaf: op.Pattern, item: object) -> int:
    if isinstance(item, tree.String):
        return NEAR if word_like(item) else FITS
    return _fits(isinstance(item, (tree.Ref, tree.Glob)))


def _segment(leaf: op.Segment, item: object) -> int:
    if not isinstance(item, tree.Comparison):
        return OTHER
    return FITS if bare(item.left) is not None else NEAR


def number_fits(leaf: op.Quantity, item: object) -> int:
    """FITS, or UNIT for another unit, RANGE for a number out of bounds, OTHER for no number."""
    if leaf.axis and bare(item) is not None:
        return FITS
    if not isinstance(item, tree.Number):
        return OTHER
    if not unit_fits(leaf.unit, item):
        return UNIT
    value = item.value
    if (leaf.least is not None and value < leaf.least) or (leaf.most is not None and value > leaf.most):
        return RANGE
    return RANGE if leaf.whole and value != int(value) else FITS


def _limit(leaf: op.Limit, item: object) -> int:
    if not isinstance(item, tree.Comparison) or bare(item.left) != leaf.name:
        return OTHER
    if item.operator != "<=":
        return NEAR
    right = item.right
    fits = bare(right) is not None or (isinstance(right, tree.Number) and unit_fits(leaf.unit, right))
    return FITS if fits else UNIT


def _iteration(leaf: op.Iteration, item: object) -> int:
    if not isinstance(item, tree.Comparison):
        return OTHER
    proper = bare(item.left) is not None and item.operator == "in"
    return FITS if proper and isinstance(item.right, (tree.Ref, tree.ListValue)) else NEAR


def _names(leaf: op.NameList, item: object) -> int:
    if not isinstance(item, tree.ListValue):
        return OTHER
    return FITS if item.items and all(bare(i) is not None for i in item.items) else NEAR


Accept = Callable[..., int]
ACCEPT: dict[type, Accept] = {
    op.Word: _word,
    op.NewName: lambda leaf, item: _fits(bare(item) is not None),
    op.NameOf: lambda leaf, item: _fits(bare(item) is not None),
    op.Tag: _tag,
    op.Quoted: lambda leaf, item: _fits(isinstance(item, tree.String)),
    op.TextValue: lambda leaf, item: _fits(isinstance(item, tree.String) or _reference(item)),
    op.Value: lambda leaf, item: _fits(isinstance(item, _VALUES) and not is_glob(item)),
    op.ListValue: lambda leaf, item: _fits(isinstance(item, tree.ListValue) or _reference(item)),
    op.NameList: _names,
    op.ObjectValue: lambda leaf, item: _fits(isinstance(item, tree.ObjectValue) or _reference(item)),
    op.RegexValue: lambda leaf, item: _fits(
        isinstance(item, tree.Regex) or (isinstance(item, tree.String) and item.quote.startswith("r"))
    ),
    op.Path: lambda leaf, item: _fits(isinstance(item, tree.JsonPath)),
    op.Pattern: _pattern,
    op.Source: lambda leaf, item: _fits(isinstance(item, tree.Ref) and has_call(item)),
    op.Condition: lambda leaf, item: _fits(isinstance(item, tree.Comparison)),
    op.MetricCondition: lambda leaf, item: _fits(isinstance(item, tree.Comparison)),
    op.Segment: _segment,
    op.Limit: _limit,
    op.Quantity: number_fits,
    op.Iteration: _iteration,
}
"""Per kind of leaf: FITS, or the higher the nearer. Grader, Argv, Assign and Below are matched elsewhere."""
