"""The spool of a proxied trial: one line of JSON for each thing that happened, on the disk before the host hears of it.

Place in the pipeline: written by the proxy in the host's process tree, read by the run afterwards. An attempt is written
before the server sees the call and the record before the host sees the answer, so a host (or proxy) that is killed loses
nothing; several proxies one after the other (a host that restarts its server) append to one file.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mcpeval_dsl.gateway.model import CallError, CallRecord, Violation

SPOOL_FORMAT = "mcpe-spool/1"
_CALL: TypeAdapter[CallRecord] = TypeAdapter(CallRecord)
_VIOLATION: TypeAdapter[Violation] = TypeAdapter(Violation)
CUT = "the host or its connection ended before it was answered"


class Spool:
    """Appends; every line is on the disk when `put` returns. One proxy at a time writes (others wait their turn).

    An attempt only has to outlive the proxy: its own record, or that of another call, takes it to the disk.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._turn = asyncio.Lock()

    async def put(self, line: Mapping[str, Any]) -> None:
        """Write one line without holding up the others. Raises OSError."""
        async with self._turn:
            await asyncio.shield(asyncio.to_thread(self.put_now, line))

    def put_now(self, line: Mapping[str, Any], sync: bool = True) -> None:
        """As `put`, at once. Without `sync` the line outlives this process, and the machine only with the next that has it."""
        data = json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]
            if sync:
                os.fdatasync(self._handle)
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._handle)


@dataclass(frozen=True, slots=True)
class Spooled:
    """What came back: calls with ids in the order of their attempts, violations by those ids, and the host's own words.

    `meta` is the correlation by call id; `hosts` are the names that connected; `cut` counts calls that were never answered.
    """

    calls: tuple[CallRecord, ...] = ()
    violations: tuple[Violation, ...] = ()
    meta: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hosts: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[str, ...] = ()
    starts: int = 0
    cut: int = 0
    damaged: int = 0

    @property
    def charged(self) -> int:
        """Calls that count against the budget, also those of proxies before this one."""
        return sum(call.charged for call in self.calls)


def attempt_line(process: str, number: int, record: CallRecord, meta: Mapping[str, Any]) -> dict[str, Any]:
    """`number` counts the attempts of one process."""
    call = _CALL.dump_python(record, mode="json")
    return {"type": "attempt", "process": process, "number": number, "call": call, "meta": dict(meta)}


def call_line(process: str, number: int, record: CallRecord, violations: Sequence[Violation]) -> dict[str, Any]:
    call = _CALL.dump_python(record, mode="json")
    said = [_VIOLATION.dump_python(each, mode="json") for each in violations]
    return {"type": "call", "process": process, "number": number, "call": call, "violations": said}


def read_spool(path: Path) -> Spooled:
    """Everything in a spool, also of one that was cut off in the middle of a line; nothing where there is no file."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Spooled()
    reading = _Reading()
    for line in lines:
        if line.strip():
            try:
                reading.take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, ValidationError):
                reading.damaged += 1
    return reading.result()


class _Reading:
    def __init__(self) -> None:
        self.attempts: dict[tuple[str, int], CallRecord] = {}
        self.answers: dict[tuple[str, int], CallRecord] = {}
        self.meta: dict[tuple[str, int], Mapping[str, Any]] = {}
        self.violations: list[tuple[tuple[str, int], Violation]] = []
        self.hosts: list[Mapping[str, Any]] = []
        self.problems: list[str] = []
        self.starts = self.damaged = 0

    def take(self, line: Mapping[str, Any]) -> None:
        match line["type"]:
            case "start":
                self.starts += 1
            case "host":
                self.hosts.append(line["host"])
            case "problem":
                self.problems.append(str(line["message"]))
            case "attempt":
                key = (str(line["process"]), int(line["number"]))
                self.attempts[key] = _CALL.validate_python(line["call"])
                self.meta[key] = line["meta"]
            case "call":
                key = (str(line["process"]), int(line["number"]))
                self.answers[key] = _CALL.validate_python(line["call"])
                self.attempts.setdefault(key, self.answers[key])
                self.violations += [(key, _VIOLATION.validate_python(each)) for each in line["violations"]]

    def result(self) -> Spooled:
        names = {key: f"c{number}" for number, key in enumerate(self.attempts, start=1)}
        calls = [replace(self.answers.get(key) or _cut(record), id=names[key]) for key, record in self.attempts.items()]
        return Spooled(
            calls=tuple(calls),
            violations=tuple(replace(each, call=names[key]) for key, each in self.violations),
            meta={names[key]: meta for key, meta in self.meta.items() if meta},
            hosts=tuple(self.hosts),
            problems=tuple(self.problems),
            starts=self.starts,
            cut=sum(key not in self.answers for key in self.attempts),
            damaged=self.damaged,
        )


def _cut(record: CallRecord) -> CallRecord:
    """An attempt that was never answered: it may have reached the server, so its effect is unknown."""
    error = CallError("timeout", "timeout", CUT, cause="harness")
    return replace(record, charged=True, is_error=True, error=error, effect_unknown=True)
