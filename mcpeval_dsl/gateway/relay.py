"""The process that a foreign host starts: bytes between the host and the trial's door in the run, and nothing else.

Place in the pipeline: outside of it. Imports little, so that a host's first answer does not wait for it; keeps nothing, so that
nothing is lost with it. It ends when the host closes its end, when the host is gone, or when the run closes the door.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from types import FrameType

from mcpeval_dsl.gateway.control import Control

LOOK_SECONDS = 1.0
CHUNK = 256 * 1024


def relay(control: Control, port: int | None = None) -> None:
    """Until either end closes. `port`: ask for a door over HTTP there (0: any) instead, whose address goes to standard output.

    Raises OSError where there is no door.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.connect(control.socket)
        door.sendall(json.dumps({"token": control.token, "http": port}).encode() + b"\n")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _leave)
        if port is None:
            threading.Thread(target=_from_host, args=(door,), daemon=True).start()
        else:
            _say_address(door)
        _to_host(door)


def _leave(number: int, frame: FrameType | None) -> None:
    """The door sees that the connection is closed, and ends what was under way."""
    os._exit(0)


def _say_address(door: socket.socket) -> None:
    """Raises OSError where the port cannot be had."""
    line = b""
    while not line.endswith(b"\n") and (data := door.recv(CHUNK)):
        line += data
    said = json.loads(line or b"{}")
    if "url" not in said:
        raise OSError(said.get("error", "no address was given"))
    os.write(1, line)


def _from_host(door: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := os.read(0, CHUNK):
            door.sendall(data)
    with contextlib.suppress(OSError):
        door.shutdown(socket.SHUT_WR)


def _to_host(door: socket.socket) -> None:
    """As the door speaks; now and then a look whether the host lives, since something else may hold its pipe open."""
    threading.Thread(target=_until_orphaned, args=(os.getppid(),), daemon=True).start()
    with contextlib.suppress(OSError):
        while data := door.recv(CHUNK):
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]


def _until_orphaned(parent: int) -> None:
    waiting = threading.Event()
    while os.getppid() == parent:
        waiting.wait(LOOK_SECONDS)
    os._exit(0)
