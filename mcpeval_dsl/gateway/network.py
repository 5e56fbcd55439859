"""The network of one trial: its own loopback, the ports that lead in, and the hosts that lead out.

Place in the pipeline: opened before a trial's processes where the spec lists hosts or the environment has ports; closed
after them. Without it a confined process has a loopback to itself and nothing else, which costs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcpeval_dsl.gateway.forwarding import Forwarder, Handler, carry
from mcpeval_dsl.gateway.sandbox import Link
from mcpeval_dsl.gateway.spaces import NetworkUnavailable, Space
from mcpeval_dsl.semantics.hosts import HostRule

HOSTS = Path("/etc/hosts")
LOOPBACK = ("127.0.0.1", "::1")
MOST_NAMES = 60
"""Names with an address of their own inside; further ones are reached through the proxy only."""

_bridged: set[int] = set()
"""Ports of this machine that lead into a trial of this process."""


@dataclass(frozen=True, slots=True)
class Refused:
    """`who` is a server's name, empty for what the environment started."""

    who: str
    host: str
    port: int


@dataclass(slots=True)
class _Plan:
    """What is to listen inside, and what happens to a connection there."""

    wanted: list[tuple[str, int]] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    proxies: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def listen(self, host: str, port: int, handler: Handler) -> int:
        self.wanted.append((host, port))
        self.handlers.append(handler)
        return len(self.wanted) - 1


