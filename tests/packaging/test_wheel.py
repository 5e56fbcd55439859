"""The built package works on its own, outside the repository: grammar, messages, tables, codes and prices travel with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("mcpeval_dsl", "mcpeval_dsl/grammar")  # the second is a link, which rglob does not follow
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and path.suffix not in (".py", ".pyc")
)
BUILD = """
import sys
from setuptools import build_meta
getattr(build_meta, "build_" + sys.argv[1])(sys.argv[2])
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """A wheel, and a virtual environment that has it and this environment's packages, but not this checkout."""

    wheel: Path
    environment: Path

    def mcpe(self, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(self.environment / "bin" / "mcpe"), *arguments]
        return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)


def build(kind: str, source: Path, target: Path) -> Path:
    """An sdist or a wheel of `source`; returns its path."""
    target.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, str(target)], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Source, sdist, wheel from the sdist, installed: the way from a clone to a user."""
    folder = tmp_path_factory.mktemp("package")
    source, environment = folder / "source", folder / "environment"
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("mcpeval_dsl", "grammar"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.unpack_archive(build("sdist", source, folder / "sdist"), folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    wheel = build("wheel", unpacked, folder / "wheel")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    # A path line adds the packages there without running their own .pth files, so the editable checkout stays out.
    (place,) = environment.glob("lib/python*/site-packages")
    (place / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    return Installed(wheel, environment)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a copy of the demo suite, far from the repository."""
    shutil.copytree(ROOT / "specs" / "tracker", tmp_path / "tracker", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_all_data_of_the_package_travels(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = set(archive.namelist())
        assert {"mcpeval_dsl/grammar/mcpe.lark", "mcpeval_dsl/syntax/tables.json"} < names
        assert {name: archive.read(name) for name in DATA} == {name: (ROOT / name).read_bytes() for name in DATA}
    assert not [name for name in names if not name.startswith("mcpeval_dsl")]


def test_it_runs_from_its_own_place(installed: Installed, tmp_path: Path) -> None:
    done = installed.mcpe("--version", folder=tmp_path)
    assert done.stdout.startswith("mcpe ") and done.returncode == 0
    where = [str(installed.environment / "bin" / "python"), "-c", "import mcpeval_dsl; print(mcpeval_dsl.__file__)"]
    shown = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert shown.startswith(str(installed.environment))


def test_lint_finds_a_mistake(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "bad.mcpe").write_text("let a = 20sec\n")
    done = installed.mcpe("lint", "bad.mcpe", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "") and "MCPE115" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint", "tracker/tracker.mcpe"],
        ["compile", "tracker/tracker.mcpe", "-o", "plan.json"],
        ["graph", "tracker/tracker.mcpe"],
        ["explain", "MCPE101"],
        ["run", "--help"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_work(arguments: list[str], installed: Installed, project: Path) -> None:
    done = installed.mcpe(*arguments, folder=project)
    assert (done.returncode, done.stderr) == (0, "")
