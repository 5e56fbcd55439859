"""Command line, what a run says while it goes on: on standard error, a table that renews itself on a terminal, else lines."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcpeval_dsl.cli.tally import Tally, clock, tally_of

if TYPE_CHECKING:
    from mcpeval_dsl.cli.live import LiveTable
    from mcpeval_dsl.execute import events
    from mcpeval_dsl.plan.model import Plan

QUIET_SECONDS = 5.0


class Progress(Protocol):
    """A view of the events of one run. `close` comes before anything else is printed."""

    def tell(self, event: events.RunEvent) -> None: ...

    def close(self) -> None: ...


def reporter(form: str, plan: Plan) -> Progress:
    """`form` is text or json. A terminal gets the table, unless it is a CI system's or dumb."""
    return _Json() if form == "json" else _Lines(plan)


class _Lines:
    """Problems get a line of their own, trials are counted; off a terminal the count is printed every few seconds."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._live = sys.stderr.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
        self._table: LiveTable | None = None
        self._tally = Tally()
        self._said = time.monotonic()

    def close(self) -> None:
        if self._table is not None:
            self._table.close()
            self._table = None
            self._line(self._count())

    def tell(self, event: events.RunEvent) -> None:
        from mcpeval_dsl.execute import events as kinds

        match event:
            case kinds.Started():
                before = event.planned - event.due
                kept = f", {before} finished before" if before else ""
                kept += "; --fresh measures again" if event.planned and not event.due else ""
                self._line(f"run {event.folder.rsplit('/', 1)[-1]}: {event.due} of {event.planned} trials to run{kept}")
                self._start(event)
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
                self._tally.add(event.record)
                if self._table is None and (event.done == event.due or time.monotonic() - self._said > QUIET_SECONDS):
                    self._line(self._count())
            case kinds.Problem():
                self._line(event.message)
            case kinds.Waiting():
                names = ", ".join(event.in_flight[:3]) + (", …" if len(event.in_flight) > 3 else "")
                self._line(f"no trial ended for {event.seconds:.0f} s; in flight: {names}")
            case kinds.Stopping():
                if event.how == "drain" and event.before:
                    self._line("stopping: what comes before the trials is finished and saved; Ctrl-C again stops now")
                elif event.how == "drain":
                    self._line(
                        f"stopping: {event.in_flight} trials in flight are finished and saved; Ctrl-C again stops now"
                    )
                else:
                    self._line("stopping now; what is finished is saved")

    def _start(self, event: events.Started) -> None:
        finished: Iterable[str] = ()
        if event.due < event.planned:
            from mcpeval_dsl.records.folder import RunFolder
            from mcpeval_dsl.records.reader import RunReader

            finished = RunReader(RunFolder(Path(event.folder))).trial_keys()
        self._tally = tally_of(self._plan, finished)
        self._tally.due = event.due
        if self._live and event.due:
            from mcpeval_dsl.cli.live import LiveTable

            self._table = LiveTable(self._tally)

    def _count(self) -> str:
        """`12/40 trials: 9 pass, 3 wrong_answer; $0.12, 31 000 tokens; about 40 s left`."""
        tally, left = self._tally, self._tally.left()
        words = ", ".join(f"{count} {word}" for word, count in tally.outcomes().items())
        parts = [f"{tally.done}/{tally.due} trials: {words or 'none yet'}", tally.spending(), *tally.limits()]
        if left is not None and tally.done < tally.due:
            parts.append(f"about {clock(left)} left")
        self._said = time.monotonic()
        return "; ".join(filter(None, parts))

    def _line(self, text: str) -> None:
        from mcpeval_dsl.diagnostics.render.safe import visible

        line = visible(" ".join(text.split()))
        if self._table is not None:
            self._table.say(line)
        else:
            print(line, file=sys.stderr, flush=True)


class _Json:
    """One JSON line on standard error for each event, without transcripts."""

    def tell(self, event: events.RunEvent) -> None:
        _json(event)

    def close(self) -> None:
        """Nothing is left open."""


def _json(event: events.RunEvent) -> None:
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
            data |= {"how": event.how, "in_flight": event.in_flight, "before_trials": event.before}
        case kinds.Problem():
            data |= {"message": event.message}
    print(json.dumps(data, ensure_ascii=False), file=sys.stderr, flush=True)
