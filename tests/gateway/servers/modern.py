"""A server of the newest protocol revision: `stdio`, or `http PORT` on loopback."""

import os
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("modern", instructions="Add numbers.")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers; 99 is more than the server can bear."""
    if a == 99:
        os._exit(5)
    return a + b


if sys.argv[1] == "stdio":
    server.run()
else:
    server.run("streamable-http", port=int(sys.argv[2]))
