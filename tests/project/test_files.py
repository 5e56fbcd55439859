"""Where the project is, which specs it has, and its digests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcpeval_dsl.plan.keys import tree_digest
from mcpeval_dsl.project.files import FileReader, Project, digests, find, spec_files


def _file(path: Path, text: str = "suite x {}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [("mcpe.toml", 'specs = ["evals"]'), ("pyproject.toml", '[tool.mcpe]\nspecs = ["evals"]')],
)
def test_settings_are_found_upwards(tmp_path: Path, name: str, text: str) -> None:
    _file(tmp_path / name, text)
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    assert find(inner).value == Project(tmp_path, ("evals",), tmp_path / name)


def test_pyproject_of_others_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file(tmp_path / "pyproject.toml", '[project]\nname = "x"')
    monkeypatch.chdir(tmp_path)
    assert find(tmp_path).value == Project(tmp_path)


def test_without_settings_a_spec_elsewhere_is_its_own_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    spec = _file(there / "a.mcpe")
    monkeypatch.chdir(here)
    found = find(spec).value
    assert found is not None and found.root == there


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("specs = 5", "`specs` is no list of paths"),
        ('specs = ["a", 1]', "`specs` is no list of paths"),
        ('spec = ["a"]', "there is no setting `spec`"),
        ("specs = [", "it is no TOML"),
    ],
)
def test_wrong_settings(tmp_path: Path, text: str, what: str) -> None:
    _file(tmp_path / "mcpe.toml", text)
    (found,) = find(tmp_path).diagnostics
    assert found.code == "MCPE574" and what in found.title


def test_folder_stands_for_its_suites_and_not_for_what_they_import(tmp_path: Path) -> None:
    for name, text in (("b.mcpe", "suite b {}"), ("a/c.mcpe", "# x\nsuite c {}"), ("shared/m.mcpe", "model m {}")):
        _file(tmp_path / "specs" / name, text)
    project = Project(tmp_path)
    assert spec_files(project, ()).value == ("specs/a/c.mcpe", "specs/b.mcpe")
    assert spec_files(project, (), shared=True).value == ("specs/a/c.mcpe", "specs/b.mcpe", "specs/shared/m.mcpe")


def test_named_twice_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file(tmp_path / "a.mcpe")
    monkeypatch.chdir(tmp_path)
    assert spec_files(Project(tmp_path), ("a.mcpe", "./a.mcpe", ".")).value == ("a.mcpe",)


def test_missing_spec_and_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _file(tmp_path / "tracker.mcpe")
    assert [d.code for d in spec_files(Project(tmp_path), ("trakcer.mcpe",)).diagnostics] == ["MCPE576"]
    (nothing,) = spec_files(Project(tmp_path, ("nowhere",)), ()).diagnostics
    assert nothing.code == "MCPE575" and "`mcpe init`" in nothing.hint


def test_digest_of_a_folder_depends_on_names_and_contents(tmp_path: Path) -> None:
    _file(tmp_path / "d/a.txt", "1")
    _file(tmp_path / "d/e/b.txt", "2")
    before = digests(tmp_path, ["d", "d/a.txt", "missing"])
    assert set(before) == {"d", "d/a.txt"}
    (tmp_path / "d/e/b.txt").rename(tmp_path / "d/e/c.txt")
    assert digests(tmp_path, ["d"])["d"] != before["d"]


def test_tree_digest_ignores_the_order_of_files() -> None:
    assert tree_digest({"a": "1", "b": "2"}) == tree_digest({"b": "2", "a": "1"}) != tree_digest({"a": "2", "b": "1"})


def test_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mcpe")
    with pytest.raises(OSError, match="regular file"):
        FileReader(tmp_path).read("pipe.mcpe")
