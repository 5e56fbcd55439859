"""A small client that drives the real `mcpe lsp` process over its standard input and output."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ENTRY = "import sys; from mcpeval_dsl.cli.main import main; sys.exit(main(['lsp']))"
CAPABILITIES: dict[str, Any] = {
    "workspace": {"workspaceFolders": True, "codeLens": {"refreshSupport": True}},
    "textDocument": {"publishDiagnostics": {"versionSupport": True, "relatedInformation": True}},
}


class Client:
    """One session. `told` are all notifications of the server, in order."""

    def __init__(self, folder: Path, entry: str = ENTRY, **environment: str) -> None:
        self.folder = folder
        self.told: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}
        self._incoming: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 0
        self.process = subprocess.Popen(
            [sys.executable, "-c", entry],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.errors: list[str] = []
        self._readers = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            size = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self._incoming.put(json.loads(stream.read(size)))
        self._incoming.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError):  # closed meanwhile
            for line in self.process.stderr:
                self.errors.append(line.decode("utf-8", "replace"))

    def send(self, message: dict[str, Any]) -> None:
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_bytes(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request; gives its id."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int, seconds: float = 20.0) -> dict[str, Any]:
        """The whole answer to a request."""
        end = time.monotonic() + seconds
        while number not in self._answers:
            self._take(end)
        return self._answers.pop(number)

    def request(self, method: str, params: Any = None, seconds: float = 20.0) -> Any:
        answer = self.answer(self.ask(method, params), seconds)
        assert "error" not in answer, answer
        return answer["result"]

    def _take(self, end: float) -> None:
        try:
            message = self._incoming.get(timeout=max(0.01, end - time.monotonic()))
        except queue.Empty:
            raise TimeoutError("".join(self.errors[-20:])) from None
        if message is None:
            raise EOFError("".join(self.errors[-20:]))
        if "method" in message and "id" in message:
            self.asked.append(message)
            self.send({"id": message["id"], "result": None})
        elif "method" in message:
            self.told.append(message)
        else:
            self._answers[message["id"]] = message

    def wait_for_more(self, seconds: float) -> None:
        """Take the next message. Raises TimeoutError where none comes."""
        self._take(time.monotonic() + seconds)

    def initialize(self, capabilities: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        params = {
            "processId": os.getpid(),
            "rootUri": self.folder.as_uri(),
            "workspaceFolders": [{"uri": self.folder.as_uri(), "name": "work"}],
            "capabilities": CAPABILITIES if capabilities is None else capabilities,
            **more,
        }
        result: dict[str, Any] = self.request("initialize", params)
        self.notify("initialized", {})
        return result

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def open(self, path: str, text: str | None = None, version: int = 1) -> str:
        """Open a file with its text on disk, or another; gives its uri."""
        uri = path if ":" in path else self.uri(path)
        text = (self.folder / path).read_text("utf-8") if text is None else text
        document = {"uri": uri, "languageId": "mcpe", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def replace(self, uri: str, version: int, text: str) -> None:
        self.change(uri, version, {"text": text})

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri: str) -> list[dict[str, Any]] | None:
        """Those published last; None before any were."""
        for message in reversed(self.told):
            if message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                found: list[dict[str, Any]] = message["params"]["diagnostics"]
                return found
        return None

    def until(self, uri: str, *codes: str, seconds: float = 20.0) -> list[dict[str, Any]]:
        """Wait until exactly these codes are shown, in any order."""
        end = time.monotonic() + seconds
        while True:
            found = self.diagnostics(uri)
            if found is not None and sorted(d["code"] for d in found) == sorted(codes):
                return found
            try:
                self._take(end)
            except TimeoutError:
                raise TimeoutError(f"{uri}: {found}\n{''.join(self.errors[-20:])}") from None

    def shut_down(self) -> int:
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(20)

    def kill(self) -> None:
        with contextlib.suppress(Exception):
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(10)  # a stream that is being read cannot be closed
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()


@contextlib.contextmanager
def session(folder: Path, entry: str = ENTRY, **environment: str) -> Iterator[Client]:
    client = Client(folder, entry, **environment)
    try:
        yield client
    finally:
        client.kill()
