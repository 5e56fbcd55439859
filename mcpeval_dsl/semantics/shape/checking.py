"""Semantics, shape: a tree against the table, block by block; every statement gives at most one error of its own."""

from __future__ import annotations

from collections.abc import Iterable

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.directives import BlockKind, Directive, block_kind, directives_in
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS
from mcpeval_dsl.semantics.directives.wording import wanted
from mcpeval_dsl.semantics.shape import strays
from mcpeval_dsl.semantics.shape.calls import in_pattern, in_value
from mcpeval_dsl.semantics.shape.earlier import Earlier
from mcpeval_dsl.semantics.shape.findings import finding
from mcpeval_dsl.semantics.shape.gates import in_metric
from mcpeval_dsl.semantics.shape.items import has_call, row_of, swallowed
from mcpeval_dsl.semantics.shape.leaves import ACCEPT, FITS
from mcpeval_dsl.semantics.shape.matching import Matching, last_directive
from mcpeval_dsl.semantics.shape.misfits import Misfit, explain, quantity_misfit, swallowing_comma
from mcpeval_dsl.semantics.shape.requirements import Presence, columns_and_rows
from mcpeval_dsl.semantics.shape.unfolding import unfolded
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree

_VALUE_LEAVES = (
    op.Value,
    op.TextValue,
    op.ListValue,
    op.ObjectValue,
    op.Source,
    op.Condition,
    op.Argv,
    op.Iteration,
)


