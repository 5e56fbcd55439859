"""Values, reading from a command: started without a shell, in its own session, and ended with its whole group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcpeval_dsl.values.limits import set_limits
from mcpeval_dsl.values.local import refused
from mcpeval_dsl.values.model import Reading

Wrap = Callable[[Sequence[str], Mapping[str, str]], tuple[str, ...]]
"""From a command line and its variables to the words of the sandbox that go before it."""

SIGNALLED = 128
LAST_SIGNAL = 64


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. `problem` is set when it could not be run, took too long or wrote too much.

    `cut`: it wrote more than was kept, which the caller had asked for.
    """

    exit: int | None
    stdout: str = ""
    stderr: str = ""
    problem: str = ""
    timed_out: bool = False
    cut: bool = False


def exit_code(code: int | None, wrapped: bool) -> int | None:
    """Negative for a signal: a sandbox ends as a shell does where what it started was killed."""
    signalled = wrapped and code is not None and SIGNALLED < code <= SIGNALLED + LAST_SIGNAL
    return SIGNALLED - code if signalled and code is not None else code


async def run_command(
    argv: list[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    limit: int,
    stdin: bytes = b"",
    wrap: Wrap | None = None,
    *,
    cut: bool = False,
) -> Ran:
    """Run to completion with exactly these variables. Never raises for what the command does.

    `cut`: of an output beyond the limit the beginning is given, instead of nothing and a problem.
    """
    if not argv or not argv[0] or any("\0" in part for part in argv):
        return Ran(None, problem="the command line is empty or holds a NUL character")
    before = wrap(argv, env) if wrap is not None else ()
    try:
        process = await asyncio.create_subprocess_exec(
            *before,
            *argv,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        said = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        return Ran(None, problem=f"`{argv[0]}` cannot be started: {said}")
    set_limits((process.pid,))
    try:
        async with asyncio.timeout(timeout):
            ran = await _collect(process, limit, stdin, cut)
            return replace(ran, exit=exit_code(ran.exit, bool(before)))
    except TimeoutError:
        return Ran(None, problem=f"`{argv[0]}` took longer than {timeout:g} s", timed_out=True)
    finally:
        await _end(process)


async def _collect(process: asyncio.subprocess.Process, limit: int, stdin: bytes, cut: bool) -> Ran:
    feeding = asyncio.create_task(_feed(process, stdin))
    try:
        out, err = await asyncio.gather(_drain(process.stdout, limit), _drain(process.stderr, limit))
        code = await process.wait()
    finally:
        feeding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await feeding
    over = len(out) > limit
    if over and not cut:
        return Ran(code, problem=f"the command wrote more than {limit} bytes")
    kept = out[:limit] if over else out
    return Ran(code, kept.decode("utf-8", "replace"), err[:limit].decode("utf-8", "replace"), cut=over)


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    if process.stdin is None:
        return
    with contextlib.suppress(ConnectionError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _drain(stream: asyncio.StreamReader | None, limit: int) -> bytes:
    """Everything up to one byte over the limit is kept; the rest is read and dropped, so the command does not block."""
    kept = bytearray()
    while stream is not None and (chunk := await stream.read(65536)):
        kept += chunk[: max(0, limit + 1 - len(kept))]
    return bytes(kept)


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    # What left the group may hold its output open: nobody reads that any more.
    process._transport.close()  # type: ignore[attr-defined]


async def read_command(
    argv: list[str], cwd: Path, env: Mapping[str, str], timeout: float, limit: int, wrap: Wrap | None = None
) -> Reading:
    """`$` is standard output without its final newlines; `exit`, `stdout` and `stderr` are fields. Any exit code is a value."""
    ran = await run_command(argv, cwd, env, timeout, limit, wrap=wrap)
    if ran.problem:
        return refused(ran.problem)
    fields = {"exit": ran.exit, "stdout": ran.stdout, "stderr": ran.stderr[-limit:]}
    return Reading(text=ran.stdout.rstrip("\n"), fields=fields)
