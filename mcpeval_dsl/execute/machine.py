"""What this machine offers to runs, and what would stand in their way: looked at for `mcpe doctor`, changed nowhere.

Starts nothing but `--version` questions to tools on PATH and one trial start of the sandbox. Of keys it says whether they
are set, never what they are.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from mcpeval_dsl.execute import settings as operator
from mcpeval_dsl.execute.confinement import sandbox_of
from mcpeval_dsl.execute.trust import personal_store
from mcpeval_dsl.gateway import landlock, sandbox, spaces

State = Literal["ok", "note", "warning", "error"]

ENOUGH_SPACE = 1024**3
TOO_LITTLE_SPACE = 100 * 1024**2
SQLITE_SOUND = (3, 51, 3)
ENOUGH_FILES = 1024
ASK_SECONDS = 10.0
TOOLS = ("node", "npm", "npx", "uv", "git", "docker")


@dataclass(frozen=True, slots=True)
class Finding:
    """`error`: a run cannot work as it is. `warning`: it can, with less. `hint` says what to do about either."""

    name: str
    state: State
    detail: str
    hint: str = ""


def examine(root: Path) -> tuple[Finding, ...]:
    """Everything, in a fixed order. Never raises for what it finds."""
    parts: tuple[Callable[[], Iterator[Finding]], ...] = (
        _python,
        _sqlite,
        lambda: _sandbox(root),
        _processes,
        _tools,
        lambda: _settings(root),
        _trust,
        lambda: _disk(root),
        _network,
    )
    return tuple(finding for part in parts for finding in part())


def _python() -> Iterator[Finding]:
    yield Finding("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in ("mcp", "anthropic"):
        try:
            yield Finding(package, "ok", version(package))
        except PackageNotFoundError:
            yield Finding(package, "error", "is not installed", "install mcpe again: it needs this package")
    for package, extra in (("litellm", "litellm"), ("duckdb", "duckdb")):
        try:
            yield Finding(package, "ok", version(package))
        except PackageNotFoundError:
            yield Finding(package, "note", "is not installed", f"needed only with it: the extra `[{extra}]`")


def _sqlite() -> Iterator[Finding]:
    sound = sqlite3.sqlite_version_info >= SQLITE_SOUND
    hint = "it can corrupt a database that two processes write; mcpe lets one write only, a server under test may not"
    yield Finding("sqlite", "ok" if sound else "warning", sqlite3.sqlite_version, "" if sound else hint)


def _sandbox(root: Path) -> Iterator[Finding]:
    program = sandbox.bubblewrap()
    hint = "install bubblewrap, or mcpe with the extra `[sandbox]`"
    if program is None:
        yield Finding("bubblewrap", "warning", "is not installed", hint)
    else:
        reasons = [sandbox.tried(program, overlay) for overlay in (True, False)]
        views = "with" if reasons[0] is None else "without"
        if None in reasons:
            yield Finding("bubblewrap", "ok", f"{_said(program, '--version')}, {views} private views of folders")
            yield _hosts(program)
        else:
            hint = "this machine does not let it make namespaces; in a container, allow user namespaces"
            yield Finding("bubblewrap", "warning", f"cannot be used: {reasons[1]}", hint)
    offered = landlock.abi()
    ports = "TCP by port" if offered >= landlock.KNOWS_PORTS else "no network"
    said = f"version {offered}, refuses writing and {ports}" if offered else "is not offered"
    yield Finding("landlock", "ok" if offered else "note", said)
    try:
        settings = operator.load(root)
        used = sandbox_of(settings).label
    except ValueError as problem:
        yield Finding("sandbox", "error", str(problem), f"mend [sandbox] in {operator.LOCAL_FILE}")
        return
    hint = "servers run as you, with all that you may do" if used.startswith("none") else ""
    yield Finding("sandbox", "warning" if hint else "ok", f"runs use {used} (mode {settings.sandbox.mode})", hint)


def _hosts(program: str) -> Finding:
    reason = spaces.unfiltered(program)
    if reason is None:
        return Finding("lists of hosts", "ok", "are kept: trials reach what `network` lists, and nothing without it")
    said = f"cannot be kept: {reason}"
    hint = "where a spec lists hosts or an environment has ports, the network stays open; the record says so"
    return Finding("lists of hosts", "warning", said, hint)


def _processes() -> Iterator[Finding]:
    seen = Path("/proc/self/environ").exists()
    hint = "what leaves its process group is not found after a run that was killed" if not seen else ""
    yield Finding("orphans", "ok" if seen else "warning", "ended by a watchdog" if seen else "no /proc", hint)
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        enough = soft >= ENOUGH_FILES or soft == resource.RLIM_INFINITY
        hint = "" if enough else f"`ulimit -n {ENOUGH_FILES}` allows more trials at once"
        yield Finding("open files", "ok" if enough else "warning", f"{soft} (up to {hard})", hint)
    except ImportError:
        yield Finding("open files", "note", "not known on this system")


def _tools() -> Iterator[Finding]:
    for tool in TOOLS:
        path = shutil.which(tool)
        if path is None:
            yield Finding(tool, "note", "is not on PATH", "needed only where a server is started with it")
        else:
            yield Finding(tool, "ok", _said(path, "--version"))


def _said(program: str, *words: str) -> str:
    try:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=ASK_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return f"{program} does not answer"
    return (done.stdout.strip() or done.stderr.strip() or program).splitlines()[0][:100]


def _settings(root: Path) -> Iterator[Finding]:
    path = root / operator.LOCAL_FILE
    try:
        settings = operator.load(root)
    except ValueError as problem:
        yield Finding(operator.LOCAL_FILE, "error", str(problem), "mend the file; it is the operator's own")
        return
    state: State = "ok" if path.exists() else "note"
    yield Finding(operator.LOCAL_FILE, state, "is read" if path.exists() else "is not there: defaults apply")
    for name in sorted({*operator.DEFAULT_KEYS, *settings.providers}):
        provider = settings.provider(name)
        if provider.api_key_variable is None:
            yield Finding(f"key of {name}", "note", "no variable is named for it")
            continue
        there = bool(provider.api_key)
        said = f"{provider.api_key_variable} is {'set' if there else 'not set'}"
        hint = "" if there else "needed only for models of this provider; scripted ones need no key"
        yield Finding(f"key of {name}", "ok" if there else "note", said, hint)


def _trust() -> Iterator[Finding]:
    store = personal_store()
    try:
        count = len(store.digests())
    except ValueError as problem:
        yield Finding("trust store", "error", str(problem), "move the file away; what was trusted is asked for again")
        return
    loose = store.path.exists() and bool(store.path.stat().st_mode & 0o022)
    hint = f"others can write to it: chmod 600 {store.path}" if loose else ""
    yield Finding("trust store", "error" if loose else "ok", f"{count} command lines, in {store.path}", hint)


def _disk(root: Path) -> Iterator[Finding]:
    for name, place in (("project's disk", root), ("temporary files", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(place).free
        if not os.access(place, os.W_OK):
            yield Finding(name, "error", f"{place} cannot be written to", "runs keep their records there")
        else:
            state: State = "ok" if free >= ENOUGH_SPACE else "warning" if free >= TOO_LITTLE_SPACE else "error"
            hint = "" if state == "ok" else "runs stop with exit code 74 when it is full"
            yield Finding(name, state, f"{free / 1024**3:.1f} GB free in {place}", hint)


def _network() -> Iterator[Finding]:
    try:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
        yield Finding("loopback", "ok", "ports can be had")
    except OSError as problem:
        hint = "environments with `port` and servers over HTTP need it"
        yield Finding("loopback", "error", problem.strerror or str(problem), hint)
    if sys.platform == "win32":
        yield Finding("system", "warning", "Windows is not tested", "use WSL")
