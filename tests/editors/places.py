"""Where the tests of editors find what `tests/editors/install.sh` puts in place; nothing of it may be missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".servers" / "editors"
NODE_MODULES = PLACE / "node_modules"
_SEARCHED = os.pathsep.join(
    [os.environ.get("PATH", ""), str(ROOT / ".servers/bin"), str(ROOT / ".servers/nodeenv/bin")]
)
INSTALL = "run sh tests/editors/install.sh .servers/editors"


def program(name: str) -> str:
    """The path of a program that has to be there."""
    found = shutil.which(name, path=_SEARCHED)
    assert found is not None, f"no {name}: {INSTALL}"
    return found


NODE = program("node")
