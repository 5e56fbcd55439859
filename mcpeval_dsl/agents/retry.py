"""Beside the drivers: asks a model API again for a bounded time, not a number of times, and says how long that took.

Full jitter (a wait drawn between 0 and a doubling bound), Retry-After honoured; slots are free while waiting.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from mcpeval_dsl.agents.failures import ApiFailure
from mcpeval_dsl.agents.limiter import AdaptiveLimiter
from mcpeval_dsl.agents.model import ModelApiError
from mcpeval_dsl.agents.waiting import waited, waiting

T = TypeVar("T")
MAX_MALFORMED = 3


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds: `first` bound, `most` for one wait, `total` for all waits and failed attempts of one turn."""

    first: float = 0.5
    most: float = 30.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class Retried(Generic[T]):
    """`duration_ms` is the request that succeeded; `waited_ms` everything before it: waits, and attempts that failed."""

    value: T
    waited_ms: float
    retries: int
    duration_ms: float


async def with_retries(
    attempt: Callable[[], Awaitable[T]], limiter: AdaptiveLimiter, backoff: Backoff, dice: random.Random
) -> Retried[T]:
    """The value of the first attempt that does not raise ApiFailure. Raises ModelApiError for the last one that counts."""
    started = time.monotonic()
    retries = malformed = 0
    while True:
        asked = time.monotonic()
        try:
            async with limiter.slot() as began:
                asked = began
                value = await attempt()
            limiter.succeeded()
            done = time.monotonic()
            return Retried(value, (asked - started) * 1000.0, retries, (done - asked) * 1000.0)
        except ApiFailure as failure:
            now = time.monotonic()
            waited(now - asked)
            if failure.throttled:
                limiter.slow_down(asked, failure.retry_after)
            malformed += failure.kind == "malformed"
            if not failure.retried or malformed >= MAX_MALFORMED:
                raise _given_up(failure, started, retries, False) from None
            wait = failure.retry_after
            if wait is None:
                wait = dice.uniform(0.0, min(backoff.first * 2.0 ** min(retries, 16), backoff.most))
            if now - started + wait > backoff.total:
                raise _given_up(failure, started, retries, failure.retry_after is not None) from None
        retries += 1
        with waiting():
            await asyncio.sleep(wait)


def _given_up(failure: ApiFailure, started: float, retries: int, deadline: bool) -> ModelApiError:
    spent = time.monotonic() - started
    tried = f" (after {retries} {'retries' if retries != 1 else 'retry'} in {spent:.1f} s)" if retries else ""
    asked = f"; it asked to wait {failure.retry_after:g} s" if deadline and failure.retry_after is not None else ""
    return ModelApiError(
        failure.kind, f"{failure.message}{asked}{tried}", failure.status, spent * 1000.0, retries, deadline
    )
