"""A network of one trial's own, held open: a program that runs in it, listens where it is told and hands the sockets out.

Place in the pipeline: beside the processes of a trial. Runs on its own with `python -I -S`, so it imports nothing of the
project. A socket belongs to the network it was made in, whoever uses it later: so nothing has to be passed on byte by byte.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys

LONGEST = 65536
BACKLOG = 128
ASKED_FOR = {b"4": socket.AF_INET, b"6": socket.AF_INET6}


def listening(host: str, port: int) -> socket.socket:
    """Raises OSError."""
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


def serve(control: socket.socket) -> None:
    """First message: lines `address port`. Answer: a line for each, the port or 0; with the namespaces and the listeners.

    Then, until the other end is closed, a new socket for each `4` or `6`.
    """
    with contextlib.ExitStack() as held:
        spaces = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("user", "net")]
        for space in spaces:
            held.callback(os.close, space)
        listeners: list[socket.socket] = []
        ports: list[int] = []
        for line in filter(None, control.recv(LONGEST).decode().splitlines()):
            host, port = line.split()
            try:
                listeners.append(held.enter_context(listening(host, int(port))))
                ports.append(listeners[-1].getsockname()[1])
            except OSError:
                ports.append(0)
        answer = "\n".join(map(str, ports)) or "none"
        socket.send_fds(control, [answer.encode()], [*spaces, *(each.fileno() for each in listeners)])
    while (asked := control.recv(1)) in ASKED_FOR:
        try:
            with socket.socket(ASKED_FOR[asked]) as made:
                socket.send_fds(control, [b"+"], [made.fileno()])
        except OSError:
            control.send(b"-")


def main() -> None:
    """The number of the inherited socket is the only argument."""
    with contextlib.suppress(OSError), socket.socket(fileno=int(sys.argv[1])) as control:
        os.chdir("/")
        serve(control)


if __name__ == "__main__":
    main()
