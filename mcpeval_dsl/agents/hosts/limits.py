"""Inside a host: the hard limits of one trial and what counts against them."""

from __future__ import annotations

import time

from mcpeval_dsl.agents.model import Assignment, Termination, Usage
from mcpeval_dsl.agents.pricing import cost_of
from mcpeval_dsl.agents.waiting import WaitClock


class Limits:
    """Usage, turns and time so far. Time is the agent's own: seconds since the start without waits for others."""

    def __init__(self, assignment: Assignment, max_turns: int) -> None:
        self._assignment = assignment
        self._max_turns = max_turns
        self._started = time.monotonic()
        self.waits = WaitClock()
        self.turns = 0
        self.usage = Usage(cost_usd=0.0)
        self.findings: list[str] = []

    def elapsed_ms(self) -> float:
        return (time.monotonic() - self._started) * 1000.0

    def seconds_left(self) -> float | None:
        """Of the time limit, waits not counted; None without a limit."""
        limit = self._assignment.time_limit
        return None if limit is None else limit - (time.monotonic() - self._started - self.waits.seconds())

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
        hard = self._assignment.hard_turns
        if hard is not None and self.turns >= hard:
            return "hard_budget:turns"
        if self.turns >= self._max_turns:
            return "turn_limit"
        return self.after_turn()

    def after_turn(self) -> Termination | None:
        """A limit that forbids going on (tools or another turn) after the turn just counted."""
        assignment, usage = self._assignment, self.usage
        if assignment.hard_tokens is not None and usage.input_tokens + usage.output_tokens >= assignment.hard_tokens:
            return "hard_budget:tokens"
        if assignment.hard_cost is not None and usage.cost_usd is not None and usage.cost_usd >= assignment.hard_cost:
            return "hard_budget:cost"
        left = self.seconds_left()
        return "hard_budget:time" if left is not None and left <= 0 else None
