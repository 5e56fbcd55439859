"""Versions of one server as an axis: each from its own command, transport, revision or commit, prepared once for a run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import SHELF, Bench, outcome
from tests.runs.test_arms import by_cell

HEAD = """suite bench "Bench" { trials TRIALS; seed 11 }
annotations shelf { readonly list_*, get_* }
model canned { script "canned.yaml" }
matrix { server = [old, new]; model = [canned] }
"""
TASK = 'task first { prompt "What is there?"; expect list_things; grade contains things.all }\n'
HARVEST = "environment desk { }\nharvest things = shelf.list_things() { all = $.things }\n"
SCRIPT: dict[str, Any] = {"*": [{"call": "list_things"}, {"reply": "{{ last.text }}"}]}


def server(name: str, command: str, more: str = "") -> str:
    return f"server {name} {{ catalog shelf; {command}; timeout 5s; {more} }}\n"


def speaking(revision: str) -> str:
    """The shelf server, answering with this revision of the protocol whatever is offered."""
    text = SHELF.read_text(encoding="utf-8")
    assert text.count('"2025-11-25"') == 1
    return text.replace('"2025-11-25"', f'"{revision}"')


def shelf_with(*things: str) -> str:
    """The shelf server, with these things on it where its folder has none."""
    empty = "json.loads(STATE.read_text()) if STATE.exists() else []"
    text = SHELF.read_text(encoding="utf-8")
    assert empty in text
    return text.replace(empty, empty.replace("else []", f"else {list(things)!r}"))


def in_cells(bench: Bench, *arguments: str, code: int = 0) -> dict[str, TrialRecord]:
    done = bench.run(*arguments)
    assert done.code == code, done.err + done.out
    return {cell: records[0] for cell, records in by_cell(bench).items()}


def two_files(bench: Bench, body: str = "") -> None:
    bench.spec(
        server("old", 'stdio "python" "old.py"') + server("new", 'stdio "python" "new.py"') + HARVEST + TASK + body,
        SCRIPT,
        head=HEAD,
    )
    bench.write("specs/old.py", shelf_with("lamp"))
    bench.write("specs/new.py", shelf_with("lamp", "vase"))


def test_each_cell_has_its_own_version_in_harvests_agents_and_graders(bench: Bench) -> None:
    two_files(bench, 'task same { prompt "x"; grade state shelf.list_things() $.things has "vase" }\n')
    done = bench.run()
    assert done.code == 0, done.err
    found = {(r.task, r.cell): r for records in by_cell(bench).values() for r in records}
    assert [outcome(found["first", f"canned+{name}"]) for name in ("old", "new")] == ["pass", "pass"]
    assert [outcome(found["same", f"canned+{name}"]) for name in ("old", "new")] == ["wrong_answer", "pass"]
    for (_, cell), record in found.items():
        name = cell.removeprefix("canned+")
        assert {call.server for call in record.calls} == {name} and {s.name for s in record.servers} == {name}
    assert {record.value["all"][-1] for record in bench.reader.harvests()} == {"lamp", "vase"}


def test_a_cell_can_be_selected_and_the_others_are_not_even_asked(bench: Bench) -> None:
    two_files(bench)
    assert set(in_cells(bench, "--select", "cell:canned+old")) == {"canned+old"}
    assert {record.server for record in bench.reader.connects()} == {"old"}


def test_revisions_of_the_protocol(bench: Bench) -> None:
    bench.spec(
        server("old", 'stdio "python" "old.py"; protocol "2024-11-05"')
        + server("new", 'stdio "python" "new.py"; protocol "2025-06-18"')
        + TASK.replace("things.all", '"things"'),
        SCRIPT,
        head=HEAD,
    )
    bench.write("specs/old.py", speaking("2024-11-05"))
    bench.write("specs/new.py", speaking("2025-06-18"))
    revisions = {cell: record.servers[0].revision for cell, record in in_cells(bench).items()}
    assert revisions == {"canned+old": "2024-11-05", "canned+new": "2025-06-18"}


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


OLD = 'stdio "python" "{{ prepared }}/specs/server.py"'
PREPARED = 'prepare { checkout "v1" }'


def in_git(bench: Bench, more: str = PREPARED, body: str = "") -> str:
    """The old version is the tag `v1`, the new one what lies there now; the commit of the tag."""
    bench.spec(
        server("old", OLD, more) + server("new", 'stdio "python" "server.py"') + HARVEST + TASK + body,
        SCRIPT,
        head=HEAD,
    )
    bench.write("specs/server.py", shelf_with("lamp"))
    git(bench.root, "init", "-q")
    git(bench.root, "add", ".")
    git(bench.root, "commit", "-q", "-m", "one thing")
    git(bench.root, "tag", "v1")
    bench.write("specs/server.py", shelf_with("lamp", "vase"))
    return git(bench.root, "rev-parse", "v1")


@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_a_version_from_a_commit(bench: Bench, sandbox: str) -> None:
    bench.variables = {"MCPE_SANDBOX": sandbox}
    commit = in_git(bench)
    found = in_cells(bench)
    assert {outcome(record) for record in found.values()} == {"pass"}
    assert found["canned+old"].servers[0].commit == commit
    assert found["canned+new"].servers[0].commit != commit
    assert '"vase"' in found["canned+new"].answer.text and '"vase"' not in found["canned+old"].answer.text
    # Nothing of the repository was touched.
    assert git(bench.root, "status", "--porcelain", "--untracked-files=no") == "M specs/server.py"


def test_a_version_is_prepared_once_for_a_run(bench: Bench) -> None:
    log = bench.root / "made.txt"
    more = f'prepare {{ checkout "v1"; run "sh" "-c" "echo made >> {log}; mkdir -p lib; date +%s%N > lib/built" }}'
    in_git(bench, more, 'task more { prompt "x"; grade state shelf.list_things() $.things has "lamp" }\n')
    first = bench.run("--select", "task:first")
    assert first.code == 0, first.err
    assert log.read_text() == "made\n"
    assert bench.run().code == 0 and log.read_text() == "made\nmade\n"
    # The same run once more: everything is there.
    again = bench.run()
    assert again.code == 0 and log.read_text() == "made\nmade\n"


def test_what_was_prepared_cannot_be_changed_by_a_trial(bench: Bench) -> None:
    bench.variables = {"MCPE_SANDBOX": "auto"}
    text = shelf_with("lamp").replace("def things():", "def things():\n    Path(__file__).write_text('')\n", 1)
    bench.spec(server("old", OLD, PREPARED) + server("new", 'stdio "python" "shelf.py"') + TASK, SCRIPT, head=HEAD)
    bench.write("specs/server.py", text)
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "x"), ("tag", "v1")):
        git(bench.root, *words)
    bench.spec(
        server("old", OLD, PREPARED)
        + server("new", 'stdio "python" "shelf.py"')
        + TASK.replace("things.all", '"lamp"'),
        SCRIPT,
        head=HEAD,
    )
    record = in_cells(bench, code=0)["canned+old"]
    assert "lamp" not in record.answer.text and "OSError" in str([call.text for call in record.calls])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('prepare { checkout "v9" }', "has no commit `v9`"),
        ('prepare { checkout "--output=/tmp/x" }', "has no commit `--output=/tmp/x`"),
        ('prepare { checkout "v1"; run "sh" "-c" "echo broken >&2; exit 3" }', "exit code 3: broken"),
    ],
)
def test_a_version_that_cannot_be_made_tests_nothing(bench: Bench, more: str, said: str) -> None:
    in_git(bench, more)
    found = in_cells(bench, code=3)
    assert outcome(found["canned+new"]) == "pass" and outcome(found["canned+old"]) == "untestable"
    trouble = found["canned+old"].trouble
    assert trouble is not None and "it could not be prepared" in trouble.message and said in trouble.message


def test_a_moved_tag_is_another_run(bench: Bench) -> None:
    in_git(bench)
    in_cells(bench)
    before = bench.reader.manifest()
    git(bench.root, "commit", "-q", "-a", "-m", "two things")
    git(bench.root, "tag", "-f", "v1")
    in_cells(bench)
    assert bench.reader.manifest().run != before.run
    assert bench.reader.manifest().servers["old"] != before.servers["old"]


OVER_HTTP = """
import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "shelf", "version": "1"}
            },
            "tools/list": {"tools": [{"name": "list_things", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "a lamp"}]},
        }
        known = message.get("method") in results
        self.send_response(200 if known else 202 if "id" not in message else 404)
        data = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": results[message["method"]]}) if known else ""
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data.encode())

    def do_GET(self):
        self.send_response(405)
        self.end_headers()

    do_DELETE = do_GET

    def log_message(self, *words):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_transports_as_an_axis(bench: Bench) -> None:
    place = """
environment desk {
  port web
  start "python" "web.py" "{{ port.web }}"
  ready tcp "127.0.0.1:{{ port.web }}" within 20s
}
"""
    url = 'http "http://127.0.0.1:{{ port.web }}/mcp"'
    bench.spec(
        server("old", 'stdio "python" "old.py"') + server("new", url) + place + TASK.replace("things.all", '"lamp"'),
        SCRIPT,
        head=HEAD.replace("seed 11", "seed 11; defaults { environment desk }"),
    )
    bench.write("specs/old.py", shelf_with("lamp"))
    bench.write("specs/web.py", OVER_HTTP)
    found = in_cells(bench)
    assert {outcome(record) for record in found.values()} == {"pass"}
    transports = {cell: record.servers[0].transport for cell, record in found.items()}
    assert transports == {"canned+old": "stdio", "canned+new": "streamable-http"}


def test_other_commands_make_a_version_too(bench: Bench) -> None:
    in_git(bench, body="check old { tool list_things present }\n")
    assert bench.run().code == 0
    locked = bench.mcpe("lock", "specs")
    assert locked.code == 0 and "old: shelf 2.1" in locked.out, locked.err
    checked = bench.mcpe("check", "specs")
    assert checked.code == 0 and "1 of 1 lines pass" in checked.out, checked.out
    again = bench.mcpe("replay", bench.reader.manifest().run, "first@canned+old#1")
    assert again.code == 0 and "same   old.list_things" in again.out, again.out
