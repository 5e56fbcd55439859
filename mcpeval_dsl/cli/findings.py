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
    notes: bool = True,
) -> None:
    """Print all diagnostics, in order and each once. `sources` are the texts to quote from, by path.

    Without `notes`, people (text, github) get their number by code; programs get them all the same.
    """
    stream = sys.stdout if stream is None else stream
    shown = ordered(diagnostics)
    counted = [] if notes or form in ("json", "sarif") else [each for each in shown if each.severity == "note"]
    if counted:
        shown = [each for each in shown if each.severity != "note"]
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
        if counted:
            stream.write(("\n" if shown else "") + _counted(counted))


def _counted(notes: list[Diagnostic]) -> str:
    """The most frequent first, six or seven of them with their titles."""
    from collections import Counter

    from mcpeval_dsl.diagnostics import registry

    codes = Counter(note.code for note in notes).most_common()
    lines = [f"{len(notes)} note{'s' if len(notes) != 1 else ''} on the design (mcpe lint --notes lists them):"]
    width = len(str(codes[0][1]))
    shown = 6 if len(codes) > 7 else 7  # the line that tells of one more code has room for it
    for code, number in codes[:shown]:
        lines.append(f"  {number:>{width}} × {code}  {registry.titles().get(code, '')}".rstrip())
    if len(codes) > shown:
        lines.append(f"  and {sum(number for _, number in codes[shown:])} of {len(codes) - shown} other codes")
    return "\n".join(lines) + "\n"
