"""`mcpe fmt` over files and standard input: what it writes, what it leaves alone, and what it returns."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.main import main

ROUGH = 'suite a "A" { trials 1 ; seed 2\n}\n'
FORMATTED = 'suite a "A" {\n  trials 1\n  seed   2\n}\n'
ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mcpe.toml").write_text('specs = ["specs"]\n')
    (tmp_path / "specs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rough(project: Path) -> Path:
    path = project / "specs" / "a.mcpe"
    path.write_text(ROUGH)
    return path


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_all_of_a_project_is_formatted_shared_files_too(
    rough: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = project / "specs" / "shared" / "models.mcpe"
    shared.parent.mkdir()
    shared.write_text('model  m { script "m.yaml" }')
    assert main(["fmt"]) == exits.CLEAN
    assert rough.read_text() == FORMATTED and shared.read_text() == 'model m { script "m.yaml" }\n'
    assert "formatted specs/a.mcpe\n" in capsys.readouterr().out
    assert main(["fmt"]) == exits.CLEAN
    assert capsys.readouterr().out == "0 formatted, 2 already in form\n"


def test_check_names_the_files_and_writes_nothing(rough: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--check"]) == exits.FINDINGS
    assert capsys.readouterr().out == "not in form: specs/a.mcpe\n1 not in form, 0 already in form\n"
    assert rough.read_text() == ROUGH


def test_diff_shows_and_writes_nothing(rough: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--diff"]) == exits.FINDINGS
    shown = capsys.readouterr().out
    assert shown.startswith("--- specs/a.mcpe\n+++ specs/a.mcpe\n") and "+  seed   2\n" in shown
    assert rough.read_text() == ROUGH
    rough.write_text(FORMATTED)
    assert main(["fmt", "--diff"]) == exits.CLEAN
    assert capsys.readouterr().out == ""


def test_diff_says_where_the_last_line_does_not_end(rough: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rough.write_text("let a = 1")
    assert main(["fmt", "--diff"]) == exits.FINDINGS
    assert capsys.readouterr().out.endswith("-let a = 1\n\\ No newline at end of file\n+let a = 1\n")


def test_a_file_with_errors_is_left_and_the_others_are_not(
    rough: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = project / "specs" / "bad.mcpe"
    bad.write_text("suite  a {")
    assert main(["fmt"]) == exits.SPEC
    shown = capsys.readouterr()
    assert "error[MCPE121]" in shown.err and "specs/bad.mcpe:1:10" in shown.err
    assert shown.out.endswith("1 formatted, 0 already in form, 1 left as it is\n")
    assert bad.read_text() == "suite  a {" and rough.read_text() == FORMATTED


@pytest.mark.parametrize("data", [b"suite a \xff", b"a\x00b", b"#" * 4_100_000])
def test_what_is_no_spec_is_left(data: bytes, rough: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rough.write_bytes(data)
    assert main(["fmt", str(rough)]) == exits.SPEC
    assert "error[MCPE10" in capsys.readouterr().err and rough.read_bytes() == data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbflet a=1\n", b"let a = 1\n"),
        (b"let a=1\r\nlet b=2\r\n", b"let a = 1\r\nlet b = 2\r\n"),
        ("let a='😀'\n".replace("'", '"').encode(), 'let a = "😀"\n'.encode()),
        (b"", b""),
    ],
)
def test_bytes(before: bytes, after: bytes, rough: Path) -> None:
    rough.write_bytes(before)
    assert main(["fmt", str(rough)]) == exits.CLEAN
    assert rough.read_bytes() == after


def test_mode_and_links_stay(rough: Path, project: Path) -> None:
    rough.chmod(0o640)
    link = project / "specs" / "link.mcpe"
    link.symlink_to("a.mcpe")
    assert main(["fmt", "specs/link.mcpe"]) == exits.CLEAN
    assert link.is_symlink() and rough.read_text() == FORMATTED and rough.stat().st_mode & 0o777 == 0o640
    assert {p.name for p in rough.parent.iterdir()} == {"a.mcpe", "link.mcpe"}


def test_a_file_that_cannot_be_written_is_said_and_stays(
    rough: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.fchmod", refuse)
    assert main(["fmt"]) == exits.SPEC
    assert "error[MCPE106]: specs/a.mcpe cannot be written: Permission denied" in capsys.readouterr().err
    assert rough.read_text() == ROUGH and [p.name for p in rough.parent.iterdir()] == ["a.mcpe"]


def test_pipes_are_not_opened(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(project / "specs" / "pipe.mcpe")
    assert main(["fmt", "specs/pipe.mcpe"]) == exits.SPEC
    assert "not a regular file" in capsys.readouterr().err


def test_standard_input(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    feed(monkeypatch, 'a   "\u202e"\r\n'.encode())
    assert main(["fmt", "-"]) == exits.CLEAN
    assert capfdbinary.readouterr().out == 'a "\u202e"\r\n'.encode()


@pytest.mark.parametrize(("option", "shown"), [("--check", "not in form: x.mcpe\n"), ("--diff", "--- x.mcpe\n")])
def test_standard_input_is_checked(
    option: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(monkeypatch, ROUGH.encode())
    assert main(["fmt", "-", option, "--stdin-filename", "x.mcpe"]) == exits.FINDINGS
    assert capsys.readouterr().out.startswith(shown)
    feed(monkeypatch, FORMATTED.encode())
    assert main(["fmt", "-", option]) == exits.CLEAN
    assert capsys.readouterr().out == ""


def test_standard_input_with_errors_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(monkeypatch, b"suite a {")
    assert main(["fmt", "-", "--stdin-filename", "x.mcpe"]) == exits.SPEC
    shown = capsys.readouterr()
    assert shown.out == "" and "x.mcpe:1:9" in shown.err


def test_standard_input_goes_with_no_file(rough: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "-", "specs/a.mcpe"]) == exits.SPEC
    assert rough.read_text() == ROUGH


def test_the_specs_of_this_repository_are_in_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["fmt", "--check", "specs"]) == exits.CLEAN, capsys.readouterr().out
