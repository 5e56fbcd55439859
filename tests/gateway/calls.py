"""Short words for call patterns, annotations and tools in the tests of permission."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.semantics.expressions import ArgumentPattern, CallPattern, Literal, Pattern, Ref
from mcpeval_dsl.semantics.model import Annotation, Catalogue


def pattern(tool: str, server: str | None = None, **arguments: Any) -> CallPattern:
    """`pattern("get_*", key="A-1")`; a text in slashes is a regular expression, one after `$` a name."""
    return CallPattern(tool, server, tuple(_argument(name, value) for name, value in arguments.items()))


def _argument(name: str, value: Any) -> ArgumentPattern:
    if isinstance(value, str) and value.startswith("/") and value.endswith("/"):
        return ArgumentPattern(name, "~", Pattern(value[1:-1], "i"))
    if isinstance(value, str) and value.startswith("$"):
        return ArgumentPattern(name, "==", Ref((value[1:],)))
    return ArgumentPattern(name, "==", Literal(value))


def catalogue(*lines: tuple[Any, ...], name: str = "tracker", trust_hints: bool = False) -> Catalogue:
    """Lines are (effect, pattern, …) with an optional severity after the effect's colon: `destructive:minor`."""
    annotations = []
    for effect, *patterns in lines:
        word, _, severity = effect.partition(":")
        annotations.append(Annotation(word, tuple(patterns), severity or None))
    return Catalogue(name, tuple(annotations), trust_hints)


def defined(name: str, server: str = "tracker", **annotations: Any) -> ToolDefinition:
    """A tool with hints and nothing else."""
    return ToolDefinition(server, name, annotations=annotations)
