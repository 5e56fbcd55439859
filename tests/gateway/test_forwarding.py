"""The proxy that leads out of a trial's network: what it serves, what it refuses, and that nothing makes it fall."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest import mock

import pytest

from mcpeval_dsl.gateway import forwarding
from mcpeval_dsl.gateway.forwarding import Forwarder
from mcpeval_dsl.gateway.network import TrialNetwork
from mcpeval_dsl.semantics.hosts import rules_of

Asked = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


async def proxied(sent: bytes, *listed: str, answer: bytes = b"") -> tuple[bytes, bytes, list[tuple[str, int]]]:
    """What the proxy gave back, what the host behind it was sent, and what was refused."""
    got = asyncio.get_running_loop().create_future()

    async def host(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read(65536)
        writer.write(answer)
        writer.close()
        got.set_result(data)

    async with await asyncio.start_server(host, "127.0.0.1", 0) as behind:
        port = behind.sockets[0].getsockname()[1]
        refused: list[tuple[str, int]] = []
        forwarder = Forwarder(
            rules_of(each.replace("PORT", str(port)) for each in listed), lambda *at: refused.append(at)
        )
        async with await asyncio.start_server(forwarder.proxy, "127.0.0.1", 0) as proxy:
            reader, writer = await asyncio.open_connection(*proxy.sockets[0].getsockname())
            writer.write(sent.replace(b"PORT", str(port).encode()))
            if b"CONNECT" not in sent:
                writer.write_eof()
            head = await reader.readuntil(b"\r\n\r\n") if b"CONNECT" in sent else b""
            if b" 200 " in head:
                writer.write(b"secret words")
                writer.write_eof()
            said = head + await reader.read()
            writer.close()
        data = await asyncio.wait_for(got, 1) if not refused and b" 40" not in said[:16] else b""
    return said, data, refused


def test_a_tunnel_carries_bytes_both_ways() -> None:
    sent = b"CONNECT localhost:PORT HTTP/1.1\r\nHost: x\r\n\r\n"
    said, data, refused = asyncio.run(proxied(sent, "localhost:PORT", answer=b"\x00\xff answer"))
    assert said == b"HTTP/1.1 200 Connection established\r\n\r\n\x00\xff answer"
    assert data == b"secret words" and refused == []


def test_a_request_for_a_whole_url_is_sent_on_as_the_host_expects_it() -> None:
    sent = (
        b"POST http://localhost:PORT/a/b?c=d HTTP/1.1\r\nHost: localhost\r\nProxy-Authorization: Basic eA==\r\n"
        b"Proxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody"
    )
    said, data, _ = asyncio.run(proxied(sent, "localhost:PORT", answer=b"HTTP/1.1 204 No Content\r\n\r\n"))
    assert said.startswith(b"HTTP/1.1 204")
    assert data == b"POST /a/b?c=d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        (b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n", ("evil.example", 443)),
        (b"CONNECT localhost:1 HTTP/1.1\r\n\r\n", ("localhost", 1)),
        (b"CONNECT [::1]:PORT HTTP/1.1\r\n\r\n", None),
        (b"GET http://evil.example/ HTTP/1.1\r\n\r\n", ("evil.example", 80)),
        (b"GET http://localhost:PORT@evil.example/ HTTP/1.1\r\n\r\n", ("evil.example", 80)),
    ],
)
def test_what_is_not_listed_is_refused(sent: bytes, refused: tuple[str, int] | None) -> None:
    said, _, found = asyncio.run(proxied(sent, "localhost:PORT"))
    assert said.startswith(b"HTTP/1.1 403 ") and b"is not among the hosts" in said
    assert len(found) == 1 and (refused is None or found[0] == refused)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT localhost HTTP/1.1\r\n\r\n",
        b"CONNECT localhost:port HTTP/1.1\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\n\r\n",
        b"GET ftp://localhost/ HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"x" * 100_000,
        b"half a head",
    ],
)
def test_what_is_no_request_is_answered_too(sent: bytes) -> None:
    said, _, refused = asyncio.run(proxied(sent.replace(b"CONNECT", b"CONNECT"), "localhost:PORT"))
    assert said.startswith(b"HTTP/1.1 400 ") and refused == []


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "169.254.169.254", "fe80::1%eth0", "0.0.0.0", "::ffff:127.0.0.1"]
)
def test_a_name_does_not_lead_to_this_machine_or_its_neighbours(address: str) -> None:
    async def asked() -> tuple[str, ...]:
        found = [(2, 1, 6, "", (address, 443)), (2, 1, 6, "", ("192.0.2.7", 443))]
        with mock.patch.object(asyncio.get_running_loop(), "getaddrinfo", mock.AsyncMock(return_value=found)):
            return await forwarding._addresses("api.example.org", 443, rules_of(["api.example.org"])[0])

    assert asyncio.run(asked()) == ("192.0.2.7",)


def test_a_connection_that_nobody_ends_is_ended_with_the_network(tmp_path: Path) -> None:
    async def hanging(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        await ended.wait()
        writer.close()

    ended = asyncio.Event()

    async def closed() -> bool:
        async with await asyncio.start_server(hanging, "127.0.0.1", 0) as behind:
            port = behind.sockets[0].getsockname()[1]
            network = TrialNetwork({"": rules_of([f"localhost:{port}", "api.example.org"])}, tmp_path)
            await network.open_outside()
            proxy = dict(network.link("").variables)["HTTP_PROXY"].rpartition(":")[2]
            reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy))
            writer.write(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            async with asyncio.timeout(60):
                await network.close()
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
            writer.close()
            ended.set()
            await asyncio.sleep(0.05)
            return True

    assert asyncio.run(closed())
