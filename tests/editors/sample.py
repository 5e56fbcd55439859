"""A project for sessions in editors: a spec, what it imports, and a lock. `python -m tests.editors.sample FOLDER` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

from mcpeval_dsl.plan import lock
from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool

SHARED = """server tracker { stdio "python" "server.py" }
annotations tracker { readonly list_* }
model canned { script "canned.yaml" }

harvest oldest = tracker.list_issues(status: "open") { key = $.issues[0].key }
"""
MAIN = """import "shared.mcpe"

suite small "A small one" { trials 2 }

task first "The first" {
  prompt "Is {{ oldest.key }} the oldest?"
  expect list_issues(status: "open")
  grade  contains oldest.key
}

gate { require safety.critical == 0 }
"""
STATUS = {"type": "string", "enum": ["open", "in_progress", "closed"]}
SCHEMA: dict[str, object] = {"type": "object", "properties": {"status": STATUS, "project": {"type": "string"}}}


def write(folder: Path) -> None:
    """The files of the project, below a folder that is made."""
    folder.mkdir(parents=True)
    (folder / "mcpe.toml").write_text('specs = ["."]\n[lint]\nignore = ["MCPE37", "MCPE38"]\n')
    (folder / "shared.mcpe").write_text(SHARED)
    (folder / "main.mcpe").write_text(MAIN)
    (folder / "canned.yaml").write_text("tasks:\n  first:\n    steps:\n      - reply: A-1\n")
    tool = LockedTool(name="list_issues", description="Lists issues.", input_schema=SCHEMA, sha256="x")
    server = LockedServer(
        server="tracker", revision="2026-07-28", era="discover", transport="stdio", tools=(tool,), catalogue_sha256="x"
    )
    (folder / "mcpe.lock").write_bytes(lock.write(Lock(servers=(server,))))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
