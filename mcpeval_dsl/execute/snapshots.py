"""The work directory of a trial as it stands: files by digest, SQLite tables by row, and how two such states differ.

A database is compared by what its tables hold, since reading one may rewrite its file. What programs write for
themselves (journals, byte code, git's index) is no state.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

MOST_FILES = 50_000
MOST_BYTES = 256 * 1024 * 1024
MOST_ROWS = 100_000
CHUNK = 1024 * 1024
RACY_NS = 50_000_000
"""A file written this shortly before it was looked at may change again without its times saying so."""

SQLITE = b"SQLite format 3\x00"
SIDECARS = ("-wal", "-shm", "-journal")
OWN_FOLDERS = frozenset({"__pycache__"})
HOME_FOLDERS = OWN_FOLDERS | {
    ".cache",
    ".config",
    ".npm",
    ".yarn",
    ".pnpm-store",
    ".cargo",
    ".rustup",
    ".gradle",
    ".m2",
}
"""What programs keep of their own in a HOME: caches and settings."""
OWN_FILES = frozenset({".DS_Store"})
GIT_INDEX = (".git/index", ".git/index.lock")

Stamp = tuple[tuple[int, int, int, int], ...]
Names = Callable[[bytes], tuple[str, ...]]
"""Names of the planted secrets that some bytes hold."""


class TooLarge(Exception):
    """There is more than can be compared: the check could not run."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one table by digest; `rows` None where there are too many to tell which ones changed."""

    count: int
    digest: str
    rows: frozenset[bytes] | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. `tables` where it is a database that could be read; `secrets` are names of planted ones in it.

    `digest` is empty where there was too much to read: then size and times are all that is known.
    """

    stamp: Stamp
    digest: str
    tables: Mapping[str, Table] | None = None
    secrets: tuple[str, ...] = ()
    racy: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """`lost`: something that was there is gone. `secrets`: planted ones the file did not hold before.

    `unsure`: written to at equal size, and too large to tell whether it differs.
    """

    path: str
    what: Literal["created", "changed", "removed"]
    detail: str = ""
    lost: bool = False
    secrets: tuple[str, ...] = ()
    unsure: bool = False

    @property
    def words(self) -> str:
        return f"{self.path} {self.what}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class Snapshot:
    entries: Mapping[str, Entry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """A directory to look at. `label` stands before its paths, `skip` are names of folders that do not count."""

    root: Path
    label: str = ""
    skip: frozenset[str] = OWN_FOLDERS


def snapshot(
    root: Path | Place, before: Snapshot | None = None, names: Names | None = None, *, read: bool = True, most: int = 0
) -> Snapshot:
    """The state below `root`. Files whose times are as `before` are not read again, none where `read` is False.

    What comes after 256 MB is not read either. Raises TooLarge (beyond `most` files; 0: 50,000) and OSError.
    """
    most = most or MOST_FILES
    place = Place(root) if isinstance(root, Path) else root
    known = before.entries if before is not None else {}
    found: dict[str, Entry] = {}
    room = MOST_BYTES if read else -1
    for relative, path, status, log in _walk(str(place.root), place.skip):
        if len(found) >= most:
            raise TooLarge(f"more than {most} files")
        name = place.label + relative
        stamp = (_stamp(status), *(() if log is None else (_stamp(log),)))
        old = known.get(name)
        if old is not None and old.stamp == stamp and not old.racy:
            found[name] = old
            continue
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        entry = Entry(stamp, "") if size > room else _entry(Path(path), status, stamp, names)
        if entry is not None:
            room -= size if entry.digest else 0
            found[name] = entry
    return Snapshot(found)


def snapshots(places: Iterable[Place], before: Snapshot | None = None, names: Names | None = None) -> Snapshot:
    """As `snapshot`, of several places at once."""
    found: dict[str, Entry] = {}
    for place in places:
        found |= snapshot(place, before, names).entries
    return Snapshot(found)


def _walk(
    root: str, skip: frozenset[str] = OWN_FOLDERS
) -> Iterator[tuple[str, str, os.stat_result, os.stat_result | None]]:
    """Relative name, path and state of every file, links apart, with the state of a database's write-ahead log."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(f"{root}/{folder}") as listing:
                here = {entry.name: entry for entry in listing}
        except FileNotFoundError:
            if not folder:
                raise
            continue
        for name, entry in here.items():
            relative = folder + name
            if entry.is_dir(follow_symlinks=False):
                if name not in skip:
                    waiting.append(f"{relative}/")
            elif not _own(name, relative, here):
                try:
                    status = entry.stat(follow_symlinks=False)
                    log = here.get(f"{name}-wal")
                    yield relative, entry.path, status, None if log is None else log.stat()
                except FileNotFoundError:
                    continue


