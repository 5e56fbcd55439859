"""Nothing is started for a spec that nobody trusted, and what is trusted is exact."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from mcpeval_dsl.execute import confinement
from mcpeval_dsl.gateway import sandbox
from mcpeval_dsl.gateway.sandbox import choose
from tests.execute.bench import Bench

FULL = ["bwrap"] if choose().kind == "bwrap" else []
BODY = """environment desk { copy "things.json" to "{{ workdir }}/shelf.json"; run "sh" "-c" "echo {{ word }} > {{ marker }}" }
let marker = "MARK"
let word   = "started"
task one { prompt "x"; grade contains "done" }
"""
WATCH = """
import os, sys
FORBIDDEN = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty", "os.spawn",
             "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
def hook(event, arguments):
    if event in FORBIDDEN:
        os.write(2, f"FORBIDDEN {event} {arguments!r}".encode())
        os._exit(99)
sys.addaudithook(hook)
read = type(os.environ).__getitem__
def watched(self, key):
    if key in ("SHELF_TOKEN", "ANTHROPIC_API_KEY", "BENCH_KEY"):
        os.write(2, f"FORBIDDEN read of {key}".encode())
        os._exit(98)
    return read(self, key)
type(os.environ).__getitem__ = watched
from mcpeval_dsl.cli.main import main
for line in sys.argv[1:]:
    code = main(line.split())
    print(f"CODE {code} {line}", file=sys.stderr)
"""


@pytest.fixture
def marked(bench: Bench) -> tuple[Bench, Path]:
    marker = bench.root.parent / "marker"
    bench.spec(BODY.replace("MARK", str(marker)))
    return bench, marker


def test_without_trust_and_without_anybody_to_ask_nothing_is_started(marked: tuple[Bench, Path]) -> None:
    bench, marker = marked
    done = bench.run(trust=False)
    assert done.code == 2
    assert "MCPE500" in done.err and "echo {{ word }}" in done.err and "word = started" in done.err
    assert not marker.exists()
    assert not (bench.root / ".mcpe/runs").exists() or not list((bench.root / ".mcpe/runs").iterdir())


def test_the_store_is_private_and_outside_the_project(marked: tuple[Bench, Path]) -> None:
    bench, marker = marked
    assert bench.run().code == 0
    assert marker.read_text() == "started\n"
    store = bench.root.parent / "state/trust.json"
    assert store.stat().st_mode & 0o777 == 0o600
    assert store.parent.stat().st_mode & 0o777 == 0o700
    inside = [path for path in bench.root.rglob("*") if path.is_file() and "trust" in path.name]
    assert inside == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"sh" "-c" "echo {{ word }}', '"sh" "-c" "echo another {{ word }}'),
        ('let word   = "started"', 'let word   = "started; touch /tmp/x"'),
        ('"shelf.py"', '"shelf.py" "--mode" "noise"'),
        ("task one {", 'task one { needs command("id") has "root"; '),
        ("task one {", 'task one { when command("id") has "root" { never wipe_all }; '),
        ("task one {", 'task one { harvest h = shelf.list_things() { require command("id") has "root" }; '),
        ("task one {", 'task one { grade command "sh" "-c" "id"; '),
        ("task one {", 'task one { truth t = command("id") { x = $ }; '),
        ("task one {", 'task one { setup { start "id" }; '),
        ("task one {", 'task one { grade any { state command("id") has "x"; contains "done" }; '),
        ("environment desk {", 'environment desk { reset command("id"); '),
        ("environment desk {", 'environment desk { env LD_PRELOAD = "x.so"; '),
    ],
)
def test_anything_else_needs_trust_again(marked: tuple[Bench, Path], old: str, new: str) -> None:
    bench, marker = marked
    bench.trust()
    path = bench.root / "specs/bench.mcpe"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    done = bench.run(trust=False)
    assert "MCPE500" in done.err, done.err
    assert done.code == 2 and not marker.exists()


def test_what_starts_nothing_else_needs_no_new_trust(marked: tuple[Bench, Path]) -> None:
    bench, _ = marked
    bench.trust()
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace('prompt "x"', 'prompt "y"') + 'let unused = "a"\n')
    assert bench.run(trust=False).code == 0


def test_a_trust_file_stands_in_where_nobody_can_be_asked(marked: tuple[Bench, Path]) -> None:
    bench, marker = marked
    written = bench.mcpe("trust", "specs", "--write", "ci.json")
    assert written.code == 0
    data = json.loads((bench.root / "ci.json").read_text())
    assert data["format"] == "mcpe-trust/1" and any("shelf.py" in line for line in data["trusted"].values())
    assert not (bench.root.parent / "state/trust.json").exists()
    assert bench.run(trust=False).code == 2
    assert bench.run("--trust-file", "ci.json", trust=False).code == 0
    assert marker.exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "mcpe-trust/9", "trusted": {}}', "\xff"])
def test_a_trust_file_that_is_none_is_said(marked: tuple[Bench, Path], text: str) -> None:
    bench, marker = marked
    bench.write("bad.json", text)
    done = bench.run("--trust-file", "bad.json", trust=False)
    assert done.code == 2 and "MCPE501" in done.err
    assert not marker.exists()


@pytest.mark.parametrize(("said", "code"), [("\n", 2), ("n\n", 2), ("yes please\n", 2), ("y\n", 0)])
def test_on_a_terminal_it_asks_and_the_answer_is_no_unless_yes(
    marked: tuple[Bench, Path], said: str, code: int
) -> None:
    bench, marker = marked
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        bench.command("run", "specs"),
        cwd=bench.root,
        env=bench.environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(ours, 4096)
    assert b"echo {{ word }}" in shown and b"shelf.py" in shown
    assert not marker.exists()
    os.write(ours, said.encode())
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        try:
            os.read(ours, 4096)
        except OSError:
            break
    assert process.wait(10) == code
    os.close(ours)
    assert marker.exists() is (code == 0)
    assert (bench.root.parent / "state/trust.json").exists() is (code == 0)


def test_reading_commands_start_connect_and_read_nothing(bench: Bench) -> None:
    body = """environment desk { copy "things.json" to "{{ workdir }}/shelf.json"; env SHELF_TOKEN = secret("SHELF_TOKEN") }
