"""From usage to money. What is not known is None, never 0; a price of 0 from a table is not known either."""

from __future__ import annotations

from mcpeval_dsl.agents.model import Usage


def cost_of(usage: Usage, price_input: float | None, price_output: float | None) -> float | None:
    """USD at USD-per-token prices, or None when a price that is needed is unknown.

    Cache reads and writes are charged as input: the spec names two prices, so this is an upper bound for reads.
    """
    if (usage.input_tokens and not price_input) or (usage.output_tokens and not price_output):
        return None
    return usage.input_tokens * (price_input or 0.0) + usage.output_tokens * (price_output or 0.0)
