"""Rule: what `expect` asks for, `never` must not forbid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from mcpeval_dsl.diagnostics.model import Diagnostic, Label
from mcpeval_dsl.semantics.expressions import AnyPattern, ArgumentPattern, CallPattern, Combined, Ref, Template
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.task_parts import expectations_of

REQUIRED = frozenset({"ordered", "exactly", "at_least"})


def required(patterns: Iterable[AnyPattern]) -> Iterator[CallPattern]:
    """Calls without which the expectation cannot be met."""
    for pattern in patterns:
        if isinstance(pattern, CallPattern):
            yield pattern
        elif isinstance(pattern, Combined) and pattern.combinator in REQUIRED:
            yield from required(pattern.patterns)


def covers(general: CallPattern, special: CallPattern) -> bool:
    """True when every call that `special` describes is one that `general` describes."""
    if general.tool_from is not None or special.tool_from is not None:
        return False
    if general.server is not None and special.server is not None and general.server != special.server:
        return False
    if general.server is not None and special.server is None:
        return False
    if not fnmatchcase(special.tool, general.tool):
        return False
    given = [_plain(argument) for argument in special.arguments]
    return all(_plain(argument) in given for argument in general.arguments)


def _plain(argument: ArgumentPattern) -> ArgumentPattern:
    """Without the place, which says nothing about the meaning."""
    value = argument.value
    if isinstance(value, Ref | Template):
        return replace(argument, value=replace(value, at=None))
    return argument


def forbidden(lowered: Lowered) -> None:
    """A call that is both expected and forbidden makes the task impossible."""
    for entry in lowered.parts.tasks:
        for wanted in required(expectations_of(entry.task)):
            for ban in entry.task.never:
                if isinstance(ban.pattern, CallPattern) and covers(ban.pattern, wanted):
                    _report(lowered, wanted, ban.pattern)


def _report(lowered: Lowered, wanted: CallPattern, ban: CallPattern) -> None:
    labels = () if ban.at is None else (Label(ban.at, "forbidden here"),)
    lowered.ctx.problems.found.append(
        Diagnostic(
            "MCPE308",
            f"`{wanted.tool}` is expected and forbidden",
            wanted.at,
            "What `never` forbids is a violation, so the expectation cannot be met.",
            "remove one of the two lines, or narrow `never` by an argument",
            labels=labels,
        )
    )
