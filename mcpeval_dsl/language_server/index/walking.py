"""Language server, index: the statements of one part against the table of directives -> what each of its names is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcpeval_dsl.language_server.index.model import Definition, Key
from mcpeval_dsl.language_server.index.scopes import Scope
from mcpeval_dsl.language_server.index.values import AXES, SERVERS, Values, inner, name_keys, written
from mcpeval_dsl.semantics.directives import Directive, block_kind, directive_for, directives_in
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.shape.items import bare, row_of
from mcpeval_dsl.semantics.shape.matching import Matching, last_directive
from mcpeval_dsl.semantics.shape.strays import unknown_word
from mcpeval_dsl.semantics.shape.unfolding import unfolded
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree

_LOCAL = ("harvest", "truth", "canary")
_FIELDS_OF_OWNER = ("environment", "harvest", "truth", "call", "table")
_TAGS = {"a tag": "tag", "a cluster": "cluster", "a level": "difficulty"}
PATHS = ("the path of", "a path in the project", "an archive", "a template file", "an SQL script")


class Walk(Values):
    """One pass over the statements of a part. `blocks` are (start, end, kind, names known in it), outer ones first."""

    def __init__(self) -> None:
        super().__init__()
        self.definitions: list[Definition] = []
        self.blocks: list[tuple[int, int, str, Scope]] = []
        self.catalogue = ""

    def statements(self, statements: Iterable[tree.Statement], kind: str, scope: Scope, owner: Key | None) -> None:
        """Walk a block of `kind`; what it binds are fields of `owner`."""
        listed = tuple(unfolded(statement) for statement in statements)
        if kind == "task":
            _declare(listed, scope)
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

    def block(self, block: tree.Block | None, kind: str, scope: Scope, owner: Key | None) -> None:
        if block is not None:
            span = block.span
            closed = span.file.text[span.end - 1 : span.end] == "}"
            self.blocks.append((span.start, span.end if closed else len(span.file.text), kind, scope))
            self.statements(block.statements, kind, scope, owner)

    def define(
        self, key: Key, kind: str, name: str, span: Span, whole: Span, title: str = "", origin: str = ""
    ) -> None:
        self.add(span, "field" if key[0] == "field" else "symbol", name, (key,), kind, defines=True)
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
            _, meant = unknown_word(name, block_kind(kind), directives_in(kind))
            self.own_block(statement, meant, scope.child(), None)
            return
        self.add(name.span, "directive", name.text, (), kind)
        matching = Matching(row, negated=name.text == "not")
        matched = matching.match(entry.operands, 0) == len(row)
        inside = scope.child()
        opened = Operands(self, statement, entry, kind, inside, owner).read(matching.captures)
        self.loosely(self.unread(row, matching), scope)
        if inside.names:  # of a loop: known in its own line too
            self.blocks.append((name.span.end, statement.span.end, kind, inside))
        last = matching.grader or entry
        if not matched:
            last = last_directive(row, directives_in(kind)) or last
        outer, self.catalogue = self.catalogue, _catalogue(statement) if name.text == "annotations" else self.catalogue
        self.own_block(statement, last, inside, opened or (owner if entry.block is None else None))
        self.catalogue = outer

    def unread(self, row: Sequence[tree.Item | None], matching: Matching) -> list[tree.Item]:
        """Items that no operand of the directive took, but for a grader's own word."""
        taken = {id(item) for _, item in matching.captures}
        left = [item for item in row if item is not None and id(item) not in taken]
        grader = matching.grader
        if matching.negated and left and bare(left[0]) == "not":
            self.add(left.pop(0).span, "word", "not", (), "grade")
        if grader is not None and left and bare(left[0]) == grader.name:
            self.add(left.pop(0).span, "grader", grader.name, (), "grade_any")
        return left

    def own_block(self, statement: tree.Directive, entry: Directive | None, scope: Scope, owner: Key | None) -> None:
        if statement.block is not None:
            kind = entry.block.kind if entry is not None and entry.block is not None else "when"
            self.block(statement.block, kind, scope, owner)

    def loosely(self, items: Iterable[tree.Item | None], scope: Scope) -> None:
        """Names in items that the table does not explain."""
        for item in items:
            if item is not None:
                self.value(item, scope)

    def named_binding(self, statement: tree.NamedBinding, kind: str, scope: Scope) -> None:
        keyword = statement.keyword
        entry = directive_for(keyword.text, kind)
        self.add(keyword.span, "unknown" if entry is None else "directive", keyword.text, (), kind)
        self.value(statement.value, scope)
        name, place = written(statement.name), inner(statement.name)
        key: Key | None = None
        if keyword.text in ("let", *_LOCAL):
            key = ("local", place.start) if kind == "task" else ("value", name)
            origin = statement.value.span.text
            self.define(key, keyword.text, name, place, statement.span, "", origin)
            if isinstance(statement.value, tree.ObjectValue) and keyword.text == "let":
                self.members(statement.value, key)
        else:
            self.add(place, "header", name, (), keyword.text)
        if statement.block is not None:
            block = entry.block.kind if entry is not None and entry.block is not None else "harvest"
            self.block(statement.block, block, scope.child(), key)

    def members(self, value: tree.ObjectValue, key: Key) -> None:
        """`let facts = {a: 1}`: what it holds are fields."""
        for pair in value.pairs:
            self.define(("field", key, written(pair.key)), "let", written(pair.key), inner(pair.key), pair.span)

    def binding(self, statement: tree.Binding, kind: str, scope: Scope, owner: Key | None) -> None:
        name = statement.name.text
        if kind == "matrix":
            self.axis(statement, scope)
            return
        self.value(statement.value, scope)
        key: Key = ("local", statement.name.span.start)
        if owner is not None and kind in _FIELDS_OF_OWNER:
            key = ("field", owner, name)
        what = "binding" if kind in ("harvest", "truth", "call", "render") else "step"
        self.define(key, what, name, statement.name.span, statement.span, "", statement.value.span.text)
        scope.define(name, key)
        self.block(statement.block, "call", scope.child(), key)

    def axis(self, statement: tree.Binding, scope: Scope) -> None:
        """`model = [a, b]` of a matrix."""
        name = statement.name.text
        if name in AXES:
            self.add(statement.name.span, "axis", name, (("axis", name),))
        else:
            self.define(("value", name), "axis", name, statement.name.span, statement.span)
        value = statement.value
        for item in value.items if isinstance(value, tree.ListValue) else (value,):
            self.member(name, item, scope)

    def bound(self, statement: tree.Bound, kind: str, scope: Scope) -> None:
        """`turns <= 12`."""
        name = bare(statement.comparison.left)
        if name is not None and directive_for(name, kind) is not None:
            self.add(statement.comparison.left.span, "directive", name, (), kind)
            self.value(statement.comparison.right, scope)
        else:
            self.value(statement.comparison, scope)
        self.block(statement.block, "when", scope.child(), None)


