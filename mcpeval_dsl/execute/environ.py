"""The variables that a server or command of a trial sees: few, its own, and none of the caller's unless the spec names it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from mcpeval_dsl.execute.folders import TrialFolder


def search_path() -> str:
    """The operator's PATH; the running interpreter's folder last, so that `python` always resolves."""
    own = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath)
    return path if own in path.split(os.pathsep) else f"{path}{os.pathsep}{own}"


def minimal(folder: TrialFolder, named: Mapping[str, str]) -> dict[str, str]:
    """Variables of one trial: PATH, HOME, TMPDIR, a fixed locale and time zone, and what the spec names."""
    variables = {
        "PATH": search_path(),
        "HOME": str(folder.home),
        "TMPDIR": str(folder.temporary),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "XDG_CACHE_HOME": str(folder.home / ".cache"),
        "XDG_CONFIG_HOME": str(folder.home / ".config"),
        "XDG_DATA_HOME": str(folder.home / ".local" / "share"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
    }
    variables.update(named)
    return variables
