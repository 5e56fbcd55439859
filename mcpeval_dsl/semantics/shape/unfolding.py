"""Semantics, shape: `results has reference` is a comparison to the grammar, three words to the table."""

from __future__ import annotations

from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.syntax import tree


def unfolded(statement: tree.Statement) -> tree.Statement:
    """`grade results has reference`, and `results has reference` within `any { }`, as words; all else as it is."""
    if isinstance(statement, tree.Bound):
        comparison = statement.comparison
        if not _is_results(comparison) or not isinstance(comparison.left, tree.Ref):
            return statement
        name = tree.Name("results", comparison.left.span)
        has, right = _words(comparison)
        return tree.Directive(
            name, (tree.Group((has, right), has.span.to(right.span)),), statement.block, statement.span
        )
    if isinstance(statement, tree.Directive) and statement.groups and statement.name.text in ("grade", "not"):
        first = statement.groups[0]
        for index, item in enumerate(first.items[:2]):
            if isinstance(item, tree.Comparison) and _is_results(item):
                items = (*first.items[:index], item.left, *_words(item), *first.items[index + 1 :])
                groups = (tree.Group(items, first.span), *statement.groups[1:])
                return tree.Directive(statement.name, groups, statement.block, statement.span)
    return statement


def _is_results(comparison: tree.Comparison) -> bool:
    return comparison.operator == "has" and bare(comparison.left) == "results"


def _words(comparison: tree.Comparison) -> tuple[tree.Ref, tree.Value]:
    place = comparison.operator_span
    return tree.Ref(tree.Name("has", place), (), place), comparison.right
