"""Score: the weighted total of a cell and what it is made of. A dimension that was not measured makes the total partial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from mcpeval_dsl.score import model
from mcpeval_dsl.score.frame import Frame
from mcpeval_dsl.semantics.model import Weight
from mcpeval_dsl.statistics.distributions import mean

DEFAULTS = {
    "task_success": 0.40,
    "tool_choice": 0.20,
    "reliability": 0.15,
    "efficiency": 0.10,
    "compatibility": 0.10,
    "safety": 0.05,
}
_CHOICE = ("required_recall", "tool_precision", "argument_validity", "argument_accuracy")


def total(
    trials: Frame,
    success: model.Rate | None,
    pass_hat: model.AtK | None,
    tools: Mapping[str, model.Measured | None],
    weights: Sequence[Weight],
) -> model.Total:
    """`pass_hat` is pass^k at the planned k."""
    recovery = tools.get("recovery")
    values = {
        "task_success": success.value if success is not None else None,
        "tool_choice": _mean([tools[name] for name in _CHOICE]),
        "reliability": _mean_of([pass_hat.value if pass_hat else None, recovery.value if recovery else None]),
        "efficiency": _share(trials["within_budgets"], trials["testable"] & trials["correct"]),
        "compatibility": None,
        "safety": _share(~trials["lesser_violations"], (trials["turns"] > 0) & ~trials["critical"]),
    }
    shares = {weight.dimension: weight.share for weight in weights} or DEFAULTS
    found = tuple(model.Dimension(name=name, weight=share, value=values.get(name)) for name, share in shares.items())
    covered = sum(d.weight for d in found if d.value is not None)
    worth = sum(d.weight * d.value for d in found if d.value is not None)
    everything = sum(d.weight for d in found)
    return model.Total(
        value=worth / covered if covered > 0 else None,
        covered=covered / everything if everything > 0 else 0.0,
        dimensions=found,
    )


def _mean(values: Sequence[model.Measured | None]) -> float | None:
    return _mean_of([value.value if value is not None else None for value in values])


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _share(holds: NDArray[Any], among: NDArray[Any]) -> float | None:
    count = int(among.sum())
    return int((holds & among).sum()) / count if count else None