model claude { anthropic "claude-sonnet-4-5" }
harvest now = command("id") { word = $ }
task one { prompt "{{ now.word }}"; needs secret "SHELF_TOKEN"; grade contains "done" }
matrix { model = [canned] }
"""
    bench.variables = {"SHELF_TOKEN": "tok-8f3a1c", "ANTHROPIC_API_KEY": "key-5b2d", "BENCH_KEY": "x"}
    bench.spec(body)
    assert bench.run().code == 0
    lines = (
        "lint specs",
        "compile specs",
        "graph specs",
        "explain MCPE500",
        "runs",
        "view",
        "view one@canned#1",
        "score",
        "trust specs --write elsewhere.json",
        "--help",
    )
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *lines],
        cwd=bench.root,
        env=bench.environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=100,
    )
    assert "FORBIDDEN" not in done.stderr, done.stderr[-800:]
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr
    assert [line for line in lines if f"CODE 0 {line}" not in done.stderr] == [], done.stderr
    assert "tok-8f3a1c" not in done.stdout + done.stderr


LISTED = {
    "server shelf {": 'server shelf { network "api.example.org"; ',
    "environment desk {": 'environment desk { network "localhost:5432"; ',
    "server shelf { stdio": 'server shelf { prepare { network "pypi.example.org"; run "true" }; stdio',
}


def confined(bench: Bench, mode: str) -> Bench:
    bench.variables = {"MCPE_SANDBOX": mode}
    return bench


@pytest.mark.parametrize("kind", FULL)
def test_trusted_in_a_sandbox_is_not_trusted_without_one(marked: tuple[Bench, Path], kind: str) -> None:
    bench, marker = marked
    confined(bench, kind).trust()
    done = confined(bench, "none").run(trust=False)
    assert done.code == 2 and "not confined: it may do and reach all that you may" in done.err
    assert not marker.exists()


@pytest.mark.parametrize("kind", FULL)
def test_trusted_without_a_sandbox_is_trusted_in_one(bench: Bench, kind: str) -> None:
    bench.spec('task one { prompt "x"; grade contains "done" }')
    confined(bench, "none").trust()
    assert confined(bench, kind).run(trust=False).code == 0


@pytest.mark.parametrize("kind", FULL)
@pytest.mark.parametrize("old", LISTED)
def test_another_list_of_hosts_needs_trust_again(marked: tuple[Bench, Path], kind: str, old: str) -> None:
    bench, marker = marked
    confined(bench, kind).trust()
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace(old, LISTED[old]))
    host = LISTED[old].split('"')[1]
    done = bench.run(trust=False)
    assert done.code == 2 and f"in bwrap, may reach {host}" in done.err
    assert not marker.exists()
    path.write_text(path.read_text().replace(f'network "{host}"', "network all"))
    done = bench.mcpe("trust", "specs", "--yes")
    assert done.code == 0 and "in bwrap, may reach any host" in done.out


@pytest.mark.parametrize("kind", FULL)
def test_what_the_operator_opens_needs_trust_again(bench: Bench, kind: str) -> None:
    bench.spec('task one { prompt "x"; grade contains "done" }')
    confined(bench, kind).trust()
    bench.write("mcpe.local.toml", "[sandbox]\nnetwork = true\n")
    assert bench.run(trust=False).code == 2
    bench.write("mcpe.local.toml", "[sandbox]\nnetwork = false\n")
    assert bench.run(trust=False).code == 0


def test_where_bubblewrap_turns_out_to_be_unusable_the_way_out_is_told(bench: Bench) -> None:
    bench.spec('task one { prompt "x"; grade contains "done" }')
    unusable = mock.patch.multiple(sandbox, bubblewrap=lambda: "bwrap", tried=lambda *arguments: "no namespaces here")
    with unusable, mock.patch.object(confinement, "bubblewrap", lambda: "bwrap"):
        confinement._chosen.cache_clear()
        confined(bench, "auto").trust()
        done = bench.run(trust=False)
        assert done.code == 2 and "MCPE_SANDBOX=none mcpe trust SPEC" in done.err
        confined(bench, "none").trust()
        assert confined(bench, "auto").run(trust=False).code == 0
    confinement._chosen.cache_clear()
