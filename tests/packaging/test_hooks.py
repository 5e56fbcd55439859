"""The hooks for pre-commit, in a repository of their own, with the real pre-commit and without network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.projects import SERVER, SPEC

ROOT = Path(__file__).parents[2]
HOOKS = ROOT / ".pre-commit-hooks.yaml"
BIN = Path(sys.executable).parent


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A project under git whose hooks are ours, run with the mcpe that is installed here."""
    folder = tmp_path / "project"
    (folder / "specs/fixtures").mkdir(parents=True)
    (folder / "specs/scripts").mkdir()
    (folder / "specs/server.py").write_text(SERVER)
    (folder / "specs/fixtures/notes.txt").write_text("one\n")
    (folder / "specs/scripts/canned.yaml").write_text("tasks:\n  '*':\n    - reply: '4'\n")
    (folder / "specs/notes.mcpe").write_text(SPEC)
    # what pre-commit would install from our repository is here already, so only the language differs
    hooks = [
        hook | {"language": "system", "entry": f"{BIN}/{hook['entry']}"} for hook in yaml.safe_load(HOOKS.read_text())
    ]
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    run(folder, "git", "init", "-q")
    run(folder, "git", "add", ".")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {
        "PRE_COMMIT_HOME": str(folder.parent / "cache"),
        "HOME": str(folder.parent),
        "MCPE_STATE_DIR": str(folder.parent),
    }
    own |= {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(words, cwd=folder, env=os.environ | own, capture_output=True, text=True)


def hook(folder: Path, name: str) -> tuple[int, str]:
    ended = run(folder, str(BIN / "pre-commit"), "run", name, "--all-files")
    return ended.returncode, ended.stdout + ended.stderr


def test_the_manifest_is_one() -> None:
    ended = subprocess.run([BIN / "pre-commit", "validate-manifest", HOOKS], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    names = {each["id"] for each in yaml.safe_load(HOOKS.read_text())}
    assert names == {"mcpe-fmt", "mcpe-lint", "mcpe-lock-check"}


def test_fmt_writes_and_is_content_the_second_time(repository: Path) -> None:
    spec = repository / "specs/notes.mcpe"
    spec.write_text(SPEC.replace("  tags   read\n", "        tags read\n"))
    code, said = hook(repository, "mcpe-fmt")
    assert code == 1 and "files were modified" in said
    run(repository, "git", "add", ".")
    assert hook(repository, "mcpe-fmt")[0] == 0


def test_lint_finds_a_mistake(repository: Path) -> None:
    assert hook(repository, "mcpe-lint")[0] == 0
    spec = repository / "specs/notes.mcpe"
    spec.write_text(SPEC.replace("newest.id", "newest.di"))
    code, said = hook(repository, "mcpe-lint")
    assert code == 1 and "newest.di" in said


def test_locks_are_looked_at_without_starting_anything(repository: Path) -> None:
    code, said = hook(repository, "mcpe-lock-check")
    assert code == 1 and "MCPE411" in said
    (repository / "specs/mcpe.lock").write_text("<<<<<<< ours\n")
    run(repository, "git", "add", ".")
    code, said = hook(repository, "mcpe-lock-check")
    assert code == 1 and "MCPE407" in said


def test_nothing_is_looked_at_where_no_spec_is_committed(repository: Path) -> None:
    run(repository, "git", "rm", "-q", "-r", "--cached", "specs")
    (repository / "README.md").write_text("x")
    run(repository, "git", "add", "README.md")
    for name in ("mcpe-fmt", "mcpe-lint", "mcpe-lock-check"):
        code, said = hook(repository, name)
        assert code == 0 and "Skipped" in said
