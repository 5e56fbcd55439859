"""Command line: `mcpe explain CODE`, the rule behind a diagnostic with a bad and a good example."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.diagnostics.registry import CodeInfo

HELP = """Say more about a diagnostic's code: its rule, a bad and a good example.

Example: mcpe explain MCPE115
"""


def command(
    code: str = typer.Argument("", help="The code, as shown in brackets; without one, all are listed."),
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.diagnostics import registry

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    if not code:
        if form == "json":
            _print_lines(registry.all_codes())
            return
        for entry in registry.all_codes():
            print(f"{entry.code}  {entry.title}")
        return
    found = registry.info(code)
    if found is None:
        from mcpeval_dsl.diagnostics.suggestions import closest

        near = closest(code.upper(), [entry.code for entry in registry.all_codes()])
        advice = f"did you mean {near}?" if near else "mcpe explain lists all codes"
        print(f"error: there is no code `{code}`: {advice}", file=sys.stderr)
        raise typer.Exit(exits.SPEC)
    if form == "json":
        _print_lines([found])
        return
    print(f"{found.code}: {found.title}\n\n{found.explanation}\n")
    print(f"Bad:\n{_indented(found.bad)}\n\nGood:\n{_indented(found.good)}")


def _print_lines(entries: Iterable[CodeInfo]) -> None:
    print(json.dumps({"type": "version", "format": "mcpe.explain", "version": 1}))
    for entry in entries:
        print(json.dumps({"type": "code", **asdict(entry)}, ensure_ascii=False))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip("\n").split("\n"))
