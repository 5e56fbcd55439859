"""Inside a host: the hard limits of one trial and what counts against them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from mcpeval_dsl.agents.model import Assignment, Termination, Usage
from mcpeval_dsl.agents.pricing import cost_of
from mcpeval_dsl.agents.waiting import WaitClock


@dataclass(frozen=True, slots=True)
class _TurnOfUser:
    """What had been used when it began; `since` in seconds of the agent's own time."""

    turns: int
    usage: Usage
    since: float


def since(before: Usage, now: Usage) -> Usage:
    """What was used between two sums; a cost that is unknown in one of them is unknown."""
    unknown = before.cost_usd is None or now.cost_usd is None
    return Usage(
        now.input_tokens - before.input_tokens,
        now.output_tokens - before.output_tokens,
        now.cache_read_tokens - before.cache_read_tokens,
        now.cache_write_tokens - before.cache_write_tokens,
        None if unknown else (now.cost_usd or 0.0) - (before.cost_usd or 0.0),
    )


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _reached(value: float | None, limit: float | None) -> bool:
    return value is not None and limit is not None and value >= limit


class Limits:
    """Usage, turns and time so far. Time is the agent's own: seconds since the start without waits for others."""

    def __init__(self, assignment: Assignment, max_turns: int) -> None:
        self._assignment = assignment
        self._max_turns = max_turns
        self._started = time.monotonic()
        self.waits = WaitClock()
        self.user = WaitClock()
        self.turns = 0
        self.usage = Usage(cost_usd=0.0)
        self.findings: list[str] = []
        self._turn = _TurnOfUser(0, self.usage, 0.0)

    def begin_turn(self) -> None:
        """A turn of the user begins: its own limits count from here."""
        self._turn = _TurnOfUser(self.turns, self.usage, self.own_seconds())

    def own_seconds(self) -> float:
        """The agent's own time so far: waits for the API and for the user not counted."""
        return time.monotonic() - self._started - self.waits.seconds() - self.user.seconds()

    def elapsed_ms(self) -> float:
        return (time.monotonic() - self._started) * 1000.0

    def seconds_left(self) -> float | None:
        """Of the time limit, waits not counted; None without a limit."""
        own = self.own_seconds()
        left = [
            limit - (own - since)
            for limit, since in ((self._assignment.time_limit, 0.0), (self._assignment.per_turn.time, self._turn.since))
            if limit is not None
        ]
        return min(left) if left else None

    def count(self, usage: Usage) -> Usage:
        """Adds one turn; returns its usage with the cost filled in from the price where the provider named none."""
        cost = usage.cost_usd
        if cost is None:
            known = self._assignment
            cost = cost_of(usage, known.price_input, known.price_output, known.price_cached)
        if cost is None and self._assignment.hard_cost is not None and not self.findings:
            self.findings.append("cost unknown: the hard cost limit could not be kept")
        before = self.usage.cost_usd
        self.turns += 1
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
            self.usage.cache_read_tokens + usage.cache_read_tokens,
            self.usage.cache_write_tokens + usage.cache_write_tokens,
            None if before is None or cost is None else before + cost,
        )
        return Usage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens, cost)

    def before_turn(self) -> Termination | None:
        """A limit that forbids another turn."""
        hard, per_turn = self._assignment.hard_turns, self._assignment.per_turn.turns
        taken = self.turns - self._turn.turns
        if (hard is not None and self.turns >= hard) or (per_turn is not None and taken >= per_turn):
            return "hard_budget:turns"
        if taken >= self._max_turns:
            return "turn_limit"
        return self.after_turn()

    def after_turn(self) -> Termination | None:
        """A limit that forbids going on (tools or another turn) after the turn just counted."""
        limits, per_turn = self._assignment, self._assignment.per_turn
        usage, spent = self.usage, since(self._turn.usage, self.usage)
        if _reached(_tokens(usage), limits.hard_tokens) or _reached(_tokens(spent), per_turn.tokens):
            return "hard_budget:tokens"
        if _reached(usage.cost_usd, limits.hard_cost) or _reached(spent.cost_usd, per_turn.cost):
            return "hard_budget:cost"
        left = self.seconds_left()
        return "hard_budget:time" if left is not None and left <= 0 else None
