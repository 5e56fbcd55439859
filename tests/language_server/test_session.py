"""Sessions with the real `mcpe lsp` process, as an editor has them."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.language_server.client import CAPABILITIES, ROOT, Client, session
from tests.language_server.conftest import MAIN, SHARED, locked


def encodings(*offered: str) -> dict[str, Any]:
    return {**CAPABILITIES, "general": {"positionEncodings": list(offered)}}


def insert(line: int, character: int, text: str) -> dict[str, Any]:
    where = {"line": line, "character": character}
    return {"range": {"start": where, "end": where}, "text": text}


def test_a_squiggle_comes_and_goes_and_the_session_ends_well(project: Path) -> None:
    with session(project) as client:
        capabilities = client.initialize()["capabilities"]
        assert capabilities["positionEncoding"] == "utf-16"
        assert capabilities["textDocumentSync"]["change"] == 2
        uri = client.open("main.mcpe")
        client.until(uri)
        client.change(uri, 2, insert(7, 2, "zz"))
        (found,) = client.until(uri, "MCPE201")
        assert found["range"] == {"start": {"line": 7, "character": 2}, "end": {"line": 7, "character": 9}}
        assert found["severity"] == 1 and found["source"] == "mcpe"
        start, end = {"line": 7, "character": 2}, {"line": 7, "character": 4}
        client.change(uri, 3, {"range": {"start": start, "end": end}, "text": ""})
        client.until(uri)
        assert client.shut_down() == 0
        assert client.errors == []


@pytest.mark.parametrize("how", ["exit", "end of input", "no protocol"])
def test_an_end_without_shutdown_is_no_success(how: str, project: Path) -> None:
    with session(project) as client:
        client.initialize()
        stdin = client.process.stdin
        assert stdin is not None
        if how == "exit":
            client.notify("exit")
        elif how == "no protocol":
            stdin.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            stdin.flush()
        else:
            stdin.close()
        assert client.process.wait(10) == 1


def test_it_ends_when_the_editor_is_gone(project: Path) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with session(project) as client:
        client.initialize(processId=editor.pid)
        assert client.process.poll() is None
        editor.communicate(b"\n")
        assert client.process.wait(20) == 1


def test_the_process_beside_ends_with_the_server(project: Path) -> None:
    children = Path(f"/proc/{os.getpid()}/task")
    with session(project) as client:
        client.initialize()
        pid = client.process.pid
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        assert len(found) == 1 and children.exists()
        client.process.kill()
        client.process.wait()
        end = time.monotonic() + 10
        while Path(f"/proc/{found[0]}").exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert not Path(f"/proc/{found[0]}").exists()


@pytest.mark.parametrize(
    ("offered", "chosen", "character"),
    [((), "utf-16", 52), (("utf-8", "utf-16"), "utf-8", 58), (("utf-32",), "utf-32", 49), (("utf-7",), "utf-16", 52)],
)
def test_positions_are_counted_as_agreed(offered: tuple[str, ...], chosen: str, character: int, project: Path) -> None:
    text = MAIN.replace("{{ oldest.key }}", "{{ oldes }}")
    with session(project) as client:
        capabilities = client.initialize(encodings(*offered) if offered else None)["capabilities"]
        assert capabilities["positionEncoding"] == chosen
        uri = client.open("main.mcpe", text)
        for version, ending in ((2, "\n"), (4, "\r\n")):
            client.replace(uri, version, text.replace("\n", ending))
            (found,) = client.until(uri, "MCPE250")
            assert found["range"]["start"] == {"line": 5, "character": character}
            assert found["range"]["end"]["character"] == character + 5
            # and the same position is understood when it comes back
            client.change(uri, version + 1, insert(5, character + 5, "t"))
            client.until(uri)


def test_open_buffers_win_over_the_disk(project: Path) -> None:
    """Two files, unsaved, of which one imports the other."""
    with session(project) as client:
        client.initialize()
        main, shared = client.open("main.mcpe"), client.open("shared.mcpe")
        client.until(main)
        client.until(shared)
        client.replace(shared, 2, SHARED.replace("tracker", "desk"))
        (found,) = client.until(main, "MCPE254")
        assert "tracker" in found["message"]
        client.replace(main, 2, MAIN.replace("tracker.", "desk."))
        client.until(main)
        client.close(shared)  # what is on disk counts again
        client.until(main, "MCPE254")
        assert (project / "shared.mcpe").read_text() == SHARED


def test_files_that_import_each_other(project: Path) -> None:
    with session(project) as client:
        client.initialize()
        main, shared = client.open("main.mcpe"), client.open("shared.mcpe")
        client.replace(shared, 2, f'import "main.mcpe"\n{SHARED}')
        (found,) = client.until(shared, "MCPE271")
        related = found["relatedInformation"]
        assert {place["location"]["uri"] for place in related} == {main, shared}
        client.replace(shared, 3, SHARED)
        client.until(shared)


def test_the_same_as_lint_finds(project: Path) -> None:
    from mcpeval_dsl import pipeline

    with session(project) as client:
        client.initialize()
        for spec in sorted((ROOT / "specs").rglob("*.mcpe")):
            folder = project / spec.parent.name
            if not folder.exists():
                shutil.copytree(spec.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
                (folder / "mcpe.toml").write_text('specs = ["."]\n')
            checked = pipeline.check(spec.name, pipeline.ProjectFiles(folder), design=True)
            expected = [d.code for d in checked.diagnostics if d.at is None or d.at.path == spec.name]
            client.until(client.open(f"{folder.name}/{spec.name}"), *expected)


def test_only_the_newest_version_is_spoken_of(project: Path) -> None:
    with session(project) as client:
        client.initialize()
        uri = client.open("main.mcpe")
        for version in range(2, 60):
            client.change(uri, version, insert(7, 2, "z"))
            if version % 5 == 0:
                time.sleep(0.03)
        client.until(uri, "MCPE201")
        versions = [m["params"]["version"] for m in client.told if m["method"].endswith("publishDiagnostics")]
        assert versions == sorted(versions) and versions[-1] == 59


def test_two_windows_on_one_file(project: Path) -> None:
    with session(project) as client:
        client.initialize()
        one = client.open("main.mcpe")
        other = one.replace("main", "%6Dain")  # the same file, spelled otherwise
        client.open(other, MAIN)
        client.until(one)
        client.until(other)
        client.close(other)
        client.open("main.mcpe", MAIN.replace("grade", "grad"), version=7)  # a second window of the first name
        client.until(one, "MCPE201")
        client.close(one)
        client.replace(one, 8, MAIN)
        client.until(one)


def test_buffers_without_a_file_and_files_without_a_project(project: Path, tmp_path: Path) -> None:
    lonely = tmp_path / "lonely.mcpe"
    lonely.write_text("let x = y\n")
    with session(project) as client:
        client.initialize()
        untitled = client.open("untitled:Untitled-1", "let x = y\n")
        client.until(untitled, "MCPE250")
        client.until(client.open(lonely.as_uri(), lonely.read_text()), "MCPE250")
        client.until(client.open("git:/suite/main.mcpe?x", "let x = y\n"), "MCPE250")
    with session(tmp_path) as client:
        client.initialize(rootUri=None, workspaceFolders=None)
        client.until(client.open("untitled:Untitled-1", "let x = y\n"), "MCPE250")
        client.until(client.open(lonely.as_uri(), lonely.read_text()), "MCPE250")


def test_files_that_go_come_and_change_their_names(project: Path) -> None:
    with session(project) as client:
        client.initialize()
        main = client.open("main.mcpe")
        client.until(main)
        (project / "shared.mcpe").rename(project / "common.mcpe")
        client.until(main, "MCPE270")
        client.replace(main, 2, MAIN.replace("shared", "common"))
        client.until(main)
        (project / "main.mcpe").unlink()  # the buffer is still open
        client.close(main)
        client.until(main)


@pytest.mark.parametrize("watching", [True, False])
def test_a_lock_that_changes_on_disk(watching: bool, project: Path) -> None:
    """An editor that watches files tells of it; with any other the server looks now and then."""
    workspace = {"didChangeWatchedFiles": {"dynamicRegistration": watching}}
    lock = project / "mcpe.lock"
    with session(project) as client:
        client.initialize({**CAPABILITIES, "workspace": workspace})
        uri = client.open("main.mcpe")
        client.until(uri)
        client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
        assert bool([m for m in client.asked if m["method"] == "client/registerCapability"]) == watching
        lock.write_bytes(locked({"get_project": {"type": "object"}}))
        if watching:
            changes = [{"uri": lock.as_uri(), "type": 2}]
            client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        (found,) = client.until(uri, "MCPE260")
        assert "get_issue" in found["message"]
        lock.unlink()
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": lock.as_uri(), "type": 3}]})
        client.until(uri)


def test_locks_that_cannot_be_believed(project: Path) -> None:
    lock = project / "mcpe.lock"
    good = lock.read_text()
    with session(project) as client:
        client.initialize()
        uri = client.open("main.mcpe")
        client.until(uri)
        for code, text in (
            ("MCPE409", good.replace("mcpe-lock/1", "mcpe-lock/99")),  # of another version
            ("MCPE406", good.replace("get_issue", "got_issue")),  # edited by hand
            ("MCPE407", "<<<<<<< ours\n" + good),  # not merged
            ("MCPE401", good[: len(good) // 2]),
        ):
            lock.write_text(text)
            client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
            client.until(lock.as_uri(), code)
        lock.write_text(good)
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        client.until(lock.as_uri())


def test_settings_that_are_wrong_are_told_where_they_stand(project: Path) -> None:
    settings = project / "mcpe.toml"
    settings.write_text('specs = ["."]\n[lint]\nignore = ["MCPE999"]\n')
    with session(project) as client:
        client.initialize()
        client.open("main.mcpe")
        client.until(settings.as_uri(), "MCPE574")
        settings.write_text("[lint]\n")
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": settings.as_uri(), "type": 2}]})
        client.until(settings.as_uri())


def test_requests_taken_back_and_all_others_are_answered(project: Path) -> None:
    text = MAIN + "".join(
        MAIN[MAIN.index("task") : MAIN.index("harvest")].replace("first", f"t{n}") for n in range(300)
    )
    with session(project) as client:
        client.initialize()
        uri = client.open("main.mcpe", text)
        asked = [client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}}) for _ in range(40)]
        for number in asked[10:]:
            client.notify("$/cancelRequest", {"id": number})
        answers = [client.answer(number) for number in asked]
        assert all("result" in answer for answer in answers[:1])
        taken_back = [answer for answer in answers if answer.get("error", {}).get("code") == -32800]
        assert taken_back and all("result" in answer or answer in taken_back for answer in answers)


BREAKING = """
import sys
from mcpeval_dsl.language_server.features import code_lens, hover
from mcpeval_dsl.language_server import acting, service
def broken(*_): raise ZeroDivisionError("of ours")
acting.lenses = broken
service.Service.close = broken
from mcpeval_dsl.cli.main import main
sys.exit(main(["lsp"]))
"""


def test_a_fault_of_ours_ends_one_request_only(project: Path) -> None:
    with session(project, BREAKING) as client:
        client.initialize()
        uri = client.open("main.mcpe")
        assert client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) is None
        client.close(uri)
        client.until(client.open("shared.mcpe"))
        assert client.shut_down() == 0
    assert [line for line in client.errors if "ZeroDivisionError: of ours" in line]
    assert not [line for line in client.errors if "Traceback" in line]


DYING = """
import os, sys
from mcpeval_dsl.language_server import analyst, beside
from mcpeval_dsl.cli.main import main
parent = os.getpid()
kept = analyst.Analyst.answer
def dying(self, request, stopped):
    if os.getpid() != parent: os.abort()
    return kept(self, request, stopped)
