"""The other end of `namespace`: starts it, has its listeners, and gets sockets that connect inside.

Place in the pipeline: below the network of a trial. Linux with bubblewrap and `nsenter` only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from mcpeval_dsl.gateway import namespace

START_SECONDS = 20.0
MOST_LISTENERS = 200
"""One message carries 253 descriptors at most."""
FAMILIES = ((b"4", "127.0.0.1"), (b"6", "::1"))


class NetworkUnavailable(OSError):
    """A network of its own cannot be had; the text is a sentence for people."""


class Space:
    """One network with nothing but loopback. `listeners` in the order asked for, None where one could not be had."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._asking = asyncio.Lock()
        self._spaces: tuple[int, ...] = ()
        self.listeners: tuple[socket.socket | None, ...] = ()

    @classmethod
    async def open(
        cls, program: str, wanted: Sequence[tuple[str, int]] = (), variables: Mapping[str, str] = MappingProxyType({})
    ) -> Space:
        """Start it with listeners at these addresses (port 0: any). Raises NetworkUnavailable."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        try:
            process = await asyncio.create_subprocess_exec(
                *words(program, theirs.fileno()),
                env=dict(variables),
                pass_fds=(theirs.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as problem:
            ours.close()
            raise NetworkUnavailable(str(problem)) from problem
        finally:
            theirs.close()
        space = cls(process, ours)
        try:
            async with asyncio.timeout(START_SECONDS):
                await space._begin(wanted[:MOST_LISTENERS])
        except (OSError, TimeoutError, ValueError) as problem:
            await space.close()
            raise NetworkUnavailable(
                f"no network of its own could be made: {problem or 'it took too long'}"
            ) from problem
        except BaseException:
            await space.close()
            raise
        return space

    async def _begin(self, wanted: Sequence[tuple[str, int]]) -> None:
        lines = "\n".join(f"{host} {port}" for host, port in wanted) or "\n"
        answer, handles = await self._ask(lines.encode())
        if len(handles) < 2:
            raise ValueError("it ended before it began")
        self._spaces = tuple(handles[:2])
        rest = iter(handles[2:])
        ports = [int(line) for line in answer.decode().split()] if wanted else []
        self.listeners = tuple(socket.socket(fileno=next(rest)) if port else None for port in ports)
        for each in self.listeners:
            if each is not None:
                each.setblocking(False)

    async def _ask(self, message: bytes) -> tuple[bytes, list[int]]:
        loop = asyncio.get_running_loop()
        async with self._asking:
            await loop.sock_sendall(self._control, message)
            readable = asyncio.Event()
            loop.add_reader(self._control, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(self._control)
            answer, handles, _, _ = socket.recv_fds(self._control, namespace.LONGEST, MOST_LISTENERS + 2)
        return answer, handles

    async def connect(self, port: int) -> socket.socket:
        """A connection to what listens inside at this port of loopback. Raises OSError where nothing does."""
        loop = asyncio.get_running_loop()
        for word, host in FAMILIES:
            _, handles = await self._ask(word)
            if not handles:
                continue
            sock = socket.socket(fileno=handles[0])
            sock.setblocking(False)
            try:
                await loop.sock_connect(sock, (host, port))
            except OSError:
                sock.close()
                continue
            except BaseException:
                sock.close()
                raise
            return sock
        raise ConnectionRefusedError(f"nothing listens at port {port}")

    def join(self) -> tuple[str, ...]:
        """The words before a command that is to run in it; valid as long as it is open."""
        return joining(os.getpid(), *self._spaces)

    async def close(self) -> None:
        for handle in self._spaces:
            os.close(handle)
        self._spaces = ()
        for each in self.listeners:
            if each is not None:
                each.close()
        self.listeners = ()
        self._control.close()
        if self._process.returncode is None:
            # Not `kill()`: it looks whether the process has ended, and takes that news from those who wait for it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
        await self._process.wait()


def words(program: str, handle: int) -> tuple[str, ...]:
    """The command line of the program that holds a network; it dies with whoever started it."""
    return (
        *(program, "--die-with-parent", "--unshare-net", "--cap-drop", "ALL", "--cap-add", "CAP_NET_BIND_SERVICE"),
        *("--dev-bind", "/", "/", "--", sys.executable, "-I", "-S", namespace.__file__, str(handle)),
    )


def joining(holder: int, user: int, net: int) -> tuple[str, ...]:
    """`nsenter` by descriptors that the process `holder` has open: they stay what they are, unlike process numbers."""
    enter = shutil.which("nsenter") or "nsenter"
    own = Path("/proc/self/ns/user").stat().st_ino
    # Nobody can enter the user namespace he is in already.
    users = () if os.fstat(user).st_ino == own else (f"--user=/proc/{holder}/fd/{user}", "--preserve-credentials")
    return (enter, *users, f"--net=/proc/{holder}/fd/{net}", "--")


@lru_cache(maxsize=4)
def unfiltered(program: str) -> str | None:
    """None where this machine lets processes share a network of their own; else why not."""
    if shutil.which("nsenter") is None:
        return "`nsenter` (util-linux) is not installed"
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ours.settimeout(START_SECONDS)
        try:
            holder = subprocess.Popen(
                words(program, theirs.fileno()), env={}, pass_fds=(theirs.fileno(),), stderr=subprocess.DEVNULL
            )
        except OSError as problem:
            return str(problem)
        theirs.close()
        handles: list[int] = []
        try:
            ours.send(b"\n")
            handles = socket.recv_fds(ours, namespace.LONGEST, 2)[1]
            if len(handles) < 2:
                return "no network of its own could be made"
            inside = (*joining(os.getpid(), *handles), program, "--ro-bind", "/", "/", "--unshare-pid", "--", "true")
            done = subprocess.run(inside, capture_output=True, text=True, timeout=START_SECONDS)
            return None if done.returncode == 0 else done.stderr.strip()[:200] or f"it ended with {done.returncode}"
        except (OSError, subprocess.TimeoutExpired) as problem:
            return str(problem)
        finally:
            for handle in handles:
                os.close(handle)
            holder.kill()
            holder.wait()
