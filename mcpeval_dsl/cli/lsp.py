"""Command line: `mcpe lsp`, the language server, over standard input and output. Reads; starts nothing."""

from __future__ import annotations

import typer

HELP = """Be the language server of an editor, over standard input and output.

The editor starts it. What it looks at is checked as it is typed; nothing of it is started.

Example: mcpe lsp     (in Neovim: vim.lsp.start({ name = "mcpe", cmd = { "mcpe", "lsp" } }))
"""


def command(
    stdio: bool = typer.Option(True, "--stdio", help="The only way it speaks; editors like to say so.", hidden=True),
) -> None:
    import os
    import sys

    from mcpeval_dsl.cli import exits

    if sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109  # compared as text
        del sys.path[0]  # the workspace, where `python -m` looks for modules first: none of them is to be run
    try:
        from mcpeval_dsl.language_server.server import Server
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        way = 'pip install "mcpeval_dsl[lsp]", or ".[lsp]" in a clone'
        print(f"error: the language server is not installed: {way}", file=sys.stderr)
        raise typer.Exit(exits.SPEC) from None
    if os.isatty(0):
        print("mcpe lsp waits for what an editor sends; to end it: Ctrl-C", file=sys.stderr)
    output = os.dup(1)
    os.dup2(2, 1)  # what else is printed goes where editors keep logs, not between the messages
    sys.setswitchinterval(0.001)  # an analysis gives way to a request at once
    code = Server(traces=os.environ.get("MCPE_DEBUG") == "1").run(0, output)
    raise typer.Exit(code)