class Checker:
    """Walks one tree; `found` are the diagnostics in order of the text."""

    def __init__(self, earlier: Earlier, *, complete: bool) -> None:
        self.found: list[Diagnostic] = []
        self.earlier = earlier
        self.complete = complete
        self.misplaced: set[str] = set()
        self.absent: list[tuple[Diagnostic, tuple[str, ...]]] = []

    def all_found(self) -> tuple[Diagnostic, ...]:
        """Everything, in order of the text. A word that stands elsewhere is not reported missing where it was."""
        moved = [names for _, names in self.absent if self.misplaced.intersection(names)]
        missing = [d for d, names in self.absent if not (len(moved) == 1 and names is moved[0])]
        found = [*self.found, *missing]
        found.sort(key=lambda d: (d.at.line, d.at.column) if d.at else (0, 0))
        return tuple(found)

    def block(self, statements: tuple[tree.Statement, ...], kind: BlockKind, owner: Span | None) -> None:
        """Check all statements of a block opened at `owner` (None at the top of a spec)."""
        presence = Presence(directives_in(kind.name))
        for statement in statements:
            before = len(self.found)
            self.statement(statement, kind, presence)
            if self.earlier.inside(statement):
                self.found[before:] = self.earlier.unsaid(statement, self.found[before:])
                presence.trouble = True
            if len(self.found) > before:
                presence.trouble = True
        self.found.extend(presence.doubles(kind))
        if self.complete and not presence.trouble and owner is not None:
            self.absent.extend(presence.missing(kind, owner))
        if kind.name == "table" and not presence.trouble:
            self.found.extend(columns_and_rows(statements))

    def statement(self, statement: tree.Statement, kind: BlockKind, presence: Presence) -> None:
        statement = unfolded(statement)
        if isinstance(statement, tree.Directive):
            self.directive(statement, kind, presence)
        elif isinstance(statement, tree.Binding):
            self.binding(statement, kind, presence.words)
        elif isinstance(statement, tree.NamedBinding):
            self.named_binding(statement, kind, presence)
        elif isinstance(statement, tree.Action):
            self.action(statement, kind, presence.words)
        else:
            self.bound(statement, kind, presence)

    def directive(self, statement: tree.Directive, kind: BlockKind, presence: Presence) -> None:
        words = presence.words
        entry = words.get(statement.name.text)
        if entry is None:
            self.unknown(statement.name, statement.block, kind, words)
            return
        repeated = presence.add(entry, statement.name.span)
        if repeated is not None:
            self.misplaced.add(entry.name)
            self.found.append(repeated)
            return
        matching = Matching(row_of(statement.groups), negated=entry.name == "not")
        end = matching.match(entry.operands, 0)
        if end != len(matching.row):
            assign = strays.assignment(entry.operands)
            if assign is not None and (assign is entry.operands or len(matching.row) == 2):
                self.found.append(strays.missing_sign(statement, entry))
            else:
                self.found.append(explain(Misfit(statement, entry, words, matching), end))
            self.inner(statement.block, last_directive(matching.row, words) or matching.grader or entry)
            return
        before = len(self.found)
        self.operands(matching)
        if len(self.found) == before:
            self.own_block(statement, matching.grader or entry, words)
        else:
            self.inner(statement.block, matching.grader or entry)

    def operands(self, matching: Matching) -> None:
        """Look inside what the leaves took; the first error ends it."""
        before = len(self.found)
        for leaf, item in matching.captures:
            if isinstance(leaf, op.Pattern):
                self.found.extend(in_pattern(item))
            elif isinstance(leaf, _VALUE_LEAVES):
                self.found.extend(in_value(item))
            elif isinstance(leaf, op.MetricCondition):
                self.found.extend(in_metric(item))
            if len(self.found) > before:
                return

    def own_block(self, statement: tree.Directive, entry: Directive, words: dict[str, Directive]) -> None:
        """The block behind a directive: there when it must be, absent when it may not be, and right inside."""
        block = statement.block
        name = f"grade {entry.name}" if statement.name.text == "grade" else entry.name
        if block is None:
            if entry.block is not None and entry.block.required:
                span = statement.name.span.to(statement.groups[-1].span) if statement.groups else statement.name.span
                title = f"`{name}` needs a block in braces"
                self.found.append(finding("MCPE210", span, title, "", f"For example: `{_shown(entry, name)}`"))
            return
        if entry.block is None:
            index = swallowed(statement, words)
            if index is not None:
                self.found.append(swallowing_comma(statement, index))
                self.inner(block, last_directive(row_of(statement.groups), words))
            else:
                opening = Span(block.span.file, block.span.start, block.span.start + 1)
                self.found.append(finding("MCPE211", opening, f"`{name}` takes no block", entry.doc))
            return
        end = statement.groups[-1].span if statement.groups else statement.name.span
        self.block(block.statements, block_kind(entry.block.kind), statement.name.span.to(end))

    def inner(self, block: tree.Block | None, entry: Directive | None) -> None:
        """Go on inside a block whose opening statement had an error; nothing is reported missing there."""
        if block is None or entry is None or entry.block is None:
            return
        self.block(block.statements, block_kind(entry.block.kind), None)

    def unknown(self, name: tree.Name, block: tree.Block | None, kind: BlockKind, words: dict[str, Directive]) -> None:
        diagnostic, meant = strays.unknown_word(name, kind, words)
        if diagnostic.code == "MCPE202":
            self.misplaced.add(name.text)
        self.found.append(diagnostic)
        self.inner(block, meant)

    def binding(self, statement: tree.Binding, kind: BlockKind, words: dict[str, Directive]) -> None:
        if not kind.bindings or statement.name.text in words:
            self.found.append(strays.stray_binding(statement, kind, words))
            return
        if kind.binding_lists:
            wrong = strays.axis(statement)
            if wrong is not None:
                self.found.append(wrong)
                return
        if self.values((statement.value,)):
            self.call_block(statement.block, statement.value, kind)

    def call_block(self, block: tree.Block | None, value: tree.Value, kind: BlockKind) -> None:
        if block is None:
            return
        if kind.calls or kind.name in ("setup", "teardown", "undo", "reference"):
            self.block(block.statements, block_kind("call"), value.span)
            return
        opening = Span(block.span.file, block.span.start, block.span.start + 1)
        self.found.append(finding("MCPE211", opening, f"a name in {kind.title} takes no block"))

    def values(self, items: Iterable[tree.Item]) -> bool:
        """Check values; True when nothing was wrong."""
        before = len(self.found)
        for item in items:
            self.found.extend(in_value(item))
            if len(self.found) > before:
                return False
        return True

    def named_binding(self, statement: tree.NamedBinding, kind: BlockKind, presence: Presence) -> None:
        keyword = statement.keyword
        entry = presence.words.get(keyword.text)
        if entry is None:
            self.unknown(keyword, statement.block, kind, presence.words)
            return
        assign = strays.assignment(entry.operands)
        if assign is None:
            self.found.append(strays.needless_sign(statement, entry))
            return
        presence.add(entry, keyword.span)
        value = statement.value
        if isinstance(statement.name, tree.String) and assign.kind != "header":
            name = statement.name
            title = f"`{keyword.text}` takes a bare word here, not a text in quotes"
            self.found.append(finding("MCPE206", name.span, title, "", f"Write `{name.value}`.", edit=name.value))
        elif assign.value == "source" and ACCEPT[op.Source](op.Source(), value) != FITS:
            title = f"`{keyword.text}` reads something, and `{_short(value.span)}` is only a value"
            self.found.append(finding("MCPE205", value.span, title, f"Here stands {wanted(op.Source())}."))
        elif self.values((value,)):
            if entry.block is not None and statement.block is not None:
                span = keyword.span.to(statement.name.span)
                self.block(statement.block.statements, block_kind(entry.block.kind), span)
            elif statement.block is not None:
                opening = Span(value.span.file, statement.block.span.start, statement.block.span.start + 1)
                self.found.append(finding("MCPE211", opening, f"`{keyword.text}` takes no block", entry.doc))
            return
        self.inner(statement.block, entry)

    def action(self, statement: tree.Action, kind: BlockKind, words: dict[str, Directive]) -> None:
        ref = statement.ref
        root = ref.root.text
        first = ref.postfixes[0]
        stepping = kind.calls and isinstance(ref.postfixes[-1], tree.CallSuffix) and has_call(ref)
        if stepping and isinstance(first, tree.CallSuffix):
            stepping = root in FUNCTIONS and FUNCTIONS[root].reads
        if not stepping:
            self.found.append(strays.stray_call(statement, kind, words))
            return
        if self.values((ref,)) and statement.block is not None:
            self.block(statement.block.statements, block_kind("call"), ref.span)

    def bound(self, statement: tree.Bound, kind: BlockKind, presence: Presence) -> None:
        comparison = statement.comparison
        left = comparison.left
        root = left.root.text if isinstance(left, tree.Ref) and not left.postfixes else ""
        entry = presence.words.get(root)
        if entry is None or not isinstance(entry.operands, op.Below):
            self.found.append(strays.stray_bound(statement, kind, presence.words)[0])
            return
        wrong = presence.add(entry, left.span) or quantity_misfit(root, entry.operands, comparison)
        if wrong is not None:
            self.found.append(wrong)
        elif statement.block is not None:
            opening = Span(left.span.file, statement.block.span.start, statement.block.span.start + 1)
            self.found.append(finding("MCPE211", opening, f"`{root}` takes no block", entry.doc))


def _shown(entry: Directive, name: str) -> str:
    return entry.example if not name.startswith("grade ") else f"grade {entry.example}"


def _short(span: Span) -> str:
    text = " ".join(span.text.split())
    return text if len(text) <= 30 else text[:29] + "…"
