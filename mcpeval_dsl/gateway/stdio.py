"""A server as a child process: its pipes, its exit code, the end of its standard error, and its certain end.

Place in the pipeline: a transport under the SDK's session; `recording` wraps it. The SDK's own stdio transport tells
neither pid nor exit code, frames quadratically and leaves grandchildren behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import anyio

from mcpeval_dsl.gateway.framing import LineFramer
from mcpeval_dsl.gateway.model import Launch, ServerStartError, SessionEnd
from mcpeval_dsl.gateway.processes import Process, descendants, end_group
from mcpeval_dsl.gateway.ticket import RawMessage
from mcpeval_dsl.gateway.wire import WireNoise
from mcpeval_dsl.values.limits import set_limits
from mcpeval_dsl.values.processes import exit_code

STDERR_TAIL = 64 * 1024
EXIT_GRACE = 1.0
TERM_GRACE = 0.5
SETTLE = 0.1
EXIT_SETTLE = 1.0


class Inbox:
    """What came from the process, for one reader. Cheaper than a stream with a checkpoint for each message."""

    def __init__(self) -> None:
        self._items: deque[RawMessage | WireNoise] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self.closed = False

    def put(self, items: Iterable[RawMessage | WireNoise]) -> None:
        """Add messages; those after the end are dropped."""
        if not self.closed:
            self._items.extend(items)
            self._wake()

    async def receive(self) -> RawMessage | WireNoise:
        """The next message; waits for it. Raises anyio.EndOfStream at the end."""
        while not self._items:
            if self.closed:
                raise anyio.EndOfStream
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        return self._items.popleft()

    def close(self) -> None:
        """No more messages will come; those there are can still be read."""
        self.closed = True
        self._wake()

    async def aclose(self) -> None:
        self._items.clear()
        self.close()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class _Pipes(asyncio.SubprocessProtocol):
    """Takes what the process writes, as it comes. The end of `messages` is the end of the session."""

    def __init__(self, limit: int) -> None:
        self.messages = Inbox()
        self.framer = LineFramer(limit)
        self.stderr = bytearray()
        self.exited = asyncio.Event()
        self.stdout_closed = asyncio.Event()
        self.stderr_closed = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.messages.put(self.framer.feed(data))
        else:
            self.stderr += data
            if len(self.stderr) > 2 * STDERR_TAIL:
                del self.stderr[:-STDERR_TAIL]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.end_output()
        elif fd == 2:
            self.stderr_closed.set()
        else:
            self.writable.set()

    def process_exited(self) -> None:
        self.exited.set()
        # A grandchild may hold the pipe open; what the server itself wrote is in it already.
        asyncio.get_running_loop().call_later(SETTLE / 2, self.end_output)

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def end_output(self) -> None:
        if not self.stdout_closed.is_set():
            self.stdout_closed.set()
            self.messages.put(self.framer.rest())
            self.messages.close()


class StdioWriter:
    """Lines into the server's standard input; waits while its pipe is full."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: _Pipes) -> None:
        self._stdin: Any = transport.get_pipe_transport(0)
        self._pipes = pipes

    async def send(self, line: bytes) -> None:
        """Write one message. Raises anyio.BrokenResourceError when the process no longer reads."""
        await self._pipes.writable.wait()
        if self._stdin.is_closing() or self._pipes.exited.is_set():
            raise anyio.BrokenResourceError
        self._stdin.write(line + b"\n")

    @property
    def ready(self) -> bool:
        """Whether the pipe takes more at once."""
        return self._pipes.writable.is_set() and not self._stdin.is_closing()

    async def aclose(self) -> None:
        self._stdin.close()


class StdioTransport:
    """One child process in a session of its own. Single use: `open`, then `close` whatever happened."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.pid: int | None = None
        self.limits: tuple[str, ...] = ()
        self._transport: asyncio.SubprocessTransport | None = None
        self._pipes: _Pipes | None = None
        self._family: frozenset[Process] = frozenset()
        self._killed = False

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[tuple[Inbox, StdioWriter]]:
        """Start the process; messages and a writer. Ends the process with everything it started. Raises ServerStartError."""
        transport, pipes = await self._start()
        try:
            yield pipes.messages, StdioWriter(transport, pipes)
        finally:
            await pipes.messages.aclose()
            await asyncio.shield(self.close())

    async def _start(self) -> tuple[asyncio.SubprocessTransport, _Pipes]:
        launch = self.launch
        if launch.cwd is not None and not Path(launch.cwd).is_dir():
            raise ServerStartError(
                launch.server, "command_missing", f"the working directory {launch.cwd!r} does not exist"
            )
        command = launch.argv[0] if launch.argv else ""
        pipes = _Pipes(launch.max_message_bytes)
        try:
            transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: pipes,
                *launch.wrapper,
                *launch.argv,
                cwd=launch.cwd,
                env=dict(launch.env),
                start_new_session=sys.platform != "win32",
            )
        except (FileNotFoundError, NotADirectoryError):
            raise ServerStartError(launch.server, "command_missing", f"the command {command!r} was not found") from None
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise ServerStartError(
                launch.server, "not_executable", f"the command {command!r} cannot be executed: {reason}"
            ) from None
        self._transport, self._pipes = transport, pipes
        self.pid = transport.get_pid()
        self._limit_family()
        if launch.wrapper:
            # A sandbox starts the server only now; what it had before the limits stood is reached a moment later.
            asyncio.get_running_loop().call_later(SETTLE, self._limit_family)
        return transport, pipes

    def _limit_family(self) -> None:
        if self.pid is not None and self.exit_code is None:
            family = (process.pid for process in descendants(self.pid))
            self.limits = set_limits((self.pid, *family), self.launch.limits)

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal; None while it runs."""
        code = None if self._transport is None else self._transport.get_returncode()
        return exit_code(code, bool(self.launch.wrapper))

    @property
    def stderr_tail(self) -> str:
        return "" if self._pipes is None else bytes(self._pipes.stderr[-STDERR_TAIL:]).decode("utf-8", "replace")

    def remember_family(self) -> None:
        """Note the descendants alive now, so that those which leave the group are ended too."""
        if self.pid is not None and self.exit_code is None:
            self._family |= descendants(self.pid)

    async def settle(self) -> None:
        """After the session broke: a moment for the exit code (long enough on a busy machine) and the last of standard error."""
        if self._pipes is not None and await _within(self._pipes.exited, EXIT_SETTLE):
            await _within(self._pipes.stderr_closed, SETTLE)

    async def close(self) -> None:
        """Close its input, wait a little, then TERM and KILL; what it left behind is killed in any case."""
        transport, pipes = self._transport, self._pipes
        if transport is None or pipes is None or self.pid is None:
            return
        self.remember_family()
        stdin: Any = transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()
        for grace, number in ((EXIT_GRACE, signal.SIGTERM), (TERM_GRACE, signal.SIGKILL)):
            if await _within(pipes.exited, grace):
                break
            self._killed = True
            self.remember_family()
            end_group(self.pid, self._family, number)
        await _within(pipes.exited, TERM_GRACE)
        end_group(self.pid, self._family, signal.SIGKILL)
        pipes.end_output()
        await _within(pipes.stderr_closed, SETTLE / 2)
        transport.close()
        await asyncio.sleep(0)

    def end(self, reason: str) -> SessionEnd:
        return SessionEnd(self.exit_code, self.stderr_tail, self._killed, reason)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    if event.is_set():
        return True
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
