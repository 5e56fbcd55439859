"""Every way in which a lock file breaks: what is said, and on which line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from mcpeval_dsl.gateway.catalogue import digest
from mcpeval_dsl.plan import lock
from mcpeval_dsl.plan.lock_digest import MOST_BYTES
from mcpeval_dsl.plan.model import Lock, LockedTool

from .test_lock import server, tool


def listed(name: str, **changes: object) -> LockedTool:
    """A tool whose digest is that of what a server lists."""
    made = tool(name, **changes)
    sent = {"name": name, "inputSchema": made.input_schema, "annotations": made.annotations}
    return made.model_copy(update={"sha256": digest({**sent, "description": made.description or ""})})


WHOLE = lock.write(Lock(servers=(server(listed("a"), listed("b", description=None)), server(name="wiki")))).decode()


ENTRY = '{\n   "'
"""How the entry of the first server begins."""


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def edited(old: str, new: str, shown_at: str = "") -> Callable[[], tuple[str, int]]:
    """An edit, and the line that the message is to show: that of the edit where nothing else is said."""
    assert old in WHOLE
    text = WHOLE.replace(old, new, 1)
    return lambda: (text, line_of(text, shown_at or new))


def twice() -> tuple[str, int]:
    return WHOLE.replace('"era": "initialize"', '"era": "initialize", "era": "discover"', 1), 0


def doubled() -> tuple[str, int]:
    text = lock.write(Lock(servers=(server(), server(tool("x"))))).decode()
    return text, text[: text.rindex('"tracker"')].count("\n") + 1


def tool_edited() -> tuple[str, int]:
    text = WHOLE.replace('"description": "One issue."', '"description": "Any issue."', 1)
    return text, line_of(text, '"tools"') + 1  # where its entry begins


CASES: dict[str, tuple[Callable[[], tuple[str, int]], str, str]] = {
    "empty": (lambda: ("", 0), "MCPE401", "it is empty"),
    "truncated": (
        lambda: (WHOLE[: len(WHOLE) // 2], WHOLE[: len(WHOLE) // 2].rstrip().count("\n") + 1),
        "MCPE401",
        "ends too early",
    ),
    "truncated inside a text": (lambda: (WHOLE[:20], 2), "MCPE401", "ends too early (line 2)"),
    "a comma lost": (
        edited('"format": "mcpe-lock/1",', '"format": "mcpe-lock/1"', '"servers"'),
        "MCPE401",
        "it is no JSON",
    ),
    "a list": (lambda: ("[]", 1), "MCPE401", "no JSON object"),
    "no format": (lambda: ("{}", 1), "MCPE401", "it has no `format`"),
    "a plan": (lambda: ('{\n"format": "mcpe-plans/1"}', 2), "MCPE401", "it is a plan file"),
    "a member of the wrong type": (
        edited('"revision": "2025-11-25"', '"revision": 3'),
        "MCPE401",
        "$.servers[0].revision",
    ),
    "an unknown member": (edited('"era": "initialize"', '"are": "initialize"', ENTRY), "MCPE401", "no field `are`"),
    "a member twice": (
        twice,
        "MCPE401",
        "`era` stands twice",
    ),
    "a newer version": (edited("mcpe-lock/1", "mcpe-lock/7"), "MCPE409", "version 7"),
    "a merge": (edited('   "era"', '<<<<<<< ours\n   "era"'), "MCPE407", "unfinished merge"),
    "a server twice": (doubled, "MCPE408", "the server `tracker` twice"),
    "a tool edited": (tool_edited, "MCPE406", "the tool `a` of `tracker`"),
    "a server edited": (
        edited('"revision": "2025-11-25"', '"revision": "2026-07-28"', ENTRY),
        "MCPE406",
        "`tracker` is not",
    ),
    "deep": (lambda: ('{"format": ' + "[" * 100_000, 0), "MCPE401", "nested too deeply"),
    "many digits": (lambda: ('{"format": ' + "1" * 5000 + "}", 0), "MCPE401", "too many digits"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_said_with_its_line(case: str) -> None:
    make, code, what = CASES[case]
    text, line = make()
    found = lock.read(text.encode("utf-8", "surrogatepass"))
    (problem,) = found.diagnostics
    assert found.value is None and problem.code == code and what in problem.title, problem
    assert "`mcpe lock`" in problem.hint and "`" in problem.hint
    assert (problem.at.line if problem.at is not None else 0) == line


def test_bytes_that_are_no_text_and_too_many_of_them() -> None:
    assert "no UTF-8" in lock.read(b"\xff\xfe{}").diagnostics[0].title
    assert "more than 64 MB" in lock.read(b" " * (MOST_BYTES + 1)).diagnostics[0].title


@pytest.mark.parametrize("way", ["as written", "with a byte order mark", "with CRLF", "reordered and reindented"])
def test_the_same_content_in_another_form_is_believed(way: str) -> None:
    data = WHOLE.encode()
    if way == "with a byte order mark":
        data = b"\xef\xbb\xbf" + data
    elif way == "with CRLF":
        data = data.replace(b"\n", b"\r\n")
    elif way == "reordered and reindented":
        plain = json.loads(data)
        plain["servers"] = [dict(reversed(s.items())) for s in plain["servers"]]
        data = json.dumps(plain, indent=4).encode()
    assert lock.read(data).diagnostics == ()


def test_a_lock_without_digests_is_from_an_earlier_version_and_is_believed() -> None:
    plain = json.loads(WHOLE)
    for each in plain["servers"]:
        del each["sha256"]
        each["version"] = "another"
    assert lock.read(json.dumps(plain).encode()).diagnostics == ()


def test_odd_texts_of_a_server_survive() -> None:
    odd = server(tool("a", description="\ud800 \u2028 \x00 é"), instructions="<<<<<<< not a mark")
    data = lock.write(Lock(servers=(odd,)))
    found = lock.read(data)
    assert found.diagnostics == () and found.value is not None
    assert found.value.servers[0].tools[0].description == odd.tools[0].description
    assert lock.write(found.value) == data


SCRIPT = """
import sys; sys.path.insert(0, sys.argv[1])
from tests.plan.test_lock_reading import WHOLE
sys.stdout.write(WHOLE)
"""


@pytest.mark.parametrize("seed", ["0", "4242"])
def test_bytes_do_not_depend_on_the_machine(seed: str, tmp_path: object) -> None:
    from pathlib import Path

    environment = {"PYTHONHASHSEED": seed, "LC_ALL": "C", "HOME": str(tmp_path), "TZ": "Asia/Tokyo", "COLUMNS": "20"}
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", SCRIPT, root], env=environment, cwd=str(tmp_path), capture_output=True
    )
    assert done.stdout.decode() == WHOLE, done.stderr
