"""Language server, beside its loop: one thread that does the long work, so that no request waits for it.

Work is asked for by key and done a moment later; asked for again meanwhile, it is done once, on the newest state. What is
already under way is told so, and stops between two of its steps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

Stopped = Callable[[], bool]
Work = Callable[[Stopped], None]

LONGEST_WAIT = 1.0  # seconds for which typing on may put work off, and for which work under way is given up for newer


@dataclass(slots=True)
class _Job:
    work: Work
    due: float
    asked: float


class Superseded(Exception):
    """Newer work of the same kind was asked for."""


class Background:
    """`failed` is called in the thread with what a piece of work raised."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._jobs: dict[Hashable, _Job] = {}
        self._done: dict[Hashable, float] = {}
        self._changed = threading.Condition()
        self._ended = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="analysis", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask(self, key: Hashable, work: Work, delay: float = 0.0) -> None:
        """Have `work` done in `delay` seconds, in place of what was asked for under this key and has not begun."""
        now = time.monotonic()
        with self._changed:
            asked = self._jobs[key].asked if key in self._jobs else now
            self._jobs[key] = _Job(work, min(now + delay, asked + LONGEST_WAIT), asked)
            self._changed.notify_all()

    def end(self) -> None:
        """Begin nothing more; what is under way stops at its next step."""
        with self._changed:
            self._ended = True
            self._jobs.clear()
            self._changed.notify_all()

    @property
    def idle(self) -> bool:
        with self._changed:
            return not self._jobs and not self._busy

    def _run(self) -> None:
        while (taken := self._take()) is not None:
            key, work = taken
            try:
                work(partial(self._superseded, key, self._done.get(key, 0.0)))
                self._done[key] = time.monotonic()
            except Superseded:
                pass
            except Exception as error:
                self._failed(error)
            finally:
                with self._changed:
                    self._busy = False

    def _take(self) -> tuple[Hashable, Work] | None:
        """The next work that is due; waits for it. None at the end."""
        with self._changed:
            while not self._ended:
                key = min(self._jobs, key=lambda name: self._jobs[name].due, default=None)
                wait = None if key is None else self._jobs[key].due - time.monotonic()
                if key is not None and wait is not None and wait <= 0:
                    self._busy = True
                    return key, self._jobs.pop(key).work
                self._changed.wait(wait)
            return None

    def _superseded(self, key: Hashable, since: float) -> bool:
        """Whether to stop; not for the sake of newer work, where none was finished for a while."""
        return self._ended or (key in self._jobs and time.monotonic() - since < LONGEST_WAIT)
