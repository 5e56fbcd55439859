"""Processes of a trial that are not MCP servers: commands run to completion, and background ones that stay.

Every process gets its own session, so that its whole group can be ended whatever it left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OUTPUT_CAP = 1024 * 1024
TAIL = 4000
GRACE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Completed:
    """`exit_code` is None where the command could not be started or passed its time; `problem` then says why."""

    exit_code: int | None
    stdout: str
    stderr: str
    problem: str = ""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def sentence(self, argv: Sequence[str]) -> str:
        """Why it failed, in one line for people."""
        shown = " ".join(argv)
        if self.problem:
            return f"`{shown}` {self.problem}"
        tail = self.stderr.strip() or self.stdout.strip()
        ending = f": {tail[-400:]}" if tail else ""
        return f"`{shown}` ended with exit code {self.exit_code}{ending}"


def end_group(pid: int, hard: bool) -> None:
    """Signal a whole process group; a group that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL if hard else signal.SIGTERM)


async def _drain(stream: asyncio.StreamReader | None) -> bytes:
    if stream is None:
        return b""
    kept = bytearray()
    while chunk := await stream.read(65536):
        if len(kept) < OUTPUT_CAP:
            kept += chunk[: OUTPUT_CAP - len(kept)]
    return bytes(kept)


async def run(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float, stdin: bytes | None = None
) -> Completed:
    """Run one command to its end; its group never outlives this call. Output beyond 1 MiB is dropped."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        return Completed(None, "", "", f"could not be started: there is no program `{argv[0]}`")
    except PermissionError:
        return Completed(None, "", "", f"could not be started: `{argv[0]}` is not executable")
    except (OSError, ValueError) as error:
        return Completed(None, "", "", f"could not be started: {error}")
    out = asyncio.create_task(_drain(process.stdout))
    err = asyncio.create_task(_drain(process.stderr))
    problem = ""
    try:
        async with asyncio.timeout(timeout):
            if stdin is not None and process.stdin is not None:
                with contextlib.suppress(ConnectionError):
                    process.stdin.write(stdin)
                    await process.stdin.drain()
                process.stdin.close()
            await asyncio.gather(out, err)
            await process.wait()
    except TimeoutError:
        problem = f"did not end within {timeout:g} s"
    finally:
        end_group(process.pid, hard=True)
        for task in (out, err):
            task.cancel()
        await asyncio.gather(out, err, return_exceptions=True)
        await process.wait()
    text_out = _text(out)
    text_err = _text(err)
    return Completed(None if problem else process.returncode, text_out, text_err, problem)


def _text(task: asyncio.Task[bytes]) -> str:
    if task.cancelled() or task.exception() is not None:
        return ""
    return task.result().decode("utf-8", "replace")


class Background:
    """One process that stays for the trial. Its output goes to a file in the trial's folder."""

    def __init__(self, process: asyncio.subprocess.Process, argv: Sequence[str], log: Path) -> None:
        self._process = process
        self.argv = tuple(argv)
        self._log = log

    @classmethod
    async def start(cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> Background:
        """Start it. Raises OSError when it cannot be started."""
        with log.open("wb") as sink:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=cwd,
                env=dict(env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )
        return cls(process, argv, log)

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    def tail(self) -> str:
        """The end of what it printed."""
        with contextlib.suppress(OSError):
            return self._log.read_bytes()[-TAIL:].decode("utf-8", "replace")
        return ""

    async def stop(self) -> None:
        """TERM, a moment, KILL: to the whole group."""
        if self._process.returncode is None:
            end_group(self._process.pid, hard=False)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await self._process.wait()
        end_group(self._process.pid, hard=True)
        await self._process.wait()
