"""Command line: `mcpe lint`, the static command. Reads specs, what they import and their locks; starts nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import Format

if TYPE_CHECKING:
    from mcpeval_dsl.cli.fixing import Fixed
    from mcpeval_dsl.cli.linting import Found

HELP = """Find mistakes in specs, and what makes them measure badly, without starting anything.

Without arguments the project's specs are read, with what they import. Exit code 2 for errors, 1 for warnings
with --strict, else 0. Advice is noted by number; --notes lists it.

Example: mcpe lint specs/tracker.mcpe --format github
"""
CODES = "Codes or their beginnings, with commas: MCPE36,MCPE380."


def command(
    specs: Annotated[
        list[str] | None, typer.Argument(help="Specs, or folders with specs.", metavar="[SPEC]...")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How findings are shown.")] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are findings too: exit code 1.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="List the notes too.")] = False,
    select: Annotated[list[str] | None, typer.Option(help=f"Only these warnings and notes. {CODES}")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help=f"Not these warnings and notes. {CODES}")] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended without a doubt.")] = False,
    unsafe: Annotated[bool, typer.Option("--unsafe-fixes", help="With --fix: make what is only likely too.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and write nothing.")] = False,
) -> None:
    from mcpeval_dsl.cli import linting

    if unsafe and not (fix or diff):
        raise typer.BadParameter("--unsafe-fixes goes with --fix or --diff")
    wanted = linting.Wanted(tuple(specs or ()), _codes("--select", select), _codes("--ignore", ignore))
    if not (fix or diff):
        _end(linting.look(wanted), form, notes or bool(select), strict)
    from mcpeval_dsl.cli import fixing

    fixed = fixing.fix(wanted, unsafe)
    if diff:
        sys.stdout.writelines(fixing.differences(fixed))
        if not fixed.after:
            for line in ("nothing to mend", *_mendable(fixed.found)):
                print(line, file=sys.stderr)
        raise typer.Exit(exits.FINDINGS if fixed.after else exits.CLEAN)
    _write(fixed)
    _end(fixed.found, form, notes or bool(select), strict)


def _write(fixed: Fixed) -> None:
    from mcpeval_dsl.cli import fixing

    failed = fixing.write(fixed)
    for line in failed:
        print(f"error: {line}", file=sys.stderr)
    if failed:
        raise typer.Exit(exits.SPEC)
    if fixed.made:
        many, files = fixed.made != 1, len(fixed.after)
        print(f"mended {fixed.made} finding{'s' * many} in {files} file{'s' * (files != 1)}", file=sys.stderr)


def _end(found: Found, form: Format, notes: bool, strict: bool) -> None:
    """Shows what was found, and exits by it."""
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.diagnostics.ordering import count

    show(found.diagnostics, found.specs.sources, form, notes=notes or found.notes)
    if form == "text":
        for line in _mendable(found):
            print(line)
    numbers = count(found.diagnostics)
    if numbers["error"]:
        raise typer.Exit(exits.SPEC)
    raise typer.Exit(exits.FINDINGS if numbers["warning"] and strict else exits.CLEAN)


def _mendable(found: Found) -> list[str]:
    """What each way to mend would do, a line each."""
    safe = sum(any(each.safe for each in diagnostic.fixes) for diagnostic in found.diagnostics)
    likely = sum(bool(diagnostic.fixes) for diagnostic in found.diagnostics) - safe
    lines = [f"mcpe lint --fix mends {safe} finding{'s' * (safe != 1)}"] if safe else []
    more = f"{likely} more" if safe else f"{likely} finding{'s' * (likely != 1)}"
    return [*lines, f"mcpe lint --fix --unsafe-fixes makes the likeliest guess for {more}"] if likely else lines


def _codes(option: str, given: list[str] | None) -> tuple[str, ...]:
    codes = [code for each in given or () for code in each.replace(",", " ").split()]
    if codes:
        from mcpeval_dsl.project.lint_settings import unknown

        wrong = unknown(codes)
        if wrong is not None:
            raise typer.BadParameter(f"{option}: there is no code `{wrong[0]}`: {wrong[1]}")
    return tuple(code.upper() for code in codes)
