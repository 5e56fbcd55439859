"""A driver: answers as the model did in a stored trial, and only where it is asked the same.

The file is one trial record as JSON, a list of them, or JSON Lines. A trial is found by its id, else by task and number.
Folders are new in each trial: where the record's scope and the trial's facts both name one (`workdir`, `home`), stored texts are
read as if they came from the new folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mcpeval_dsl.agents.model import (
    Message,
    ModelApiError,
    Preflight,
    StopReason,
    ToolRequest,
    TrialContext,
    Turn,
    TurnRequest,
    Usage,
)
from mcpeval_dsl.values.regular import regular_text

DRIVER_VERSION = "replay/1"
FOLDERS = ("workdir", "home")
MAX_BYTES = 512 * 1024 * 1024
Record = Mapping[str, Any]


@dataclass(slots=True)
class _Replayed:
    record: Record
    turn: int = 0


class ReplayDriver:
    """`agents.model.Driver` over stored trials. Costs nothing; usage is the stored one, its cost 0."""

    def __init__(self, path: Path | None, shown: str = "", records: Sequence[Record] = ()) -> None:
        self._path = path
        self._shown = shown or (path.name if path is not None else "the record")
        self._records: tuple[Record, ...] | None = tuple(records) if path is None else None
        self._trials: dict[str, _Replayed] = {}

    @property
    def name(self) -> str:
        return "replay"

    async def preflight(self) -> Preflight:
        """Reads the file."""
        try:
            self._load()
        except ModelApiError as error:
            return Preflight(False, error.message, "", DRIVER_VERSION)
        return Preflight(True, "", f"replay {self._shown}", DRIVER_VERSION)

    def _load(self) -> tuple[Record, ...]:
        if self._records is None and self._path is not None:
            self._records = read_records(self._path, self._shown)
        return self._records or ()

    async def turn(self, request: TurnRequest) -> Turn:
        """The stored turn of the same number. Raises ModelApiError naming the first difference, or when none is left."""
        trial = self._trial(request)
        turns = trial.record.get("turns") or ()
        differs = first_difference(trial.record, trial.turn, request)
        if differs:
            raise ModelApiError("unexpected", f"{self._shown}, turn {trial.turn + 1}: {differs}")
        if trial.turn >= len(turns):
            raise ModelApiError("exhausted", f"{self._shown}: the stored trial has only {len(turns)} turns")
        stored = turns[trial.turn]
        trial.turn += 1
        return stored_turn(stored)

    def _trial(self, request: TurnRequest) -> _Replayed:
        context = request.context
        begun = self._trials.get(context.trial)
        if begun is not None and len(request.messages) > 1:
            return begun
        records = self._load()
        found = next((record for record in records if record.get("id") == context.trial), None)
        if found is None:
            same = [r for r in records if r.get("task") == context.task]
            found = next(
                (r for r in same if r.get("trial") == context.index), same[0] if len(records) == 1 and same else None
            )
        if found is None:
            raise ModelApiError("unexpected", f"{self._shown} has no trial {context.trial!r}")
        self._trials[context.trial] = _Replayed(relocated(found, context.facts))
        return self._trials[context.trial]

    async def finish(self, context: TrialContext) -> str | None:
        """Turns of the stored trial that were not reached are a problem."""
        trial = self._trials.pop(context.trial, None)
        if trial is None:
            return None
        left = len(trial.record.get("turns") or ()) - trial.turn
        return f"{left} stored turns of {self._shown} were not replayed" if left > 0 else None

    async def close(self) -> None:
        self._trials.clear()


def read_records(path: Path, shown: str) -> tuple[Record, ...]:
    """Trial records of a file. Raises ModelApiError with a sentence for the user."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ModelApiError("unexpected", f"{shown} has more than {MAX_BYTES} bytes")
        text = regular_text(path)
    except OSError as error:
        raise ModelApiError("unexpected", f"{shown} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ModelApiError("unexpected", f"{shown} is not UTF-8") from None
    try:
        values = [json.loads(text)]
    except ValueError:
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise ModelApiError("unexpected", f"{shown} is not JSON: {error}") from None
    records = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    kept = tuple(record for record in records if isinstance(record, Mapping) and isinstance(record.get("turns"), list))
    if not kept:
        raise ModelApiError("unexpected", f"{shown} holds no trial record (an object with `turns`)")
    return kept


def relocated(record: Record, facts: Mapping[str, Any]) -> Record:
    """The parts of a record that are compared or said again, with the folders of the stored trial replaced by today's."""
    scope = record.get("scope") or {}
    pairs = [(scope.get(name), facts.get(name)) for name in FOLDERS]
    moves = [(old, new) for old, new in pairs if isinstance(old, str) and isinstance(new, str) and len(old) > 1]
    if not moves:
        return record
    said = {key: record.get(key) for key in ("prompt", "system", "tool_names", "native_tools", "turns", "exchanges")}
    return cast(Record, _moved(said, moves))


def _moved(value: Any, moves: Sequence[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for old, new in moves:
            value = value.replace(old, new)
        return value
    if isinstance(value, Mapping):
        return {key: _moved(item, moves) for key, item in value.items()}
    return [_moved(item, moves) for item in value] if isinstance(value, list) else value


def first_difference(record: Record, turn: int, request: TurnRequest) -> str:
    """What is asked now and was not asked so in the stored trial; empty where nothing differs."""
    if turn == 0:
        prompt = request.messages[0].text if request.messages else ""
        stored_names = _offered_at_first(record)
        names = {tool.wire_name for tool in request.tools}
        if record.get("prompt") != prompt:
            return _differs("the prompt", str(record.get("prompt")), prompt)
        if record.get("system") and record["system"] != request.system:
            return _differs("the system prompt", str(record["system"]), request.system)
        if stored_names and stored_names != names:
            changed = sorted(stored_names ^ names)
            return f"the tools on offer differ: {', '.join(changed[:5])}"
        return ""
    turns = record.get("turns") or ()
    said = _said_before(record, turn + 1)
    if said is not None and request.messages[-1].text != said:
        return _differs("what the user says", said, request.messages[-1].text)
    stored = turns[turn - 1].get("answers") or () if turn <= len(turns) else ()
    now = request.messages[-1].answers
    if len(stored) != len(now):
        return f"{len(now)} tool answers, and {len(stored)} were stored"
    for old, new in zip(stored, now, strict=True):
        if old.get("text") != new.text or bool(old.get("is_error")) != new.is_error:
            return _differs(f"the answer to call {new.id}", str(old.get("text")), new.text)
    return ""


def _said_before(record: Record, turn: int) -> str | None:
    """What the user said right before a model turn; None where it answers nothing but results."""
    for exchange in record.get("exchanges") or ():
        if exchange.get("first") == turn:
            return str(exchange.get("said") or "")
    return None


def _offered_at_first(record: Record) -> set[str]:
    """Names on the wire; where tools were found by search, that was the only one at first, with others of the host's own."""
    native = {str(tool.get("name")) for tool in record.get("native_tools") or ()}
    known = {str(entry[2]) for entry in record.get("tool_names") or ()}
    known -= {str(name) for exchange in record.get("exchanges") or () for name in exchange.get("shown") or ()}
    own = {f"host__{name}" if name in known else name for name in native}
    return own if "tool_search" in native else known | own


def _differs(what: str, old: str, new: str) -> str:
    """The first place where two texts part, with a little of both."""
    place = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(place - 20, 0)
    return (
        f"{what} differs at character {place + 1}: stored {old[start : place + 40]!r}, now {new[start : place + 40]!r}"
    )


def stored_turn(stored: Mapping[str, Any]) -> Turn:
    """A turn from its JSON."""
    requests = tuple(
        ToolRequest(str(r["id"]), str(r["wire_name"]), dict(r.get("arguments") or {}), r.get("problem"))
        for r in stored.get("requests") or ()
    )
    usage = stored.get("usage") or {}
    counted = Usage(
        int(usage.get("input_tokens") or 0),
        int(usage.get("output_tokens") or 0),
        int(usage.get("cache_read_tokens") or 0),
        int(usage.get("cache_write_tokens") or 0),
        0.0,
    )
    stop = cast(StopReason, stored.get("stop") or "other")
    message = Message("assistant", str(stored.get("text") or ""), requests)
    return Turn(message, stop, counted, str(stored.get("model") or ""), detail="replayed")
