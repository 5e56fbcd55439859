"""Landlock: a program that gives up writing outside the folders it is told, then becomes the command after `--`.

Place in the pipeline: before a process of a trial, where the operator chose `landlock`. Runs on its own with
`python -I -S`, so it imports nothing of the project. Reading stays free. Of the network, TCP connections by port are what
it can refuse (from version 4 on); UDP stays free.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Sequence

CREATE, ADD, RESTRICT = 444, 445, 446
NO_NEW_PRIVILEGES = 38
WRITE_FILE, REMOVE_DIR, REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
MAKE = sum(1 << bit for bit in range(6, 13))
REFER, TRUNCATE = 1 << 13, 1 << 14
CONNECT_TCP = 1 << 1
KNOWS_PORTS = 4
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm", "/dev/pts")


def abi() -> int:
    """The version of Landlock that the kernel offers, 0 for none."""
    if sys.platform != "linux":
        return 0
    version: int = ctypes.CDLL(None, use_errno=True).syscall(CREATE, None, 0, 1)
    return max(0, version)


def writes(version: int) -> int:
    """The rights that are given up, as far as this version knows them."""
    return (
        WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE | (REFER if version > 1 else 0) | (TRUNCATE if version > 2 else 0)
    )


def restrict(writable: Sequence[str], ports: Sequence[int] | None = None) -> None:
    """From now on this thread and its children write below `writable` only, and connect to `ports` only (None: to any).

    Raises OSError.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = abi()
    rights = writes(version)
    filtered = ports is not None and version >= KNOWS_PORTS
    wanted = struct.pack("QQ", rights, CONNECT_TCP) if filtered else struct.pack("Q", rights)
    ruleset = _checked(libc.syscall(CREATE, wanted, len(wanted), 0))
    for port in (ports or ()) if filtered else ():
        _checked(libc.syscall(ADD, ruleset, 2, struct.pack("=QQ", CONNECT_TCP, port), 0))
    for place in (*writable, *DEVICES):
        try:
            handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        folder = os.path.isdir(place)  # noqa: PTH112  # pathlib would cost a third of the start
        allowed = rights if folder else rights & (WRITE_FILE | TRUNCATE)
        rule = struct.pack("=Qi", allowed, handle)
        _checked(libc.syscall(ADD, ruleset, 1, rule, 0))
        os.close(handle)
    _checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.syscall(RESTRICT, ruleset, 0))
    os.close(ruleset)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(words: Sequence[str]) -> None:
    """`ports folder … -- command …`; ports are `all`, or numbers with commas. Ends with 126 where it cannot be done."""
    split = words.index("--")
    try:
        restrict(words[1:split], None if words[0] == "all" else [int(each) for each in words[0].split(",") if each])
        os.execvp(words[split + 1], list(words[split + 1 :]))
    except OSError as problem:
        print(f"the sandbox could not start the command: {problem}", file=sys.stderr)
        sys.exit(126)


if __name__ == "__main__":
    main(sys.argv[1:])
