"""Connections carried from the network of a trial to hosts that the spec lists, and to nowhere else.

Place in the pipeline: outside of the sandbox, in the process of the run. An HTTP proxy (`CONNECT`, and requests with a whole
URL) for programs that know proxies; for exact names also the bare connection. TLS goes through as it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from mcpeval_dsl.semantics.hosts import HostRule, plain

CONNECT_SECONDS = 30.0
HEAD_SECONDS = 30.0
LONGEST_HEAD = 65536
CHUNK = 65536
AT_ONCE = 128
REASONS = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}

Refused = Callable[[str, int], None]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Refusal(Exception):
    """Why there is no connection, with the HTTP status that says so."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Forwarder:
    """For one server, or for an environment's processes. `refused` is told of each host that no rule admits."""

    def __init__(self, rules: Sequence[HostRule], refused: Refused) -> None:
        self._rules = tuple(rules)
        self._refused = refused
        self._room = asyncio.Semaphore(AT_ONCE)

    async def proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a program that uses the proxy."""
        async with self._room:
            try:
                first, other = await self._asked(reader)
            except Refusal as refusal:
                await _say(writer, refusal)
                return
            except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
                await _say(writer, Refusal(400, "this is no request for a proxy"))
                return
            if first:
                other[1].write(first)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await carry((reader, writer), other)

    def straight(self, host: str, port: int) -> Handler:
        """A handler of connections that all go to one listed host."""

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async with self._room:
                try:
                    other = await self._open(host, port)
                except Refusal:
                    writer.transport.abort()
                    return
                await carry((reader, writer), other)

        return handle

    async def _asked(self, reader: asyncio.StreamReader) -> tuple[bytes, Streams]:
        """What to send on (nothing for CONNECT), and the connection to send it on. Raises Refusal and for bad heads."""
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        line, _, rest = head.partition(b"\r\n")
        method, target, version = line.decode("latin-1").split()
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            return b"", await self._open(host, int(port))
        url = urlsplit(target)
        if url.scheme != "http" or not url.hostname:
            raise Refusal(400, "a proxy is asked with CONNECT, or for a whole http:// URL")
        path = f"{url.path or '/'}{'?' if url.query else ''}{url.query}"
        # One request a connection: the next one may ask for another host.
        kept = [each for each in rest.split(b"\r\n") if each and not _hop(each)]
        lines = [f"{method} {path} {version}".encode("latin-1"), *kept, b"Connection: close"]
        return b"\r\n".join(lines) + b"\r\n\r\n", await self._open(url.hostname, url.port or 80)

    async def _open(self, host: str, port: int) -> Streams:
        """Raises Refusal for a host that is not listed, cannot be found or does not answer."""
        rule = next((rule for rule in self._rules if rule.admits(host, port)), None)
        if rule is None:
            self._refused(plain(host), port)
            listed = ", ".join(f"{rule.name}:{'/'.join(map(str, rule.ports))}" for rule in self._rules)
            raise Refusal(403, f"mcpe: {plain(host)}:{port} is not among the hosts that the spec lists: {listed}")
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                for address in await _addresses(plain(host), port, rule):
                    with contextlib.suppress(OSError):
                        return await asyncio.open_connection(address, port)
        except (OSError, TimeoutError):
            pass
        raise Refusal(502, f"mcpe: {plain(host)}:{port} is listed, but does not answer")


async def _addresses(host: str, port: int, rule: HostRule) -> tuple[str, ...]:
    """Where a listed host is. A name that only pretends to be elsewhere does not lead to this machine."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(each[4][0]) for each in found)
    if rule.loopback or plain(host) in texts:
        return tuple(texts)
    return tuple(text for text in texts if not _of_this_machine(text))


def _of_this_machine(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    address = address if mapped is None else mapped
    return address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast


def _hop(line: bytes) -> bool:
    return line.partition(b":")[0].strip().lower() in (b"connection", b"proxy-connection", b"proxy-authorization")


async def _say(writer: asyncio.StreamWriter, refusal: Refusal) -> None:
    body = f"{refusal.reason}\n".encode()
    head = f"HTTP/1.1 {refusal.status} {REASONS[refusal.status]}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    with contextlib.suppress(OSError):
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
    await _shut(writer)


async def carry(one: Streams, other: Streams) -> None:
    """Both ways, until both ends have said that they are done, or one breaks."""
    try:
        await asyncio.gather(_one_way(one[0], other[1]), _one_way(other[0], one[1]))
    except BaseException as problem:
        # Whatever still waits to be sent has nobody to read it.
        one[1].transport.abort()
        other[1].transport.abort()
        if not isinstance(problem, OSError):
            raise
    finally:
        await _shut(one[1])
        await _shut(other[1])


async def _one_way(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof() and not writer.is_closing():
        writer.write_eof()


async def _shut(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
