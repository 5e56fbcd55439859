"""Command line: `mcpe gateway`, which a foreign host starts as its MCP server. Standard output is protocol only."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.gateway.control import Control

HELP = """Be the MCP server of a host outside, for one trial: its calls pass the same checks, and are recorded, as any.

The run writes the control file and reads the records back from the spool that it names. What it says goes to standard error.

Example: mcpe gateway --config trial.json
"""


def command(
    config: Annotated[Path, typer.Option(help="The control file of the trial, as the run wrote it.")],
    port: Annotated[
        int, typer.Option("--http", help="Serve HTTP on this port of 127.0.0.1 (0: a free one) instead of stdio.")
    ] = -1,
) -> None:
    from mcpeval_dsl.gateway.control import BadControl, read_control

    try:
        control = read_control(config)
    except OSError as problem:
        raise typer.BadParameter(f"{config} cannot be read: {problem.strerror}") from problem
    except BadControl as problem:
        raise typer.BadParameter(f"{config} is no control file: {problem}") from problem
    raise typer.Exit(_serve(control, port))


def _serve(control: Control, port: int) -> int:
    import asyncio
    import signal

    from mcpeval_dsl.execute import watchdog

    if control.folder is not None:
        watchdog.watch(Path(control.folder))

    async def until_told() -> None:
        from mcpeval_dsl.gateway import proxy

        work = asyncio.create_task(proxy.serve_stdio(control) if port < 0 else _http(control, port), name="gateway")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await work

    try:
        asyncio.run(until_told())
    except OSError as problem:
        print(f"error: {problem.strerror or problem}: {control.spool}", file=sys.stderr)
        return exits.DISK
    return exits.CLEAN


async def _http(control: Control, port: int) -> None:
    from mcpeval_dsl.gateway.proxy_http import serve_http

    await serve_http(control, port)
