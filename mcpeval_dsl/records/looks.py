"""Records: which runs of a project have shown results of held-out tasks. Each is a look; the more looks, the less held out.

`.mcpe/heldout.jsonl` has a line for each, in the order in which they were first shown: {"suite", "run", "at"}.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(".mcpe") / "heldout.jsonl"


def looked(root: Path, suite: str, run: str) -> int:
    """How many runs of the suite had been shown when this one first was, itself included: 1 for the first. Notes it.

    A run that is shown again is the same look. Raises OSError where the file can be neither read nor written.
    """
    before = _runs(root, suite)
    if run not in before:
        _note(root, {"suite": suite, "run": run, "at": datetime.now(UTC).isoformat(timespec="seconds")})
        before = _runs(root, suite)  # again: another run may have been noted at the same time
    return before.index(run) + 1


def _note(root: Path, line: dict[str, str]) -> None:
    path = root / FILE
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(place, (json.dumps(line, ensure_ascii=True) + "\n").encode())
    finally:
        os.close(place)


def _runs(root: Path, suite: str) -> list[str]:
    """Runs of the suite, each once; a line that is damaged is no look."""
    path = root / FILE
    if not path.exists():
        return []
    found: dict[str, None] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and said.get("suite") == suite and isinstance(said.get("run"), str):
            found[said["run"]] = None
    return list(found)
