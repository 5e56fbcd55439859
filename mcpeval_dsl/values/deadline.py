"""Values, reading over HTTP: connections that are broken off when their time is over.

The timeout of a socket is for one piece of an answer. A server that sends a byte now and then would never meet it.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.request import HTTPHandler, HTTPSHandler, Request


class Deadline:
    """The time that a whole exchange has. `over` once it was broken off."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._held: list[socket.socket] = []
        self._lock = threading.Lock()
        self.over = False

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        timer = threading.Timer(self._seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            with self._lock:
                for each in self._held:
                    each.close()
                self._held.clear()

    def hold(self, connected: socket.socket) -> None:
        """A second handle on the connection: the first one is given away when TLS begins."""
        with self._lock:
            self._held.append(connected.dup())
        if self.over:
            self._end()

    def _end(self) -> None:
        self.over = True
        with self._lock:
            for each in self._held:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def handlers(self) -> tuple[HTTPHandler, HTTPSHandler]:
        """For `urllib.request.build_opener`."""
        return _Handler(self), _SecureHandler(self)


class _Connection(http.client.HTTPConnection):
    """`deadline` is set before it connects."""

    deadline: Deadline

    def connect(self) -> None:
        super().connect()
        self.deadline.hold(self.sock)


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """Its TCP connection is made by the class above, so that the deadline holds for the handshake too."""


class _Handler(HTTPHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: Request) -> http.client.HTTPResponse:
        def made(host: str, **settings: Any) -> http.client.HTTPConnection:
            connection = _Connection(host, **settings)
            connection.deadline = self._deadline
            return connection

        return self.do_open(made, req)


class _SecureHandler(HTTPSHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: Request) -> http.client.HTTPResponse:
        def made(host: str, **settings: Any) -> http.client.HTTPConnection:
            connection = _SecureConnection(host, **settings)
            connection.deadline = self._deadline
            return connection

        return self.do_open(made, req)
