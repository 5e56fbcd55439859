"""Reading executes nothing: whole sessions with a workspace made to be run, watched by an audit hook in both processes."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.language_server.client import CAPABILITIES, ROOT, Client, session
from tests.language_server.conftest import SHARED, locked

# Tells on standard error of each process, socket, opened file, write and look at the environment.
WATCHED = """
import os, sys
told = os.dup(2)
def tell(*words):
    os.write(told, ("AUDIT " + " ".join(ascii(w) for w in words) + "\\n").encode())
PREFIXES = ("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "pty.", "socket.", "ctypes.",
            "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.putenv",
            "os.truncate", "os.utime", "shutil.", "tempfile.", "webbrowser.", "code.__new__", "exec", "http.", "urllib.",
            "signal.pthread_kill", "os.kill", "import")
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        tell("open", os.fsdecode(arguments[0]), str(arguments[1]), arguments[2])
    elif event == "import":
        tell("import", arguments[0], arguments[1] or "")
    elif event == "exec":
        tell("exec", arguments[0].co_filename)
    elif event.startswith(PREFIXES):
        tell(event, *arguments[:2])
sys.addaudithook(hook)
class Looked(type(os.environ)):
    def __getitem__(self, name):
        tell("environment", name)
        return super().__getitem__(name)
    def __iter__(self):
        tell("environment", "all")
        return super().__iter__()
