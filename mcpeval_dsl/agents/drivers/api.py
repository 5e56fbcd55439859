"""Inside the drivers of real APIs: the limiter, the retries and the look before a run, the same for each SDK."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from mcpeval_dsl.agents.drivers.settings import DriverSettings
from mcpeval_dsl.agents.failures import TurnEnded
from mcpeval_dsl.agents.limiter import AdaptiveLimiter
from mcpeval_dsl.agents.model import Message, ModelApiError, Preflight, Turn, Usage
from mcpeval_dsl.agents.pricing import cost_of
from mcpeval_dsl.agents.retry import Backoff, with_retries
from mcpeval_dsl.semantics.model import Model

R = TypeVar("R")
PREFLIGHT_SECONDS = 8.0


class ApiCaller(Generic[R]):
    """One model's way to its API. `R` is the SDK's own answer."""

    def __init__(self, model: Model, settings: DriverSettings) -> None:
        self.limiter = AdaptiveLimiter(settings.concurrency)
        self._model = model
        self._backoff = Backoff(total=settings.retry_time)
        self._dice = random.Random(f"{settings.seed}|{model.name}")

    async def turn(self, attempt: Callable[[], Awaitable[R]], read: Callable[[R], Turn]) -> Turn:
        """The turn that `read` makes of the first good answer. Raises ModelApiError."""
        try:
            asked = await with_retries(attempt, self.limiter, self._backoff, self._dice)
        except TurnEnded as end:
            return Turn(Message("assistant"), end.stop, Usage(cost_usd=0.0), detail=str(end))
        turn = read(asked.value)
        return Turn(
            turn.message,
            turn.stop,
            self._priced(turn.usage),
            turn.model,
            asked.waited_ms,
            asked.retries,
            asked.duration_ms,
            turn.detail,
        )

    def _priced(self, usage: Usage) -> Usage:
        """Usage with the cost at the spec's price where it names one; else what the provider's table said, or unknown."""
        price = self._model.price
        if price is None:
            return usage
        cost = cost_of(usage, price.input, price.output, price.cached)
        return Usage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens, cost)

    async def look(self, attempt: Callable[[], Awaitable[str]], version: str, place: str) -> Preflight:
        """One cheap request; `attempt` gives the model's own name. What is wrong is said in one sentence."""
        backoff = Backoff(total=min(PREFLIGHT_SECONDS, self._backoff.total))
        try:
            seen = await with_retries(attempt, self.limiter, backoff, self._dice)
        except TurnEnded as end:
            return Preflight(False, f"model {self._model.name}: {end}", "", version)
        except ModelApiError as error:
            return Preflight(False, self._sentence(error, place), "", version)
        return Preflight(True, "", seen.value, version)

    def _sentence(self, error: ModelApiError, place: str) -> str:
        name, target = self._model.name, self._model.target
        starts = {
            "connection": f"model {name}: {place} cannot be reached",
            "timeout": f"model {name}: {place} does not answer in time",
            "authentication": f"model {name}: {place} refuses the key",
            "not_found": f"model {name}: {place} does not know the model {target!r}",
            "rate": f"model {name}: {place} refuses requests at this rate",
            "overloaded": f"model {name}: {place} is overloaded or broken",
            "malformed": f"model {name}: {place} answers with something that is no answer",
        }
        return f"{starts.get(error.kind, f'model {name}: {place} refuses the request')}: {error.message}"


def no_key(model: Model, variable: str, version: str) -> Preflight:
    """The answer of a preflight that has no key to try."""
    sentence = (
        f"model {model.name}: there is no API key; set {variable}, or name another variable "
        "with `api_key_variable` in mcpe.local.toml"
    )
    return Preflight(False, sentence, "", version)
