"""Report: what a rule of the gate came to, in the unit of its metric."""

from __future__ import annotations

from mcpeval_dsl.report.page import money, number, percent, points
from mcpeval_dsl.score import model
from mcpeval_dsl.semantics.directives.metrics import METRICS

_DIFFERENCES = ("lift", "compare", "gap")


def measured(rule: model.RuleResult, value: float | None) -> str:
    """`82.0 %`, `+8.3 points` (differences of shares), `$0.02` or a plain number; empty where nothing was measured."""
    if value is None:
        return ""
    root = rule.text.removeprefix("require ").partition(" ")[0].partition("(")[0]
    metric = METRICS.get(root) or METRICS.get(root.rpartition(".")[0])
    unit = metric.unit if metric is not None else "percent" if "%" in rule.text else "number"
    if unit == "percent" and (rule.baseline or root.partition(".")[0] in _DIFFERENCES):
        return f"{points(value)} points"
    return {"percent": percent, "money": money}.get(unit, number)(value)


__all__ = ["measured"]
