"""Retries and the adaptive limit, without a network and with little waiting."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from time import time

import pytest

from mcpeval_dsl.agents.failures import ApiFailure, TurnEnded, failure_of_status, retry_after
from mcpeval_dsl.agents.limiter import AdaptiveLimiter
from mcpeval_dsl.agents.model import ModelApiError
from mcpeval_dsl.agents.retry import Backoff, Retried, with_retries
from mcpeval_dsl.agents.waiting import WaitClock, clock_in_force, waiting

FAST = Backoff(first=0.01, most=0.02, total=1.0)


def failing(*failures: Exception) -> Callable[[], Awaitable[str]]:
    left = list(failures)

    async def attempt() -> str:
        if left:
            raise left.pop(0)
        return "fine"

    return attempt


def tried(*failures: Exception, backoff: Backoff = FAST, limiter: AdaptiveLimiter | None = None) -> Retried[str]:
    return asyncio.run(with_retries(failing(*failures), limiter or AdaptiveLimiter(), backoff, random.Random(1)))


def test_passing_failures_are_waited_out_and_counted() -> None:
    seen = tried(ApiFailure("rate", "slow", 429, 0.05, True), ApiFailure("timeout", "late", None, None, True))
    assert (seen.value, seen.retries) == ("fine", 2)
    assert seen.waited_ms >= 50


def test_a_failure_that_will_not_pass_is_raised_at_once() -> None:
    with pytest.raises(ModelApiError) as caught:
        tried(ApiFailure("authentication", "bad key", 401))
    assert (caught.value.kind, caught.value.retries, caught.value.deadline) == ("authentication", 0, False)


def test_time_bounds_the_retries_and_not_their_number() -> None:
    storm = [ApiFailure("rate", "slow", 429, None, True) for _ in range(10_000)]
    with pytest.raises(ModelApiError) as caught:
        tried(*storm, backoff=Backoff(0.001, 0.002, 0.5))
    assert caught.value.retries > 20 and not caught.value.deadline
    assert caught.value.waited_ms >= 400


def test_a_wait_beyond_the_time_left_is_not_begun() -> None:
    with pytest.raises(ModelApiError) as caught:
        tried(ApiFailure("rate", "slow", 429, 3600.0, True))
    assert caught.value.deadline and "3600 s" in caught.value.message and caught.value.waited_ms < 500


def test_nonsense_is_asked_for_again_twice() -> None:
    with pytest.raises(ModelApiError) as caught:
        tried(*[ApiFailure("malformed", "html", 200, None, True) for _ in range(9)])
    assert caught.value.retries == 2


def test_an_end_of_the_turn_passes_through() -> None:
    with pytest.raises(TurnEnded):
        tried(TurnEnded("context_overflow", "too long"))


def test_waits_are_booked_on_the_clock_in_force() -> None:
    clock = WaitClock()

    async def trial() -> None:
        with clock_in_force(clock):
            limiter = AdaptiveLimiter()
            attempt = failing(ApiFailure("rate", "slow", 429, 0.05, True))
            await with_retries(attempt, limiter, FAST, random.Random(1))
            with waiting(), waiting():
                await asyncio.sleep(0.02)

    asyncio.run(trial())
    assert 0.07 <= clock.seconds() < 0.5


def test_the_limit_halves_once_for_a_burst_and_grows_by_one_a_round() -> None:
    limiter = AdaptiveLimiter(start=8)
    began = 10.0
    for _ in range(8):
        limiter.slow_down(began)
    assert limiter.limit == 4
    for _ in range(4):
        limiter.succeeded()
    assert 4.8 < limiter.limit <= 5
    for step in range(9):
        limiter.slow_down(1e12 + step)
        limiter._halved_at = 0.0
    assert limiter.limit == 1


def test_no_more_than_the_limit_are_on_their_way_and_nobody_is_forgotten() -> None:
    limiter = AdaptiveLimiter(start=3)
    under_way = most = done = 0

    async def one() -> None:
        nonlocal under_way, most, done
        async with limiter.slot():
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.001)
            under_way -= 1
            done += 1

    async def all_of_them() -> None:
        tasks = [asyncio.ensure_future(one()) for _ in range(30)]
        await asyncio.sleep(0)
        for task in tasks[5:10]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(all_of_them())
    assert (most, done, limiter.in_flight) == (3, 25, 0)


def test_a_pause_asked_for_holds_for_everyone() -> None:
    limiter = AdaptiveLimiter()

    async def next_one() -> float:
        limiter.slow_down(1.0, 0.05)
        loop = asyncio.get_running_loop()
        start = loop.time()
        async with limiter.slot():
            return loop.time() - start

    assert asyncio.run(next_one()) >= 0.045


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (429, "slow", "rate"),
        (529, "Overloaded", "overloaded"),
        (500, "", "overloaded"),
        (504, "", "timeout"),
        (401, "", "authentication"),
        (403, "", "authentication"),
        (404, "", "not_found"),
        (400, "temperature is deprecated for this model", "bad_request"),
        (400, "tools.3.custom.input_schema: input_schema does not support oneOf", "schema_refused"),
        (400, "tools: Tool names must be unique.", "schema_refused"),
        (400, "Invalid schema for function 'x': object schema missing properties.", "schema_refused"),
        (400, "messages.1.content.0.tool_use.id: invalid", "bad_request"),
    ],
)
def test_status_to_kind(status: int, text: str, kind: str) -> None:
    failure = failure_of_status(status, text, {})
    assert isinstance(failure, ApiFailure) and failure.kind == kind
    assert failure.retried == (kind in ("rate", "overloaded", "timeout"))


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (413, "request too large"),
        (400, "prompt is too long: 9 tokens > 8 maximum"),
        (400, "This model's maximum context length is 8192 tokens."),
    ],
)
def test_too_long_is_an_end_and_no_failure(status: int, text: str) -> None:
    assert isinstance(failure_of_status(status, text, {}), TurnEnded)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_as_a_date() -> None:
    seconds = retry_after({"retry-after": formatdate(time() + 100, usegmt=True)})
    assert seconds is not None and 50 < seconds <= 100
