"""The effect of one call: what the spec says over call patterns, else a believed hint, else the tool's name.

Place in the pipeline: before permission; pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.gateway.model import Effect, Severity, ToolDefinition
from mcpeval_dsl.semantics.expressions import AnyPattern
from mcpeval_dsl.semantics.model import Annotation, Catalogue
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.patterns import argument_free, matches

DESTRUCTIVE_WORDS = frozenset({"delete", "drop", "purge", "wipe", "destroy", "erase", "truncate", "shred", "nuke"})
READING_WORDS = frozenset(
    {
        "get",
        "list",
        "search",
        "read",
        "find",
        "show",
        "describe",
        "count",
        "fetch",
        "view",
        "lookup",
        "query",
        "is",
        "has",
    }
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_RANK: Mapping[str, int] = {"readonly": 0, "additive": 1, "destructive": 2}


@dataclass(frozen=True, slots=True)
class CallEffect:
    """`source` says who decided, `rule` with which words; `severity` is the spec's own for calls without permission."""

    effect: Effect
    source: Literal["spec", "hint", "name", "none"]
    rule: str = ""
    severity: Severity | None = None


def effect_of(
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    definition: ToolDefinition | None,
    catalogue: Catalogue | None,
    scope: Scope,
    *,
    trust_hints: bool = False,
) -> CallEffect:
    """The effect class of a call. Lines with arguments go before lines without, then the more severe before the less."""
    spoken = _spoken(server, tool, arguments, catalogue, scope)
    if spoken is not None:
        return spoken
    believed = trust_hints or (catalogue is not None and catalogue.trust_hints)
    hinted = _hinted({} if definition is None else definition.annotations, believed)
    if hinted is not None:
        return hinted
    if destructive_by_name(tool):
        return CallEffect("destructive", "name", f"the name {tool!r}")
    return CallEffect("unknown", "none")


def _spoken(
    server: str, tool: str, arguments: Mapping[str, Any], catalogue: Catalogue | None, scope: Scope
) -> CallEffect | None:
    if catalogue is None:
        return None
    best: tuple[int, int] | None = None
    found: Annotation | None = None
    for line in catalogue.annotations:
        if line.effect not in _RANK:
            continue
        for pattern in line.patterns:
            fail_closed = line.effect == "destructive"
            if matched(pattern, server, tool, arguments, scope, catalogue=catalogue.name, unknown=fail_closed):
                order = (0 if argument_free(pattern) else 1, _RANK[line.effect])
                if best is None or order > best:
                    best, found = order, line
    if found is None:
        return None
    place = f" at {found.at}" if found.at is not None else ""
    effect: Effect = "destructive" if found.effect not in ("readonly", "additive") else found.effect
    return CallEffect(effect, "spec", f"{found.effect}{place}", found.severity)


def matched(
    pattern: AnyPattern,
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    scope: Scope,
    *,
    catalogue: str | None = None,
    effect: str | None = None,
    unknown: bool,
) -> bool:
    """As `values.patterns.matches`; `unknown` is the answer where the pattern's own values are not known."""
    try:
        return matches(pattern, server, tool, arguments, scope, catalogue=catalogue, effect=effect)
    except EvaluationError:
        return unknown


def any_matched(patterns: Iterable[AnyPattern], *call: Any, unknown: bool, **more: Any) -> bool:
    """Whether one of the patterns speaks of the call."""
    return any(matched(pattern, *call, unknown=unknown, **more) for pattern in patterns)


def _hinted(annotations: Mapping[str, Any], believed: bool) -> CallEffect | None:
    """A hint against the tool counts always; one in its favour only where the spec believes hints."""
    reads, destroys = annotations.get("readOnlyHint"), annotations.get("destructiveHint")
    if destroys is True and reads is not True:
        return CallEffect("destructive", "hint", "destructiveHint")
    if not believed:
        return None
    if reads is True:
        return CallEffect("readonly", "hint", "readOnlyHint")
    if destroys is False:
        return CallEffect("additive", "hint", "destructiveHint false")
    return None


def destructive_by_name(tool: str) -> bool:
    """Whether a word of the name says that something is destroyed, and the name does not begin as a reading one."""
    words = [word.lower() for word in _WORDS.findall(tool)]
    return bool(words) and words[0] not in READING_WORDS and not DESTRUCTIVE_WORDS.isdisjoint(words)
