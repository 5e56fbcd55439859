"""Lint reads a whole lock without the classes of plans, gets the same from it, and leaves every other one to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcpeval_dsl.plan import lock
from mcpeval_dsl.plan.model import Lock
from mcpeval_dsl.project.locked_tools import known_of
from tests.interchange.starter.catalogues import CATALOGUES, ISSUES, server


@pytest.mark.parametrize("case", CATALOGUES)
def test_both_ways_learn_the_same(case: str) -> None:
    whole = Lock(servers=(CATALOGUES[case], server(server="another")))
    assert known_of(lock.write(whole)) == lock.known(whole)


WRITTEN = lock.write(Lock(servers=(server(*ISSUES),))).decode()
OTHERS = {
    "edited": WRITTEN.replace("get_issue", "get_isue", 1),
    "another digest": WRITTEN.replace('"sha256": "', '"sha256": "0', 1),
    "another version": WRITTEN.replace("mcpe-lock/1", "mcpe-lock/2"),
    "a member more": WRITTEN.replace('"format"', '"more": 1, "format"', 1),
    "truncated": WRITTEN[:-20],
    "a list": "[]",
    "nothing": "",
    "no text": "\ud800",
    "servers that are none": '{"format": "mcpe-lock/1", "servers": [1, "x", null]}',
    "deep": '{"format": ' + "[" * 100_000,
}


@pytest.mark.parametrize("case", OTHERS)
def test_any_other_file_goes_the_long_way(case: str) -> None:
    assert known_of(OTHERS[case].encode("utf-8", "surrogatepass")) is None


def test_a_server_twice_goes_the_long_way() -> None:
    plain = json.loads(WRITTEN)
    plain["servers"] *= 2
    assert known_of(json.dumps(plain).encode()) is None


def test_lint_with_a_lock_needs_no_classes_of_plans(tmp_path: Path) -> None:
    spec = 'suite s { trials 2 }\nserver tracker { stdio "x" }\nannotations tracker { readonly * }\n'
    spec += 'model m { anthropic "claude-sonnet-4-5" }\n'
    spec += 'task ask { prompt "Who?"; tags a; expect get_isue; grade contains "x" }\n'
    (tmp_path / "mcpe.toml").write_text('specs = ["."]\n')
    (tmp_path / "s.mcpe").write_text(spec)
    (tmp_path / "mcpe.lock").write_text(WRITTEN)
    code = "import sys; from mcpeval_dsl.cli.main import main; main(['lint']); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "did you mean `get_issue`" in done.stdout and done.stdout.endswith("False\n"), done
    (tmp_path / "mcpe.lock").write_text(OTHERS["edited"])
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "MCPE406" in done.stdout and "MCPE260" not in done.stdout, "a lock that is not believed checks nothing"
