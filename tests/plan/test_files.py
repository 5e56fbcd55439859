"""The plan as bytes: the same everywhere, exact when read again, and clear when it is something else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies

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
        (["plans", 0, "servers", 0, "timeout"], 10**400, "$.plans[0].servers[0].timeout: the number is too large"),
        (["plans", 0, "tasks", 0, "policy"], "allow", "one of deny, simulate, execute is needed here, not `allow`"),
        (["plans", 0, "nodes", 0, "kind"], "conect", "$.plans[0].nodes[0].kind: one of check, connect"),
    ],
)
def test_a_changed_plan_is_told_with_its_path(path: list[str | int], value: object, what: str) -> None:
    assert what in _changed(path, value)


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        (["nodes", 3, "needs"], ["harvest:nope"], "needs `harvest:nope`, which does not stand before it"),
        (["nodes", 3, "task"], "nope", "there is no task `nope` in the plan"),
        (["nodes", 3, "cell"], "nope", "there is no cell `nope` in the plan"),
        (["nodes", 3, "trials"], 0, "it has 0 trials"),
        (["nodes", 3, "row"], 1, "only a task with a loop has rows"),
        (["nodes", 1, "harvest"], "nope", "there is no harvest `nope` in the plan"),
        (["nodes", 0, "server"], "nope", "there is no server `nope` in the plan"),
        (["nodes", 1, "id"], "connect:tracker", "the id is there twice"),
        (["cells", 0, "model"], "nope", "there is no model `nope` in the plan"),
    ],
)
def test_a_plan_that_does_not_hold_together_is_refused(path: list[str | int], value: object, what: str) -> None:
    assert what in _changed(["plans", 0, *path], value)


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in inner for place in ((*path, key), *_places(item, (*path, key)))]


DATA = files.write(s.made(s.suite(tasks=(s.task(), s.looped("ask", 1))), lock=s.locked()))
PLACES = _places(json.loads(DATA))
JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() | strategies.text(),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(strategies.text(), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(strategies.sampled_from(PLACES), JSON)
def test_any_change_is_read_or_refused_and_never_raises(place: tuple[str | int, ...], value: object) -> None:
    data = json.loads(DATA)
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    found = files.read(json.dumps(data).encode())
    assert found.ok or [d.code for d in found.diagnostics] == ["MCPE573"]


@settings(max_examples=100, deadline=None)
@given(strategies.binary(max_size=60))
def test_any_bytes_are_refused(data: bytes) -> None:
    assert [d.code for d in files.read(data).diagnostics] == ["MCPE573"]


def test_defaults_are_left_out() -> None:
    task = json.loads(files.write(s.made()))["plans"][0]["tasks"][1]
    assert "undo" not in task and "host_tools" not in task and task["name"] == "longest_waiting"


def test_written_plan_fits_the_published_schema() -> None:
    import jsonschema

    schema = json.loads((ROOT / "schemas/plan.schema.json").read_text())
    data = json.loads(files.write(s.made(s.suite(tasks=(s.task(), s.looped("ask", 1))), lock=s.locked())))
    jsonschema.Draft202012Validator(schema).validate(data)
