"""`mcpe init`: what it writes compiles, is in form and runs; nothing is started untrusted, overwritten or left half-written."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from mcpeval_dsl.cli import reaching
from mcpeval_dsl.cli.main import main
from mcpeval_dsl.plan import lock as locks

from .projects import SERVER, Workplace, workplace

__all__ = ["workplace"]

LISTED = """{"name": "list_notes", "description": "Lists.", "annotations": {"readOnlyHint": true},
 "inputSchema": {"type": "object", "properties": {}},
 "outputSchema": {"type": "object", "properties": {"count": {"type": "integer"}, "notes": {"type": "array", "items":
  {"type": "object", "properties": {"id": {"type": "string"}}}}}}}"""
GOT = """{"name": "get_note", "annotations": {"readOnlyHint": true},
 "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
 "outputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}}}}"""
NOTES = f"""
import json, sys
TOOLS = [json.loads(text) for text in ({LISTED!r}, {GOT!r})]
RESULTS = {{"list_notes": {{"count": 1, "notes": [{{"id": "N-7"}}]}}, "get_note": {{"id": "N-7", "text": "water the plants"}}}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        about = {{"name": "notes", "version": "3"}}
        result = {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}}, "serverInfo": about}}
    elif message["method"] == "tools/list":
        result = {{"tools": TOOLS}}
    elif message["method"] == "tools/call":
        found = RESULTS[message["params"]["name"]]
        result = {{"content": [{{"type": "text", "text": json.dumps(found)}}], "structuredContent": found}}
    else:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "error": {{"code": -32601, "message": "?"}}}}), flush=True)
        continue
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""


@pytest.fixture
def project(workplace: Workplace) -> Workplace:
    (workplace.root / "mcpe.toml").unlink()
    workplace.write("src/notes.py", NOTES)
    return workplace


def everything(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def init(project: Workplace, *arguments: str) -> tuple[int, str, str]:
    ended = project.run("init", "--server", "python src/notes.py", *arguments)
    return ended.code, ended.out, ended.err


def test_what_is_written_is_clean_and_runs(project: Workplace) -> None:
    code, out, err = init(project, "--yes")
    assert code == 0, err
    assert "notes: notes 3, 2 tools" in out and "list_notes gives $.notes[0].id, which get_note takes as id" in out
    assert "trusted  server" in err and "src/notes.py" in err
    written = {"specs/notes/notes.mcpe", "specs/notes/mcpe.lock", "specs/notes/scripts/agent.yaml"}
    written |= {"mcpe.toml", ".gitignore", ".github/workflows/mcpe.yml"}
    assert everything(project.root) == written | {"src/notes.py"}
    spec = (project.root / "specs/notes/notes.mcpe").read_text()
    assert 'stdio "python" "../../src/notes.py"' in spec

    lint = project.run("lint")
    assert lint.code == 0 and "error" not in lint.out + lint.err and "warning" not in lint.out + lint.err
    assert project.run("fmt", "--check").code == 0
    # everything that the workflow does
    for step in yaml.safe_load((project.root / ".github/workflows/mcpe.yml").read_text())["jobs"]["specs"]["steps"]:
        if step.get("run", "").startswith("mcpe "):
            words = step["run"].split()[1:]
            assert project.run(*words).code == 0, step
    ran = project.run("run")
    assert ran.code == 0 and "9/9 trials: 9 pass" in ran.err, ran


def test_untrusted_nothing_is_started_or_written(project: Workplace) -> None:
    started = project.root / "started"
    project.write("src/notes.py", f"open({str(started)!r}, 'w')")
    before = everything(project.root)
    code, _, err = init(project)
    assert code == 2 and "MCPE500" in err and "src/notes.py" in err and "--yes" in err
    assert everything(project.root) == before and not (project.root / "specs").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_on_a_terminal_somebody_is_asked(
    project: Workplace, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    asked = Terminal()
    monkeypatch.setattr(sys, "stderr", asked)
    assert main(["init", "--server", "python src/notes.py"]) == code
    assert "src/notes.py" in asked.getvalue() and "[y/N]" in asked.getvalue()
    assert (project.root / "specs").exists() == (code == 0)


def test_a_trust_file_says_yes(project: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert init(project, "--yes")[0] == 0
    made = project.run("trust", "--write", "trust.json")
    assert made.code == 0
    monkeypatch.setenv("MCPE_STATE_DIR", str(project.root / "nobody"))
    for path in ("specs", ".github"):
        shutil.rmtree(project.root / path)
    assert init(project)[0] == 2
    assert init(project, "--trust-file", "trust.json")[0] == 0


def test_nothing_is_overwritten(project: Workplace) -> None:
    project.write("mcpe.toml", '# ours\nspecs = ["evals"]\n')
    project.write(".gitignore", "node_modules\n.mcpe")
    project.write(".github/workflows/mcpe.yml", "ours")
    code, out, err = init(project, "--yes")
    assert code == 0, err
    assert (project.root / "evals/notes/notes.mcpe").exists()  # where the project's specs are
    assert (project.root / "mcpe.toml").read_text().startswith("# ours")
    ignored = (project.root / ".gitignore").read_text()
    assert ignored.splitlines()[:2] == ["node_modules", ".mcpe"] and "mcpe.local.toml" in ignored
    assert (project.root / ".github/workflows/mcpe.yml").read_text() == "ours" and "mcpe.yml" not in out

    spec = project.root / "evals/notes/notes.mcpe"
    spec.write_text("# mine now\n")
    code, _, err = init(project, "--yes")
    assert code == 2 and "MCPE690" in err and "--name" in err
    assert spec.read_text() == "# mine now\n"
    assert init(project, "--yes", "--name", "again")[0] == 0


def test_a_server_that_fails_leaves_nothing_behind(project: Workplace) -> None:
    project.write("src/notes.py", "import sys; sys.exit('no such table: TRACKER_TOKEN is not set')")
    before = everything(project.root)
    code, _, err = init(project, "--yes")
    assert code == 3 and "MCPE404" in err and "no such table" in err and "--env" in err
    assert everything(project.root) == before and not (project.root / "specs").exists()


def test_a_program_that_is_not_there(project: Workplace) -> None:
    ended = project.run("init", "--server", "no-such-program --x", "--yes")
    assert ended.code in (2, 3) and "no-such-program" in ended.err and not (project.root / "specs").exists()


def test_a_disk_that_refuses_leaves_nothing_behind(project: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "agent.yaml" in path.name:
            raise OSError(28, "No space left on device", str(path))
        return real(path, data)

    project.write(".gitignore", "x\n")
    before = everything(project.root)
    monkeypatch.setattr(Path, "write_bytes", full)
    code, _, err = init(project, "--yes")
    assert code == 74 and "No space left" in err
    assert everything(project.root) == before and (project.root / ".gitignore").read_text() == "x\n"


WRONG = {
    "a quote": (("--server", "node 'x"), "no command line"),
    "blanks": (("--server", "   "), "names no command"),
    "no URL": (("--server", "https://"), "no URL"),
    "a URL with a blank": (("--server", "https://x y"), "no URL"),
    "a name": (("--server", "x", "--name", "a b"), "--name"),
    "a word of the language": (("--server", "x", "--name", "task"), "--name task_server"),
    "a value": (("--server", "x", "--env", "TOKEN=abc"), "not written into specs"),
    "a header": (("--server", "https://x.org", "--header", "Authorization: Bearer abc"), "not written into specs"),
    "a header for a command": (("--server", "x", "--header", "A=B"), "--header is for"),
    "a variable for a URL": (("--server", "https://x.org", "--env", "B"), "--header is for"),
    "a file": (("src/notes.py", "--server", "x"), "is a file"),
    "another format": (("--format", "yaml"), "--format"),
    "a token": (("--server", "x --token abc"), "the value of `--token`"),
    "a key in one word": (("--server", "x --api-key=abc"), "the value of `--api-key`"),
    "what has the shape of one": (("--server", "x ghp_abcdefghijklmnopqrstuvwxyz0123456789"), "a secret would stand"),
    "a password in a URL": (("--server", "https://me:abc@x.org/mcp"), "a secret would stand"),
    "a key in a URL": (("--server", "https://x.org/mcp?api_key=abc"), "a secret would stand"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_said(project: Workplace, case: str) -> None:
    arguments, what = WRONG[case]
    ended = project.run("init", *arguments, "--yes")
    assert ended.code == 2 and what in ended.err, ended
    assert "abc" not in ended.out and everything(project.root) == {"src/notes.py"}


def test_json_says_what_was_found(project: Workplace) -> None:
    code, out, _ = init(project, "--yes", "--format", "json")
    first, line = (json.loads(each) for each in out.splitlines())
    assert code == 0 and first["schema"] == "mcpe-init/1"
    assert line["tools"] == {"readonly": 2, "additive": 0, "destructive": 0, "unknown": 0}
    assert line["pairs"] == [{"list": "list_notes", "get": "get_note", "argument": "id", "path": "$.notes[0].id"}]
    assert line["spec"] == "specs/notes/notes.mcpe" and "mcpe.toml" in line["written"]


def test_without_a_server_an_example_that_runs(project: Workplace) -> None:
    ended = project.run("init", "first")
    assert "\nnext: cd first && mcpe trust " in ended.out
    assert ended.code == 0 and "mcpe trust" in ended.out
    os.chdir(project.root / "first")
    assert project.run("lint").code == 0 and project.run("fmt", "--check").code == 0
    assert project.run("trust", "--yes").code == 0
    assert project.run("compile").code == 0
    ran = project.run("run")
    assert ran.code == 0 and "15/15 trials: 15 pass" in ran.err
    assert project.run("lock").code == 0
    assert project.run("compile").code == 0, "the example holds against the schemas of its own server"
    assert project.run("selftest").code == 0
    assert project.run("init").code == 2


def test_a_lock_of_odd_tools_is_readable(project: Workplace) -> None:
    project.write("src/notes.py", SERVER)
    assert init(project, "--yes")[0] == 0
    assert locks.read((project.root / "specs/notes/mcpe.lock").read_bytes()).diagnostics == ()
    assert project.run("lint").code == 0


NAMES = {
    "npx -y @modelcontextprotocol/server-memory": "memory",
    "mcp-server-git --repository x": "git",
    "uvx mcp-server-time==1.2": "time_1_2",
    "node build/index.js": "project",
    "node tracker/build/index.js": "tracker",
    "python -m tracker_server": "tracker",
    "docker run -i --rm ghcr.io/github/github-mcp-server": "github",
    "https://mcp.linear.app/sse": "linear",
    "http://127.0.0.1:8000/mcp": "mine",
    "mcp-server": "mine",
    "task-server": "task_server",
}


@pytest.mark.parametrize("server", NAMES)
def test_names_are_made_of_what_is_started(server: str, project: Workplace) -> None:
    assert reaching.begin(Path(), server, "", (), ()).reached.name == NAMES[server]


def test_a_folder_that_is_named_is_a_project_of_its_own(project: Workplace) -> None:
    project.write("mcpe.toml", 'specs = ["evals"]\n')
    (project.root / "inner").mkdir()
    for folder, root, spec in ((".", ".", "evals"), ("inner", "inner", "specs"), ("new/one", "new/one", "specs")):
        found = reaching.begin(Path(folder), "x-server", "t", (), ())
        assert (found.root, found.spec) == (project.root / root, f"{spec}/t/t.mcpe")


def test_a_variable_that_is_not_set_is_named(project: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTES_TOKEN", raising=False)
    code, _, err = init(project, "--yes", "--env", "NOTES_TOKEN")
    assert code == 3 and "NOTES_TOKEN" in err and not (project.root / "specs").exists()
    monkeypatch.setenv("NOTES_TOKEN", "s3cret")
    code, out, err = init(project, "--yes", "--env", "NOTES_TOKEN")
    assert code == 0, err
    spec = (project.root / "specs/notes/notes.mcpe").read_text()
    assert re.search(r'env +NOTES_TOKEN = secret\("NOTES_TOKEN"\)', spec) and "s3cret" not in spec + out + err


def test_a_variable_in_the_command_is_a_secret_of_the_operator(
    project: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_TOKEN", "s3cret-of-mine")
    wrong = "import sys\nif sys.argv[1:] != ['--token', 's3cret-of-mine']:\n    sys.exit('wrong token')\n"
    project.write("src/notes.py", wrong + NOTES)
    ended = project.run("init", "--server", "python src/notes.py --token $NOTES_TOKEN", "--yes")
    assert ended.code == 0, ended
    spec = (project.root / "specs/notes/notes.mcpe").read_text()
    assert '"--token" secret("NOTES_TOKEN")' in spec and "s3cret" not in spec + ended.out + ended.err
    # a flag without a value, and a file with the key, are no secrets
    project.write("key.pem", "x")
    reaching.begin(Path(), "x --token --key key.pem --no-auth", "t", (), ())


def test_data_is_copied_for_each_trial_and_programs_stay_where_they_are(project: Workplace) -> None:
    for path in ("data/a.txt", "tracker.db", "build/index.js"):
        project.write(path, "x")
    found = reaching.begin(Path(), "node build/index.js --db tracker.db data build/none.js /etc", "t", (), ()).reached
    assert found.argv == (
        "node",
        "../../build/index.js",
        "--db",
        "{{ workdir }}/tracker.db",
        "{{ workdir }}/data",
        "build/none.js",
        "/etc",
    )
    assert found.copies == (("../../tracker.db", "tracker.db"), ("../../data", "data"))


def test_the_workflow_is_yaml_and_starts_nothing_for_a_url(project: Workplace) -> None:
    from mcpeval_dsl.interchange.starter import folder

    for starts in (True, False):
        found = yaml.safe_load(folder.workflow("specs/t/t.mcpe", locked=starts, starts=starts))
        steps = [step["run"] for step in found["jobs"]["specs"]["steps"] if "run" in step]
        # of this spec alone: what other specs of the project start is not trusted here
        assert ("mcpe lock --check specs/t/t.mcpe --trust-file mcpe-trust.json" in steps) == starts
        assert ("mcpe lock --check --offline" in steps) == starts
        assert {"mcpe lint --format github", "mcpe fmt --check", "mcpe compile"} <= set(steps)


class Web(BaseHTTPRequestHandler):
    """The same server behind a URL; it wants a token."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("X-Token") != "s3cret-of-the-operator":
            self.send_response(401)
            self.end_headers()
            return
        about = {"name": "web", "version": "1"}
        results = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about},
            "tools/list": {"tools": [json.loads(LISTED)]},
        }
        result = results.get(message["method"])
        error = {"error": {"code": -32601, "message": "unknown method"}}
        body = json.dumps(
            {"jsonrpc": "2.0", "id": message.get("id")} | ({"result": result} if result else error)
        ).encode()
        self.send_response(200 if "id" in message else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if "id" in message else 0))
        self.end_headers()
        self.wfile.write(body if "id" in message else b"")

    def do_GET(self) -> None:
        self.send_response(405)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_server_behind_a_url(project: Workplace, web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_TOKEN", "s3cret-of-the-operator")
    refused = project.run("init", "--server", web, "--name", "web", "--yes")
    assert refused.code == 3 and "--header" in refused.err and not (project.root / "specs").exists()
    ended = project.run("init", "--server", web, "--name", "web", "--header", "X-Token=WEB_TOKEN", "--yes")
    assert ended.code == 0 and "web: web 1, 1 tool," in ended.out, ended
    texts = "".join(path.read_text() for path in project.root.rglob("*") if path.is_file())
    assert 'header "X-Token" = secret("WEB_TOKEN")' in texts and "s3cret" not in texts + ended.out + ended.err
    assert "mcpe trust" not in (project.root / ".github/workflows/mcpe.yml").read_text()
    assert project.run("lint").code == 0 and project.run("fmt", "--check").code == 0


REAL = {
    "mcp-server-memory": "memory",
    "mcp-server-filesystem data": "filesystem",
    "mcp-server-everything": "everything",
    "mcp-server-git --repository repo": "git",
}


@pytest.mark.parametrize("server", REAL)
def test_real_servers(server: str, project: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_ = Path(__file__).parents[2] / ".servers/bin"
    assert bin_.is_dir(), "make servers"
    monkeypatch.setenv("PATH", f"{bin_}{os.pathsep}{os.environ['PATH']}")
    project.write("data/a.txt", "hello there\n")
    subprocess.run(["git", "init", "-q", "repo"], check=True)
    commit = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "first commit",
    ]
    subprocess.run(["git", "-C", "repo", *commit], check=True)
    ended = project.run("init", "--server", server, "--yes")
    assert ended.code == 0, ended
    name = REAL[server]
    head = (project.root / f"specs/{name}/{name}.mcpe").read_text().split("\nsuite ")[0]
    assert all(len(line) <= 120 for line in head.splitlines()), head
    lint = project.run("lint")
    assert lint.code == 0 and "warning" not in lint.out + lint.err, lint
    assert project.run("fmt", "--check").code == 0
    assert project.run("lock", "--check").code == 0
    assert project.run("compile", f"specs/{name}/{name}.mcpe").code == 0
    ran = project.run("run")
    assert ran.code == 0 and "untestable" not in ran.err, ran


@pytest.mark.parametrize("kind", ["prompts only", "500 tools", "hostile"])
def test_odd_servers(kind: str, project: Workplace) -> None:
    shutil.copy(Path(__file__).parent / "servers/odd_catalogue.py", project.root / "src/notes.py")
    ended = project.run("init", "--server", f"python src/notes.py '{kind}'", "--name", "odd", "--yes")
    assert ended.code == 0, ended
    assert "\x1b" not in ended.out + ended.err and "\u202e" not in ended.out + ended.err
    lint = project.run("lint")
    assert lint.code == 0 and "warning" not in lint.out + lint.err and "error" not in lint.out + lint.err, lint
    assert project.run("fmt", "--check").code == 0
    assert project.run("lock", "--check").code == 0
    assert project.run("compile").code == 0
    # what the server says stands in texts and comments, and nowhere else
    spec = (project.root / "specs/odd/odd.mcpe").read_text()
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|#[^\n]*', "", spec)
    assert "task evil" not in bare and "{{" not in bare
    assert all(character.isprintable() or character == "\n" for character in spec)
