"""What the network of one trial comes to: the spec's lists, the environment's ports and the operator's word.

Place in the pipeline: opened by a world before anything of it starts; a trial without lists and ports needs nothing.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcpeval_dsl.execute.startables import inside
from mcpeval_dsl.gateway.model import Violation
from mcpeval_dsl.gateway.network import Refused, TrialNetwork
from mcpeval_dsl.gateway.sandbox import CLOSED, OPEN, Link, Sandbox
from mcpeval_dsl.gateway.spaces import unfiltered
from mcpeval_dsl.semantics.expressions import PortStep, ReadyStep, StartStep
from mcpeval_dsl.semantics.hosts import EVERYTHING, is_loopback, plain, rules_of
from mcpeval_dsl.semantics.model import Environment, Server, Task
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope

_ADDRESS = re.compile(r"(?:[a-z]+://)?(?P<host>\[[^\]]+\]|[^/:@\s]+):(?P<port>[0-9]{1,5})(?:[/?#].*)?", re.IGNORECASE)
ENVIRONMENT = ""
"""Who asks, where it is no server."""


@dataclass(slots=True)
class Networking:
    """Of one world. `links` by server, and for everything else under the empty name."""

    sandbox: Sandbox
    links: Mapping[str, Link] = field(default_factory=dict)
    network: TrialNetwork | None = None

    def sandbox_of(self, who: str = ENVIRONMENT) -> Sandbox:
        return replace(self.sandbox, link=self.links.get(who, CLOSED))

    @property
    def label(self) -> str:
        """As record and scorecard name it: the sandbox, and the most that anything in the trial may reach."""
        kind = self.sandbox.kind
        found = {word for link in self.links.values() for word in [_word(link, kind)]}
        if not self.sandbox.filters or "open" in found:
            return f"{kind}, network open"
        over = " over TCP" if kind == "landlock" else ""
        return f"{kind}, listed hosts{over}" if "listed" in found else f"{kind}, no {'TCP' if over else 'network'}"

    @property
    def refused(self) -> tuple[Refused, ...]:
        return () if self.network is None else tuple(self.network.refused)

    async def answers(self, port: int) -> bool | None:
        """Whether something listens at a port that leads into the trial; None for any other."""
        return None if self.network is None else await self.network.answers(port)

    async def close(self) -> None:
        if self.network is not None:
            await self.network.close()


def _word(link: Link, kind: str) -> str:
    if link.open:
        return "open"
    return "listed" if link.listed else "closed"


def violations_of(refused: Iterable[Refused]) -> Iterator[Violation]:
    """A server that asked for a host beyond its list; what the author's own environment asks for is only told."""
    for each in refused:
        if each.who != ENVIRONMENT:
            where = f"{each.who}: the host {each.host}:{each.port}, which `network` does not list"
            yield Violation("scope_escape", "major", ("attempted", "blocked"), detail=where)


def findings_of(refused: Iterable[Refused]) -> Iterator[str]:
    for each in refused:
        if each.who == ENVIRONMENT:
            yield f"the environment asked for {each.host}:{each.port}, which `network` does not list"


def lists_of(environment: Environment | None, servers: Iterable[Server]) -> dict[str, tuple[str, ...]]:
    """What the spec lists, by who may reach it: an environment's hosts are for its servers too."""
    shared = () if environment is None else environment.network
    own = {server.name: (*shared, *server.network) for server in servers if server.url is None}
    return {ENVIRONMENT: shared, **own}


def names_listed(environment: Environment | None, servers: Iterable[Server]) -> frozenset[str]:
    """Hosts of all lists without masks and ports: what a server may reach, an agent may name."""
    texts = [text for listed in lists_of(environment, servers).values() for text in listed]
    names = {rule.name.removeprefix("*.") for rule in rules_of(texts)}
    return frozenset(names | ({"localhost", "127.0.0.1", "::1"} if any(map(is_loopback, names)) else set()))


async def opened(
    sandbox: Sandbox,
    environment: Environment | None,
    servers: Sequence[Server],
    folder: Path,
    scope: Scope,
    *,
    ports: Iterable[int] = (),
    tasks: Iterable[Task] = (),
) -> Networking:
    """The network of a trial that is about to start; `tasks` are those that may be tried in the environment.

    Raises NetworkUnavailable where a port cannot be led into it.
    """
    lists = lists_of(environment, servers)
    if not sandbox.filters or sandbox.network:
        return Networking(sandbox, dict.fromkeys(lists, OPEN))
    if sandbox.network is False:
        lists = dict.fromkeys(lists, ())
    together = _together(tasks, environment)
    free = {who for who, texts in lists.items() if EVERYTHING in texts}
    closed = {who for who, texts in lists.items() if who not in free and not together and not texts}
    wanted = {who: rules_of(texts) for who, texts in lists.items() if who not in free | closed}
    links = {**dict.fromkeys(free, OPEN), **dict.fromkeys(closed, CLOSED)}
    if not wanted:
        return Networking(sandbox, links)
    network = TrialNetwork(wanted, folder)
    guessed = _named(environment, servers, scope) if together else ()
    if sandbox.kind == "landlock":
        await network.open_outside({*ports, *guessed})
    elif unfiltered(sandbox.program) is not None:
        return Networking(sandbox, {**links, **dict.fromkeys(wanted, OPEN)})
    else:
        await network.open(sandbox.program, ports, guessed)
    return Networking(sandbox, {**links, **{who: network.link(who) for who in wanted}}, network)


def _together(tasks: Iterable[Task], environment: Environment | None) -> bool:
    """Whether processes of a trial reach each other, or are reached from outside, over the network."""
    name = None if environment is None else environment.name
    setups = [task.setup for task in tasks if task.environment == name]
    parts = (() if environment is None else environment.steps, setups)
    return any(isinstance(node, StartStep | PortStep | ReadyStep) for node in inside(parts))


def _named(environment: Environment | None, servers: Sequence[Server], scope: Scope) -> frozenset[int]:
    """Ports of this machine that are written out where something is waited for, or where a server is to be found."""
    steps = () if environment is None else environment.steps
    texts = [step.target for step in inside(steps) if isinstance(step, ReadyStep) and step.probe != "exists"]
    texts += [server.url for server in servers if server.url is not None]
    found: set[int] = set()
    for text in texts:
        try:
            match = _ADDRESS.fullmatch(str(evaluate(text, scope)))
        except EvaluationError:
            continue
        if match is not None and is_loopback(plain(match["host"])) and 0 < int(match["port"]) < 65536:
            found.add(int(match["port"]))
    return frozenset(found)


@asynccontextmanager
async def granted(sandbox: Sandbox, environment: Environment | None, folder: Path) -> AsyncIterator[Sandbox]:
    """For what runs after a trial, when its processes are gone: the environment's hosts, and no ports."""
    bare = None if environment is None else replace(environment, steps=())
    network = await opened(sandbox, bare, (), folder, Scope({}))
    try:
        yield network.sandbox_of()
    finally:
        await network.close()
