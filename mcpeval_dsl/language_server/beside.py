"""Language server: the process beside, in which specs are analysed, so that no request shares a processor's time with it.

It is made once, when the server starts and nothing of any workspace has been seen. It runs the analyst and nothing else,
and ends with the server.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection, Pipe
from threading import Lock
from typing import Any

from mcpeval_dsl.language_server.analyst import Analyse, Analyst, Answer, Request, ready
from mcpeval_dsl.language_server.background import Superseded

_STOP = "stop"
_STOPPED = "stopped"
_LOOK = 0.01  # seconds between two questions whether an answer is still wanted


class Beside:
    """Answers requests in the process beside; where there can be none, or it died, in the thread that asks."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._own = Analyst()
        self._sent: dict[str, str] = {}  # texts of open files that the analyst has
        self._pipes: tuple[Connection, Connection] | None = None

    def start(self, *closed: int) -> None:
        """Make the process; descriptors in `closed` are not for it. To be called before there are threads."""
        if not hasattr(os, "fork"):
            return
        requests, ask = Pipe(duplex=False)
        answer, answers = Pipe(duplex=False)
        if os.fork():
            requests.close()
            answers.close()
            self._pipes = (ask, answer)
            return
        try:
            for number in closed:
                os.close(number)
            ask.close()
            answer.close()
            _work(requests, answers)
        finally:
            os._exit(0)

    def changed(self, buffers: Mapping[str, str]) -> dict[str, str | None]:
        """What is to be told of open files since the last request."""
        found: dict[str, str | None] = {
            full: text for full, text in buffers.items() if self._sent.get(full) is not text
        }
        found.update((full, None) for full in self._sent if full not in buffers)
        self._sent = dict(buffers)
        return found

    def answer(self, request: Callable[[], Request], stopped: Callable[[], bool]) -> Answer:
        """`request` is made when its turn comes. Raises Superseded once `stopped()` is true, and what the analyst raised."""
        with self._lock:
            made = request()
            if self._pipes is not None:
                try:
                    return self._beside(made, stopped, *self._pipes)
                except (EOFError, BrokenPipeError, ConnectionResetError):
                    self._pipes = None
                    print("the process of the analysis has died; the server goes on without it", file=sys.stderr)
            if isinstance(made, Analyse) and not self._own.buffers:
                self._own.buffers.update(self._sent)
            return self._own.answer(made, stopped)

    def _beside(self, request: Request, stopped: Callable[[], bool], ask: Connection, answer: Connection) -> Answer:
        ask.send(request)
        told = False
        while not answer.poll(_LOOK):
            if not told and stopped():
                ask.send(_STOP)
                told = True
        found: Any = answer.recv()
        if found == _STOPPED:
            raise Superseded
        if isinstance(found, str):
            raise RuntimeError(found)
        assert isinstance(found, Answer)
        return found


def _work(requests: Connection, answers: Connection) -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # garbage is collected between requests
    ready()
    analyst = Analyst()
    waiting: deque[Any] = deque()

    def stopped() -> bool:
        while requests.poll(0):
            waiting.append(requests.recv())
        return _STOP in waiting

    while True:
        try:
            request = waiting.popleft() if waiting else requests.recv()
            if request == _STOP:
                continue
            answers.send(_answer(analyst, request, stopped))
        except (EOFError, OSError):
            return
        if not waiting and not requests.poll(0):
            gc.collect()


def _answer(analyst: Analyst, request: Request, stopped: Callable[[], bool]) -> Answer | str:
    try:
        return analyst.answer(request, stopped)
    except Superseded:
        return _STOPPED
    except Exception as error:
        return "".join(traceback.format_exception(error))
