"""The writer's connection: closed whatever happens."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from mcpeval_dsl.records import writer


def test_a_ledger_that_is_no_database_leaves_no_connection_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remember(path: Path, **options: object) -> sqlite3.Connection:
        opened.append(connect(path, check_same_thread=False, **options))  # type: ignore[call-overload]
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remember)
    (tmp_path / "ledger.db").write_bytes(b"no database " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        writer.connect_writer(tmp_path / "ledger.db")
    (connection,) = opened
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
