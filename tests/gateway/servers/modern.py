"""A server of the newest protocol revision: `stdio`, or `http PORT` on loopback."""

import os
import sys
import time
from typing import Annotated

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("modern", instructions="Add numbers.")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers; 99 is more than the server can bear."""
    if a == 99:
        os._exit(5)
    return a + b


class Sure(BaseModel):
    sure: bool
    reason: str = ""


def ask(what: str) -> Elicit[Sure]:
    return Elicit(f"Really remove {what}?", Sure)


def ask_twice(what: str, first: Annotated[Sure, Resolve(ask)]) -> Elicit[Sure]:
    return Elicit(f"Really, really ({first.reason})?", Sure)


@server.tool()
def remove(what: str, answer: Annotated[ElicitationResult[Sure], Resolve(ask)]) -> str:
    """Removes something after a person agreed."""
    return f"{answer.action} {answer.data.sure} {answer.data.reason}" if answer.action == "accept" else answer.action


@server.tool()
def remove_all(what: str, answer: Annotated[Sure, Resolve(ask_twice)]) -> str:
    """Removes everything after a person agreed twice."""
    return f"agreed twice: {answer.reason}"


@server.tool()
def wait(seconds: float) -> str:
    """Waits."""
    time.sleep(seconds)
    return "waited"


@server.tool()
def declared(context: Context) -> dict:
    """What the client said that it can do."""
    known = context.client_capabilities
    return known.model_dump(mode="json", by_alias=True, exclude_none=True) if known else {}


if sys.argv[1] == "stdio":
    server.run()
else:
    server.run("streamable-http", port=int(sys.argv[2]))
