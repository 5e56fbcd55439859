"""Command line, shared: diagnostics shown in the format that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Literal, TextIO, TypeAlias

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.ordering import ordered
from mcpeval_dsl.source import SourceFile

Format: TypeAlias = Literal["text", "json", "github", "sarif"]


def show(
    diagnostics: Iterable[Diagnostic],
    sources: Mapping[str, SourceFile],
    form: Format = "text",
    stream: TextIO | None = None,
) -> None:
    """Print all diagnostics, in order and each once. `sources` are the texts to quote from, by path."""
    stream = sys.stdout if stream is None else stream
    shown = ordered(diagnostics)
    if form == "json":
        from mcpeval_dsl.diagnostics.render import json_lines

        stream.write(json_lines.render_all(shown))
    elif form == "github":
        from mcpeval_dsl.diagnostics.render import github

        stream.write(github.render_all(shown))
    elif form == "sarif":
        from mcpeval_dsl.diagnostics.render import sarif

        stream.write(sarif.render_all(shown))
    else:
        from mcpeval_dsl.diagnostics.render import text

        stream.write(text.render_all(shown, sources.get, colour=text.wants_colour(stream)))
