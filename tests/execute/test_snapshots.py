"""Two states of a directory: what counts as a change, in which words, and what is no change at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mcpeval_dsl.execute import snapshots
from mcpeval_dsl.execute.snapshots import Place, TooLarge, differences, snapshot


def sql(root: Path, *lines: str) -> None:
    with closing(sqlite3.connect(root / "a.db")) as db:
        for line in lines:
            db.execute(line)
        db.commit()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "note.txt").write_text("a note")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link").symlink_to("../note.txt")
    sql(tmp_path, "create table t(x)", "insert into t values (1), (2), (3)", "create table u(y)")
    return tmp_path


def rewritten(root: Path) -> None:
    text = (root / "note.txt").read_text()
    (root / "note.txt").write_text(text)
    os.utime(root / "note.txt", ns=(1, 1))


def logged(root: Path) -> None:
    sql(root, "pragma journal_mode = wal")
    with closing(sqlite3.connect(root / "a.db")) as db:
        db.execute("select * from t").fetchall()


def linked(root: Path) -> None:
    (root / "sub" / "link").unlink()
    (root / "sub" / "link").symlink_to("elsewhere")


def cached(root: Path) -> None:
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "a.pyc").write_text("x")
    (root / ".git").mkdir()
    (root / ".git" / "index").write_text("x")


CHANGES: dict[str, tuple[Callable[[Path], object], list[str], bool]] = {
    "nothing": (lambda root: None, [], False),
    "written again": (rewritten, [], False),
    "a database in another mode": (logged, [], False),
    "what programs keep for themselves": (cached, [], False),
    "vacuumed": (lambda root: sql(root, "insert into t values (4)", "delete from t where x = 4"), [], False),
    "created": (lambda root: (root / "new").write_text(""), ["new created"], False),
    "removed": (lambda root: (root / "note.txt").unlink(), ["note.txt removed"], True),
    "changed": (lambda root: (root / "note.txt").write_text("a n0te"), ["note.txt changed"], False),
    "link": (linked, ["sub/link changed"], False),
    "row new": (lambda root: sql(root, "insert into t values (4)"), ["a.db changed (table t: 1 new of 3 rows)"], False),
    "row gone": (
        lambda root: sql(root, "delete from t where x = 1"),
        ["a.db changed (table t: 1 gone of 3 rows)"],
        True,
    ),
    "row other": (
        lambda root: sql(root, "update t set x = 9 where x = 1"),
        ["a.db changed (table t: 1 new and 1 gone of 3 rows)"],
        False,
    ),
    "table gone": (lambda root: sql(root, "drop table u"), ["a.db changed (table u removed)"], True),
    "table new": (lambda root: sql(root, "create table v(z)"), ["a.db changed (table v created)"], False),
}


@pytest.mark.parametrize("name", CHANGES)
def test_change(root: Path, name: str) -> None:
    act, words, lost = CHANGES[name]
    before = snapshot(root)
    act(root)
    found = differences(before, snapshot(root, before))
    assert [change.words for change in found] == words
    assert any(change.lost for change in found) is lost


def test_a_write_still_in_the_log_of_a_database_is_seen(root: Path) -> None:
    sql(root, "pragma journal_mode = wal")
    before = snapshot(root)
    with closing(sqlite3.connect(root / "a.db")) as db:
        db.execute("insert into t values (7)")
        db.commit()
        found = differences(before, snapshot(root, before))
    assert [change.words for change in found] == ["a.db changed (table t: 1 new of 3 rows)"]


def test_secrets_are_told_where_they_were_not_before(root: Path) -> None:
    def names(data: bytes) -> tuple[str, ...]:
        return ("code",) if b"s3cret" in data else ()

    (root / "keys").write_text("s3cret")
    before = snapshot(root, None, names)
    (root / "keys").write_text("s3cret and more")
    (root / "copy").write_text("x" * (snapshots.CHUNK - 3) + "s3cret")
    found = differences(before, snapshot(root, before, names))
    assert [(change.path, change.secrets) for change in found] == [("copy", ("code",)), ("keys", ())]


def test_more_files_than_can_be_compared_are_said(root: Path) -> None:
    with pytest.raises(TooLarge):
        snapshot(root, most=2)
    assert len(snapshot(root, most=3).entries) == 3


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda path: path.write_bytes(b"y" * 20_000), [("large changed", True)]),
        (lambda path: path.write_bytes(b"x" * 20_001), [("large changed", False)]),
        (lambda path: path.unlink(), [("large removed", False)]),
        (lambda path: path.read_bytes(), []),
    ],
    ids=["written to", "longer", "gone", "read"],
)
def test_a_file_too_large_to_read_is_compared_by_size_and_times(
    root: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], object], expected: list[tuple[str, bool]]
) -> None:
    (root / "large").write_bytes(b"x" * 20_000)
    monkeypatch.setattr(snapshots, "MOST_BYTES", 19_000)
    before = snapshot(root)
    assert before.entries["large"].digest == "" and before.entries["note.txt"].digest, (
        "small files are read all the same"
    )
    act(root / "large")
    found = differences(before, snapshot(root, before))
    assert [(change.words, change.unsure) for change in found] == expected


def test_several_places_and_what_does_not_count_there(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    for folder in (work, home / ".cache", home / ".npm"):
        folder.mkdir(parents=True)
    places = [Place(work), Place(home, "~/", snapshots.HOME_FOLDERS)]
    before = snapshots.snapshots(places)
    for path in (work / "a", home / "b", home / ".cache" / "c", home / ".npm" / "d"):
        path.write_text("x")
    assert [change.words for change in differences(before, snapshots.snapshots(places, before))] == [
        "a created",
        "~/b created",
    ]
