"""The typed suite: arms of a comparison, and what the agent has in each besides, or in place of, the servers."""

from __future__ import annotations

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import Entry, Expression
from mcpeval_dsl.source import Location

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
READING = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Route:
    """Requests that an API lets through: a method, and a glob over the path below the base URL."""

    method: str
    path: Expression


@dataclass(frozen=True, slots=True)
class Api:
    """One HTTP API below `url`. Without routes, every path may be read. `headers` go with each request, unseen by the agent."""

    url: Expression
    routes: tuple[Route, ...] = ()
    headers: tuple[Entry, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Arm:
    """What the agent has: servers (none unless named), programs of `shell`, one HTTP API. `timeout` (s) is per native call."""

    name: str
    servers: tuple[str, ...] = ()
    shell: tuple[str, ...] = ()
    api: Api | None = None
    about: Expression | None = None
    timeout: float = 30.0
    at: Location | None = None

    @property
    def bare(self) -> bool:
        """The agent has nothing at all but its own knowledge."""
        return not self.servers and not self.shell and self.api is None
