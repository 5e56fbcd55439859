"""The plan as bytes: the same everywhere, exact when read again, and clear when it is something else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcpeval_dsl.plan import files
from mcpeval_dsl.plan.model import PlanFile

from . import suites as s

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from tests.plan import suites as s\n"
    "from mcpeval_dsl.plan import files\n"
    "sys.stdout.buffer.write(files.write(s.made(lock=s.locked())))\n"
)


def _compiled(folder: Path, **environment: str) -> bytes:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
    ).stdout


def test_same_bytes_under_any_hash_seed_folder_and_locale(tmp_path: Path) -> None:
    first = _compiled(ROOT, PYTHONHASHSEED="1", LC_ALL="C.UTF-8")
    assert first == _compiled(tmp_path, PYTHONHASHSEED="4242", LC_ALL="C", TZ="Asia/Tokyo")
    assert first == files.write(s.made(lock=s.locked()))


def test_reading_gives_the_plan_back_exactly() -> None:
    tasks = (s.task(graders=(s.state(), s.judged(), s.contains(s.text("ä \u2028")))), s.looped("ask", 2))
    plan = s.made(s.suite(tasks=tasks), lock=s.locked())
    data = files.write(plan)
    found = files.read(data)
    assert found.value == PlanFile(plans=(plan,))
    assert files.write(found.value) == data


def test_a_single_plan_is_a_file_of_one() -> None:
    plan = s.made()
    inner = json.loads(files.write(plan))["plans"][0]
    assert files.read(json.dumps(inner).encode()).value == PlanFile(plans=(plan,))


BROKEN = {
    "empty": (b"", "empty"),
    "binary": (b"\x00\xff\xfe", "UTF-8"),
    "no json": (b"{", "no JSON (line 1)"),
    "list": (b"[]", "no JSON object"),
    "deep": (b"[" * 100_000, "no JSON (nested too deeply)"),
    "foreign": (b'{"name": "left-pad"}', "no `format`"),
    "foreign format": (b'{"format": "cargo/3"}', "`cargo/3`"),
    "lock": (b'{"format": "mcpe-lock/1"}', "it is a lock file"),
    "newer": (b'{"format": "mcpe-plans/2", "plans": []}', "version 2, and this mcpe reads mcpe-plans/1"),
    "no plans": (b'{"format": "mcpe-plans/1"}', "$: the field `plans` is missing"),
    "wrong type": (b'{"format": "mcpe-plans/1", "plans": 3}', "$.plans: a list is needed here, not `3`"),
}


@pytest.mark.parametrize(("data", "what"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_plan_says_so(data: bytes, what: str) -> None:
    (found,) = files.read(data, "p.json").diagnostics
    assert found.code == "MCPE573" and what in found.title and found.title.startswith("p.json")


def _changed(path: list[str | int], value: object) -> str:
    data = json.loads(files.write(s.made()))
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    (found,) = files.read(json.dumps(data).encode()).diagnostics
    return found.title


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        (["plans", 0, "tasks", 0, "promt"], "x", "$.plans[0].tasks[0]: there is no field `promt`"),
        (["plans", 0, "tasks", 0, "prompt", "kind"], "teplate", "$.plans[0].tasks[0].prompt.kind: one of"),
        (["plans", 0, "tasks", 0, "trials"], "5", "$.plans[0].tasks[0].trials: a whole number is needed here"),
        (["plans", 0, "tasks", 0, "policy"], "allow", "one of deny, simulate, execute is needed here, not `allow`"),
        (["plans", 0, "nodes", 0, "kind"], "conect", "$.plans[0].nodes[0].kind: one of check, connect"),
    ],
)
def test_a_changed_plan_is_told_with_its_path(path: list[str | int], value: object, what: str) -> None:
    assert what in _changed(path, value)


def test_defaults_are_left_out() -> None:
    task = json.loads(files.write(s.made()))["plans"][0]["tasks"][1]
    assert "undo" not in task and "host_tools" not in task and task["name"] == "longest_waiting"


def test_written_plan_fits_the_published_schema() -> None:
    import jsonschema

    schema = json.loads((ROOT / "schemas/plan.schema.json").read_text())
    data = json.loads(files.write(s.made(s.suite(tasks=(s.task(), s.looped("ask", 1))), lock=s.locked())))
    jsonschema.Draft202012Validator(schema).validate(data)
