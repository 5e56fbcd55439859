"""Values, blocking work beside the event loop: in a thread that nothing waits for at the end.

The loop's own executor is joined when a run ends, so one read of a hung file system, or one function of a project that never
returns, would keep the whole run from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """The result of the work, or what it raised. When this is cancelled the thread goes on, and its result is dropped."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, problem: BaseException | None) -> None:
        if future.done():
            return
        if problem is not None:
            future.set_exception(problem)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        problem: BaseException | None = None
        try:
            result = work()
        except StopIteration as stop:
            problem = RuntimeError(f"StopIteration: {stop}")
        except BaseException as raised:
            problem = raised
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=run, daemon=True, name="mcpe-blocking").start()
    return await future
