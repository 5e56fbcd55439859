"""How figures are measured and printed: each beside its limit and beside a peer or the bare loop, as a ratio."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
from pathlib import Path


def heading(script: str) -> None:
    """Say where the figures come from: CPU time grows with what else a shared machine does."""
    load = os.getloadavg()[0]
    name = Path(script).stem
    print(f"\n{name}: Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f}")


def show(name: str, value: float, unit: str, limit: float | None = None, *peers: tuple[str, float] | None) -> bool:
    """Print one figure; True when it is within its limit. `peers` are what does the same, each with its figure in `unit`."""
    line = f"  {name:42} {value:9.2f} {unit:3}"
    line += f"  limit {limit:g} {unit}" if limit is not None else ""
    for peer in peers:
        line += f"  ×{value / peer[1]:.2g} of {peer[0]} ({peer[1]:.2f} {unit})" if peer is not None else ""
    within = limit is None or value <= limit
    print((line + ("" if within else "  OVER THE LIMIT")).rstrip())
    return within


def process_ms(command: list[str], folder: Path, environment: dict[str, str], runs: int) -> tuple[float, int]:
    """Least user and system time of a whole process in milliseconds, and its exit code.

    The least of several runs counts: what else the machine does only adds.
    """
    best, code = float("inf"), 0
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best * 1000, code