def _own(name: str, relative: str, here: Mapping[str, object]) -> bool:
    """What programs keep for themselves: marks of the desktop, git's index, journals beside a database."""
    if name in OWN_FILES or (name.startswith("index") and relative.endswith(GIT_INDEX)):
        return True
    return name.endswith(SIDECARS) and name.rpartition("-")[0] in here


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode


def _entry(path: Path, status: os.stat_result, stamp: Stamp, names: Names | None) -> Entry | None:
    racy = time.time_ns() - status.st_mtime_ns < RACY_NS
    if stat.S_ISLNK(status.st_mode):
        return Entry(stamp, f"link:{path.readlink().as_posix()}")
    if not stat.S_ISREG(status.st_mode):
        return Entry(stamp, "special")
    digest = hashlib.blake2b(digest_size=16)
    held: dict[str, None] = {}
    begin, tail = b"", b""
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                begin = begin or chunk[:16]
                digest.update(chunk)
                if names is not None:
                    held |= dict.fromkeys(names(tail + chunk))
                    tail = chunk[-4096:]
    except (FileNotFoundError, PermissionError):
        return None
    tables = _tables(path) if begin == SQLITE else None
    return Entry(stamp, digest.hexdigest(), tables, tuple(held), racy)


def _tables(path: Path) -> dict[str, Table] | None:
    """What every table holds; None where the database cannot be read now."""
    found: dict[str, Table] = {}
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0)) as connection:
            connection.execute("pragma query_only = on")
            connection.text_factory = bytes
            listed = connection.execute(
                "select name, sql from sqlite_master where type in ('table', 'view', 'trigger')"
            )
            for name, sql in listed.fetchall():
                label = name.decode("utf-8", "replace")
                if label.startswith("sqlite_"):
                    continue
                quoted = label.replace('"', '""')
                text = bytes(sql or b"")
                rows = connection.execute(f'select * from "{quoted}"') if text[:12].upper() == b"CREATE TABLE" else ()
                found[label] = _table(text, rows)
    except (sqlite3.Error, sqlite3.Warning):
        return None
    return found


def _table(sql: bytes, rows: Any) -> Table:
    hashes: list[bytes] = []
    for row in rows:
        hashes.append(hashlib.blake2b(repr(row).encode(), digest_size=8).digest())
        if len(hashes) > 10 * MOST_ROWS:
            raise TooLarge(f"a table of more than {10 * MOST_ROWS} rows")
    whole = hashlib.blake2b(sql + b"".join(sorted(hashes)), digest_size=16).hexdigest()
    return Table(len(hashes), whole, frozenset(hashes) if len(hashes) <= MOST_ROWS else None)


def differences(before: Snapshot, after: Snapshot) -> tuple[Change, ...]:
    """What is new, different or gone, in order of path."""
    found: list[Change] = []
    for path in sorted(before.entries.keys() | after.entries.keys()):
        old, new = before.entries.get(path), after.entries.get(path)
        if old is new or (old is not None and new is not None and _same(old, new)):
            continue
        if new is None:
            found.append(Change(path, "removed", lost=True))
        elif old is None:
            found.append(Change(path, "created", secrets=new.secrets))
        else:
            fresh = tuple(name for name in new.secrets if name not in old.secrets)
            detail, lost = _rows_changed(old.tables, new.tables)
            unsure = not (old.digest and new.digest) and _sizes(old) == _sizes(new)
            found.append(Change(path, "changed", detail, lost, fresh, unsure))
    return tuple(found)


def _same(old: Entry, new: Entry) -> bool:
    if old.tables is not None and new.tables is not None:
        return _digests(old.tables) == _digests(new.tables)
    return old.digest == new.digest if old.digest and new.digest else old.stamp == new.stamp


def _sizes(entry: Entry) -> list[int]:
    return [size for _, size, _, _ in entry.stamp]


def _digests(tables: Mapping[str, Table]) -> dict[str, str]:
    return {name: table.digest for name, table in tables.items()}


def _rows_changed(old: Mapping[str, Table] | None, new: Mapping[str, Table] | None) -> tuple[str, bool]:
    """In words, and whether rows or tables are fewer than before."""
    if old is None or new is None:
        return "", False
    said: list[str] = []
    lost = False
    for name in sorted(old.keys() | new.keys()):
        before, now = old.get(name), new.get(name)
        if now is None or before is None:
            said.append(f"table {name} {'removed' if now is None else 'created'}")
            lost = lost or now is None
        elif before.digest != now.digest:
            said.append(f"table {name}: {_counted(before, now)}")
            lost = lost or now.count < before.count
    return ", ".join(said), lost


def _counted(before: Table, now: Table) -> str:
    if before.rows is None or now.rows is None:
        return f"{before.count} rows, then {now.count}"
    new, gone = len(now.rows - before.rows), len(before.rows - now.rows)
    parts = [f"{count} {word}" for count, word in ((new, "new"), (gone, "gone")) if count]
    return f"{' and '.join(parts) or 'different'} of {before.count} rows"
