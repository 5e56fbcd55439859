"""The table `lint` of a project: what it holds back, what it raises, and mistakes in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.main import main
from mcpeval_dsl.project.files import find

SPEC = """suite t { trials 1 }
model m { script "s.yaml" }
task a { prompt "Mean?"; source "log"; grade number 1.25 }
task b { prompt "Mean of b?"; source "log"; grade number 1.25; grade evidence }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("specs", "specs/old"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.mcpe").write_text(SPEC)
        (tmp_path / folder / "s.yaml").write_text("tasks:\n  a:\n    - reply: '3'\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str, str]]:
    main(["lint", "--format", "json", *arguments])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [(each["code"], each["severity"], each["at"]["path"]) for each in lines if each["type"] == "diagnostic"]


def configure(project: Path, text: str, name: str = "mcpe.toml") -> None:
    (project / name).write_text(text)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", {("MCPE366", "warning"), ("MCPE370", "note"), ("MCPE372", "note")}),
        ('ignore = ["MCPE366"]', {("MCPE370", "note"), ("MCPE372", "note")}),
        ('ignore = ["MCPE37", "mcpe366"]', set()),
        ('select = ["MCPE36"]', {("MCPE366", "warning")}),
        ('select = ["MCPE36"]\nignore = ["MCPE366"]', set()),
        ('[lint.severity]\nMCPE366 = "note"\nMCPE370 = "off"', {("MCPE366", "note"), ("MCPE372", "note")}),
        ('[lint.severity]\nMCPE366 = "error"', {("MCPE366", "error"), ("MCPE370", "note"), ("MCPE372", "note")}),
        ('[lint.per-file-ignores]\n"specs/*.mcpe" = ["MCPE3"]', set()),
    ],
)
def test_codes_are_held_back_and_raised(
    project: Path, settings: str, expected: set[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    configure(project, f"[lint]\n{settings}\n")
    assert {(code, severity) for code, severity, _ in found(capsys)} == expected


def test_some_files_are_looked_at_less(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, '[tool.mcpe.lint.per-file-ignores]\n"specs/old/*" = ["MCPE36"]\n', "pyproject.toml")
    assert [path for code, _, path in found(capsys) if code == "MCPE366"] == ["specs/a.mcpe"] * 2


def test_the_command_line_adds_to_the_settings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, '[lint]\nignore = ["MCPE370"]\n')
    assert {code for code, _, _ in found(capsys, "--ignore", "MCPE366")} == {"MCPE372"}
    assert {code for code, _, _ in found(capsys, "--select", "MCPE366,MCPE370")} == {"MCPE366"}
    assert main(["lint", "--select", "MCPE999"]) == exits.SPEC
    assert "there is no code `MCPE999`" in capsys.readouterr().err


def test_an_error_stays_one_whatever_the_settings_say(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, '[lint]\nignore = ["MCPE3"]\n[lint.severity]\nMCPE306 = "off"\n')
    (project / "specs" / "a.mcpe").write_text('task a { prompt "Who?" }\n')
    assert ("MCPE306", "error", "specs/a.mcpe") in found(capsys, "specs/a.mcpe")


def test_what_is_raised_to_an_error_stops_other_commands_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "specs" / "a.mcpe").write_text(SPEC + "let unused = 3\n")
    assert main(["compile", "specs/a.mcpe"]) == exits.CLEAN
    configure(project, '[lint.severity]\nMCPE280 = "error"\n')
    assert main(["compile", "specs/a.mcpe"]) == exits.SPEC
    configure(project, '[lint]\nignore = ["MCPE280"]\n')
    capsys.readouterr()
    assert main(["compile", "specs/a.mcpe"]) == exits.CLEAN and "MCPE280" not in capsys.readouterr().err


def test_notes_are_counted_until_they_are_asked_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "specs/a.mcpe"]) == exits.CLEAN
    counted = capsys.readouterr().out
    assert "note[" not in counted and "2 notes on the design (mcpe lint --notes lists them):" in counted
    assert main(["lint", "specs/a.mcpe", "--notes"]) == exits.CLEAN
    assert "note[MCPE370]" in capsys.readouterr().out
    configure(project, "[lint]\nnotes = true\n")
    assert main(["lint", "specs/a.mcpe"]) == exits.CLEAN
    assert "note[MCPE370]" in capsys.readouterr().out
    assert main(["lint", "specs/a.mcpe", "--format", "github"]) == exits.CLEAN
    assert "::notice " in capsys.readouterr().out


def test_compile_gives_no_advice(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "specs/a.mcpe"]) == exits.CLEAN
    shown = capsys.readouterr()
    assert "MCPE3" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("text", "title", "hint"),
    [
        ("lint = 3", "`lint` is no table", "[tool.mcpe.lint]"),
        ("[lint]\nignor = []", "no setting `lint.ignor`", "`ignore`"),
        ("[lint]\nignore = 'MCPE371'", "`lint.ignore` is no list of codes", "list"),
        ("[lint]\nignore = ['MCPE317']", "`lint.ignore` has `MCPE317`", "did you mean"),
        ("[lint]\nselect = ['E501']", "`lint.select` has `E501`", "mcpe explain"),
        ("[lint]\nnotes = 'yes'", "`lint.notes`", "notes = true"),
        ("[lint.severity]\nMCPE371 = 'warn'", "`lint.severity.MCPE371` is `warn`", "error, warning, note, off"),
        ("[lint.severity]\nMCPE371 = 'warnin'", "`lint.severity.MCPE371` is `warnin`", "`warning`"),
        ("[lint.severity]\nMCPE37 = 'note'", "the beginning of several codes", "whole codes"),
        ("[lint]\nseverity = 'note'", "`lint.severity` is no table", "below it"),
        ("[lint]\nper-file-ignores = []", "`lint.per-file-ignores` is no table", "below it"),
        ("[lint.per-file-ignores]\n'*' = 'x'", 'per-file-ignores."*"` is no list', "list"),
        ("[lnt]", "no setting `lnt`", "`lint`"),
    ],
)
def test_wrong_settings(tmp_path: Path, text: str, title: str, hint: str) -> None:
    (tmp_path / "mcpe.toml").write_text(text)
    (diagnostic,) = find(tmp_path).diagnostics
    assert diagnostic.code == "MCPE574" and title in diagnostic.title and hint in diagnostic.hint
