"""The entry: fast answers, lazy commands, right exit codes, no traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from mcpeval_dsl import __version__
from mcpeval_dsl.cli import app, exits, main
from mcpeval_dsl.cli.commands import COMMANDS

HEAVY = (
    "pydantic",
    "lark",
    "networkx",
    "mcp",
    "anthropic",
    "litellm",
    "scipy",
    "jinja2",
    "asyncio",
    "numpy",
    "yaml",
    "rich",
)
FOLDER = Path(main.__file__).parent


def modules_after(arguments: list[str], folder: Path) -> set[str]:
    code = (
        "import sys\nfrom mcpeval_dsl.cli.main import main\n"
        f"main({arguments!r})\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stderr.split()}


def test_version_imports_nothing_it_does_not_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--version"]) == exits.CLEAN
    assert capsys.readouterr().out == f"mcpe {__version__}\n"
    assert modules_after(["--version"], tmp_path).isdisjoint({*HEAVY, "typer", "json", "tomllib"})


def test_lint_imports_nothing_it_does_not_use(tmp_path: Path) -> None:
    (tmp_path / "a.mcpe").write_text('suite a "A" { trials 1 }\ntask t { prompt "x"; grade exact "y" }\n')
    (tmp_path / "mcpe.toml").write_text('specs = ["."]\n')
    assert modules_after(["lint"], tmp_path).isdisjoint(HEAVY)


@pytest.mark.parametrize("arguments", [["--help"], [], ["lint", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments) == exits.CLEAN
    assert "Usage: mcpe" in capsys.readouterr().out


def test_every_command_has_its_module_and_example() -> None:
    missing = [name for name, entry in COMMANDS.items() if not (FOLDER / f"{entry.module}.py").exists()]
    listed = set(app.available())
    assert listed == set(COMMANDS) - set(missing)
    for name in listed:
        module = import_module(f"mcpeval_dsl.cli.{COMMANDS[name].module}")
        assert "Example: mcpe" in module.HELP, name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lnit"], "did you mean `mcpe lint`?"),
        (["zzzzz"], "mcpe --help lists them all"),
        (["lint", "--formt", "json"], "--format"),
        (["lint", "--format", "xml"], "'xml'"),
        (["explain", "MCPE999"], "no code"),
        (["compare"], "See `mcpe compare --help`."),
        (["explain", "a", "b"], "See `mcpe explain --help`."),
        (["--formt"], "See `mcpe --help`."),
    ],
)
def test_wrong_usage_is_one_line_and_two(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments) == exits.SPEC
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("error: ") and shown.err.count("\n") == 1
    assert words in shown.err


def test_a_code_is_explained_for_programs_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["explain", "MCPE115", "--format", "json"]) == exits.CLEAN
    first, told = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == {"type": "version", "format": "mcpe.explain", "version": 1}
    assert told["code"] == "MCPE115" and set(told) == {"type", "code", "area", "title", "explanation", "bad", "good"}


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("a\nb"), exits.INTERNAL, "internal error: ValueError: a b"),
        (OSError(28, "No space left on device", "x.db"), exits.DISK, "error: No space left on device (x.db)"),
        (OSError(2, "No such file", "y"), exits.INTERNAL, "internal error: FileNotFoundError"),
        (KeyboardInterrupt(), exits.INTERRUPTED, "interrupted"),
    ],
)
def test_no_traceback_gets_out(
    error: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.delenv("MCPE_DEBUG", raising=False)
    monkeypatch.setattr(app, "run", fail)
    assert main.main(["lint"]) == code
    shown = capsys.readouterr().err
    assert words in shown and "Traceback" not in shown and shown.count("\n") == 1


def test_debug_shows_where(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MCPE_DEBUG", "1")
    monkeypatch.setattr(app, "run", lambda _: 1 // 0)
    assert main.main(["lint"]) == exits.INTERNAL
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    command = f'"{sys.executable}" -m mcpeval_dsl.cli.main explain | head -1; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", command], cwd=FOLDER.parents[1], capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout.splitlines()[-1] == "0"


def test_precedence_of_exit_codes() -> None:
    assert exits.worst(exits.CLEAN, exits.FINDINGS, exits.INCOMPLETE) == exits.FINDINGS
    assert exits.worst(exits.INCOMPLETE, exits.UNDECIDED) == exits.INCOMPLETE
    assert exits.worst() == exits.CLEAN


def test_the_package_is_a_command_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mcpeval_dsl", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"mcpe {__version__}\n"