os.environ.__class__ = Looked
from mcpeval_dsl.cli.main import main
sys.exit(main(["lsp"]))
"""
PROOF = "open('RAN', 'w').write('x')\n"
SPEC = """
import "shared.mcpe"
import "outside.mcpe"
import "pipe.mcpe"
import "endless.mcpe"
import "../../../../../../etc/hosts"
import "huge.mcpe"
suite hostile "$(touch RAN) `touch RAN`" { trials 2 }
environment desk {
  run "sh" "-c" "touch RAN"
  env LD_PRELOAD = "./evil.so"
}
host outside { agent "claude"; command "sh" "-c" "touch RAN" }
model evil { script "evil.yaml" }
table rows from "pipe.csv"
harvest secret = command("sh", "-c", "touch RAN")
harvest page = http.get("http://127.0.0.1:9/x")
harvest fresh = sql("select load_extension('evil')", on: "evil.db")
task first {
  prompt file "outside.txt"
  tools only tracker.get_issue
  expect tracker.get_issue(key: "{{ ().__class__.__mro__[1].__subclasses__() }}")
  grade python "evil.py:grade"
  grade command "sh" "-c" "touch RAN"
  grade contains "{{ secret }}" # mcpe: ignore[MCPE371] because
}
"""
HOSTILE_TEXT = (
    "\x1b]0;x\x07 ![x](http://127.0.0.1:9/x.png) [run](command:workbench.action.terminal.new) <script>x</script>"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    outside = tmp_path / "outside.txt"
    outside.write_text("let secret_of_the_machine = 1\n")
    for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "evil.py", "mcp.py", "yaml.py", "pygls.py"):
        (folder / name).write_text(PROOF)
    (folder / ".env").write_text("MCPE_TOKEN=x\nPYTHONSTARTUP=evil.py\n")
    (folder / "pyproject.toml").write_text(
        '[tool.mcpe]\nspecs = ["/", "~", "$HOME", "| touch RAN"]\n[tool.mcpe.lint]\nignore = ["MCPE36"]\n'
    )
    (folder / "shared.mcpe").write_text(SHARED.replace("server.py", "evil.py"))
    (folder / "hostile.mcpe").write_text(SPEC)
    (folder / "evil.yaml").write_text("tasks: !!python/object/apply:os.system ['touch RAN']\n")
    (folder / "outside.mcpe").symlink_to(outside)
    (folder / "outside.txt").symlink_to(outside)
    (folder / "endless.mcpe").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.mcpe")
    os.mkfifo(folder / "pipe.csv")
    os.truncate(_touched(folder / "huge.mcpe"), 3_000_000_000)  # holds nothing, and is read as if it did
    (folder / "deep").symlink_to("..")  # a way round and round
    (folder / "node_modules").mkdir()
    (folder / "evil.db").write_bytes(b"SQLite format 3\0")
    tools: dict[str, dict[str, object]] = {
        "get_issue": {
            "type": "object",
            "description": HOSTILE_TEXT,
            "properties": {"key": {"$ref": "http://127.0.0.1:9/s"}},
        },
        HOSTILE_TEXT: {"type": "object", "properties": {"a": {"pattern": "(a+)+$", "$ref": "#"}}},
    }
    (folder / "mcpe.lock").write_bytes(locked(tools))
    return folder


def _touched(path: Path) -> Path:
    path.touch()
    return path


def everything(client: Client, uri: str, lines: int) -> None:
    """Ask for all that an editor asks for, at every other line."""
    document = {"textDocument": {"uri": uri}}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}
    for method in ("documentSymbol", "foldingRange", "semanticTokens/full", "codeLens", "documentLink"):
        client.request(f"textDocument/{method}", document)
    client.request("textDocument/inlayHint", {**document, "range": whole})
    client.request("textDocument/codeAction", {**document, "range": whole, "context": {"diagnostics": []}})
    client.request("textDocument/formatting", {**document, "options": {"tabSize": 2, "insertSpaces": True}})
    client.request("workspace/symbol", {"query": "s"})
    for line in range(0, lines, 2):
        at = {**document, "position": {"line": line, "character": 16}}
        for method in ("completion", "hover", "definition", "documentHighlight", "signatureHelp"):
            client.request(f"textDocument/{method}", at)
        client.request("textDocument/references", {**at, "context": {"includeDeclaration": True}})
        client.answer(client.ask("textDocument/rename", {**at, "newName": "$(touch RAN)"}))
    client.answer(
        client.ask("workspace/executeCommand", {"command": "mcpe.runInTerminal", "arguments": [{"command": ["sh"]}]})
    )


def _at_rest(client: Client) -> int:
    """Wait until both processes have started; gives how much they have told till then."""
    while True:
        before = len(client.errors)
        time.sleep(1.0)
        if len(client.errors) == before:
            return before


def _words(line: str) -> list[str]:
    return line[6:].rstrip("\n").split(" ")


def test_a_session_with_a_hostile_workspace_starts_nothing(workspace: Path, tmp_path: Path) -> None:
    with session(workspace, WATCHED, PYTHONDONTWRITEBYTECODE="1", PYTHONSAFEPATH="1") as client:
        client.initialize(
            {**CAPABILITIES, "workspace": {}}, initializationOptions={"terminal": True, "codePages": "javascript:x"}
        )
        started = _at_rest(client)
        uri = client.open("hostile.mcpe")
        while not client.diagnostics(uri):
            client.wait_for_more(20)
        everything(client, uri, SPEC.count("\n"))
        client.replace(uri, 2, SPEC.replace("task first", "task fourth"))
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        time.sleep(2.5)  # it looks at the disk by itself meanwhile
        everything(client, uri, SPEC.count("\n"))
        client.request("shutdown")
        time.sleep(0.2)
        seen = [_words(line) for line in client.errors[started:] if line.startswith("AUDIT ")]
        other = [line for line in client.errors[started:] if not line.startswith("AUDIT ")]
    assert not list(tmp_path.rglob("RAN"))
    assert not [line for line in other if "internal error" in line], other
    own = (str(ROOT), sys.prefix, sys.base_prefix)
    for words in seen:
        kind = words[0].strip("'")
        if kind == "open":
            _opened(words, workspace, own)
        elif kind == "import":
            assert not words[2].strip("'").startswith(str(tmp_path)), words
        elif kind == "os.kill":
            assert words[2] == "0", f"{words}: a signal"
        elif kind == "exec":
            assert words[1].strip("'").startswith((*own, "<")), words
        else:
            raise AssertionError(f"{words} in a session that only reads")


def _opened(words: list[str], workspace: Path, own: tuple[str, ...]) -> None:
    path = words[1].strip("'")
    assert words[2].strip("'") in ("r", "rb", "None"), f"{words}: opened to be written"
    if path.startswith(own):
        return
    assert path.startswith(str(workspace)), f"{words}: opened outside of the workspace"
    assert Path(path).name not in (
        "pipe.mcpe",
        "pipe.csv",
        "endless.mcpe",
        "outside.mcpe",
        "outside.txt",
        "huge.mcpe",
        ".env",
    ), words
    assert Path(path).suffix != ".py", words


def test_the_watch_sees_what_it_is_there_for(workspace: Path) -> None:
    """The near miss: the same session with a server that starts something is caught."""
    doing = "import subprocess; from mcpeval_dsl.language_server import service\n"
    doing += "kept = service.Service.open\n"
    doing += "def opened(self, *rest):\n    subprocess.run(['true']); os.environ.get('HOME'); open('RAN', 'w')\n"
    doing += "    kept(self, *rest)\n"
    doing += "service.Service.open = opened\n"
    entry = WATCHED.replace("from mcpeval_dsl.cli.main", doing + "from mcpeval_dsl.cli.main")
    with session(workspace, entry, PYTHONDONTWRITEBYTECODE="1", PYTHONSAFEPATH="1") as client:
        client.initialize()
        started = _at_rest(client)
        client.request(
            "textDocument/hover",
            {"textDocument": {"uri": client.open("shared.mcpe")}, "position": {"line": 0, "character": 0}},
        )
        time.sleep(0.2)
        seen = {line.split(" ")[1].strip("'") for line in client.errors[started:] if line.startswith("AUDIT ")}
    assert {"subprocess.Popen", "environment", "open"} <= seen


def test_what_a_lock_says_is_shown_and_not_obeyed(workspace: Path) -> None:
    with session(workspace) as client:
        client.initialize()
        uri = client.open("hostile.mcpe")
        while not client.diagnostics(uri):
            client.wait_for_more(20)
        at = {"textDocument": {"uri": uri}, "position": {"line": 20, "character": 27}}
        shown = json.dumps(client.request("textDocument/hover", at))
        found = json.dumps(client.diagnostics(uri), ensure_ascii=False)
    for text in (shown, found):
        assert "\\u001b" not in text and "\x1b" not in text
