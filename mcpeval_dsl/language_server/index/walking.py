"""Language server, index: the statements of one part against the table of directives -> what each of its names is."""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.language_server.index.leaves import FILES, LEAVES
from mcpeval_dsl.language_server.index.model import Definition, Key, Occurrence
from mcpeval_dsl.language_server.index.scopes import Scope
from mcpeval_dsl.language_server.index.values import AXES, Values, inner, written
from mcpeval_dsl.semantics.directives import Directive, block_kind, directive_for, directives_in, directives_named
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.shape.items import Row, bare, row_of
from mcpeval_dsl.semantics.shape.matching import Matching, last_directive
from mcpeval_dsl.semantics.shape.unfolding import unfolded
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree

_LOCAL = ("harvest", "truth", "canary")
_CALLING = ("setup", "teardown", "undo", "reference")


class Walk(Values):
    """One pass over the statements of a part. `scopes` says which names are known from where to where."""

    def __init__(self) -> None:
        super().__init__()
        self.definitions: list[Definition] = []
        self.scopes: list[tuple[int, int, str, Scope]] = []

    def statements(self, statements: Iterable[tree.Statement], kind: str, scope: Scope, owner: Key | None) -> None:
        """Walk a block of `kind`; what it binds are fields of `owner`."""
        listed = tuple(unfolded(statement) for statement in statements)
        if kind == "task":
            self.declare(listed, scope)
        for statement in listed:
            if isinstance(statement, tree.Directive):
                self.directive(statement, kind, scope, owner)
            elif isinstance(statement, tree.NamedBinding):
                self.named_binding(statement, kind, scope)
            elif isinstance(statement, tree.Binding):
                self.binding(statement, kind, scope, owner)
            elif isinstance(statement, tree.Action):
                self.value(statement.ref, scope)
                self.block(statement.block, "call", scope.child(), ("local", statement.span.start))
            else:
                self.bound(statement, kind, scope)

    def declare(self, statements: tuple[tree.Statement, ...], scope: Scope) -> None:
        """Names that a task defines for itself are known in all of it."""
        for statement in statements:
            if isinstance(statement, tree.NamedBinding) and statement.keyword.text in _LOCAL:
                name = inner(statement.name)
                scope.define(written(statement.name), ("local", name.start))
            elif isinstance(statement, tree.Directive) and statement.name.text == "canary" and statement.groups:
                item = statement.groups[0].items[0]
                if (word := bare(item)) is not None:
                    scope.define(word, ("local", item.span.start))

    def block(self, block: tree.Block | None, kind: str, scope: Scope, owner: Key | None) -> None:
        if block is not None:
            self.scopes.append((block.span.start, block.span.end, kind, scope))
            self.statements(block.statements, kind, scope, owner)

    def define(
        self, key: Key, kind: str, name: str, span: Span, whole: Span, title: str = "", origin: str = ""
    ) -> None:
        self.add(span, "symbol" if key[0] != "field" else "field", name, (key,), kind, defines=True)
        self.definitions.append(
            Definition(key, kind, name, span.start, span.end, whole.start, whole.end, title, origin)
        )

    def directive(self, statement: tree.Directive, kind: str, scope: Scope, owner: Key | None) -> None:
        name = statement.name
        entry = directive_for(name.text, kind)
        row = row_of(statement.groups)
        if entry is None:
            self.add(name.span, "unknown", name.text, (), kind)
            self.loosely(row, scope)
            meant = next((e for e in directives_named(name.text) if e.block is not None), None)
            self.inside(statement, meant, scope, None)
            return
        self.add(name.span, "directive", name.text, (), kind)
        matching = Matching(row, negated=name.text == "not")
        matched = matching.match(entry.operands, 0) == len(row)
        inside = scope.child()
        opened = self.operands(statement, entry, matching, inside)
        taken = {id(item) for _, item in matching.captures}
        self.grader(row, taken, matching)
        self.loosely([item for item in row if item is not None and id(item) not in taken], scope)
        last = matching.grader or entry
        if not matched:
            last = last_directive(row, directives_in(kind)) or last
        self.inside(statement, last, inside, opened or owner)

    def inside(  # type: ignore[override]  # of a statement here, of a text there
        self, statement: tree.Directive, entry: Directive | None, scope: Scope, owner: Key | None
    ) -> None:
        """The block of a statement."""
        if statement.block is not None:
            kind = entry.block.kind if entry is not None and entry.block is not None else ""
            self.block(statement.block, kind or "when", scope, owner)