analyst.Analyst.answer = dying
sys.exit(main(["lsp"]))
"""


def test_it_goes_on_without_the_process_beside(project: Path) -> None:
    with session(project, DYING) as client:
        client.initialize()
        client.until(client.open("main.mcpe", MAIN.replace("grade", "grad")), "MCPE201")
        assert client.shut_down() == 0


@pytest.mark.parametrize("missing", ["pygls", "lsprotocol"])
def test_without_its_extra_it_says_what_to_install(missing: str, project: Path) -> None:
    entry = (
        f"import sys; sys.modules[{missing!r}] = None; from mcpeval_dsl.cli.main import main; sys.exit(main(['lsp']))"
    )
    done = subprocess.run([sys.executable, "-c", entry], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    way = 'pip install "mcpeval_dsl[lsp]", or ".[lsp]" in a clone'
    assert done.stderr == f"error: the language server is not installed: {way}\n"


def test_started_by_a_person_it_says_what_it_waits_for(project: Path) -> None:
    terminal, side = pty.openpty()
    command = [sys.executable, "-m", "mcpeval_dsl.cli.main", "lsp"]
    with subprocess.Popen(command, cwd=project, stdin=side, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stderr is not None
        assert started.stderr.readline().startswith(b"mcpe lsp waits for what an editor sends")
        started.kill()
    os.close(terminal)
    os.close(side)


def test_what_an_import_is_wrong_for_is_told_where_only_it_is_open(project: Path) -> None:
    with session(project) as client:
        client.initialize()
        shared = client.open("shared.mcpe", SHARED.replace("canned.yaml", "gone.yaml"))
        client.until(shared, "MCPE272")
        client.replace(shared, 2, SHARED.replace("tracker", "desk"))
        client.until(client.uri("main.mcpe"), "MCPE254")
        client.replace(shared, 3, SHARED)
        client.until(client.uri("main.mcpe"))


def test_messages_that_are_none(project: Path) -> None:
    with session(project) as client:
        client.initialize()
        uri = client.open("main.mcpe")
        client.send_bytes(b"{")
        client.send_bytes(b"[1, 2]")
        client.send_bytes(b"\xff\xfe")
        client.send_bytes(b"[" * 200_000)
        assert client.answer(client.ask("no/suchMethod"))["error"]["code"] == -32601
        number = client.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": "no"}})
        assert client.answer(number)["error"]["code"] == -32600
        client.change(
            uri,
            2,
            {"range": {"start": {"line": 10**9, "character": 10**9}, "end": {"line": 0, "character": 0}}, "text": "#"},
        )
        client.change("file:///never/opened.mcpe", 2, insert(0, 0, "x"))
        client.close("file:///never/opened.mcpe")
        client.notify("$/cancelRequest", {"id": 4711})
        client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        assert client.shut_down() == 0


def test_very_large_buffers(project: Path) -> None:
    with session(project) as client:
        client.initialize()
        for size, code in ((1_200_000, "MCPE105"), (5_000_000, "MCPE102")):
            large(client, size, code)


def large(client: Client, size: int, code: str) -> None:
    text = MAIN + f"# {'x' * 100}\n" * (size // 103)
    uri = client.open("main.mcpe", text)
    shown = client.diagnostics(uri) or []
    while code not in [d["code"] for d in shown]:
        client.wait_for_more(20)
        shown = client.diagnostics(uri) or []
    at = {"textDocument": {"uri": uri}, "position": {"line": 7, "character": 3}}
    for version in range(2, 6):
        client.change(uri, version, insert(7, 2, "z"))
        client.request("textDocument/completion", at)
    client.replace(uri, 9, MAIN)
    client.until(uri)
