"""Semantics, shape: inside values: functions and their arguments, calls of tools, call patterns, metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS, Function
from mcpeval_dsl.semantics.directives.patterns import COMBINATORS
from mcpeval_dsl.semantics.shape.findings import finding
from mcpeval_dsl.syntax import tree


def in_value(item: tree.Item) -> Iterator[Diagnostic]:
    """What is wrong with functions and calls anywhere in a value or comparison."""
    if isinstance(item, tree.Ref):
        if item.postfixes:
            yield from _in_ref(item)
    elif isinstance(item, tree.Comparison):
        yield from in_value(item.left)
        yield from in_value(item.right)
    elif isinstance(item, tree.ListValue):
        for member in item.items:
            yield from in_value(member)
    elif isinstance(item, tree.ObjectValue):
        for pair in item.pairs:
            yield from in_value(pair.value)


def _in_ref(ref: tree.Ref) -> Iterator[Diagnostic]:
    first = ref.postfixes[0]
    if isinstance(first, tree.CallSuffix) and isinstance(ref.root, tree.Name):
        yield from _function(ref.root, first)
    for index, postfix in enumerate(ref.postfixes):
        if isinstance(postfix, tree.CallSuffix):
            if index:
                yield from _tool_arguments(postfix, operators=False)
            for argument in postfix.arguments:
                yield from in_value(argument.value)
        elif isinstance(postfix, tree.Index):
            yield from in_value(postfix.value)


def _function(name: tree.Name, call: tree.CallSuffix) -> Iterator[Diagnostic]:
    function = FUNCTIONS.get(name.text)
    if function is not None:
        yield from _arguments(function, name, call)
        return
    near = closest(name.text, FUNCTIONS)
    if name.text in COMBINATORS:
        body, hint = "It stands in call patterns: `expect`, `may`, `never`, `grade calls`.", ""
    elif near:
        body, hint = "", f"Did you mean `{near}`?"
    else:
        body = "A name with parentheses is a function; a tool is called through its server."
        hint = f"For a tool write `SERVER.{name.text}(…)`."
    edit = None if name.text in COMBINATORS else near
    yield finding("MCPE226", name.span, f"there is no function `{name.text}`", body, hint, edit=edit)


def _arguments(function: Function, name: tree.Name, call: tree.CallSuffix) -> Iterator[Diagnostic]:
    usage = f"For example: `{function.example}`"
    known = tuple(p.name for p in function.parameters)
    positional = 0
    named: set[str] = set()
    for argument in call.arguments:
        if argument.name is None:
            positional += 1
            continue
        word = argument.name.text if isinstance(argument.name, tree.Name) else argument.name.value
        if argument.operator not in ("", ":"):
            title = f"`{function.name}` takes no condition as an argument"
            yield finding("MCPE227", argument.span, title, "", usage)
            return
        if word not in known:
            near = closest(word, known)
            hint = f"Did you mean `{near}`?" if near else usage
            title = f"`{function.name}` has no argument `{word}`"
            yield finding("MCPE227", argument.name.span, title, "", hint, edit=near)
            return
        named.add(word)
    given = positional + sum(1 for p in function.parameters if p.name in named and not p.named)
    if given < function.least or (function.most is not None and given > function.most):
        title = f"`{function.name}` takes {_how_many(function)}, here {'is' if given == 1 else 'are'} {given}"
        yield finding("MCPE227", name.span.to(call.span), title, function.doc, usage)


def _how_many(function: Function) -> str:
    least, most = function.least, function.most
    if most is None:
        return f"{least} arguments or more" if least else "any number of arguments"
    if least == most:
        return "no argument" if not most else f"{most} argument" + ("s" if most > 1 else "")
    return f"{least} to {most} arguments"


def _tool_arguments(call: tree.CallSuffix, *, operators: bool) -> Iterator[Diagnostic]:
    for argument in call.arguments:
        if argument.name is None:
            text = argument.span.text
            yield finding(
                "MCPE227",
                argument.span,
                "arguments of a tool have names",
                "A tool takes its arguments by name; only functions take them by place.",
                f"Write `name: {text if len(text) < 40 else '…'}`.",
            )
            return
        if not operators and argument.operator not in ("", ":"):
            yield finding(
                "MCPE227",
                argument.span,
                "a call takes values, not conditions",
                "Conditions on arguments stand in call patterns: `expect`, `may`, `never`, `grade calls`.",
                "Write `name: value`.",
            )
            return


def in_pattern(item: tree.Item) -> Iterator[Diagnostic]:
    """What is wrong inside a call pattern: counts, arguments without names, functions in arguments."""
    if not isinstance(item, tree.Ref) or not item.postfixes:
        return
    last = item.postfixes[-1]
    if not isinstance(last, tree.CallSuffix):
        yield from _indexes(item.postfixes)
        return
    yield from _indexes(item.postfixes[:-1])
    combinator = COMBINATORS.get(item.root.text) if len(item.postfixes) == 1 else None
    if combinator is None:
        yield from _tool_arguments(last, operators=True)
        for argument in last.arguments:
            yield from in_value(argument.value)
        return
    arguments = list(last.arguments)
    usage = f"For example: `{combinator.example}`"
    if combinator.counted:
        count = arguments.pop(0) if arguments else None
        if count is None or count.name is not None or not isinstance(count.value, tree.Number):
            span = count.span if count else last.span
            yield finding("MCPE228", span, f"`{combinator.name}` begins with a number of calls", combinator.doc, usage)
            return
    if not arguments or (combinator.most is not None and len(arguments) > combinator.most):
        some = "one pattern" if combinator.most == 1 else "at least one pattern"
        yield finding("MCPE228", last.span, f"`{combinator.name}` takes {some}", combinator.doc, usage)
        return
    for argument in arguments:
        if argument.name is not None or not isinstance(argument.value, (tree.Ref, tree.Glob)):
            title = f"`{combinator.name}` takes call patterns, not `{argument.span.text}`"
            yield finding("MCPE228", argument.span, title, combinator.doc, usage)
            return
        yield from in_pattern(argument.value)


def _indexes(postfixes: Iterable[tree.Postfix]) -> Iterator[Diagnostic]:
    for postfix in postfixes:
        if isinstance(postfix, tree.Index):
            yield from in_value(postfix.value)
