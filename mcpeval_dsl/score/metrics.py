"""Score: what each metric of a gate is worth over the rows of one segment.

A `Value` has bounds where the metric has an interval; None (and a reason) where nothing was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcpeval_dsl.score.model import LeadRow, Safety
from mcpeval_dsl.score.rates import estimated, measured_interval, spread_of
from mcpeval_dsl.score.rows import Row, Scenario, as_if, by_instance
from mcpeval_dsl.score.suspicions import counts
from mcpeval_dsl.statistics.intervals import Estimate, Interval, clopper_pearson
from mcpeval_dsl.statistics.reliability import over_tasks, pass_at_k, pass_hat_k


@dataclass(frozen=True, slots=True)
class Value:
    value: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """`varies`: missing trials and verdicts can change it, so a rule about it is read in the worst and best case too.

    `private`: a measured time, which the scorecard does not repeat. `whole`: held against the whole run, not a cell.
    `of_all`: about all that was planned, so that it is known also where much could not be tested.
    """

    read: Callable[[Sequence[Row], Scenario], Value | None]
    varies: bool = False
    private: bool = False
    whole: bool = False
    of_all: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What metrics of the whole run read."""

    safety: Safety
    leads: Sequence[LeadRow]


TOOLS = {
    "tool_recall": "required_recall",
    "tool_precision": "tool_precision",
    "argument_validity": "argument_validity",
    "argument_accuracy": "argument_accuracy",
    "distractor_rate": "distractor_rate",
    "recovery": "recovery",
    "redundancy": "redundancy",
}
UNMEASURED = {
    "lift": "needs arms, which this run did not compare",
    "regressions": "there is no baseline to compare with",
    "checks.failed": "no checks were run",
    "checks.passed": "no checks were run",
    "judge.kappa": "there is no calibration set",
    "judge.agreement": "there is no calibration set",
}


def metric(name: str, arguments: Sequence[str], context: Context) -> Metric | str:
    """The metric, or why it has no value."""
    if name in UNMEASURED:
        return UNMEASURED[name]
    if name[:5] in ("pass^", "pass@"):
        return _at_k(int(name[5:]), name[4] == "^")
    root, _, part = name.partition(".")
    if root == "safety":
        number = getattr(context.safety, part)
        return Metric(lambda rows, which: Value(number), whole=True)
    if name in TOOLS:
        return Metric(lambda rows, which: _bounded(measured_interval(rows, TOOLS[name])))
    if root in _SPREADS:
        return _spread(root, part)
    if name == "gap" and len(arguments) == 2:
        return Metric(lambda rows, which: _gap(rows, which, arguments), varies=True)
    if name in ("leads", "defects"):
        return _suspicions(name, context)
    return _SHARES.get(name, f"`{name}` is not measured yet")


def _bounded(found: Estimate | None) -> Value | None:
    return None if found is None else Value(found.value, found.interval)


def _success(rows: Sequence[Row], which: Scenario) -> Value | None:
    chosen = as_if(rows, which)
    found = estimated(chosen, lambda row: row.success)
    if found is not None and found.tasks == 1:
        return Value(found.value, clopper_pearson(sum(row.success for row in chosen), len(chosen)))
    return _bounded(found)


def _at_k(k: int, every: bool) -> Metric:
    function = pass_hat_k if every else pass_at_k

    def read(rows: Sequence[Row], which: Scenario) -> Value | None:
        groups = by_instance(as_if(rows, which)).values()
        found = over_tasks(function(len(group), sum(row.success for row in group), k) for group in groups)
        return None if found is None else Value(found[0], found[1])

    return Metric(read, varies=True)


def _share(holds: Callable[[Row], bool], of_all: bool = False) -> Metric:
    def read(rows: Sequence[Row], which: Scenario) -> Value | None:
        chosen = list(rows) if of_all else as_if(rows, "as it is")
        return Value(sum(holds(row) for row in chosen) / len(chosen)) if chosen else None

    return Metric(read, of_all=of_all)


def _errors(rows: Sequence[Row], which: Scenario) -> Value | None:
    calls = sum(row.counts.made for row in rows)
    return Value(sum(row.counts.tool_errors for row in rows) / calls) if calls else None


def _judge_missing(rows: Sequence[Row], which: Scenario) -> Value | None:
    asked = sum(row.judged for row in rows)
    return Value(sum(row.judge_missing for row in rows) / asked) if asked else None


_SHARES: Mapping[str, Metric] = {
    "task_success": Metric(_success, varies=True),
    "untestable": _share(lambda row: not row.testable, of_all=True),
    "too_many_calls": _share(lambda row: row.outcome is not None and row.outcome.outcome == "too_many_calls"),
    "wrong_answer": _share(lambda row: row.outcome is not None and row.outcome.outcome == "wrong_answer"),
    "tool_errors": Metric(_errors),
    "protocol_errors": Metric(lambda rows, which: Value(sum(row.counts.protocol_errors for row in rows))),
    "judge.missing": Metric(_judge_missing, of_all=True),
}
_SPREADS: Mapping[str, Callable[[Row], Sequence[float | None]]] = {
    "calls": lambda row: (float(row.charged),),
    "tokens": lambda row: (float(row.tokens),),
    "cost": lambda row: (row.cost,),
    "time": lambda row: (row.agent_ms / 1000,),
    "latency": lambda row: tuple(ms / 1000 for ms in row.latencies),
}


def _spread(root: str, part: str) -> Metric | str:
    """Mean, median, p95 (exact, whatever n) and maximum over testable trials; `total` over all that ran."""

    def read(rows: Sequence[Row], which: Scenario) -> Value | None:
        chosen = [row for row in rows if row.recorded] if part == "total" else as_if(rows, "as it is")
        values = [value for row in chosen for value in _SPREADS[root](row)]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None
        return Value(_part(known, part))

    if part not in ("mean", "p50", "p95", "max", "total"):
        return f"`{root}.{part}` is not measured"
    return Metric(read, private=root in ("time", "latency"), whole=part == "total")


def _part(values: list[float], part: str) -> float:
    from mcpeval_dsl.statistics.distributions import mean
    from mcpeval_dsl.statistics.spread import quantile

    if part == "mean":
        return mean(values)
    found = spread_of(values)
    if part == "total" or part == "max":
        return 0.0 if found is None else found.total if part == "total" else found.maximum
    return quantile(sorted(values), 0.5 if part == "p50" else 0.95)


def _gap(rows: Sequence[Row], which: Scenario, splits: Sequence[str]) -> Value | None:
    """Success in the first split less success in the second; in the worst case the gap is widest."""
    flipped: Scenario = "worst" if which == "best" else "best" if which == "worst" else which
    first = _success([row for row in rows if row.split == splits[0]], flipped)
    second = _success([row for row in rows if row.split == splits[1]], which)
    return None if first is None or second is None else Value(first.value - second.value)


def _suspicions(name: str, context: Context) -> Metric | str:
    counted = [lead for lead in context.leads if counts(lead)]
    if name == "defects":
        open_leads = [lead for lead in counted if lead.status in ("", "unconfirmed")]
        if open_leads:
            return "not every lead was replayed: `mcpe defects --confirm` does"
        confirmed = sum(lead.status == "confirmed" for lead in context.leads)
        return Metric(lambda rows, which: Value(float(confirmed)), whole=True)
    return Metric(lambda rows, which: Value(float(len(counted))), whole=True)
