"""Records: reading a ledger, also while a run writes it, without ever writing or checkpointing.

Trials come in order of the plan, whatever the order in which they ended.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcpeval_dsl.records.checks import CheckRecord
from mcpeval_dsl.records.codec import DamagedRecord, hashed, unpack
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.records.digests import Whole, kept, outdated, trial_of, whole
from mcpeval_dsl.records.folder import RunFolder, StoreError
from mcpeval_dsl.records.grading import Grading, graded
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord, Manifest, TrialRecord
from mcpeval_dsl.records.writer import as_store_error

_BLOBS = (
    ("trial", "id"),
    ("superseded", "id"),
    ("grading", "key"),
    ("node", "id"),
)


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. Raises StoreError."""
    where = quote(str(path.absolute()))
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"file:{where}?{options}", uri=True, timeout=30.0, isolation_level=None)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            # A folder without write permission has no room for SQLite's shared memory; nobody can write there then.
            connection.close()
            problem = as_store_error(error, path)
        except sqlite3.Error as error:
            connection.close()
            raise as_store_error(error, path) from error
        else:
            return connection
    raise problem


class RunReader:
    """Everything one run folder holds. Each call opens its own connection, so any thread may ask."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder

    def manifest(self) -> Manifest:
        """Raises StoreError where the file is no manifest."""
        try:
            return Manifest.model_validate_json(self.folder.manifest.read_bytes())
        except ValueError as error:
            raise StoreError(f"{self.folder.manifest} is damaged: it is no manifest of a run") from error

    def plan_bytes(self) -> bytes:
        return self.folder.plan.read_bytes()

    def records(self, order: Iterable[str] | None = None) -> Iterator[TrialRecord]:
        """Trials with their grading where there is one, in `order` (trial ids; the plan's without it), the rest after.

        Raises DamagedRecord and StoreError.
        """
        with closing(self._open()) as connection:
            waiting = dict(_rows(connection, "SELECT id, key FROM trial ORDER BY id, key"))
            for trial in self.planned() if order is None else order:
                key = waiting.pop(trial, None)
                if key is not None:
                    yield _trial(connection, key)
            for key in waiting.values():
                yield _trial(connection, key)

    def record(self, trial: str) -> TrialRecord | None:
        """One trial by its id (`task@cell#3`)."""
        with closing(self._open()) as connection:
            row = connection.execute("SELECT key FROM trial WHERE id = ?", (trial,)).fetchone()
            return None if row is None else _trial(connection, row[0])

    def digests(self) -> Iterator[tuple[str, str, bytes | None]]:
        """(id, key, packed digest) of each trial, in no order; None where no digest fits its record (`wholes`).

        The bytes that a digest stands for are checked. Raises DamagedRecord and StoreError.
        """
        with closing(self._open()) as connection:
            twice = list(_rows(connection, "SELECT id FROM trial GROUP BY id HAVING count(*) > 1"))
            last = {id_: max(_rows(connection, "SELECT key FROM trial WHERE id = ?", (id_,)))[0] for (id_,) in twice}
            try:
                if not last:
                    yield from kept(connection, self.folder.path)
                    return
                yield from (
                    each for each in kept(connection, self.folder.path) if last.get(each[0], each[1]) == each[1]
                )
            except sqlite3.Error as error:
                raise as_store_error(error, Path("the ledger")) from error

    def wholes(self, keys: Iterable[str]) -> Iterator[Whole]:
        """Trials of the ledger with their gradings, by key. Raises StoreError."""
        with closing(self._open()) as connection:
            for key in keys:
                found = whole(connection, key)
                if found is not None:
                    yield found

    def outdated(self, made_by: str) -> list[str]:
        """Keys of the trials whose grading is not complete, or not known to be of the code `made_by`."""
        with closing(self._open()) as connection:
            return outdated(connection, self.folder.path, made_by)

    def superseded(self) -> Iterator[TrialRecord]:
        """Earlier attempts that a re-run replaced: no outcome of theirs counts, their violations do."""
        with closing(self._open()) as connection:
            for id_, data, sha in _rows(connection, "SELECT id, data, sha256 FROM superseded ORDER BY id, number"):
                yield unpack(TrialRecord, data, sha, f"superseded attempt of {id_}")

    def harvests(self) -> tuple[HarvestRecord, ...]:
        return tuple(self._nodes("harvest", HarvestRecord))

    def connects(self) -> tuple[ConnectRecord, ...]:
        return tuple(self._nodes("connect", ConnectRecord))

    def checks(self) -> tuple[CheckRecord, ...]:
        return tuple(self._nodes("check", CheckRecord))

    def judgements(self) -> tuple[JudgementRecord, ...]:
        """What judges said of labelled answers."""
        return tuple(self._nodes("judgement", JudgementRecord))

    def defects(self) -> tuple[DefectRecord, ...]:
        """What leads came to when they were replayed, by their ids."""
        return tuple(self._nodes("defect", DefectRecord))

    def completed_keys(self) -> frozenset[str]:
        with closing(self._open()) as connection:
            return frozenset(key for (key,) in _rows(connection, "SELECT key FROM trial"))

    def trial_keys(self) -> dict[str, str]:
        """Trial id -> content key of each trial on record."""
        with closing(self._open()) as connection:
            return dict(_rows(connection, "SELECT id, key FROM trial"))

    def grade_keys(self) -> dict[str, str]:
        """Trial key -> grade key of the grading on record."""
        with closing(self._open()) as connection:
            return dict(_rows(connection, "SELECT key, grade_key FROM grading"))

    def attempts(self) -> list[dict[str, Any]]:
        """Attempts in order of their start; `state` is started (lost, unless it still runs), finished or failed."""
        names = ("number", "trial", "key", "started", "ended", "state", "usage")
        with closing(self._open()) as connection:
            return [
                dict(zip(names, row, strict=True))
                for row in _rows(connection, f"SELECT {', '.join(names)} FROM attempt ORDER BY number")
            ]

    def events(self) -> Iterator[tuple[str, str, Any]]:
        """(time, kind, body) in order of writing."""
        with closing(self._open()) as connection:
            for at, kind, body in _rows(connection, "SELECT at, kind, body FROM event ORDER BY number"):
                yield at, kind, json.loads(body)

    def verify(self) -> tuple[str, ...]:
        """What is damaged, by name; empty when every blob is what was written. Raises StoreError."""
        found: list[str] = []
        with closing(self._open()) as connection:
            for table, name in _BLOBS:
                for what, data, sha in _rows(connection, f"SELECT {name}, data, sha256 FROM {table} ORDER BY 1"):
                    try:
                        _check(table, data, sha, what)
                    except DamagedRecord as error:
                        found.append(f"{table} {error}")
        return tuple(found)

    def planned(self) -> Iterator[str]:
        """Ids of all trials of the plan, in its order."""
        data = json.loads(self.plan_bytes())
        for node in (node for plan in data.get("plans", [data]) for node in plan.get("nodes", ())):
            if node.get("kind") == "trial":
                for trial in range(1, node["trials"] + 1):
                    yield f"{node['id']}#{trial}"

    def _nodes(self, kind: str, cls: Any) -> Iterator[Any]:
        with closing(self._open()) as connection:
            rows = _rows(connection, "SELECT id, data, sha256 FROM node WHERE kind = ? ORDER BY id, key", (kind,))
            for id_, data, sha in rows:
                yield unpack(cls, data, sha, f"{kind} {id_}")

    def _open(self) -> sqlite3.Connection:
        if not self.folder.ledger.is_file():
            raise StoreError(f"{self.folder.path} holds no ledger")
        return connect_reader(self.folder.ledger)


def _check(table: str, data: bytes, sha: str, what: str) -> None:
    if table == "trial":
        trial_of(what, data, sha)
    elif table == "superseded":
        unpack(TrialRecord, data, sha, what)
    elif table == "grading":
        unpack(Grading, data, sha, what)
    else:
        hashed(data, sha, what)


def _trial(connection: sqlite3.Connection, key: str) -> TrialRecord:
    row = connection.execute(
        "SELECT t.id, t.data, t.sha256, g.data, g.sha256 FROM trial t LEFT JOIN grading g USING (key) WHERE t.key = ?",
        (key,),
    ).fetchone()
    record = trial_of(row[0], row[1], row[2])
    if row[3] is None:
        return record
    return graded(record, unpack(Grading, row[3], row[4], f"grading of {row[0]}"))


def _rows(connection: sqlite3.Connection, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    try:
        yield from connection.execute(query, values)
    except sqlite3.Error as error:
        raise as_store_error(error, Path("the ledger")) from error
