"""Records: the one thread that writes to a ledger, many records to a commit.

A future is resolved only after its commit reached the disk. After a failed commit nothing more is written: every later
call fails with the same StoreError, and what was acknowledged before stays readable.
"""

from __future__ import annotations

import errno
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from mcpeval_dsl.records.folder import StoreError

Work = Callable[[sqlite3.Connection], Any]
_GROUP = 64
_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempt (
  number INTEGER PRIMARY KEY, trial TEXT NOT NULL, key TEXT NOT NULL, started TEXT NOT NULL,
  ended TEXT, state TEXT NOT NULL DEFAULT 'started', usage TEXT);
CREATE TABLE IF NOT EXISTS trial (
  key TEXT PRIMARY KEY, id TEXT NOT NULL, attempt INTEGER, data BLOB NOT NULL, sha256 TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS trial_bytes ON trial (id, key, sha256);
CREATE TABLE IF NOT EXISTS superseded (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS grading (
  key TEXT PRIMARY KEY, grade_key TEXT NOT NULL, data BLOB NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS node (
  key TEXT PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS event (number INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL);
"""


def connect_writer(path: Path) -> sqlite3.Connection:
    """The only connection that writes and checkpoints: two of them can corrupt a WAL in SQLite before 3.51.3."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=30.0)
    try:
        connection.execute("PRAGMA page_size=8192")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA journal_size_limit=67108864")
        connection.executescript(_SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class Writer:
    """Runs work in order of `submit`, as many pieces in one transaction as are waiting (at most 64)."""

    def __init__(
        self, path: Path, connect: Callable[[Path], sqlite3.Connection] | None = None, name: str = "mcpe-ledger"
    ) -> None:
        self._path = path
        self._connect = connect or connect_writer
        self._waiting: queue.SimpleQueue[tuple[Work, Future[Any]] | None] = queue.SimpleQueue()
        self._broken: StoreError | None = None
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        self._ready.result()

    def submit(self, work: Work) -> Future[Any]:
        future: Future[Any] = Future()
        if not self._thread.is_alive():
            future.set_exception(self._broken or StoreError("the ledger is closed"))
        else:
            self._waiting.put((work, future))
        return future

    def close(self) -> None:
        """Writes what waits, folds the WAL into the database and ends the thread. Raises StoreError."""
        self._waiting.put(None)
        self._thread.join()
        if self._broken is not None:
            raise self._broken

    def _run(self) -> None:
        try:
            connection = self._connect(self._path)
        except sqlite3.Error as error:
            self._ready.set_exception(as_store_error(error, self._path))
            return
        self._ready.set_result(None)
        try:
            while self._write_group(connection):
                pass
            if self._broken is None:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            self._broken = self._broken or as_store_error(error, self._path)
        finally:
            connection.close()

    def _write_group(self, connection: sqlite3.Connection) -> bool:
        group: list[tuple[Work, Future[Any]]] = []
        item = self._waiting.get()
        while item is not None:
            group.append(item)
            if len(group) == _GROUP or self._waiting.empty():
                break
            item = self._waiting.get()
        if group:
            self._commit(connection, group)
        return item is not None

    def _commit(self, connection: sqlite3.Connection, group: list[tuple[Work, Future[Any]]]) -> None:
        results: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            if self._broken is not None:
                raise self._broken
            connection.execute("BEGIN IMMEDIATE")
            for work, future in group:
                try:
                    results.append((future, work(connection), None))
                except (ValueError, TypeError) as error:
                    # A record that cannot be written as JSON is its own sender's trouble, not the group's.
                    results.append((future, None, error))
            connection.execute("COMMIT")
        except (sqlite3.Error, StoreError) as error:
            self._broken = error if isinstance(error, StoreError) else as_store_error(error, self._path)
            if connection.in_transaction:
                connection.rollback()
            results = [(future, None, self._broken) for _, future in group]
        for future, value, problem in results:
            if not future.set_running_or_notify_cancel():
                continue
            if problem is None:
                future.set_result(value)
            else:
                future.set_exception(problem)


def as_store_error(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorname", "")
    if code == "SQLITE_FULL":
        return StoreError(
            f"the disk is full: {path} could not be written; nothing that was saved is lost", errno.ENOSPC
        )
    if code in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
        return StoreError(f"{path} is damaged: {error}", errno.EIO)
    return StoreError(f"{path} could not be written or read: {error}; nothing that was saved is lost", errno.EIO)
