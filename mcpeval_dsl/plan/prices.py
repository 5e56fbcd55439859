"""Plan: what a model costs. The spec's word first, then a small dated table; unknown stays unknown, and is not free."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

from mcpeval_dsl.semantics.model import Model, Price

SCRIPTED = frozenset({"script", "replay"})


@cache
def table() -> dict[str, Price]:
    """USD per token by the provider's model id."""
    text = Path(__file__).with_name("prices.toml").read_text(encoding="utf-8")
    rows: dict[str, list[float]] = tomllib.loads(text)["anthropic"]
    return {name: Price(round(i * 1e-6, 12), round(o * 1e-6, 12)) for name, (i, o) in rows.items() if i and o}


def priced(model: Model) -> Model:
    """The model with its price filled in where it is known. A scripted one has none: it is never paid for."""
    if model.price is not None or model.driver in SCRIPTED:
        return model
    target = model.target.removeprefix("anthropic/") if model.driver == "litellm" else model.target
    known = table().get(target) if model.driver in ("anthropic", "litellm") else None
    return model if known is None else replace(model, price=known)


def free(model: Model) -> bool:
    return model.driver in SCRIPTED or model.driver == "local"


def per_token(model: Model) -> float | None:
    """USD of the dearest token; None where input or output has no known price."""
    if free(model):
        return 0.0
    price = model.price
    if price is None or not price.input or not price.output:
        return None
    return max(price.input, price.output)
