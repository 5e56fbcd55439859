"""Specs that nobody means well with: each gives its message and exit code 2, never an internal error or a hang."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .projects import SPEC, Workplace, workplace

__all__ = ["workplace"]

PROMPT = '"What is two and two?"'
HARVESTED = "$.notes[0].id"


@pytest.mark.parametrize(
    ("found", "put", "code"),
    [
        pytest.param("trials 3", f"trials {'9' * 5000}", "MCPE115", id="number of 5,000 digits"),
        pytest.param("trials 3", "trials 999999999999", "MCPE232", id="trials beyond what a run can hold"),
        pytest.param(PROMPT, f'"{{{{ {"9" * 5000} }}}}"', "MCPE255", id="number in a template"),
        pytest.param(PROMPT, f'"{{{{ newest.id[{"9" * 5000}] }}}}"', "MCPE255", id="index in a template"),
        pytest.param('"Notes"', '"N\\ud800"', "MCPE114", id="half a character"),
        pytest.param('"Notes"', '"N\\ude00\\ud83d"', "MCPE114", id="halves in the wrong order"),
        pytest.param(HARVESTED, f"$[?{'!' * 3000}@.a]", "MCPE314", id="JSONPath of 3,000 nots"),
        pytest.param("suite notes", 'import "a\\u0000b.mcpe"\nsuite notes', "MCPE270", id="import with a zero byte"),
        pytest.param("suite notes", f'import "{"a" * 5000}.mcpe"\nsuite notes', "MCPE270", id="name of 5,000 letters"),
        pytest.param('"fixtures/notes.txt"', '"a\\u0000b"', "MCPE272", id="fixture with a zero byte"),
        pytest.param(PROMPT, 'file "a\\u0000b"', "MCPE272", id="prompt with a zero byte"),
    ],
)
def test_one_message(workplace: Workplace, found: str, put: str, code: str) -> None:
    assert found in SPEC
    workplace.spec(text=SPEC.replace(found, put))
    ended = workplace.run("compile")
    assert (ended.code, f"[{code}]" in ended.err) == (2, True), ended.err[:600]


def test_too_many_cells(workplace: Workplace) -> None:
    axes = "; ".join(f"a{n} = [{', '.join(map(str, range(10)))}]" for n in range(12))
    matrix = f"{SPEC}matrix {{ model = [canned]; {axes} }}\n"
    workplace.spec(text=matrix)
    ended = workplace.run("compile")
    assert (ended.code, "[MCPE232]" in ended.err) == (2, True), ended.err[:600]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(SPEC.encode("utf-16"), "MCPE100", id="UTF-16"),
        pytest.param(SPEC.replace("Notes", "Nötes").encode("latin-1"), "MCPE101", id="Latin-1"),
        pytest.param(bytes(range(256)) * 40, "MCPE100", id="binary"),
    ],
)
def test_a_file_that_is_no_text_is_not_passed_over(workplace: Workplace, data: bytes, code: str) -> None:
    workplace.spec().write_bytes(data)
    ended = workplace.run("lint")
    assert (ended.code, f"[{code}]" in ended.out) == (2, True), ended.out[:600]


def test_a_byte_order_mark_hides_no_suite(workplace: Workplace) -> None:
    workplace.spec().write_text(SPEC, encoding="utf-8-sig")
    assert workplace.run("lint").code == 0


def test_a_pair_of_escapes_is_one_character(workplace: Workplace) -> None:
    workplace.spec(text=SPEC.replace('"Notes"', '"\\ud83d\\ude00"'))
    assert workplace.run("compile").code == 0
    assert "😀" in (workplace.root / ".mcpe/plan.json").read_text(encoding="utf-8")


def test_a_pipe_is_not_read(workplace: Workplace) -> None:
    os.mkfifo(workplace.root / "pipe.mcpe")
    ended = workplace.run("lint", "pipe.mcpe")
    assert (ended.code, "it is not a regular file" in ended.out) == (2, True)


@pytest.mark.parametrize("command", ["lint", "compile", "fmt --check"])
def test_a_file_that_memory_may_not_hold_is_not_read(workplace: Workplace, command: str) -> None:
    with workplace.spec().with_name("large.mcpe").open("wb") as file:
        file.truncate(2**31)
    ended = workplace.run(*command.split())
    assert (ended.code, "cannot be read: it has more than 256 MB" in ended.err + ended.out) == (2, True), ended.err


def test_what_is_trusted_is_shown_whole(workplace: Workplace, tmp_path: Path) -> None:
    hidden = SPEC.replace('"server.py"', '"-c" "evil()" "\\u001b[2K\\u202e\\u0000" "server.py"')
    workplace.spec(text=hidden)
    ended = workplace.run("trust", "--yes", "--write", str(tmp_path / "trust.json"))
    assert "evil()" in ended.out
    assert "<U+001B>[2K<U+202E>" in ended.out
    assert all(c.isprintable() or c == "\n" for c in ended.out)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("specs = " + "[" * 5000, id="nested"),
        pytest.param("specs = " + "9" * 5000, id="number of 5,000 digits"),
        pytest.param('specs = ["' + "a" * 5000 + '"]', id="name of 5,000 letters"),
        pytest.param('specs = ["a\\u0000b"]', id="zero byte"),
    ],
)
def test_settings_of_the_project(workplace: Workplace, text: str) -> None:
    workplace.spec()
    workplace.write("mcpe.toml", text)
    ended = workplace.run("lint")
    assert (ended.code, ended.out.startswith("error[MCPE57")) == (2, True), ended


@pytest.mark.parametrize("command", ["lock", "run"])
def test_settings_of_the_operator(workplace: Workplace, tmp_path: Path, command: str) -> None:
    workplace.spec()
    workplace.write("mcpe.local.toml", "providers = 3")
    workplace.run("trust", "--yes", "--write", str(tmp_path / "trust.json"))
    ended = workplace.run(command, "specs", "--trust-file", str(tmp_path / "trust.json"))
    assert (ended.code, "[MCPE507]" in ended.err) == (2, True), ended


@pytest.mark.parametrize(("arguments", "code"), [("--version", 0), ("lint nope", 2), ("explain MCPE100", 0)])
def test_streams_that_are_closed(workplace: Workplace, arguments: str, code: int) -> None:
    line = f'exec "{sys.executable}" -m mcpeval_dsl.cli.main {arguments} >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == code


@pytest.mark.parametrize("arguments", ["--version", "lint nope", "explain MCPE100"])
def test_a_full_disk_behind_the_output(workplace: Workplace, arguments: str) -> None:
    line = f'exec "{sys.executable}" -m mcpeval_dsl.cli.main {arguments} >/dev/full'
    ended = subprocess.run(["sh", "-c", line], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (74, "error: No space left on device\n")


def test_a_chain_of_imports(workplace: Workplace) -> None:
    for number in range(1500):
        workplace.write(f"specs/c{number}.mcpe", f'import "c{number + 1}.mcpe"\n')
    workplace.spec(text='import "c0.mcpe"\n' + SPEC)
    ended = workplace.run("lint")
    assert (ended.code, ended.out.count("error[MCPE270]")) == (2, 1), ended.out[:600]
