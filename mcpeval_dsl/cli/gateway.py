"""Command line: `mcpe gateway`, which a foreign host starts as its MCP server. Standard output is protocol only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mcpeval_dsl.cli import exits

HELP = """Be the MCP server of a host outside, for one trial: its calls pass the same door as any, in the run that wrote the file.

The run must still be there. What this command has to say goes to standard error.

Example: mcpe gateway --config trial.json
"""


def command(
    config: Annotated[Path, typer.Option(help="The control file of the trial, as the run wrote it.")],
    port: Annotated[
        int,
        typer.Option(
            "--http", help="Serve HTTP on this port of 127.0.0.1 (0: a free one) instead of stdio.", show_default=False
        ),
    ] = -1,
) -> None:
    from mcpeval_dsl.gateway.control import BadControl, read_control
    from mcpeval_dsl.gateway.relay import relay

    try:
        control = read_control(config)
    except OSError as problem:
        raise typer.BadParameter(f"{config} cannot be read: {problem.strerror}") from problem
    except BadControl as problem:
        raise typer.BadParameter(f"{config} is no control file: {problem}") from problem
    try:
        relay(control, None if port < 0 else port)
    except OSError as problem:
        trial = f" of the trial {control.trial}" if control.trial else ""
        print(f"error: the run{trial} no longer listens ({problem.strerror or problem})", file=sys.stderr)
        raise typer.Exit(exits.INCOMPLETE) from problem
