"""Syntax, step 4: a block's program -> its statements, at their place in a file. No recursion: a stack, bottom up."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax import tree
from mcpeval_dsl.syntax.numbers import number_value
from mcpeval_dsl.syntax.scanner import Token
from mcpeval_dsl.syntax.strings import string_value
from mcpeval_dsl.syntax.tables import load

Maker: TypeAlias = Callable[[list[Any], Span], Any]
_BLANKS = re.compile(r"[ \t]+")
_STATEMENTS = (tree.Directive, tree.Action, tree.Bound, tree.Binding, tree.NamedBinding)


def build(
    text: str, tokens: list[Token], program: list[int], dropped: frozenset[int], file: SourceFile, base: int
) -> tuple[tree.Statement, ...]:
    """Run `program` over `tokens`; statements that begin at an offset in `dropped` are left out."""
    rules = _rules()
    leaves = LEAVES
    values: list[Any] = []
    starts: list[int] = []
    end = base  # of the last token; what is reduced ends there, since reductions read no further
    for step in program:
        if step >= 0:
            kind, first, last, mended = tokens[step]
            end = base + last
            make_leaf = leaves.get(kind)
            if make_leaf is None:
                values.append(None)
            else:
                word = text[first:last] if mended is None else mended
                values.append(make_leaf(word, Span(file, base + first, end)))
            starts.append(base + first)
            continue
        maker, size, keep, is_statement = rules[~step]
        if size == 0:
            values.append([])
            starts.append(end)
            continue
        children = values[-size:]
        start = starts[-size]
        del values[-size:], starts[-size:]
        kept = _flat(children if keep is None else [children[i] for i in keep])
        if maker is None:
            values.append(kept)
        elif is_statement and start - base in dropped:
            values.append([])
        else:
            values.append(maker(kept, Span(file, start, end)))
        starts.append(start)
    lists = [value for value in values if isinstance(value, list)]
    return tuple(item for found in lists for item in found if isinstance(item, _STATEMENTS))


@cache
def _rules() -> list[tuple[Maker | None, int, tuple[int, ...] | None, bool]]:
    """(maker, or None for a list of the children, size, numbers of the children kept, or None for all, is a statement)"""
    return [
        (
            MAKERS.get(rule.action),
            rule.size,
            None if len(rule.keep) == rule.size else rule.keep,
            rule.origin == "statement",
        )
        for rule in load().rules
    ]


def _flat(children: list[Any]) -> list[Any]:
    """Children with the lists of repeated ones spliced in; the first list grows in place, or long ones cost a square."""
    if children and type(children[0]) is list:
        flat, children = children[0], children[1:]
    else:
        flat = []
    for child in children:
        if type(child) is list:
            flat += child
        else:
            flat.append(child)
    return flat


def _string(text: str, span: Span) -> tree.String:
    start = span.start
    value, quote, offsets = string_value(text, start)
    if offsets[-1] > span.end or span.end - span.start != len(text):
        offsets = tuple(min(offset, span.end) for offset in offsets)
    return tree.String(value, quote, offsets, span)


def _number(text: str, span: Span) -> tree.Number:
    value, unit = number_value(text)
    return tree.Number(value, unit, text, span)


def _regex(text: str, span: Span) -> tree.Regex:
    end = text.rindex("/")
    return tree.Regex(text[1:end], text[end + 1 :], span)


LEAVES: dict[str, Callable[[str, Span], Any]] = {
    "NAME": tree.Name,
    "GLOB": tree.Glob,
    "STRING": _string,
    "RAW": _string,
    "TEXT": _string,
    "NUMBER": _number,
    "REGEX": _regex,
    "JSONPATH": tree.JsonPath,
    "METRIC": tree.Metric,
    "CMP": lambda text, span: (_BLANKS.sub(" ", text), span),
}


def _block_of(children: list[Any]) -> tree.Block | None:
    return children.pop() if children and isinstance(children[-1], tree.Block) else None


def _directive(children: list[Any], span: Span) -> tree.Directive:
    block = _block_of(children)
    return tree.Directive(children[0], tuple(children[1:]), block, span)


def _action(children: list[Any], span: Span) -> tree.Action:
    block = _block_of(children)
    return tree.Action(_ref(children, children[0].span.to(children[-1].span)), block, span)


def _bound(children: list[Any], span: Span) -> tree.Bound:
    block = _block_of(children)
    *head, (operator, operator_span), right = children
    left = _ref(head, head[0].span.to(head[-1].span))
    comparison = tree.Comparison(left, operator, operator_span, right, left.span.to(right.span))
    return tree.Bound(comparison, block, span)


def _binding(children: list[Any], span: Span) -> tree.Binding:
    block = _block_of(children)
    return tree.Binding(children[0], children[1], block, span)


def _named_binding(children: list[Any], span: Span) -> tree.NamedBinding:
    block = _block_of(children)
    return tree.NamedBinding(children[0], children[1], children[2], block, span)


def _ref(children: list[Any], span: Span) -> tree.Ref:
    return tree.Ref(children[0], tuple(children[1:]), span)


def _comparison(children: list[Any], span: Span) -> tree.Comparison:
    left, (operator, operator_span), right = children
    return tree.Comparison(left, operator, operator_span, right, span)


def _named_arg(children: list[Any], span: Span) -> tree.Argument:
    operator = children[1][0] if len(children) == 3 else ":"
    return tree.Argument(children[0], operator, children[-1], span)


MAKERS: dict[str, Maker] = {
    "directive": _directive,
    "action": _action,
    "bound": _bound,
    "binding": _binding,
    "named_binding": _named_binding,
    "block": lambda children, span: tree.Block(tuple(children), span),
    "group": lambda children, span: tree.Group(tuple(children), span),
    "comparison": _comparison,
    "ref": _ref,
    "field": lambda children, span: tree.Field(children[0], span),
    "index": lambda children, span: tree.Index(children[0], span),
    "call": lambda children, span: tree.CallSuffix(tuple(children), span),
    "named_arg": _named_arg,
    "positional": lambda children, span: tree.Argument(None, "", children[0], span),
    "list": lambda children, span: tree.ListValue(tuple(children), span),
    "object": lambda children, span: tree.ObjectValue(tuple(children), span),
    "pair": lambda children, span: tree.Pair(children[0], children[1], span),
    "empty": lambda children, span: tree.ObjectValue((), span),
}
