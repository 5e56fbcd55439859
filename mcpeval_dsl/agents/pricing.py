"""From usage to money. What is not known is None, never 0; a price of 0 from a table is not known either."""

from __future__ import annotations

from mcpeval_dsl.agents.model import Usage


def cost_of(
    usage: Usage, price_input: float | None, price_output: float | None, price_cached: float | None = None
) -> float | None:
    """USD at USD-per-token prices, or None when a price that is needed is unknown.

    Cache reads are charged as input where the spec names no price `cached`, which is an upper bound; writes always.
    """
    if (usage.input_tokens and not price_input) or (usage.output_tokens and not price_output):
        return None
    cached = 0 if price_cached is None else min(usage.cache_read_tokens, usage.input_tokens)
    fresh = (usage.input_tokens - cached) * (price_input or 0.0) + cached * (price_cached or 0.0)
    return fresh + usage.output_tokens * (price_output or 0.0)
