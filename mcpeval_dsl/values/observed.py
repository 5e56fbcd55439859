"""Values, call patterns against all calls of a trial: what `expect` measures and `grade calls` decides.

- a call, `exactly`, `at_least` and `errors` speak of calls that were made; a denied call was not;
- `none`, `only` and `at_most` speak of every attempt, because choosing the call is the mistake;
- `ordered` wants its patterns one after the other, with any calls between; parts that only forbid or allow
  (`optional`, `none`, `only`, `at_most`) take no place in the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpeval_dsl.semantics.expressions import AnyPattern, Behaviour, CallPattern, Combined, EffectPattern
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.patterns import matches, tool_name
from mcpeval_dsl.values.text import clipped, short


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call of the agent. `failed`: the server, or a fault, answered with an error; `denied`: it was never sent."""

    id: str
    server: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    catalogue: str | None = None
    effect: str | None = None
    failed: bool = False
    denied: bool = False


@dataclass(frozen=True, slots=True)
class PatternResult:
    """`matched` are positions of calls the pattern speaks of, `against` of those that speak against it."""

    holds: bool
    actual: str
    expected: str
    matched: tuple[int, ...] = ()
    against: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Observed:
    """The calls in order, and behaviours by name with the number of calls made before each time it was seen."""

    calls: Sequence[ObservedCall]
    scope: Scope
    behaviours: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def speaks_of(self, pattern: AnyPattern, call: ObservedCall) -> bool:
        """`errors` speaks of calls that failed, also inside of another combinator: `none(errors(*))`."""
        if isinstance(pattern, Combined) and pattern.combinator in ("errors", "any"):
            failed = call.failed or pattern.combinator == "any"
            return failed and any(self.speaks_of(each, call) for each in pattern.patterns)
        return matches(
            pattern,
            call.server,
            call.tool,
            call.arguments,
            self.scope,
            catalogue=call.catalogue,
            effect=call.effect,
        )

    def attempts(self, patterns: tuple[AnyPattern, ...]) -> list[int]:
        return [n for n, call in enumerate(self.calls) if any(self.speaks_of(each, call) for each in patterns)]

    def made(self, patterns: tuple[AnyPattern, ...]) -> list[int]:
        return [n for n in self.attempts(patterns) if not self.calls[n].denied]


def satisfies(
    pattern: AnyPattern,
    calls: Sequence[ObservedCall],
    scope: Scope,
    behaviours: Mapping[str, Sequence[int]] | None = None,
) -> PatternResult:
    """Whether the calls and behaviours of a trial are as the pattern wants. Raises EvaluationError (see `matches`)."""
    observed = Observed(calls, scope, behaviours or {})
    return _result(pattern, observed)


def _result(pattern: AnyPattern, observed: Observed) -> PatternResult:
    expected = written(pattern, observed.scope)
    if isinstance(pattern, Behaviour):
        seen = pattern.name in observed.behaviours
        return PatternResult(seen, f"{'a' if seen else 'no'} {pattern.name}", expected)
    if isinstance(pattern, CallPattern | EffectPattern):
        found = observed.made((pattern,))
        return PatternResult(bool(found), summary(observed.calls), expected, tuple(found))
    return _combined(pattern, observed, expected)


def _combined(pattern: Combined, observed: Observed, expected: str) -> PatternResult:
    inside = pattern.patterns
    everything = summary(observed.calls)
    match pattern.combinator:
        case "any":
            parts = [_result(each, observed) for each in inside]
            found = tuple(sorted({n for part in parts for n in part.matched}))
            return PatternResult(any(part.holds for part in parts), everything, expected, found)
        case "optional":
            return PatternResult(True, everything, expected, tuple(observed.made(inside)))
        case "none":
            against = tuple(observed.attempts(inside))
            behaving = any(isinstance(each, Behaviour) and each.name in observed.behaviours for each in inside)
            holds = not against and not behaving
            return PatternResult(holds, _of(against, observed), expected, against=against)
        case "only":
            found = tuple(observed.attempts(inside))
            allowed = set(found)
            against = tuple(n for n in range(len(observed.calls)) if n not in allowed)
            return PatternResult(not against, _of(against, observed), expected, found, against)
        case "errors":
            failed = tuple(n for n in observed.made(inside) if observed.calls[n].failed)
            return PatternResult(bool(failed), everything, expected, failed)
        case "ordered":
            found = tuple(observed.made(tuple(each for each in inside if not isinstance(each, Behaviour))))
            return PatternResult(_end(pattern, observed, 0) is not None, everything, expected, found)
        case "exactly" | "at_least" | "at_most":
            return _counted(pattern, observed, expected)


