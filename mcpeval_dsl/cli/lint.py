"""Command line: `mcpe lint`, the static command. Reads specs, what they import and their locks; starts nothing."""

from __future__ import annotations

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import Format

HELP = """Find mistakes in specs without starting anything.

Without arguments the project's specs are read, with what they import. Exit code 2 for errors, 1 for warnings
with --strict, else 0.

Example: mcpe lint specs/tracker.mcpe --format github
"""


def command(
    specs: list[str] | None = typer.Argument(None, help="Specs, or folders with specs.", metavar="[SPEC]..."),
    form: Format = typer.Option("text", "--format", help="How findings are shown."),
    strict: bool = typer.Option(False, "--strict", help="Warnings are findings too: exit code 1."),
) -> None:
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.cli.specs import load
    from mcpeval_dsl.diagnostics.ordering import count

    loaded = load(specs or ())
    show(loaded.diagnostics, loaded.sources, form)
    numbers = count(loaded.diagnostics)
    if numbers["error"]:
        raise typer.Exit(exits.SPEC)
    if numbers["warning"] and strict:
        raise typer.Exit(exits.FINDINGS)
