"""The built wheel works on its own, outside the repository: grammar, tables and codes travel with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = (
    "mcpeval_dsl/grammar/mcpe.lark",
    "mcpeval_dsl/grammar/messages.toml",
    "mcpeval_dsl/syntax/tables.json",
    "mcpeval_dsl/diagnostics/codes/syntax.toml",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    source, target = folder / "source", folder / "target"
    source.mkdir()
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "mcpeval_dsl", source / "mcpeval_dsl", symlinks=True, ignore=ignore)
    shutil.copytree(ROOT / "grammar", source / "grammar")
    shutil.copy(ROOT / "pyproject.toml", source)
    (source / "README.md").write_text("mcpe\n")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", "."]
    subprocess.run([*build, str(source)], cwd=folder, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


@pytest.mark.parametrize("name", DATA)
def test_data_travels_in_the_wheel(name: str, installed: Path) -> None:
    assert (installed / name).read_bytes() == (ROOT / name).read_bytes()


def test_lint_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.mcpe").write_text("let a = 20sec\n")
    code = (
        "import sys; from mcpeval_dsl.cli import main; print(main.__file__); sys.exit(main.main(['lint', 'bad.mcpe']))"
    )
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith(str(installed)) and "MCPE115" in done.stdout
