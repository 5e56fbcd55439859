"""Semantics, shape: statements that have no place where they stand, and what was probably meant."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives import BlockKind, Directive, block_kind, directives_named
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.blocks import GRADERS
from mcpeval_dsl.semantics.directives.wording import signature
from mcpeval_dsl.semantics.shape.findings import finding
from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree

AXES = ("model", "host", "server", "arm")
"""Axes whose members are declared names; all others are free parameters."""
_LIMITS = ("calls", "tokens", "cost", "time", "turns")
Words = dict[str, Directive]


def unknown_word(name: tree.Name, kind: BlockKind, words: Words) -> tuple[Diagnostic, Directive | None]:
    """A word the block does not know; with it the directive that was probably meant, to go on inside its block."""
    elsewhere = directives_named(name.text)
    near = closest(name.text, words)
    if name.text in GRADERS and "grade" in words:
        return _grader_alone(name), None
    if name.text in _LIMITS and "budget" in words and not near:
        hint = f"Write `budget {name.text} <= …`."
        return finding("MCPE202", name.span, f"`{name.text}` belongs in `budget`", "", hint), None
    if elsewhere:
        return _elsewhere(name, kind, elsewhere), elsewhere[0]
    if near:
        title = f"{kind.title} has no `{name.text}`" if kind.name != "file" else f"a spec has no `{name.text}`"
        return finding("MCPE201", name.span, title, "", f"Did you mean `{near}`?", edit=near), words[near]
    title = f"there is no `{name.text}` in {kind.title}"
    return finding("MCPE201", name.span, title, _choices(kind, words)), None


def _choices(kind: BlockKind, words: Words) -> str:
    if len(words) <= 12:
        return "Here stand: " + ", ".join(f"`{w}`" for w in words) + "." if words else "It has no directives."
    return f"docs/reference/{kind.name}.md lists what stands in {kind.title}."


def _grader_alone(name: tree.Name) -> Diagnostic:
    return finding(
        "MCPE202",
        name.span,
        f"`{name.text}` is a grader and stands after `grade`",
        "",
        f"Write `grade {name.text} …`.",
        edit=f"grade {name.text}",
        safe=True,
    )


def _elsewhere(name: tree.Name, kind: BlockKind, entries: tuple[Directive, ...]) -> Diagnostic:
    parents = [block_kind(parent) for entry in entries for parent in entry.parents]
    titles = list(dict.fromkeys(p.title if p.name != "file" else "the top of a spec" for p in parents))
    shown = ", ".join(titles[:4]) + (" and others" if len(titles) > 4 else "")
    here = "at the top of a spec" if kind.name == "file" else f"in {kind.title}"
    title = f"`{name.text}` does not stand {here}"
    return finding(
        "MCPE202", name.span, title, f"It belongs in: {shown}.", f"Move it there, for example `{entries[0].example}`"
    )


def stray_binding(statement: tree.Binding, kind: BlockKind, words: Words) -> Diagnostic:
    """`name = value` in a block that binds nothing, or over a word of the block."""
    name = statement.name
    sign = Span(name.span.file, name.span.end, statement.value.span.start)
    entry = words.get(name.text)
    if entry is not None and kind.bindings:
        title = f"`{name.text}` is a word of {kind.title} and cannot be a name"
        hint = f"Choose another name, or write `{name.text} {signature(entry.operands)}` without `=`."
        return finding("MCPE219", name.span, title, f"Here `=` binds {kind.bindings}.", hint)
    if entry is not None:
        title = f"`{name.text}` takes no `=`"
        rule = "`=` follows only names that the author chooses, axis names, headers and environment variables."
        return finding("MCPE217", name.span, title, rule, "Remove the `=`.", edit=" ", edit_at=sign, safe=True)
    near = closest(name.text, words)
    if near:
        return finding(
            "MCPE201", name.span, f"{kind.title} has no `{name.text}`", "", f"Did you mean `{near}`?", edit=near
        )
    hint = f"Write `let {name.text} = …`." if kind.name == "file" else "Bind it with `let` at the top of the spec."
    return finding("MCPE220", name.span, f"{kind.title} binds no names", "", hint)


def axis(statement: tree.Binding) -> Diagnostic | None:
    """What is wrong with `axis = [members]`: no brackets, a misspelt axis, members of a known axis in quotes."""
    name, value = statement.name, statement.value
    if not isinstance(value, tree.ListValue):
        edit = f"[{value.span.text}]"
        title = f"the members of the axis `{name.text}` stand in brackets"
        return finding("MCPE230", value.span, title, "", f"Write `{edit}`.", edit=edit, safe=True)
    if name.text in AXES:
        quoted = next((item for item in value.items if isinstance(item, tree.String)), None)
        if quoted is None:
            return None
        title = f"members of the axis `{name.text}` are bare names, not texts in quotes"
        return finding("MCPE206", quoted.span, title, "", f"Write `{quoted.value}`.", edit=quoted.value)
    near = closest(name.text, AXES) if all(bare(item) is not None for item in value.items) else None
    if near:
        title = f"a matrix has no axis `{name.text}` over declared names"
        return finding("MCPE201", name.span, title, "", f"Did you mean `{near}`?", edit=near)
    return None


def needless_sign(statement: tree.NamedBinding, entry: Directive) -> Diagnostic:
    """`tags x = 1`: the directive exists and takes no `=`."""
    span = statement.name.span.to(statement.value.span)
    word = statement.keyword.text
    return finding("MCPE217", span, f"`{word}` takes no `=`", "", f"For example: `{entry.example}`")


def missing_sign(statement: tree.Directive, entry: Directive) -> Diagnostic:
    """`env KEY "x"`: a name and a value without the `=` between them."""
    word = statement.name.text
    items = statement.groups[0].items if statement.groups else ()
    if len(items) == 2 and len(statement.groups) == 1:
        gap = Span(items[0].span.file, items[0].span.end, items[1].span.start)
        title = f"an `=` is missing after `{items[0].span.text}`"
        return finding(
            "MCPE218", items[0].span, title, "", f"For example: `{entry.example}`", edit=" = ", edit_at=gap, safe=True
        )
    span = statement.name.span
    return finding("MCPE218", span, f"`{word}` needs a name, `=` and a value", "", f"For example: `{entry.example}`")


def stray_call(statement: tree.Action, kind: BlockKind, words: Words) -> Diagnostic:
    """A call (or something like one) where no step stands."""
    ref = statement.ref
    root = ref.root.text
    if root in words:
        title = f"`{root}` takes its operands after a blank, not in parentheses"
        return finding("MCPE221", ref.span, title, "", f"For example: `{words[root].example}`")
    if kind.calls:
        title = f"`{ref.span.text}` is no step"
        return finding("MCPE221", ref.span, title, "A step is a tool call: `server.tool(argument: value)`.")
    places = "an environment, `setup`, `teardown`, `undo`, `reference` or a check"
    title = f"a call cannot stand in {kind.title}"
    return finding("MCPE221", ref.span, title, f"Calls are steps of {places}.")


def stray_bound(statement: tree.Bound, kind: BlockKind, words: Words) -> tuple[Diagnostic, Directive | None]:
    """`name OPERATOR value` where no condition stands."""
    comparison = statement.comparison
    word = bare(comparison.left)
    entry = words.get(word) if word else None
    if entry is not None:
        title = f"`{word}` takes no `{comparison.operator}`"
        return finding("MCPE222", comparison.operator_span, title, "", f"For example: `{entry.example}`"), None
    if word in _LIMITS and "budget" in words:
        hint = f"Write `budget {comparison.span.text}`."
        return finding("MCPE222", comparison.span, "a limit stands after `budget`", "", hint), None
    if "require" in words:
        hint = f"Write `require {comparison.span.text}`."
        return finding("MCPE222", comparison.span, "a condition stands after `require`", "", hint), None
    root = getattr(comparison.left, "root", None)
    if isinstance(root, tree.Name) and word is not None:
        return unknown_word(root, kind, words)
    return finding("MCPE222", comparison.span, f"a condition cannot stand in {kind.title}"), None


def assignment(operand: op.Operand) -> op.Assign | None:
    """The `NAME = value` form of a directive that has one."""
    if isinstance(operand, op.Assign):
        return operand
    if isinstance(operand, op.Choice):
        return next((part for part in operand.parts if isinstance(part, op.Assign)), None)
    return None
