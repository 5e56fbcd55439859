"""Semantics, shape: whether each statement of a tree is what the table of directives says.

`check` answers for a file; names, types and meaning come later and may take every operand's shape for granted.
`match` reads one statement by the table, so that a later stage need not look at the order of its items.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.directives import block_kind, directive_for
from mcpeval_dsl.semantics.shape.checking import Checker
from mcpeval_dsl.semantics.shape.earlier import Earlier
from mcpeval_dsl.semantics.shape.items import row_of
from mcpeval_dsl.semantics.shape.matching import Matched, Matching
from mcpeval_dsl.semantics.shape.unfolding import unfolded
from mcpeval_dsl.syntax.tree import Directive, Statement, SyntaxTree


def check(tree: SyntaxTree, earlier: Iterable[Diagnostic] = ()) -> tuple[Diagnostic, ...]:
    """All errors of shape in a file, at most one for each statement itself.

    Statements in which `earlier` (what the parser found) has an error already are not spoken of again.
    """
    return check_as(tree, "file", earlier)


def check_as(tree: SyntaxTree, kind: str, earlier: Iterable[Diagnostic] = ()) -> tuple[Diagnostic, ...]:
    """The same for statements that stand in a block of `kind`, such as the examples of the table."""
    checker = Checker(Earlier(tree.file, earlier), complete=tree.complete)
    checker.block(tree.statements, block_kind(kind), None)
    return checker.all_found()


def match(statement: Statement, parent: str) -> Matched | None:
    """The statement read by the table, or None when it does not fit (then `check` has said why)."""
    statement = unfolded(statement)
    if not isinstance(statement, Directive):
        return None
    entry = directive_for(statement.name.text, parent)
    if entry is None:
        return None
    matching = Matching(row_of(statement.groups), negated=entry.name == "not")
    if matching.match(entry.operands, 0) != len(matching.row):
        return None
    return Matched(entry, tuple(matching.captures), matching.grader, matching.negated)


__all__ = ["Matched", "check", "check_as", "match", "unfolded"]
