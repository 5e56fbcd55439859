"""Records, beside the ledger: what scoring needs of each graded trial, kept so that it is not made anew each time.

`digests.db` is derived data. A digest is bound by a hash to the bytes of its record and grading and to itself; one that does not
fit is made again. So the file may be lost, damaged or behind at any time, and nothing waits for it or fails by it.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from mcpeval_dsl.records.codec import DamagedRecord, hashed, unpack
from mcpeval_dsl.records.grading import Grading, graded
from mcpeval_dsl.records.model import TrialRecord

FILE = "digests.db"
_SIZES = struct.Struct("<4I")
_HEAD = _SIZES.size + 32
NO_CONTEXT = bytes(32)
_JOINED = """
LEFT JOIN main.grading g ON g.rowid = d.grading AND g.key = t.key AND g.sha256 = d.grading_sha256
"""
_BESIDE = f"""
SELECT t.rowid, t.id, t.key, t.data, t.sha256, g.data, g.sha256, d.bound, d.data
FROM main.trial t LEFT JOIN beside.digest d ON d.trial = t.rowid AND d.trial_sha256 = t.sha256
{_JOINED} ORDER BY t.rowid
"""
_OUTDATED = f"""
SELECT t.key FROM main.trial t
LEFT JOIN beside.digest d ON d.trial = t.rowid AND d.trial_sha256 = t.sha256 AND d.graded_by = ?
{_JOINED} WHERE g.key IS NULL
"""
_WHOLE = """
SELECT t.rowid, t.id, t.data, t.sha256, g.rowid, g.data, g.sha256 FROM main.trial t
LEFT JOIN main.grading g ON g.key = t.key WHERE t.key = ?
"""


@dataclass(frozen=True, slots=True)
class Digest:
    """`numbers` and `said` are read by `score`; `latencies` are doubles (ms). `started`: when the trial began.

    `played`: what makes a trial that only plays another one back equal to it, else empty.
    """

    numbers: bytes
    latencies: bytes
    said: str
    started: str
    played: bytes


class DigestMaker(Protocol):
    """`made_by` names the code that grades and digests. `context`: what a trial's digest rests on beside its record."""

    @property
    def made_by(self) -> str: ...

    def context(self, trial: str) -> bytes | None: ...

    def digest(self, record: TrialRecord) -> Digest: ...


@dataclass(frozen=True, slots=True)
class Whole:
    """The rows of a trial and of its grading, as they are in the ledger; `grading` 0: there is none."""

    trial: int
    id: str
    data: bytes
    sha256: str
    grading: int
    grading_data: bytes
    grading_sha256: str

    def record(self) -> TrialRecord:
        """Raises DamagedRecord."""
        record = trial_of(self.id, self.data, self.sha256)
        if not self.grading:
            return record
        return graded(record, unpack(Grading, self.grading_data, self.grading_sha256, f"grading of {self.id}"))


def trial_of(name: str, data: bytes, sha256: str) -> TrialRecord:
    """The record in a row of the ledger. Raises DamagedRecord, also where it is the record of another trial."""
    record = unpack(TrialRecord, data, sha256, f"trial {name}")
    if record.id != name:
        raise DamagedRecord(f"trial {name}", f"in its place is the record of {record.id}")
    return record


def whole(connection: sqlite3.Connection, key: str) -> Whole | None:
    row = connection.execute(_WHOLE, (key,)).fetchone()
    if row is None:
        return None
    trial, id_, data, sha, grading, grading_data, grading_sha = row
    return Whole(trial, id_, data, sha, grading or 0, grading_data or b"", grading_sha or "")


def kept(connection: sqlite3.Connection, folder: Path) -> Iterator[tuple[str, str, bytes | None]]:
    """(id, key, packed digest) of every trial in the ledger, in no order; None where no digest fits the record.

    The bytes of each record and grading that a digest stands for are checked. Raises DamagedRecord.
    """
    last = 0
    if attached(connection, folder):
        try:
            for number, id_, key, data, sha, grading, grading_sha, seal, piece in connection.execute(_BESIDE):
                last = number
                if grading is None:
                    yield id_, key, None
                    continue
                # A damaged record is never scored: the bytes have to be those that the digest was made from.
                rests_on = hashed(data, sha, f"trial {id_}") + hashed(grading, grading_sha, f"grading of {id_}")
                fits = piece.__class__ is bytes and id_.__class__ is str and sha256(piece + rests_on).digest() == seal
                yield id_, key, piece if fits else None
        except sqlite3.DatabaseError:
            pass  # the file beside is damaged from here on; if it is the ledger, that shows below
        else:
            return
    for id_, key in connection.execute("SELECT id, key FROM main.trial WHERE rowid > ? ORDER BY rowid", (last,)):
        yield id_, key, None


def outdated(connection: sqlite3.Connection, folder: Path, made_by: str) -> list[str]:
    """Keys of the trials whose grading is not complete, or not known to be of the code `made_by`."""
    if attached(connection, folder):
        try:
            return [key for (key,) in connection.execute(_OUTDATED, (made_by,))]
        except sqlite3.DatabaseError:
            pass  # the file beside is damaged; if it is the ledger, that shows below
    return [key for (key,) in connection.execute("SELECT key FROM main.trial ORDER BY rowid")]


def attached(connection: sqlite3.Connection, folder: Path) -> bool:
    """Whether digests can be read beside the ledger."""
    path = folder / FILE
    if not path.is_file():
        return False
    try:
        connection.execute("ATTACH DATABASE ? AS beside", (f"file:{quote(str(path.absolute()))}?mode=ro",))
        connection.execute("SELECT count(*) FROM beside.sqlite_master WHERE name = 'digest'").fetchone()
    except sqlite3.DatabaseError:
        return False
    return True


def bound(trial: str, grading: str, piece: bytes) -> bytes:
    """Hash over a packed digest and all that it rests on; `trial` and `grading` are the hashes (hex) of their bytes."""
    return sha256(piece + bytes.fromhex(trial) + bytes.fromhex(grading)).digest()


def packed(digest: Digest, context: bytes) -> bytes:
    """A digest and its context (32 bytes) as one piece, which `taken_apart` reads."""
    parts = (digest.numbers, digest.latencies, digest.played, digest.started.encode())
    return _SIZES.pack(*map(len, parts)) + context + b"".join(parts) + digest.said.encode()


def context_of(piece: bytes) -> bytes:
    return piece[_HEAD - 32 : _HEAD]


def taken_apart(piece: bytes) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    """(numbers, latencies, played, started, said) of a packed digest, texts as UTF-8."""
    numbers, latencies, played, started = _SIZES.unpack_from(piece)
    a = _HEAD + numbers
    b = a + latencies
    c = b + played
    d = c + started
    return piece[_HEAD:a], piece[a:b], piece[b:c], piece[c:d], piece[d:]
