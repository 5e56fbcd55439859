"""Files of a project are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcpeval_dsl.project import writing


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_new_file_has_the_mode_that_others_get(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    writing.put(tmp_path / "new", b"data")
    assert (tmp_path / "new").read_bytes() == b"data"
    assert (tmp_path / "new").stat().st_mode == other.stat().st_mode and names(tmp_path) == ["new", "other"]


def test_mode_and_link_of_an_old_one_stay(tmp_path: Path) -> None:
    old, link = tmp_path / "old", tmp_path / "link"
    old.write_bytes(b"before")
    old.chmod(0o640)
    link.symlink_to("old")
    writing.put(link, b"after")
    assert link.is_symlink() and old.read_bytes() == b"after" and old.stat().st_mode & 0o777 == 0o640


def test_a_failure_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    old = tmp_path / "old"
    old.write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", refuse)
    assert writing.replace(old, b"before", b"after") == "No space left on device"
    assert old.read_bytes() == b"before" and names(tmp_path) == ["old"]


def test_what_was_changed_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"newer")
    assert writing.replace(old, b"before", b"after") == "it was changed meanwhile" and old.read_bytes() == b"newer"


def test_of_several_files_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"before")
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError) as refused:
        writing.put_all(tmp_path, {"there": b"after", "b/c/d": b"new", "a": b"a folder"})
    assert Path(refused.value.filename).name == "a"
    assert names(tmp_path) == ["a", "there"] and (tmp_path / "there").read_bytes() == b"before"
    writing.put_all(tmp_path, {"there": b"after", "b/c/d": b"new"})
    assert names(tmp_path) == ["a", "b", "b/c", "b/c/d", "there"] and (tmp_path / "there").read_bytes() == b"after"


def test_a_link_below_the_folder_does_not_lead_out_of_it(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    folder.mkdir()
    (folder / "files").symlink_to(outside)
    with pytest.raises(PermissionError, match="a link leads out"):
        writing.put_all(folder, {"a.mcpe": b"a", "files/run.sh": b"b"})
    assert list(outside.iterdir()) == [] and [path.name for path in folder.iterdir()] == ["files"]


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "files").symlink_to("real")
    writing.put_all(tmp_path, {"files/run.sh": b"b"})
    assert (tmp_path / "real" / "run.sh").read_bytes() == b"b"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        writing.put(pipe, b"plan")
        assert os.read(reader, 10) == b"plan" and pipe.is_fifo()
    finally:
        os.close(reader)
