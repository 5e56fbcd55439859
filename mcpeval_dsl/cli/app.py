"""Command line, after the entry: finds the command, imports only its module, and turns wrong usage into exit code 2.

A command is a module of this package with a function `command`, annotated for typer; it imports the rooms it uses inside
that function and ends with `raise typer.Exit(code)` or returns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer
from typer.core import TyperGroup

from mcpeval_dsl import __version__
from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.commands import COMMANDS

EPILOG = "mcpe compile && mcpe run is the whole daily use. mcpe COMMAND --help has an example of each."


class LazyGroup(TyperGroup):
    """Commands by name, imported when asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return available()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS or cmd_name not in available():
            return None
        module = import_module(f"mcpeval_dsl.cli.{COMMANDS[cmd_name].module}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        single.command(name=cmd_name, help=getattr(module, "HELP", None))(module.command)
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if not name.startswith("-") and name not in available():
            from mcpeval_dsl.diagnostics.suggestions import closest

            near = closest(name, available())
            advice = f"did you mean `mcpe {near}`?" if near else "mcpe --help lists them all"
            raise typer.TyperException(f"there is no command `{name}`: {advice}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].summary) for name in available()])


def available() -> list[str]:
    """Names of the commands whose module is there."""
    return [name for name, entry in COMMANDS.items() if find_spec(f"mcpeval_dsl.cli.{entry.module}") is not None]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"mcpe {__version__}")
        raise typer.Exit(exits.CLEAN)


def _root(
    version: bool = typer.Option(False, "--version", "-V", help="Say the version.", callback=_version, is_eager=True),
) -> None:
    """The compiler for MCP evaluations."""


def run(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` name. Exceptions other than usage errors pass through."""
    app = typer.Typer(
        cls=LazyGroup, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, epilog=EPILOG
    )
    app.callback()(_root)
    group = typer.main.get_command(app)
    try:
        # not group.main: it would turn a closed pipe into exit code 1, which means findings here
        with group.make_context("mcpe", list(arguments) or ["--help"]) as context:
            result = group.invoke(context)
    except typer.Abort:
        return exits.INTERRUPTED
    except typer.Exit as stop:
        return stop.exit_code
    except typer.TyperException as wrong:
        print(f"error: {wrong.format_message()}{_way_out(wrong)}", file=sys.stderr)
        return exits.SPEC
    return result if isinstance(result, int) else exits.CLEAN


def _way_out(wrong: typer.TyperException) -> str:
    """Where a command's words are listed, for the messages of typer, which do not say it. Ours name a way themselves."""
    said, context = wrong.format_message(), getattr(wrong, "ctx", None)
    if context is None or not said.startswith(("Missing ", "No such option", "Got unexpected", "Invalid value for ")):
        return ""
    return f"{'' if said.endswith('.') else '.'} See `{context.command_path} --help`."
