"""The typed suite: what makes a version of a server, once for a run, before anything of it is started."""

from __future__ import annotations

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import RunStep
from mcpeval_dsl.source import Location


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files of one commit of the repository that holds the spec; `ref` is a commit, tag or branch."""

    ref: str
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Preparation:
    """In the folder `prepared` of the server, empty at first: the files of `checkout`, then the commands, in order.

    `network` are the hosts that the commands may reach.
    """

    checkout: Checkout | None = None
    steps: tuple[RunStep, ...] = ()
    network: tuple[str, ...] = ()
    at: Location | None = None
