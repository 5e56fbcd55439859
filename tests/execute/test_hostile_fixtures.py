"""Fixtures that would fill the disk, never end, or bring along what lies outside their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcpeval_dsl.execute.files import copy


@pytest.mark.parametrize("special", ["/dev/zero", "pipe"])
def test_a_file_that_never_ends(tmp_path: Path, special: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "fixture").symlink_to(special)
    with pytest.raises(ValueError, match="no regular file"):
        copy(tmp_path / "fixture", tmp_path / "out")


@pytest.mark.parametrize(
    ("leads", "reason"),
    [("/etc", "leads out of"), ("../beside.txt", "leads out of"), (".", "stands in"), ("gone", "nowhere")],
)
def test_a_link_in_a_folder(tmp_path: Path, leads: str, reason: str) -> None:
    (tmp_path / "beside.txt").write_text("x")
    folder = tmp_path / "fixture" / "inner"
    folder.mkdir(parents=True)
    (folder / "link").symlink_to(leads.replace("../", "../../"))
    with pytest.raises(ValueError, match=reason):
        copy(tmp_path / "fixture", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_pipe_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "fixture").mkdir()
    os.mkfifo(tmp_path / "fixture" / "pipe")
    with pytest.raises(ValueError, match="no regular file"):
        copy(tmp_path / "fixture", tmp_path / "out")


def test_a_link_within_the_folder_is_copied_as_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "fixture" / "data").mkdir(parents=True)
    (tmp_path / "fixture" / "data" / "a.txt").write_text("one")
    (tmp_path / "fixture" / "latest").symlink_to("data")
    copy(tmp_path / "fixture", tmp_path / "out")
    assert (tmp_path / "out" / "latest" / "a.txt").read_text() == "one"


def test_a_fixture_that_is_a_link_out_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "fixture").symlink_to("/etc/hostname")
    with pytest.raises(ValueError, match="leads out of `project`"):
        copy(tmp_path / "project" / "fixture", tmp_path / "out", tmp_path / "project")
