"""Command line, behind `mcpe view --serve`: the page of one run on loopback, also while the run goes on. It only reads.

Three things keep others out: it listens on loopback only, it answers only when the Host header names it (a page elsewhere
that had its own name point here would send that name), and every address begins with a token that nobody can guess.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from mcpeval_dsl.cli.stored import StoredRun

HTML, JSON = "text/html; charset=utf-8", "application/json; charset=utf-8"
_BREATHS = 4.0
"""A scorecard that took a second to make is made again after four seconds at the earliest."""


@dataclass(slots=True)
class Watched:
    """A run as it stands now, made again when its ledger has changed."""

    run: StoredRun
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _written: float = -1.0
    _made: float = 0.0
    _took: float = 0.0
    _version: int = 0
    _page: bytes = b""
    _data: bytes = b""

    def version(self) -> int:
        with self._lock:
            self._look()
            return self._version

    def page(self) -> bytes:
        with self._lock:
            self._look()
            return self._page

    def data(self) -> bytes:
        with self._lock:
            self._look()
            return self._data

    def trial(self, id_: str) -> bytes | None:
        """One transcript; None where there is no such trial on record. Raises DamagedRecord and StoreError."""
        from mcpeval_dsl.report.html.packing import plain
        from mcpeval_dsl.report.html.telling import told

        record = self.run.reader.record(id_)
        return None if record is None else plain(told(record)).encode()

    def _look(self) -> None:
        from mcpeval_dsl.cli import reporting, scoring
        from mcpeval_dsl.records.folder import last_written
        from mcpeval_dsl.report.html.packing import plain
        from mcpeval_dsl.report.html.page import render

        written, now = last_written(self.run.reader.folder), time.monotonic()
        if written == self._written or (self._version and now - self._made < _BREATHS * self._took):
            return
        content = reporting.content(self.run, scoring.score(self.run), live=True)
        self._page, self._data = render(content).encode("utf-8", "replace"), plain(content.data).encode()
        self._written, self._version = written, self._version + 1
        self._made = time.monotonic()
        self._took = self._made - now


class Server(ThreadingHTTPServer):
    """On a free port of loopback. `url` is the only address that it answers under."""

    daemon_threads = True

    def __init__(self, watched: Watched) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.watched = watched
        self.token = secrets.token_urlsafe(18)
        port = self.server_address[1]
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self.url = f"http://127.0.0.1:{port}/{self.token}/"


def serve(run: StoredRun) -> None:
    """Until somebody ends it."""
    server = Server(Watched(run))
    print(server.url, flush=True)
    print("Ctrl-C ends it.", file=sys.stderr)
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "mcpe"
    sys_version = ""

    def do_GET(self) -> None:
        if not self._asked_by_us():
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        path, _, query = self.path.partition("?")
        token, _, name = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        try:
            self._answer(name, parse_qs(query))
        except (BrokenPipeError, ConnectionResetError):
            return
        except Exception as error:  # one request's trouble, such as a damaged record, ends no server
            print(f"cannot show {name or 'the page'}: {' '.join(str(error).split())}", file=sys.stderr)
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _asked_by_us(self) -> bool:
        site = self.headers.get("Sec-Fetch-Site", "none")
        return self.headers.get("Host", "") in self.server.hosts and site in ("none", "same-origin")

    def _answer(self, name: str, query: dict[str, list[str]]) -> None:
        watched = self.server.watched
        if name == "":
            self._send(watched.page(), HTML)
        elif name == "state":
            self._send(f'{{"version":{watched.version()}}}'.encode(), JSON)
        elif name == "data":
            self._send(watched.data(), JSON)
        elif name == "trial" and (found := watched.trial(query.get("id", [""])[0])) is not None:
            self._send(found, JSON)
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def _send(self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        from mcpeval_dsl.report.html.page import policy

        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": f"{policy(live=True)}; frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._send(f"{status.value} {status.phrase}\n".encode(), "text/plain; charset=utf-8", status)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are nobody's business."""
