"""Records: the store of one run, written by the process that runs it; what `execute` hands every finished trial to.

Every `save_…` gives a `concurrent.futures.Future` that is done once the bytes are on disk (`asyncio.wrap_future` makes
it awaitable). A process killed at any moment loses only the trials in flight. Failures of the disk are StoreError.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from mcpeval_dsl.diagnostics.model import Checked
from mcpeval_dsl.records.checks import CheckRecord
from mcpeval_dsl.records.codec import Redact, pack
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.records.digest_writer import DigestWriter
from mcpeval_dsl.records.digests import DigestMaker
from mcpeval_dsl.records.folder import RunFolder, RunnerLock, StoreError, write_whole
from mcpeval_dsl.records.grading import Grading, ungraded
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.records.manifests import differences, in_use, refusal
from mcpeval_dsl.records.model import (
    ArgumentTrace,
    ConnectRecord,
    HarvestRecord,
    Lead,
    Manifest,
    OutcomeRecord,
    TokenUse,
    TrialRecord,
    VerdictRecord,
)
from mcpeval_dsl.records.reader import RunReader
from mcpeval_dsl.records.writer import Writer


def create(
    folder: Path,
    plan_bytes: bytes,
    manifest: Manifest,
    redact: Redact | None = None,
    digests: DigestMaker | None = None,
) -> Checked[RunStore]:
    """Starts a run in `folder`, or continues the one that is there if its manifest is the same. Raises StoreError."""
    run = RunFolder(folder)
    if run.exists:
        return open_run(folder, manifest, redact, digests)
    run.make()
    lock = RunnerLock(run)
    if not lock.take():
        return Checked(None, (in_use(str(folder)),))
    try:
        write_whole(run.plan, plan_bytes)
        store = RunStore(run, lock, redact, digests)
        write_whole(run.manifest, manifest.model_dump_json(indent=2).encode() + b"\n")
    except BaseException:
        lock.release()
        raise
    return Checked(store)


def open_run(
    folder: Path, manifest: Manifest | None, redact: Redact | None = None, digests: DigestMaker | None = None
) -> Checked[RunStore]:
    """Continues a run; another manifest refuses, naming what differs. None (grading again) takes the run as it is.

    Raises StoreError.
    """
    run = RunFolder(folder)
    lock = RunnerLock(run)
    if not lock.take():
        return Checked(None, (in_use(str(folder)),))
    try:
        if manifest is not None:
            kept = RunReader(run).manifest()
            found = differences(kept, manifest)
            if found:
                lock.release()
                return Checked(None, (refusal(kept, found),))
        return Checked(RunStore(run, lock, redact, digests))
    except BaseException:
        lock.release()
        raise


class RunStore:
    """Use `create` or `open_run`. `redact` is given the plain JSON data of each record before it is written.

    `digests` makes what is kept beside each graded trial for scoring.
    """

    def __init__(
        self, folder: RunFolder, lock: RunnerLock, redact: Redact | None = None, digests: DigestMaker | None = None
    ) -> None:
        self.folder = folder
        self.reader = RunReader(folder)
        self._lock = lock
        self._redact = redact
        self._writer = Writer(folder.ledger)
        self._digests = None if digests is None else DigestWriter(folder.path, digests)

    def begin_attempt(self, trial: str, key: str) -> Future[int]:
        """To be awaited before the first paid call of a trial; the result numbers the attempt."""
        started = _now()

        def work(connection: sqlite3.Connection) -> int:
            cursor = connection.execute(
                "INSERT INTO attempt (trial, key, started) VALUES (?, ?, ?)", (trial, key, started)
            )
            return cursor.lastrowid or 0

        return self._writer.submit(work)

    def end_attempt(
        self, attempt: int, usage: TokenUse, state: Literal["finished", "failed", "cancelled"]
    ) -> Future[None]:
        """Closes an attempt that gave no record; `save_trial` closes its own."""
        return self._writer.submit(lambda connection: _end_attempt(connection, attempt, usage, state))

    def save_trial(self, record: TrialRecord, attempt: int | None = None, supersede: bool = False) -> Future[bool]:
        """Keeps a complete trial; True when it is the one that counts. The first complete attempt of a key wins.

        `supersede` is for the re-run of a trial that infrastructure spoilt: the earlier attempt is kept aside, since a
        re-run never erases a violation. Verdicts and outcome, if already there, are kept as its grading.
        """
        facts = ungraded(record)

        def work(connection: sqlite3.Connection) -> bool:
            blob = pack(facts, self._redact)
            if supersede:
                _set_aside(connection, record.key)
            cursor = connection.execute(
                "INSERT INTO trial (key, id, attempt, data, sha256) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (record.key, record.id, attempt, blob.data, blob.sha256),
            )
            if attempt is not None:
                _end_attempt(connection, attempt, record.usage, "finished")
            counts = cursor.rowcount == 1
            if counts and (record.outcome is not None or record.verdicts):
                self._put_grading(connection, record.key, _grading_of(record))
            return counts

        return self._writer.submit(work)

    def save_grading(
        self,
        key: str,
        verdicts: tuple[VerdictRecord, ...],
        outcome: OutcomeRecord | None,
        leads: tuple[Lead, ...] | None = None,
        grade_key: str = "",
        arguments: tuple[ArgumentTrace, ...] | None = None,
    ) -> Future[None]:
        """Replaces the grading of the trial with this key; its facts stay as they are."""
        grading = Grading(grade_key=grade_key, verdicts=verdicts, outcome=outcome, leads=leads, arguments=arguments)
        return self._writer.submit(lambda connection: self._put_grading(connection, key, grading))

    def save_harvest(self, record: HarvestRecord) -> Future[None]:
        return self._save_node("harvest", record)

    def save_connect(self, record: ConnectRecord) -> Future[None]:
        return self._save_node("connect", record)

    def save_check(self, record: CheckRecord) -> Future[None]:
        return self._save_node("check", record)

    def save_judgement(self, record: JudgementRecord) -> Future[None]:
        return self._save_node("judgement", record)

    def save_defect(self, record: DefectRecord) -> Future[None]:
        """Replaces what an earlier replay of the same lead came to."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM node WHERE kind = 'defect' AND id = ?", (record.id,))
            blob = pack(record, self._redact)
            connection.execute(
                "INSERT INTO node (key, kind, id, data, sha256) VALUES (?, 'defect', ?, ?, ?)",
                (record.key, record.id, blob.data, blob.sha256),
            )

        return self._writer.submit(work)

    def save_event(self, kind: str, body: Mapping[str, Any]) -> Future[None]:
        at = _now()

        def work(connection: sqlite3.Connection) -> None:
            plain = dict(body) if self._redact is None else self._redact(dict(body))
            connection.execute(
                "INSERT INTO event (at, kind, body) VALUES (?, ?, ?)", (at, kind, json.dumps(plain, ensure_ascii=True))
            )

        return self._writer.submit(work)

    def close(self) -> None:
        """Waits for all writes; afterwards the ledger is one file. Raises StoreError."""
        try:
            self._writer.close()
        finally:
            if self._digests is not None:
                self._digests.close()
            self._lock.release()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _save_node(
        self, kind: str, record: HarvestRecord | ConnectRecord | CheckRecord | JudgementRecord
    ) -> Future[None]:
        def work(connection: sqlite3.Connection) -> None:
            blob = pack(record, self._redact)
            connection.execute(
                "INSERT OR REPLACE INTO node (key, kind, id, data, sha256) VALUES (?, ?, ?, ?, ?)",
                (record.key, kind, record.id, blob.data, blob.sha256),
            )

        return self._writer.submit(work)

    def _put_grading(self, connection: sqlite3.Connection, key: str, grading: Grading) -> None:
        blob = pack(grading, self._redact)
        connection.execute(
            "INSERT OR REPLACE INTO grading (key, grade_key, data, sha256) VALUES (?, ?, ?, ?)",
            (key, grading.grade_key, blob.data, blob.sha256),
        )
        if self._digests is not None:
            self._digests.graded(connection, key)


def _grading_of(record: TrialRecord) -> Grading:
    return Grading(
        grade_key=record.grade_key,
        verdicts=record.verdicts,
        outcome=record.outcome,
        leads=record.leads,
        arguments=record.arguments,
    )


def _set_aside(connection: sqlite3.Connection, key: str) -> None:
    connection.execute(
        "INSERT INTO superseded (key, id, data, sha256) SELECT key, id, data, sha256 FROM trial WHERE key = ?", (key,)
    )
    connection.execute("DELETE FROM trial WHERE key = ?", (key,))
    connection.execute("DELETE FROM grading WHERE key = ?", (key,))


def _end_attempt(connection: sqlite3.Connection, attempt: int, usage: TokenUse, state: str) -> None:
    connection.execute(
        "UPDATE attempt SET ended = ?, state = ?, usage = ? WHERE number = ? AND state = 'started'",
        (_now(), state, usage.model_dump_json(), attempt),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


__all__ = ["RunStore", "StoreError", "create", "open_run"]