def _counted(pattern: Combined, observed: Observed, expected: str) -> PatternResult:
    wanted = pattern.count or 0
    if pattern.combinator == "at_most":
        found = tuple(observed.attempts(pattern.patterns))
        return PatternResult(len(found) <= wanted, _times(found), expected, found, found[wanted:])
    found = tuple(observed.made(pattern.patterns))
    enough = len(found) >= wanted if pattern.combinator == "at_least" else len(found) == wanted
    against = found[wanted:] if pattern.combinator == "exactly" else ()
    return PatternResult(enough, _times(found), expected, found, against)


def _end(pattern: AnyPattern, observed: Observed, start: int) -> int | None:
    """Where the earliest way to satisfy the pattern from call `start` on ends; None where there is none."""
    if isinstance(pattern, Behaviour):
        return min((seen for seen in observed.behaviours.get(pattern.name, ()) if seen >= start), default=None)
    if isinstance(pattern, CallPattern | EffectPattern):
        return _nth(observed, (pattern,), start, 1)
    match pattern.combinator:
        case "any":
            ends = [end for each in pattern.patterns if (end := _end(each, observed, start)) is not None]
            return min(ends) if ends else None
        case "ordered":
            position: int | None = start
            for each in pattern.patterns:
                position = None if position is None else _end(each, observed, position)
            return position
        case "at_least":
            return _nth(observed, pattern.patterns, start, pattern.count or 0)
        case "exactly":
            return _nth(observed, pattern.patterns, start, pattern.count or 0) if _holds(pattern, observed) else None
        case "errors":
            return _nth(observed, pattern.patterns, start, 1, failed=True)
        case "optional" | "none" | "only" | "at_most":
            return start if _holds(pattern, observed) else None


def _holds(pattern: Combined, observed: Observed) -> bool:
    return _combined(pattern, observed, "").holds


def _nth(
    observed: Observed, patterns: tuple[AnyPattern, ...], start: int, count: int, failed: bool = False
) -> int | None:
    if count == 0:
        return start
    for position in range(start, len(observed.calls)):
        call = observed.calls[position]
        if call.denied or (failed and not call.failed):
            continue
        if any(observed.speaks_of(each, call) for each in patterns):
            count -= 1
            if count == 0:
                return position + 1
    return None


# --- for people ------------------------------------------------------------------------------------------------------


def written(pattern: AnyPattern, scope: Scope) -> str:
    """The pattern as a spec would write it, values evaluated."""
    if isinstance(pattern, Behaviour):
        return pattern.name
    if isinstance(pattern, EffectPattern):
        return pattern.effect
    if isinstance(pattern, Combined):
        parts = [written(each, scope) for each in pattern.patterns]
        if pattern.count is not None:
            parts.insert(0, str(pattern.count))
        return f"{pattern.combinator}({', '.join(parts)})"
    return _written_call(pattern, scope)


def _written_call(pattern: CallPattern, scope: Scope) -> str:
    from mcpeval_dsl.values.evaluate import evaluate

    name = tool_name(pattern, scope)
    if pattern.server is not None:
        name = f"{pattern.server}.{name}"
    if not pattern.arguments:
        return name
    parts: list[str] = []
    for wanted in pattern.arguments:
        value = evaluate(wanted.value, scope)
        shown = f"/{wanted.value.pattern}/{wanted.value.flags}" if wanted.value.kind == "regex" else short(value, 80)
        parts.append(
            f"{wanted.name}: {shown}" if wanted.operator == "==" else f"{wanted.name} {wanted.operator} {shown}"
        )
    return f"{name}({', '.join(parts)})"


def summary(calls: Sequence[ObservedCall], most: int = 8) -> str:
    """The calls by name, in order, for a message."""
    if not calls:
        return "no calls"
    parts = [_named(call) for call in calls[:most]]
    more = f", … ({len(calls)} calls)" if len(calls) > most else ""
    return clipped(", ".join(parts), 300) + more


def _named(call: ObservedCall) -> str:
    mark = " (denied)" if call.denied else " (error)" if call.failed else ""
    return f"{call.tool}({clipped(short(dict(call.arguments), 100)[1:-1], 100)}){mark}"


def _of(positions: tuple[int, ...], observed: Observed) -> str:
    return summary([observed.calls[n] for n in positions]) if positions else "no such call"


def _times(positions: tuple[int, ...]) -> str:
    return "1 such call" if len(positions) == 1 else f"{len(positions)} such calls"
