"""Semantics, shape: what a block holds as a whole: repeated words, words that must be there or exclude each other, rows."""

from __future__ import annotations

from collections.abc import Iterator

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.directives import BlockKind, Directive
from mcpeval_dsl.semantics.directives.wording import listed
from mcpeval_dsl.semantics.shape.findings import finding
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree


class Presence:
    """Which words of a block occur, and where. `trouble` is set once a statement of the block had an error."""

    __slots__ = ("places", "trouble", "words")

    def __init__(self, words: dict[str, Directive]) -> None:
        self.words = words
        self.places: dict[str, list[Span]] = {}
        self.trouble = False

    def add(self, entry: Directive, at: Span) -> Diagnostic | None:
        """Note a statement; a diagnostic when the word may stand only once and did."""
        places = self.places.setdefault(entry.name, [])
        places.append(at)
        if len(places) > 1 and entry.repeat == "one":
            return finding(
                "MCPE212",
                at,
                f"`{entry.name}` stands twice",
                "In one block it may stand once.",
                f"Remove one of the two `{entry.name}`.",
                label=(places[0], "first here"),
            )
        return None

    def missing(self, kind: BlockKind, owner: Span) -> Iterator[tuple[Diagnostic, tuple[str, ...]]]:
        """The first of the words the block must have and has not, with what would do."""
        for requirement in kind.requires:
            names = requirement.names
            if not requirement.least or any(n in self.places for n in names):
                continue
            title = f"{kind.title} needs {listed(names[:6])}"
            entry = next((self.words[n] for n in names if n in self.words), None)
            hint = f"For example: `{entry.example}`" if entry else ""
            yield finding("MCPE224", owner, title, "", hint), names
            return

    def doubles(self, kind: BlockKind) -> Iterator[Diagnostic]:
        """Words that exclude each other."""
        for requirement in kind.requires:
            if requirement.most is None:
                continue
            present = [(self.places[n][0], n) for n in requirement.names if n in self.places]
            present.sort(key=lambda place: place[0].start)
            for at, name in present[requirement.most :]:
                first, other = present[0]
                yield finding(
                    "MCPE225",
                    at,
                    f"{kind.title} has both `{other}` and `{name}`",
                    f"It takes one of {listed(requirement.names)}.",
                    "Remove one of them.",
                    label=(first, "first here"),
                )


def columns_and_rows(statements: tuple[tree.Statement, ...]) -> Iterator[Diagnostic]:
    """Rows of a table that do not have a cell per column."""
    columns: tree.Directive | None = None
    for statement in statements:
        if not isinstance(statement, tree.Directive):
            continue
        if statement.name.text == "columns":
            columns = statement
        elif statement.name.text == "row" and columns is not None:
            cells, wanted = len(statement.groups), len(columns.groups)
            if cells != wanted:
                names = ", ".join(g.span.text for g in columns.groups)
                yield finding(
                    "MCPE223",
                    statement.span,
                    f"this row has {cells} cell{'s' if cells != 1 else ''}, the table has {wanted} columns",
                    f"The columns are {names}.",
                    "Add the missing cell." if cells < wanted else "Remove a cell, or add a column.",
                    label=(columns.name.span, "columns"),
                )