class TrialNetwork:
    """`grants`: listed hosts by who may reach them; `ports`: what is served inside and reached from outside."""

    def __init__(self, grants: Mapping[str, Sequence[HostRule]], folder: Path) -> None:
        self._grants = dict(grants)
        self._folder = folder
        self._space: Space | None = None
        self._servers: list[asyncio.Server] = []
        self._held: list[int] = []
        self._carrying: set[asyncio.Future[None]] = set()
        self._links: dict[str, Link] = {}
        self.refused: list[Refused] = []

    async def open(self, program: str, ports: Iterable[int] = (), guessed: Iterable[int] = ()) -> None:
        """`guessed` ports lead in only where nothing outside has them already. Raises NetworkUnavailable."""
        plan = _Plan()
        inside = frozenset(ports)
        for who, rules in self._grants.items():
            self._listen_for(plan, who, rules, inside)
        # By this variable it is known as the trial's, should it have to be ended by somebody else.
        self._space = await Space.open(program, plan.wanted, {"TMPDIR": str(self._folder / "tmp")})
        try:
            await self._serve(plan)
            for port in sorted(inside):
                await self._lead_in(port)
            for port in sorted(set(guessed) - inside):
                await self._lead_in(port, needed=False)
        except BaseException:
            await self.close()
            raise

    async def open_outside(self, ports: Iterable[int] = ()) -> None:
        """Without a network of its own, as under Landlock: the proxies listen on this machine's loopback."""
        for who, rules in self._grants.items():
            open_ports = {*ports, *(rule.port for rule in rules if rule.loopback and rule.port is not None)}
            variables: tuple[tuple[str, str], ...] = ()
            if any(not rule.loopback for rule in rules):
                handler = self._kept(Forwarder(rules, self._note(who)).proxy)
                server = await asyncio.start_server(handler, "127.0.0.1", 0)
                self._servers.append(server)
                port = server.sockets[0].getsockname()[1]
                open_ports.add(port)
                variables = proxy_variables(port)
            self._links[who] = Link(listed=bool(rules), ports=tuple(sorted(open_ports)), variables=variables)

    def link(self, who: str) -> Link:
        """How a server (or with an empty name: the environment) is connected."""
        return self._links[who]

    async def answers(self, port: int) -> bool | None:
        """Whether something listens inside, at a port that leads in; None for any other."""
        if self._space is None or port not in self._held:
            return None
        try:
            (await self._space.connect(port)).close()
        except OSError:
            return False
        return True

    async def close(self) -> None:
        """Also of connections whose other end stays open: what the trial started is gone by now."""
        for server in self._servers:
            server.close()
        self._servers.clear()
        carrying = list(self._carrying)
        for each in carrying:
            each.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)
        _bridged.difference_update(self._held)
        self._held.clear()
        if self._space is not None:
            await self._space.close()
            self._space = None

    def _kept(self, handler: Handler) -> Handler:
        """The handler, ended with the network."""

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            carrying = asyncio.ensure_future(handler(reader, writer))
            self._carrying.add(carrying)
            try:
                await asyncio.wait({carrying})
            finally:
                self._carrying.discard(carrying)
                writer.close()

        return handle

    def _note(self, who: str) -> _Note:
        return _Note(self.refused, who)

    def _listen_for(self, plan: _Plan, who: str, rules: Sequence[HostRule], ports: frozenset[int]) -> None:
        forwarder = Forwarder(rules, self._note(who))
        if any(not rule.loopback for rule in rules):
            plan.proxies[who] = plan.listen("127.0.0.1", 0, forwarder.proxy)
        for rule in rules:
            for port in rule.ports:
                if rule.loopback and port not in ports:
                    for host in LOOPBACK:
                        plan.listen(host, port, forwarder.straight(rule.name, port))
                elif rule.named and (rule.name in plan.names or len(plan.names) < MOST_NAMES):
                    alias = plan.names.setdefault(rule.name, f"127.53.0.{len(plan.names) + 1}")
                    plan.listen(alias, port, forwarder.straight(rule.name, port))

    async def _serve(self, plan: _Plan) -> None:
        assert self._space is not None
        listeners = self._space.listeners
        for listener, handler in zip(listeners, plan.handlers, strict=False):
            if listener is not None:
                # The server gets a descriptor of its own, since it closes what it is given.
                self._servers.append(await asyncio.start_server(self._kept(handler), sock=listener.dup()))
        join = self._space.join()
        for who, rules in self._grants.items():
            index = plan.proxies.get(who)
            listener = listeners[index] if index is not None and index < len(listeners) else None
            variables = () if listener is None else proxy_variables(listener.getsockname()[1])
            hosts = self._hosts(plan, who, rules)
            self._links[who] = Link(listed=bool(rules), join=join, variables=variables, hosts=hosts)

    def _hosts(self, plan: _Plan, who: str, rules: Sequence[HostRule]) -> str:
        """A file of names for one of them; none where no name has an address inside."""
        lines = [f"{plan.names[rule.name]} {rule.name}" for rule in rules if rule.name in plan.names]
        if not lines or not HOSTS.is_file() or HOSTS.is_symlink():
            return ""
        path = self._folder / f"hosts-{who or 'environment'}"
        path.write_text("\n".join(["127.0.0.1 localhost", "::1 localhost", *dict.fromkeys(lines), ""]))
        return str(path)

    async def _lead_in(self, port: int, *, needed: bool = True) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self._space is None:
                writer.transport.abort()
                return
            try:
                other = await asyncio.open_connection(sock=await self._space.connect(port))
            except OSError:
                writer.transport.abort()
                return
            await carry((reader, writer), other)

        try:
            self._servers.append(await asyncio.start_server(self._kept(handle), "127.0.0.1", port))
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE and not needed and port not in _bridged:
                return
            words = "leads into another trial" if port in _bridged else "is taken"
            raise NetworkUnavailable(f"port {port} {words}; `port NAME` gives each trial one of its own") from problem
        with contextlib.suppress(OSError):
            self._servers.append(await asyncio.start_server(self._kept(handle), "::1", port, family=socket.AF_INET6))
        _bridged.add(port)
        self._held.append(port)


@dataclass(frozen=True, slots=True)
class _Note:
    """Told of what was refused; each host once for whoever asked."""

    refused: list[Refused]
    who: str

    def __call__(self, host: str, port: int) -> None:
        found = Refused(self.who, host, port)
        if len(self.refused) < 1000 and found not in self.refused:
            self.refused.append(found)


def proxy_variables(port: int) -> tuple[tuple[str, str], ...]:
    """As programs look for a proxy: both cases of the names, and Node's own switch."""
    url = f"http://127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    aside = "localhost,127.0.0.1,::1"
    return (
        *((name, url) for upper in names for name in (upper, upper.lower())),
        *(("NO_PROXY", aside), ("no_proxy", aside), ("NODE_USE_ENV_PROXY", "1")),
    )
