"""Command line, what a run says while it goes on: on standard error, a line that renews itself on a terminal."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpeval_dsl.execute import events
    from mcpeval_dsl.records.model import TrialRecord

QUIET_SECONDS = 5.0


def reporter(form: str) -> Callable[[events.RunEvent], None]:
    """A view of the events of one run."""
    if form == "json":
        return _json
    return _Lines().tell


def _without(record: TrialRecord) -> str:
    """What a trial without an outcome is called: a row that did not come, or one to be graded again."""
    return "not applicable" if record.not_applicable else "not graded"


class _Lines:
    """Problems get a line of their own, success is counted; off a terminal a count is printed every few seconds."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
        self._said = time.monotonic()
        self._counts: dict[str, int] = {}

    def tell(self, event: events.RunEvent) -> None:
        from mcpeval_dsl.execute import events as kinds

        match event:
            case kinds.Started():
                before = event.planned - event.due
                kept = f", {before} finished before" if before else ""
                kept += "; --fresh measures again" if event.planned and not event.due else ""
                self._line(f"run {event.folder.rsplit('/', 1)[-1]}: {event.due} of {event.planned} trials to run{kept}")
            case kinds.Connected():
                record = event.record
                if record.status != "ok":
                    self._line(f"server {record.server}: {record.message}")
                for finding in record.findings:
                    self._line(f"server {record.server}: {finding}")
            case kinds.ModelChecked():
                if not event.ok:
                    about = f"model {event.model}: "
                    self._line(about + event.problem.removeprefix(about))
            case kinds.HarvestDone():
                if event.record.status != "ok":
                    self._line(f"harvest {event.record.harvest}: {event.record.status} ({event.record.message})")
            case kinds.CheckDone():
                for line in event.record.lines:
                    if line.state != "pass":
                        why = line.reason or f"{line.actual}, expected {line.expected}"
                        self._line(f"check {event.record.server}: {line.state.upper()} {line.what} ({why})")
            case kinds.TrialDone():
                outcome = event.record.outcome.outcome if event.record.outcome is not None else _without(event.record)
                self._counts[outcome] = self._counts.get(outcome, 0) + 1
                self._count(event.done, event.due)
            case kinds.Problem():
                self._line(event.message)
            case kinds.Waiting():
                names = ", ".join(event.in_flight[:3]) + (", …" if len(event.in_flight) > 3 else "")
                self._line(f"no trial ended for {event.seconds:.0f} s; in flight: {names}")
            case kinds.Stopping():
                if event.how == "drain":
                    self._line(
                        f"stopping: {event.in_flight} trials in flight are finished and saved; Ctrl-C again stops now"
                    )
                else:
                    self._line("stopping now; what is finished is saved")

    def _count(self, done: int, due: int) -> None:
        words = ", ".join(f"{count} {name}" for name, count in sorted(self._counts.items()))
        text = f"{done}/{due} trials: {words}"
        if self._live:
            end = "\n" if done == due else ""
            print(f"\r\x1b[K{text}", end=end, file=sys.stderr, flush=True)
        elif done == due or time.monotonic() - self._said > QUIET_SECONDS:
            self._said = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def _line(self, text: str) -> None:
        from mcpeval_dsl.diagnostics.render.safe import visible

        lead = "\r\x1b[K" if self._live else ""
        print(f"{lead}{visible(' '.join(text.split()))}", file=sys.stderr, flush=True)


def _json(event: events.RunEvent) -> None:
    """One JSON line on standard error for each event, without transcripts."""
    from mcpeval_dsl.execute import events as kinds

    data: dict[str, object] = {"type": type(event).__name__.lower()}
    match event:
        case kinds.Started():
            data |= {"suite": event.suite, "planned": event.planned, "due": event.due}
        case kinds.TrialDone():
            outcome = event.record.outcome
            data |= {"trial": event.record.id, "outcome": outcome.outcome if outcome else None}
            data |= {"done": event.done, "due": event.due}
        case kinds.Connected():
            data |= {"server": event.record.server, "status": event.record.status, "message": event.record.message}
        case kinds.HarvestDone():
            data |= {"harvest": event.record.harvest, "status": event.record.status, "message": event.record.message}
        case kinds.CheckDone():
            data |= {"server": event.record.server, "states": [line.state for line in event.record.lines]}
        case kinds.ModelChecked():
            data |= {"model": event.model, "ok": event.ok, "problem": event.problem}
        case kinds.Waiting():
            data |= {"seconds": round(event.seconds), "in_flight": list(event.in_flight)}
        case kinds.Stopping():
            data |= {"how": event.how, "in_flight": event.in_flight}
        case kinds.Problem():
            data |= {"message": event.message}
    print(json.dumps(data, ensure_ascii=False), file=sys.stderr, flush=True)
