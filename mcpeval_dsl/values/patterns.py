"""Values, call patterns against one call: the same reading for `expect`, `grade calls`, `may`, `never` and annotations.

A condition on an argument holds only where the argument is given; `absent()` says otherwise. Combinators around one
call mean any of the patterns inside them, except `none`, which matches nothing (`may none` permits nothing).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mcpeval_dsl.semantics.expressions import (
    AnyPattern,
    ArgumentPattern,
    Behaviour,
    CallPattern,
    Combined,
    EffectPattern,
)
from mcpeval_dsl.values.compare import ABSENT, holds, start_of
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import Scope


def matches(
    pattern: AnyPattern,
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    scope: Scope,
    *,
    catalogue: str | None = None,
    effect: str | None = None,
) -> bool:
    """Whether a call is one the pattern speaks of.

    `catalogue` is the server's catalogue where its name differs; `effect` the call's effect class for `readonly` and the like.
    Raises EvaluationError where the pattern's own values have none in this scope: what it speaks of is then unknown.
    """
    if isinstance(pattern, CallPattern):
        return _matches_call(pattern, (server, catalogue), tool, arguments, scope)
    if isinstance(pattern, EffectPattern):
        return effect == pattern.effect
    if isinstance(pattern, Behaviour) or pattern.combinator == "none":
        return False
    return any(
        matches(each, server, tool, arguments, scope, catalogue=catalogue, effect=effect) for each in pattern.patterns
    )


def _matches_call(
    pattern: CallPattern,
    servers: tuple[str | None, ...],
    tool: str,
    arguments: Mapping[str, Any],
    scope: Scope,
) -> bool:
    if pattern.server is not None and pattern.server not in servers:
        return False
    if not named(tool_name(pattern, scope), tool):
        return False
    return all(argument_holds(wanted, arguments, scope) for wanted in pattern.arguments)


def tool_name(pattern: CallPattern, scope: Scope) -> str:
    """The tool or glob a pattern names, also where a value gives it. Without the server: `tracker.get` is `get`."""
    if pattern.tool_from is None:
        return pattern.tool
    value = evaluate(pattern.tool_from, scope)
    return value if isinstance(value, str) else ""


def named(glob: str, tool: str) -> bool:
    """`*` stands for any characters, everything else for itself."""
    return glob == tool or ("*" in glob and _glob(glob).fullmatch(tool) is not None)


@lru_cache(maxsize=1024)
def _glob(glob: str) -> re.Pattern[str]:
    parts = (re.escape(part) for part in re.split(r"\*+", glob))
    return re.compile(".*".join(parts), re.DOTALL)


def argument_holds(wanted: ArgumentPattern, arguments: Mapping[str, Any], scope: Scope) -> bool:
    """One condition on an argument of a call."""
    value = evaluate(wanted.value, scope)
    return holds(arguments.get(wanted.name, ABSENT), wanted.operator, value, start=start_of(scope.names))


def argument_free(pattern: AnyPattern) -> bool:
    """True where only the tool's name decides, so that a whole tool can be shown, hidden or classed by the pattern."""
    if isinstance(pattern, CallPattern):
        return not pattern.arguments
    if isinstance(pattern, Combined):
        return all(argument_free(each) for each in pattern.patterns)
    return True
