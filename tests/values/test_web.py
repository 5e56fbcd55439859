"""One request over HTTP: every answer is a value or a sentence, whatever the server does, and in time."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from mcpeval_dsl.values.model import Reading
from mcpeval_dsl.values.web import read_http


@contextlib.contextmanager
def answering(*pieces: bytes, every: float = 0.0, last: bool = True) -> Iterator[str]:
    """A server that sends these pieces; without `last` it goes on sending the last one."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                for piece in pieces:
                    connection.sendall(piece)
                while not last:
                    time.sleep(every)
                    connection.sendall(pieces[-1])

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread.join(5)


def read(url: str, seconds: float = 5.0, headers: dict[str, str] | None = None) -> Reading:
    return read_http("GET", url, None, headers or {}, None, frozenset(), seconds, 1000)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"garbage\r\n\r\n", "garbage"),
        (b"HTTP/1.1 99999 OK\r\n\r\n", "99999"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70000 + b"\r\n\r\n", "header line"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"\r\n", "100 headers"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", "97 bytes more"),
        (b"HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nabc", "97 bytes more"),
        (b"", "closed connection"),
    ],
)
def test_what_is_no_answer_is_a_sentence(answer: bytes, said: str) -> None:
    with answering(answer) as url:
        found = read(url)
    assert found.error is not None and "does not answer: " in found.error and said in found.error


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"HTTP/1.1 200 OK\r\n\r\nok"])
def test_a_whole_answer_is_a_value(answer: bytes) -> None:
    with answering(answer) as url:
        assert read(url).text == "ok"


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "], ids=["body", "head"])
def test_a_byte_now_and_then_does_not_hold_a_reading_longer_than_its_time(start: bytes) -> None:
    with answering(start, b"x", every=0.1, last=False) as url:
        found = read(url, seconds=0.5)
    assert found.error is not None and "in full within 0.5 s" in found.error


@pytest.mark.parametrize("url", ["http://127.0.0.1:x/", "http://127.0.0.1:1/a b", "http://127.0.0.1:1/\n"])
def test_an_address_that_cannot_be_asked_is_a_sentence(url: str) -> None:
    assert read(url).error


def test_a_header_cannot_bring_another_one() -> None:
    with answering(b"HTTP/1.1 200 OK\r\n\r\nok") as url:
        found = read(url, headers={"X-Name": "a\r\nX-Other: b"})
    assert found.error is not None and "Invalid header value" in found.error
