"""Records, beside the ledger's own writer: keeps digests in a thread of its own, so that no trial waits for one.

What goes wrong with it is nobody's trouble: a digest that is not there is made again when the run is scored.
"""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

from mcpeval_dsl.records.codec import DamagedRecord
from mcpeval_dsl.records.digests import FILE, Digest, DigestMaker, Whole, bound, packed, whole
from mcpeval_dsl.records.folder import StoreError
from mcpeval_dsl.records.writer import Writer

_MOST_WAITING = 2_000
_AT_ONCE = 250
_SCHEMA = """
CREATE TABLE IF NOT EXISTS digest (
  trial INTEGER PRIMARY KEY, grading INTEGER NOT NULL, trial_sha256 TEXT NOT NULL, grading_sha256 TEXT NOT NULL,
  graded_by TEXT NOT NULL, bound BLOB NOT NULL, data BLOB NOT NULL);
"""


class DigestWriter:
    """Use it in one thread at a time. A folder or disk that takes no digest is not told of."""

    def __init__(self, folder: Path, maker: DigestMaker) -> None:
        self._maker = maker
        self._waiting: list[Future[Any]] = []
        self._made: list[tuple[Whole, Digest]] = []
        self._writer: Writer | None = None
        with contextlib.suppress(StoreError):
            self._writer = Writer(folder / FILE, _connect, "mcpe-digests")

    def graded(self, ledger: sqlite3.Connection, key: str) -> None:
        """To be called where the grading of a trial was written, with the connection that wrote it."""
        if len(self._waiting) >= _MOST_WAITING:
            self._waiting = [future for future in self._waiting if not future.done()]
        if self._writer is None or len(self._waiting) >= _MOST_WAITING:
            return
        found = whole(ledger, key)
        if found is not None and found.grading:
            self._waiting.append(self._writer.submit(lambda beside: _keep(beside, self._maker, found)))

    def made(self, found: Whole, digest: Digest) -> None:
        """A digest that was made where its record was read: what code graded that is not known."""
        if found.grading:
            self._made.append((found, digest))
            if len(self._made) == _AT_ONCE:
                self._submit_made()

    def _submit_made(self) -> None:
        """Many at once: two threads that hand over one by one wait for each other most of the time."""
        many, self._made = self._made, []
        if self._writer is None or not many:
            return
        wait(self._waiting, timeout=60.0)
        self._waiting = [self._writer.submit(lambda beside: _insert_all(beside, self._maker, many))]

    def close(self) -> None:
        self._submit_made()
        if self._writer is not None:
            with contextlib.suppress(StoreError):
                self._writer.close()


def _keep(beside: sqlite3.Connection, maker: DigestMaker, found: Whole) -> None:
    with contextlib.suppress(DamagedRecord, KeyError):
        record = found.record()
        missing = any(verdict.deciding and verdict.verdict == "missing" for verdict in record.verdicts)
        complete = record.outcome is not None and not missing
        insert(beside, maker, found, maker.digest(record), maker.made_by if complete else "")


def _insert_all(beside: sqlite3.Connection, maker: DigestMaker, many: list[tuple[Whole, Digest]]) -> None:
    for found, digest in many:
        with contextlib.suppress(ValueError):  # a time that is no text for UTF-8
            insert(beside, maker, found, digest, "")


def insert(beside: sqlite3.Connection, maker: DigestMaker, found: Whole, digest: Digest, graded_by: str) -> None:
    """Puts a digest in the place of an earlier one of the trial. `graded_by` is empty where that is not known."""
    context = maker.context(found.id)
    if context is None:
        return
    data = packed(digest, context)
    seal = bound(found.sha256, found.grading_sha256, data)
    values = (found.trial, found.grading, found.sha256, found.grading_sha256, graded_by, seal, data)
    beside.execute("INSERT OR REPLACE INTO digest VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _connect(path: Path) -> sqlite3.Connection:
    """A file that is no database any more is begun anew."""
    try:
        return _opened(path)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "") not in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
            raise
        with contextlib.suppress(OSError):
            path.unlink()
    return _opened(path)


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=30.0)
    try:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA synchronous=OFF")  # what a power cut takes is made again
        connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection
