"""`mcpe lock`: nothing starts without trust; then the catalogue is written, compared and used by the checker."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from mcpeval_dsl.cli import specs
from mcpeval_dsl.cli.meeting import told
from mcpeval_dsl.execute.startables import startables
from mcpeval_dsl.execute.trust import TrustFile
from mcpeval_dsl.plan import lock as locks
from mcpeval_dsl.plan.model import Selection

from .projects import SERVER, SPEC, Workplace, workplace

__all__ = ["workplace"]


def _trust(workplace: Workplace) -> Path:
    loaded = specs.load(())
    path = workplace.root / "trust.json"
    for plan in specs.plan(loaded, Selection(heldout=True)):
        TrustFile(path).add(startables(plan, (workplace.root / plan.suite.spec).parent.resolve()))
    return path


def _lock(workplace: Workplace, *arguments: str) -> tuple[int, str]:
    ended = workplace.run("lock", "--trust-file", str(workplace.root / "trust.json"), *arguments)
    return ended.code, ended.out + ended.err


def test_untrusted_servers_are_not_started(workplace: Workplace) -> None:
    started = workplace.root / "started"
    workplace.spec()
    workplace.write("specs/server.py", f"open({str(started)!r}, 'w')")
    ended = workplace.run("lock")
    assert ended.code == 2 and "MCPE500" in ended.err and "server.py" in ended.err
    assert not started.exists() and not (workplace.root / "specs/mcpe.lock").exists()


def test_lock_is_written_compared_and_used(workplace: Workplace) -> None:
    workplace.spec()
    _trust(workplace)
    code, said = _lock(workplace)
    assert code == 0 and "notes: notes 3, 3 tools, revision 2025-11-25" in said, said
    assert "tool `broken`" in said
    path = workplace.root / "specs/mcpe.lock"
    found = locks.read(path.read_bytes()).value
    assert found is not None and [t.name for t in found.servers[0].tools] == ["add_note", "broken", "list_notes"]
    assert found.servers[0].tools[1].input_schema is None

    before = path.read_bytes()
    assert _lock(workplace)[0] == 0 and path.read_bytes() == before
    assert _lock(workplace, "--check")[0] == 0

    workplace.write("specs/server.py", SERVER.replace('"add_note"', '"new_note"'))
    code, said = _lock(workplace, "--check")
    assert code == 1 and "tool `add_note` is gone" in said and "MCPE405" in said
    assert path.read_bytes() == before
    code, said = _lock(workplace, "--format", "json")
    lines = [json.loads(line) for line in said.splitlines()]
    assert code == 0 and [line["type"] for line in lines] == ["version", "server", "lock"]
    assert [c["part"] for c in lines[1]["changes"]] == ["tools", "tools"]


def test_checker_reads_the_lock(workplace: Workplace) -> None:
    workplace.spec(text=SPEC.replace("notes.list_notes(", "notes.list_nots("))
    _trust(workplace)
    assert _lock(workplace)[0] == 0, "an outdated spec must not stand in the way"
    ended = workplace.run("compile")
    assert ended.code == 2 and "did you mean `list_notes`" in ended.err, ended


def test_server_that_does_not_start_keeps_its_entry(workplace: Workplace) -> None:
    workplace.spec()
    _trust(workplace)
    _lock(workplace)
    before = (workplace.root / "specs/mcpe.lock").read_bytes()
    workplace.write("specs/server.py", "import sys; sys.exit('no such table')")
    code, said = _lock(workplace)
    assert code == 3 and "MCPE404" in said and "no such table" in said, said
    assert (workplace.root / "specs/mcpe.lock").read_bytes() == before


def test_broken_lock_is_said_by_compile_and_replaced_by_lock(workplace: Workplace) -> None:
    workplace.spec()
    workplace.write("specs/mcpe.lock", "<<<<<<< ours\n")
    ended = workplace.run("compile")
    assert ended.code == 2 and "MCPE407" in ended.err and "specs/mcpe.lock:1:1" in ended.err
    loaded = specs.load((), with_lock=False)
    for plan in specs.plan(loaded, Selection(heldout=True)):
        TrustFile(workplace.root / "trust.json").add(
            startables(plan, (workplace.root / plan.suite.spec).parent.resolve())
        )
    assert _lock(workplace)[0] == 0
    assert workplace.run("compile").code == 0


def test_one_name_for_two_servers_in_one_folder_is_refused(workplace: Workplace) -> None:
    workplace.spec()
    workplace.spec("specs/other.mcpe", SPEC.replace("suite notes", "suite other").replace('"server.py"', '"second.py"'))
    workplace.write("specs/second.py", SERVER.replace('"add_note"', '"new_note"'))
    _trust(workplace)
    code, said = _lock(workplace)
    assert code == 2 and "MCPE402" in said, said
    assert not (workplace.root / "specs/mcpe.lock").exists()


def test_specs_in_one_folder_share_a_lock(workplace: Workplace) -> None:
    workplace.spec()
    other = SPEC.replace("suite notes", "suite other").replace("notes.list", "memo.list")
    workplace.spec(
        "specs/other.mcpe",
        other.replace("server notes", "server memo").replace("annotations notes", "annotations memo"),
    )
    _trust(workplace)
    assert _lock(workplace)[0] == 0
    path = workplace.root / "specs/mcpe.lock"
    assert path.read_bytes().count(b'"server": ') == 2
    before = path.read_bytes()
    assert _lock(workplace, "specs/notes.mcpe")[0] == 0 and path.read_bytes() == before


def test_the_same_server_gives_the_same_bytes_anywhere(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    workplace.spec()
    _trust(workplace)
    assert _lock(workplace)[0] == 0
    here = (workplace.root / "specs/mcpe.lock").read_bytes()
    assert str(workplace.root).encode() not in here
    elsewhere = workplace.root.parent / "another place" / "project"
    shutil.copytree(workplace.root, elsewhere)
    (elsewhere / "specs/mcpe.lock").unlink()
    monkeypatch.chdir(elsewhere)
    for name, value in (("TZ", "Asia/Tokyo"), ("LC_ALL", "C"), ("PYTHONHASHSEED", "77"), ("COLUMNS", "20")):
        monkeypatch.setenv(name, value)
    moved = Workplace(elsewhere, workplace.capture)
    # keys and tools in another order are the same catalogue
    moved.write("specs/server.py", SERVER.replace('{"tools": TOOLS}', '{"tools": TOOLS[::-1]}'))
    _trust(moved)
    assert _lock(moved)[0] == 0
    assert (elsewhere / "specs/mcpe.lock").read_bytes() == here


def test_a_lock_that_never_ends_or_is_a_folder(workplace: Workplace) -> None:
    workplace.spec()
    path = workplace.root / "specs/mcpe.lock"
    os.mkfifo(path)
    ended = workplace.run("lint")
    assert ended.code == 2 and "MCPE401" in ended.out and "no regular file" in ended.out
    path.unlink()
    path.mkdir()
    ended = workplace.run("compile")
    assert ended.code == 2 and "it is a directory" in ended.err


@pytest.mark.parametrize(
    ("message", "stderr", "body"),
    [
        ("it ended", "", "it ended."),
        ("it ended: boom", "boom\n", "it ended: boom."),
        ("no answer in 10 s", "loading\nboom\n", "no answer in 10 s.\nIts last words: loading\nboom"),
    ],
)
def test_last_words_are_told_once(message: str, stderr: str, body: str) -> None:
    assert told(message, stderr) == body
