"""A small project to open: a spec, what it imports, and a lock with one server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.plan import lock
from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool

SHARED = """
server tracker { stdio "python" "server.py" }
annotations tracker { readonly get_* }
model canned { script "canned.yaml" }
"""
MAIN = """import "shared.mcpe"

suite small "A small one" { trials 2 }

task first "The first" {
  prompt "Which issue is the oldest? (in 𝔘𝔫𝔦) {{ oldest.key }}"
  budget calls <= 3 hard 5
  grade contains oldest.key
}

harvest oldest = tracker.get_issue(key: "A-1") { key = $.key }
"""
SCRIPT = "tasks:\n  first:\n    - reply: A-1\n"


def locked(tools: dict[str, dict[str, object]]) -> bytes:
    """The bytes of a lock with these tools of one server."""
    made = tuple(LockedTool(name=name, input_schema=schema, sha256=name) for name, schema in tools.items())
    server = LockedServer(
        server="tracker", revision="2026-07-28", era="discover", transport="stdio", tools=made, catalogue_sha256="x"
    )
    return lock.write(Lock(servers=(server,)))


GET_ISSUE = {"get_issue": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "data").mkdir(parents=True)
    (folder / "mcpe.toml").write_text('specs = ["."]\n[lint]\nignore = ["MCPE37", "MCPE38"]\n')
    (folder / "shared.mcpe").write_text(SHARED)
    (folder / "main.mcpe").write_text(MAIN, "utf-8")
    (folder / "canned.yaml").write_text(SCRIPT)
    (folder / "mcpe.lock").write_bytes(locked(GET_ISSUE))
    return folder
