"""`mcpe lint` over files: what it shows, what it returns, and that bad files are told, not raised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.main import main

from .projects import Workplace, workplace

__all__ = ["workplace"]

GOOD = 'suite a "A" { trials 1 }\nmodel m { script "s.yaml" }\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mcpe.toml").write_text('specs = ["specs"]\n')
    (tmp_path / "specs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_errors_are_shown_on_stdout_and_give_two(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "specs" / "bad.mcpe").write_text(GOOD + "server s { timeout 20sec }\n")
    assert main(["lint"]) == exits.SPEC
    shown = capsys.readouterr()
    assert "error[MCPE115]" in shown.out and "specs/bad.mcpe:3:20" in shown.out and shown.err == ""


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "MCPE103"),
        (b"\x00\x01\x02", "MCPE100"),
        (b"suite \xff", "MCPE101"),
        (b"#" * 10_000_000, "MCPE102"),
        (b"suite a {" * 2000, "MCPE124"),
    ],
)
def test_bad_files_give_one_error(data: bytes, code: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bad.mcpe").write_bytes(data)
    assert main(["lint", "bad.mcpe", "--format", "json"]) == exits.SPEC
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [line["code"] for line in lines if line["type"] == "diagnostic"]
    assert code in found and len(found) <= 2


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_every_format_names_the_code(form: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bad.mcpe").write_text("let a = 'x'\n")
    assert main(["lint", "bad.mcpe", "--format", form]) == exits.SPEC
    assert "MCPE113" in capsys.readouterr().out


def test_a_file_that_is_not_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "nope.mcpe"]) == exits.SPEC
    assert "nope.mcpe" in capsys.readouterr().out


def test_a_warning_counts_only_when_strict(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "specs" / "a.mcpe").write_text(GOOD + 'let q = r"{{ seed }}"\n')
    (project / "s.yaml").write_text("")
    loose, strict = main(["lint"]), main(["lint", "--strict"])
    assert "MCPE120" in capsys.readouterr().out
    assert (loose, strict) in (((exits.CLEAN), exits.FINDINGS), (exits.SPEC, exits.SPEC))


def test_a_metric_with_parts_asks_for_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.mcpe").write_text(GOOD + 'task t { prompt "x"; grade contains "a" }\ngate { require calls <= 3 }\n')
    (project / "s.yaml").write_text("")
    assert main(["lint", "a.mcpe"]) == exits.SPEC
    assert "`calls.p95`; there are `.mean`, `.p50`, `.p95`, `.max`" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["lint", "compile", "run"])
def test_mistakes_in_scripts_are_found_before_anything_starts(workplace: Workplace, command: str) -> None:
    workplace.spec()
    assert workplace.run("lint").code == 0
    workplace.write("specs/scripts/canned.yaml", "tasks:\n  '*':\n    - replyy: x\n    - reply: '{{ 1 + }}'\n")
    done = workplace.run(command, "specs/notes.mcpe")
    assert done.code == 2
    for said in (
        "MCPE522",
        "specs/scripts/canned.yaml:3:7",
        "Write `reply`",
        "MCPE523",
        "specs/scripts/canned.yaml:4:14",
    ):
        assert said in done.out + done.err


def test_a_script_is_nothing_to_a_command_that_asks_no_model(workplace: Workplace) -> None:
    workplace.spec()
    workplace.write("specs/scripts/canned.yaml", "tasks: []\n")
    assert "MCPE522" not in workplace.run("graph").err
