"""`mcpe lock --diff`: between two files, and since a file; what is written to neither, and what the exit code says."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from .projects import SERVER, Workplace, workplace
from .test_lock import _lock, _trust

__all__ = ["workplace"]

MENDED = SERVER.replace('"description": "Lists."', '"description": "Lists all."')
BREAKING = SERVER.replace('{"sort": {}}', '{"sort": {}, "page": {}}, "required": ["page"]')


@pytest.fixture
def locked(workplace: Workplace) -> Workplace:
    workplace.spec()
    _trust(workplace)
    assert _lock(workplace)[0] == 0
    return workplace


def _with(workplace: Workplace, server: str, name: str) -> Path:
    """A second lock file, of a server as it is later; the first one and the server stay as they are."""
    path = workplace.root / "specs/mcpe.lock"
    before = path.read_bytes()
    workplace.write("specs/server.py", server)
    assert _lock(workplace)[0] == 0
    other = workplace.root / name
    other.write_bytes(path.read_bytes())
    path.write_bytes(before)
    workplace.write("specs/server.py", SERVER)
    return other


def test_nothing_changed(locked: Workplace) -> None:
    ended = locked.run("lock", "--diff", "--trust-file", str(locked.root / "trust.json"))
    assert (ended.code, ended.out) == (0, "no change\n")


def test_since_the_lock_nothing_is_written(locked: Workplace) -> None:
    before = (locked.root / "specs/mcpe.lock").read_bytes()
    locked.write("specs/server.py", BREAKING)
    code, said = _lock(locked, "--diff")
    assert code == 1
    assert said.splitlines() == [
        "breaking     notes.list_notes  argument `page` is new and required",
        "1 breaking, 0 behavioural, 0 cosmetic",
    ]
    assert (locked.root / "specs/mcpe.lock").read_bytes() == before


@pytest.mark.parametrize(("fail_on", "code"), [("breaking", 0), ("behavioural", 1), ("cosmetic", 1)])
def test_from_which_class_on_it_fails(locked: Workplace, fail_on: str, code: int) -> None:
    locked.write("specs/server.py", MENDED)
    ended, said = _lock(locked, "--diff", "--fail-on", fail_on)
    assert ended == code and said.startswith("behavioural  notes.list_notes  its description changed")


def test_a_cosmetic_change_is_said_and_passes(locked: Workplace) -> None:
    locked.write("specs/server.py", SERVER.replace('"version": "3"', '"version": "4"'))
    code, said = _lock(locked, "--diff")
    assert code == 0 and said.startswith("cosmetic     notes  version 3 became 4")


def test_two_files_start_nothing(locked: Workplace) -> None:
    new = _with(locked, BREAKING, "new.lock")
    started = locked.root / "started"
    locked.write("specs/server.py", f"open({str(started)!r}, 'w')")
    ended = locked.run("lock", "--diff", "specs/mcpe.lock", str(new), "--format", "json")
    first, *changes, last = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 1 and first["schema"] == "mcpe-lock-diff/1"
    assert changes == [
        {
            "type": "change",
            "server": "notes",
            "tool": "list_notes",
            "class": "breaking",
            "kind": "argument new and required",
            "path": "page",
            "what": "argument `page` is new and required",
        }
    ]
    assert last == {"type": "summary", "breaking": 1, "behavioural": 0, "cosmetic": 0}
    # the other way round nobody has to give it any more, but who gives it may be refused
    assert locked.run("lock", "--diff", str(new), "specs/mcpe.lock").out.startswith("breaking     notes.list_notes")
    assert not started.exists()


def test_an_older_file_against_the_servers(locked: Workplace) -> None:
    old = _with(locked, BREAKING, "old.lock")
    code, said = _lock(locked, "--diff", str(old))
    assert code == 1 and "argument `page` is gone" in said


def test_one_side_from_standard_input(locked: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (locked.root / "specs/mcpe.lock").read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False))
    assert locked.run("lock", "--diff", "-", "specs/mcpe.lock").out == "no change\n"


def test_without_a_lock_there_is_nothing_to_compare_with(workplace: Workplace) -> None:
    workplace.spec()
    _trust(workplace)
    code, said = _lock(workplace, "--diff")
    assert code == 2 and "MCPE410" in said and "no change" not in said


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("a.lock", "b.lock", "c.lock"), "at most two"),
        (("-", "-"), "at most two"),
        (("a.lock", "b.lock", "specs"), "at most two"),
        (("none.lock", "specs/mcpe.lock"), "none.lock cannot be read"),
        (("broken.lock", "specs/mcpe.lock"), "broken.lock:1:1"),
        (("--fail-on", "worst"), "--fail-on is one of"),
    ],
)
def test_wrong_use_is_said(locked: Workplace, arguments: tuple[str, ...], what: str) -> None:
    locked.write("broken.lock", ">>>>>>> theirs\n")
    ended = locked.run("lock", "--diff", *arguments)
    assert ended.code == 2 and what in ended.err and not ended.out


def test_a_server_that_does_not_answer_is_no_change(locked: Workplace) -> None:
    locked.write("specs/server.py", "raise SystemExit(1)")
    code, said = _lock(locked, "--diff")
    assert code == 3 and "MCPE404" in said and "gone" not in said and "no change" not in said


def test_untrusted_servers_are_not_started(locked: Workplace) -> None:
    ended = locked.run("lock", "--diff")
    assert ended.code == 2 and "MCPE500" in ended.err and ended.out == ""
