"""What of the disk is looked at: the project's own files, and nothing that a link leads to."""

from __future__ import annotations

from pathlib import Path

from mcpeval_dsl.language_server.disk import MOST_LISTED, Overlay


def test_entries_of_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "work"
    (root / "data" / "deep").mkdir(parents=True)
    (root / "data" / "a.txt").write_text("")
    (root / "data" / ".hidden").write_text("")
    (tmp_path / "secret").mkdir()
    (root / "data" / "out").symlink_to(tmp_path / "secret")
    (root / "link").symlink_to(tmp_path / "secret")
    overlay = Overlay(str(root), {})
    assert overlay.entries("data") == ["a.txt", "deep/"]
    for folder in ("..", "link", "../secret", "data/out", "data/a.txt", "missing", "a\0b"):
        assert overlay.entries(folder) == []


def test_a_folder_without_end_is_cut(tmp_path: Path) -> None:
    for number in range(MOST_LISTED + 5):
        (tmp_path / f"f{number}").touch()
    assert len(Overlay(str(tmp_path), {}).entries(".")) == MOST_LISTED
