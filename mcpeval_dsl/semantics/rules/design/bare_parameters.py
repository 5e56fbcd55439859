"""Rule: a parameter without a description is guessed at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.design.shown_tools import listed, shown

_SAYS = frozenset({"enum", "const", "$ref"})


def bare_parameters(lowered: Lowered) -> None:
    """Note, once for each locked server, parameters of its tools that have neither a description nor listed values."""
    for each in shown(lowered):
        bare = [
            f"{tool.name}.{name}"
            for tool in each.tools
            for name, schema in _properties(tool.input_schema)
            if not schema.get("description") and not _SAYS & schema.keys()
        ]
        if bare:
            lowered.ctx.problems.found.append(
                Diagnostic(
                    "MCPE379",
                    f"{len(bare)} parameter{'s' if len(bare) != 1 else ''} of `{each.server.name}` "
                    f"{'have' if len(bare) != 1 else 'has'} no description: {listed(bare)}",
                    each.server.at,
                    "Agents know of a parameter what its schema says. This is for the server's authors to mend.",
                    "describe them in the server, with an example of a value, and lock again",
                    "note",
                )
            )


def _properties(schema: Mapping[str, Any] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Top-level properties, as far as a server's schema is one."""
    fields = (schema or {}).get("properties")
    if isinstance(fields, Mapping):
        yield from ((name, each) for name, each in fields.items() if isinstance(each, Mapping))
