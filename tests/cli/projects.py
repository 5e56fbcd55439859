"""A small project on disk for the tests of commands, and a way to run a command in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from mcpeval_dsl.cli.main import main

SPEC = """suite notes "Notes" {
  trials 3
  seed 7
  defaults { environment desk; budget calls <= 4 hard 8, time <= 20s hard 60s }
}
server notes { stdio "python" "server.py" }
environment desk { copy "fixtures/notes.txt" to "{{ workdir }}/notes.txt" }
annotations notes { readonly list_*, get_*; additive add_note }
model canned { script "scripts/canned.yaml" }
harvest newest = notes.list_notes(sort: "created") { id = $.notes[0].id }

task name_it "Newest note" {
  prompt "Which note is the newest?"
  tags   read
  expect list_notes
  grade  contains newest.id
}
task stay_out "Nothing to do" {
  prompt "What is two and two?"
  tags   abstain
  expect none(add_note)
  grade  contains "4"
}
task kept_back "Held out" {
  prompt "Is there a note called plan?"
  split  heldout
  tags   read
  grade  contains "no"
}
"""

SERVER = """
import json, sys
TOOLS = [
    {"name": "list_notes", "description": "Lists.", "inputSchema": {"type": "object", "properties": {"sort": {}}}},
    {"name": "add_note", "description": "Adds a note.", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "broken", "inputSchema": {}},
]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        server = {"name": "notes", "version": "3"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    elif message["method"] == "tools/list":
        result = {"tools": TOOLS}
    else:
        error = {"code": -32601, "message": "unknown"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Workplace:
    root: Path
    capture: pytest.CaptureFixture[str]

    def run(self, *arguments: str) -> Ended:
        """One command in this process."""
        self.capture.readouterr()
        code = main(arguments)
        return Ended(code, *self.capture.readouterr())

    def write(self, path: str, text: str) -> Path:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        return full

    def spec(self, path: str = "specs/notes.mcpe", text: str = SPEC) -> Path:
        """A spec with all files it names."""
        folder = str(Path(path).parent)
        self.write(f"{folder}/server.py", SERVER)
        self.write(f"{folder}/fixtures/notes.txt", "one\n")
        self.write(f"{folder}/scripts/canned.yaml", "tasks:\n  '*':\n    - reply: '4'\n")
        return self.write(path, text)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Workplace:
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("MCPE_STATE_DIR", str(tmp_path / "state"))
    found = Workplace(root, capsys)
    found.write("mcpe.toml", 'specs = ["specs"]\n')
    return found