class Operands:
    """Reads what the operands of one directive took."""

    def __init__(
        self, walk: Walk, statement: tree.Directive, entry: Directive, kind: str, scope: Scope, owner: Key | None
    ) -> None:
        self.walk = walk
        self.statement = statement
        self.entry = entry
        self.kind = kind
        self.scope = scope
        self.owner = owner
        self.opened: Key | None = None

    def read(self, captures: Iterable[tuple[op.Leaf, tree.Item]]) -> Key | None:
        """Gives the key of what the statement defines, if it defines something."""
        walk, scope = self.walk, self.scope
        for leaf, item in captures:
            if isinstance(leaf, op.Word):
                walk.add(item.span, "word", bare(item) or "", (), self.entry.name)
            elif isinstance(leaf, op.NewName):
                self.new_name(leaf, item)
            elif isinstance(leaf, op.NameOf):
                name = bare(item) or ""
                walk.add(item.span, "symbol", name, name_keys(leaf.kinds, name))
            elif isinstance(leaf, op.Tag):
                self.tag(leaf, item)
            elif isinstance(leaf, op.Pattern):
                walk.pattern(item, scope, walk.catalogue)
            elif isinstance(leaf, op.MetricCondition) and isinstance(item, tree.Comparison):
                walk.metric(item, scope)
            elif isinstance(leaf, op.Segment) and isinstance(item, tree.Comparison):
                walk.segment(item, scope)
            elif isinstance(leaf, (op.Limit, op.Below)) and isinstance(item, tree.Comparison):
                walk.add(item.left.span, "word", bare(item.left) or "", (), self.entry.name)
                walk.value(item.right, scope)
            else:
                self.rest(leaf, item)
        return self.opened

    def rest(self, leaf: op.Leaf, item: tree.Item) -> None:
        walk, scope = self.walk, self.scope
        if isinstance(leaf, op.Iteration) and isinstance(item, tree.Comparison):
            self.loop(item)
        elif isinstance(leaf, op.Condition) and isinstance(item, tree.Comparison) and leaf.label == "tool":
            walk.pattern(item.left, scope, walk.catalogue)
            walk.value(item.right, scope)
        elif isinstance(leaf, op.Condition) and isinstance(item, tree.Comparison) and self.entry.name == "latency":
            walk.add(item.left.span, "word", bare(item.left) or "", (), self.entry.name)
            walk.value(item.right, scope)
        elif isinstance(leaf, op.NameList) and isinstance(item, tree.ListValue):
            for member in item.items:
                walk.add(member.span, "axis", bare(member) or "", (("axis", bare(member) or ""),))
        elif (
            isinstance(leaf, (op.Quoted, op.TextValue)) and isinstance(item, tree.String) and _is_path(self, leaf, item)
        ):
            walk.add(inner(item), "path", item.value, (), self.entry.name)
        else:
            walk.value(item, scope)

    def new_name(self, leaf: op.NewName, item: tree.Item) -> None:
        walk, name = self.walk, bare(item) or ""
        whole, what = self.statement.span, leaf.what
        if what == "catalogue":
            keys = (*name_keys(SERVERS, name),)
            walk.add(item.span, "symbol", name, keys, "catalogue", defines=True)
            walk.definitions.append(
                Definition(("catalogue", name), what, name, item.span.start, item.span.end, whole.start, whole.end)
            )
            return
        key: Key = (what, name)
        if what == "canary":
            key = ("local", item.span.start) if self.kind == "task" else ("value", name)
        elif what == "table":
            key = ("value", name)
        walk.define(key, what, name, item.span, whole, _title(self.statement))
        self.opened = key

    def tag(self, leaf: op.Tag, item: tree.Item) -> None:
        walk = self.walk
        name = item.value if isinstance(item, tree.String) else bare(item) or ""
        place = inner(item) if isinstance(item, tree.String) else item.span
        if leaf.what in _TAGS:
            walk.add(place, "tag", name, ((_TAGS[leaf.what], name),), self.entry.name)
        elif leaf.what == "a column" and self.owner is not None:
            walk.define(("field", self.owner, name), "column", name, place, place)
        elif leaf.what == "a tool":
            walk.add(place, "tool", name, (("tool", name),), "")
        elif leaf.what == "an axis":
            walk.add(place, "axis", name, (("axis", name),))
        else:
            walk.add(place, "word", name, (), self.entry.name)

    def loop(self, item: tree.Comparison) -> None:
        """`name in list`: the name has the fields of the list's members."""
        walk, name = self.walk, bare(item.left)
        walk.value(item.right, self.scope)
        if name is None:
            return
        key: Key = ("local", item.left.span.start)
        walk.define(key, "loop variable", name, item.left.span, item.span, "", item.right.span.text)
        table = bare(item.right)
        self.scope.define(name, key, None if table is None else ("value", table))


def _declare(statements: Iterable[tree.Statement], scope: Scope) -> None:
    """Names that a task defines for itself are known in all of it."""
    for statement in statements:
        if isinstance(statement, tree.NamedBinding) and statement.keyword.text in _LOCAL:
            scope.define(written(statement.name), ("local", inner(statement.name).start))
        elif isinstance(statement, tree.Directive) and statement.name.text == "canary" and statement.groups:
            item = statement.groups[0].items[0]
            if (word := bare(item)) is not None:
                scope.define(word, ("local", item.span.start))


def _catalogue(statement: tree.Directive) -> str:
    """Whose tools the patterns in `annotations NAME { }` mean."""
    return (bare(statement.groups[0].items[0]) or "") if statement.groups else ""


def _title(statement: tree.Directive) -> str:
    items = statement.groups[0].items if statement.groups else ()
    second = items[1] if len(items) > 1 else None
    return second.value if isinstance(second, tree.String) else ""


def _is_path(operands: Operands, leaf: op.Quoted | op.TextValue, item: tree.String) -> bool:
    """Whether a text names a file of the project."""
    return leaf.what.startswith(PATHS) and "{{" not in item.value and not item.value.startswith(("/", "~"))
