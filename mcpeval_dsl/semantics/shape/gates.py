"""Semantics, shape: conditions on metrics: the metric is known, its bound exists, and the quantity has its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives.metrics import BOUNDS, METRICS, Metric
from mcpeval_dsl.semantics.directives.operands import Quantity, Unit
from mcpeval_dsl.semantics.shape.findings import finding
from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.semantics.shape.misfits import quantity_misfit
from mcpeval_dsl.syntax import tree

_OPERATORS = ("==", "!=", "<", "<=", ">", ">=")


def metric_of(item: tree.Value) -> tuple[Metric | None, str, str]:
    """The metric a value names, its bound ('' for the estimate), and the name as it was written."""
    if isinstance(item, tree.Metric):
        return METRICS.get(re.sub(r"\d+", "k", item.text)), "", item.text
    name = _written(item)
    if name is None:
        return None, "", item.span.text
    metric = METRICS.get(name)
    if metric is None and "." in name:
        root, _, bound = name.rpartition(".")
        owner = METRICS.get(root)
        if owner is not None and bound in BOUNDS:
            return (owner if owner.bounds else None), bound, name
    return metric, "", name


def _written(item: tree.Value) -> str | None:
    if not isinstance(item, tree.Ref) or not isinstance(item.root, tree.Name):
        return None
    parts = [item.root.text]
    for postfix in item.postfixes:
        if isinstance(postfix, tree.Field) and isinstance(postfix.name, tree.Name):
            parts.append(postfix.name.text)
        elif isinstance(postfix, tree.CallSuffix) and len(parts) == 1 and METRICS.get(parts[0], None):
            if not METRICS[parts[0]].arguments:
                return None
        else:
            return None
    return ".".join(parts)


def in_metric(item: tree.Item) -> Iterator[Diagnostic]:
    """What is wrong with `metric OPERATOR quantity`."""
    if not isinstance(item, tree.Comparison):
        return
    metric, _, name = metric_of(item.left)
    if metric is None:
        yield _unknown(item.left, name)
        return
    if item.operator not in _OPERATORS:
        title = f"a metric is a number and is not compared with `{item.operator}`"
        yield finding("MCPE231", item.operator_span, title, "", "Write one of `<`, `<=`, `==`, `>=`, `>`.")
        return
    found = _call_arguments(item.left, metric)
    if found is not None:
        yield found
        return
    if isinstance(item.right, tree.Number):
        zero_share = metric.unit == "percent" and item.right.value == 0 and item.right.unit == ""
        wrong = (
            None
            if zero_share
            else quantity_misfit(name, Quantity(_loose(metric, item.right), least=None, most=_most(metric)), item.right)
        )
        if wrong is not None:
            yield wrong
    else:
        title = f"`{name}` is compared with a number"
        yield finding("MCPE205", item.right.span, title, "", "For example: `require task_success >= 80%`")


def _most(metric: Metric) -> float | None:
    """No share, and no difference of two, is above 100 %."""
    return 1 if metric.unit == "percent" else None


def _loose(metric: Metric, number: tree.Number) -> Unit:
    """A plain metric also takes k and M."""
    return "count" if metric.unit == "number" and number.unit == "count" else metric.unit


def _call_arguments(item: tree.Value, metric: Metric) -> Diagnostic | None:
    call = next((p for p in getattr(item, "postfixes", ()) if isinstance(p, tree.CallSuffix)), None)
    if call is None:
        return None
    proper = len(call.arguments) == len(metric.arguments) and all(
        a.name is None and bare(a.value) is not None for a in call.arguments
    )
    if proper:
        return None
    usage = f"`{metric.name}({', '.join(metric.arguments)})`"
    return finding("MCPE227", call.span, f"`{metric.name}` takes two names", "", f"Write {usage}.")


def _unknown(item: tree.Value, name: str) -> Diagnostic:
    candidates = [m for m in METRICS if not m.startswith("pass")]
    candidates += [f"{m.name}.{bound}" for m in METRICS.values() if m.bounds for bound in BOUNDS]
    near = closest(name, candidates)
    root = name.rpartition(".")[0]
    if root in METRICS and not METRICS[root].bounds and name.rpartition(".")[2] in BOUNDS:
        title, near = f"`{root}` is a count and has no interval", root
    else:
        title = f"there is no metric `{name}`"
    parts = [part for part in ("mean", "p50", "p95", "max") if f"{name}.{part}" in METRICS]
    if parts:
        hint = f"Say which part of it: `{name}.p95`; there are {', '.join(f'`.{part}`' for part in parts)}."
        return finding("MCPE229", item.span, title, "A gate compares a metric of the run with a number.", hint)
    hint = f"Did you mean `{near}`?" if near else "The metrics are listed in docs/reference/metrics.md."
    return finding("MCPE229", item.span, title, "A gate compares a metric of the run with a number.", hint, edit=near)
