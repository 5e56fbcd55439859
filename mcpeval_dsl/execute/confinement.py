"""What the operator's settings come to on this machine: the sandbox of a run, chosen once."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from mcpeval_dsl.execute.settings import RunSettings, SandboxSettings
from mcpeval_dsl.gateway.sandbox import Sandbox, bubblewrap, choose

OWN_FOLDER = ".mcpe"
"""Plans and earlier runs of a project: what is evaluated has no business there."""


def sandbox_of(settings: RunSettings) -> Sandbox:
    """Raises SandboxUnavailable where the operator named one that cannot be had."""
    return _chosen(settings.sandbox, settings.project_root)


def expected(settings: RunSettings) -> Sandbox:
    """What a run here will most likely use, told without starting anything: for the question whether it is trusted."""
    wanted = settings.sandbox
    mode = wanted.mode
    if mode == "auto":
        mode = "none" if bubblewrap() is None else "bwrap"
    return Sandbox(mode, network=wanted.network)


@lru_cache(maxsize=16)
def _chosen(wanted: SandboxSettings, root: Path) -> Sandbox:
    project = root.resolve()
    # A server may keep a log beside itself; below /tmp that is so already, and a home or the root is more than a project.
    apart = len(project.parts) > 2 and project != Path.home() and Path("/tmp") not in project.parents
    return choose(
        wanted.mode,
        network=wanted.network,
        hidden=(str(project / OWN_FOLDER),),
        writable=wanted.writable,
        private=(str(project),) if apart else (),
    )
