"""`mcpe lock --check --offline` starts nothing, and says whether locks are whole and complete."""

from __future__ import annotations

import json

from .projects import SPEC, Workplace, workplace
from .test_lock import _lock, _trust

__all__ = ["workplace"]


def test_whole_and_complete(workplace: Workplace) -> None:
    workplace.spec()
    _trust(workplace)
    assert _lock(workplace)[0] == 0
    started = workplace.root / "started"
    workplace.write("specs/server.py", f"open({str(started)!r}, 'w')")
    ended = workplace.run("lock", "--check", "--offline")
    assert (ended.code, ended.out) == (0, "every lock is whole and has every server\n")
    assert not started.exists()


def test_a_server_that_is_missing(workplace: Workplace) -> None:
    workplace.spec()
    none = workplace.run("lock", "--check", "--offline")
    assert none.code == 1 and "MCPE411" in none.err and "there is no specs/mcpe.lock" in none.err
    _trust(workplace)
    _lock(workplace)
    workplace.spec(text=SPEC + 'server more { stdio "python" "server.py"; private }\n')
    ended = workplace.run("lock", "--check", "--offline", "--format", "json")
    assert ended.code == 1 and "`more`" in ended.err and "specs/notes.mcpe:" in ended.err
    assert json.loads(ended.out.splitlines()[1]) == {"type": "offline", "specs": 1, "missing": 1}


def test_a_broken_lock(workplace: Workplace) -> None:
    workplace.spec()
    workplace.write("specs/mcpe.lock", "{")
    ended = workplace.run("lock", "--check", "--offline")
    assert ended.code == 2 and "MCPE401" in ended.err and "ends too early" in ended.err
    assert "1 error (" in ended.err and "MCPE411" not in ended.err


def test_it_goes_with_check_only(workplace: Workplace) -> None:
    workplace.spec()
    assert workplace.run("lock", "--offline").code == 2
    assert workplace.run("lock", "--diff", "--check").code == 2
