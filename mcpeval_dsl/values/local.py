"""Values, reading from this machine: files, trees of files, and SQLite (or DuckDB) databases, read-only and capped.

Plain blocking functions; `values.reading` runs them in threads. Each gives a Reading and never raises for what it finds.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import time
from pathlib import Path
from typing import Any

from mcpeval_dsl.values.model import Reading
from mcpeval_dsl.values.subject import SINGLE

CHUNK = 1024 * 1024


def refused(message: str, error_class: str = "source") -> Reading:
    """A source that could not be read. `absent` is a fact about the state, `source` is on our side."""
    return Reading(error=message, error_class=error_class)


def read_file(path: Path, limit: int) -> Reading:
    """The text of a regular file; bytes that are no UTF-8 are replaced."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return refused(f"{path.name} is no regular file", "absent")
        if status.st_size > limit:
            return refused(f"{path.name} has {status.st_size} bytes; at most {limit} are read")
        return Reading(text=path.read_bytes()[: limit + 1].decode("utf-8", "replace"))
    except (FileNotFoundError, NotADirectoryError):
        return refused(f"there is no file {path.name}", "absent")
    except (OSError, ValueError) as problem:
        return refused(f"{path.name} cannot be read: {_said(problem)}")


def read_tree(root: Path, limit: int, most_files: int = 100_000) -> Reading:
    """Relative path (with `/`) -> SHA-256 of every file below; a symbolic link counts as its target's name."""
    if not root.is_dir():
        return refused(f"there is no directory {root.name}", "absent")
    found: dict[str, str] = {}
    left = limit
    try:
        for folder, names, files in os.walk(root):
            links = [name for name in names if (Path(folder) / name).is_symlink()]
            for name in sorted((*files, *links)):
                path = Path(folder) / name
                if len(found) >= most_files or left < 0:
                    return refused(f"{root.name} holds more than {most_files} files or {limit} bytes")
                digest, size = _digest(path)
                found[path.relative_to(root).as_posix()] = digest
                left -= size
    except OSError as problem:
        return refused(f"{root.name} cannot be read: {_said(problem)}")
    ordered = dict(sorted(found.items()))
    return Reading(text=json.dumps(ordered), structured=ordered, has_structured=True)


def _digest(path: Path) -> tuple[str, int]:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"link:{path.readlink().as_posix()}", 0
    if not stat.S_ISREG(status.st_mode):
        return "special", 0
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return f"sha256:{digest.hexdigest()}", status.st_size


def read_sql(query: str, database: Path, timeout: float, limit: int) -> Reading:
    """Rows of a read-only query, each an object by column name. One row of one column is marked: it is a value itself."""
    if not database.is_file():
        return refused(f"there is no database {database.name}", "absent")
    if _is_duckdb(database):
        return _duckdb(query, database, limit)
    deadline = time.monotonic() + timeout
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True, timeout=timeout)
        connection.set_progress_handler(lambda: int(time.monotonic() > deadline), 10_000)
        connection.execute("pragma query_only = on")
        cursor = connection.execute(query)
        columns = [column[0] for column in cursor.description or ()]
        return _table(columns, cursor, limit)
    except sqlite3.OperationalError as problem:
        missing = str(problem).startswith(("no such table", "no such column", "no such view"))
        said = "the query took too long" if str(problem) == "interrupted" else f"the query failed: {problem}"
        return refused(said, "absent" if missing else "source")
    except (sqlite3.Error, sqlite3.Warning) as problem:
        return refused(f"the query failed: {problem}")
    finally:
        if connection is not None:
            connection.close()


def _table(columns: list[str], rows: Any, limit: int) -> Reading:
    """Shapes rows of a cursor; stops once their text would pass the limit."""
    found: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        item = {column: _cell(cell) for column, cell in zip(columns, row, strict=True)}
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in item.values())
        if size > limit:
            return refused(f"the query gives more than {limit} bytes")
        found.append(item)
    single = len(found) == 1 and len(columns) == 1
    return Reading(
        text=json.dumps(found, ensure_ascii=False),
        structured=found,
        has_structured=True,
        fields={SINGLE: True} if single else {},
    )


def _cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value not in (float("inf"), float("-inf")) and value == value:
        return value
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _is_duckdb(database: Path) -> bool:
    with database.open("rb") as stream:
        return stream.read(12)[8:12] == b"DUCK"


def _duckdb(query: str, database: Path, limit: int) -> Reading:
    try:
        import duckdb  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return refused("this is a DuckDB database; reading it needs the package `duckdb`")
    try:
        connection = duckdb.connect(str(database), read_only=True)
        try:
            cursor = connection.execute(query)
            return _table([column[0] for column in cursor.description or ()], cursor.fetchall(), limit)
        finally:
            connection.close()
    except duckdb.Error as problem:
        return refused(f"the query failed: {_said(problem)}")


def _said(problem: BaseException) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__
