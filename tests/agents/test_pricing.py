"""From tokens to money: unknown is unknown, and what was read from a cache has its own price where one is named."""

from __future__ import annotations

import pytest

from mcpeval_dsl.agents.model import Usage
from mcpeval_dsl.agents.pricing import cost_of

USED = Usage(input_tokens=1000, output_tokens=100, cache_read_tokens=800)


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ((1.0, 10.0, None), 2000.0),
        ((1.0, 10.0, 0.1), 1280.0),
        ((1.0, 10.0, 0.0), 1200.0),
        ((None, 10.0, 0.1), None),
        ((1.0, 0.0, 0.1), None),
    ],
)
def test_cost(prices: tuple[float | None, float | None, float | None], cost: float | None) -> None:
    assert cost_of(USED, *prices) == (None if cost is None else pytest.approx(cost))
