"""Rule: a prompt that names a tool takes away the choice that is tested."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.expressions import AnyPattern, CallPattern, Combined, Expression, Literal, Template
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.task_parts import expectations_of, prompts_of

_COMPOUND = re.compile(r"[a-z0-9][_./-][a-z0-9]|[a-z][A-Z]")
_WORD = re.compile(r"[A-Za-z0-9]+(?:[_./-][A-Za-z0-9]+)*")


def spoken_tools(lowered: Lowered) -> None:
    """Warn once for each task whose prompt contains a tool's name (compound names only: `search` is a word too)."""
    tools = {name for name in _tools(lowered) if _COMPOUND.search(name)}
    if not tools:
        return
    for entry in lowered.parts.tasks:
        texts = [_text(prompt) for prompt in prompts_of(entry.task)]
        spoken = next((word for text in texts for word in _WORD.findall(text) if word in tools), None)
        if spoken is not None:
            lowered.ctx.problems.found.append(
                Diagnostic(
                    "MCPE309",
                    f"the prompt of `{entry.task.name}` names the tool `{spoken}`",
                    entry.span.location(),
                    "Choosing the tool is part of what is tested.",
                    "say what is wanted, not how to get it",
                    "warning",
                )
            )


def _text(prompt: Expression) -> str:
    text = prompt.text if isinstance(prompt, Template) else prompt.value if isinstance(prompt, Literal) else ""
    return text if isinstance(text, str) else ""


def _tools(lowered: Lowered) -> Iterator[str]:
    for server in lowered.ctx.known.values():
        yield from server.tools
    for catalogue in lowered.suite.catalogues:
        for annotation in catalogue.annotations:
            yield from (p.tool for p in annotation.patterns if "*" not in p.tool)
    for task in lowered.suite.tasks:
        yield from _named((*expectations_of(task), *task.may, *(n.pattern for n in task.never)))


def _named(patterns: Iterable[AnyPattern]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, CallPattern) and pattern.tool_from is None and "*" not in pattern.tool:
            yield pattern.tool
        elif isinstance(pattern, Combined):
            yield from _named(pattern.patterns)
