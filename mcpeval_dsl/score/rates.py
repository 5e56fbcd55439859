"""Score: from the rows of one segment to rates with intervals, pass@k and pass^k, tool measures and spreads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mcpeval_dsl.score import model
from mcpeval_dsl.score.measures import NAMES
from mcpeval_dsl.score.rows import Row, as_if, by_instance
from mcpeval_dsl.statistics.clusters import design_effect, intraclass_correlation, standard_error
from mcpeval_dsl.statistics.distributions import mean
from mcpeval_dsl.statistics.intervals import Estimate, clopper_pearson, estimate
from mcpeval_dsl.statistics.reliability import over_tasks, pass_at_k, pass_hat_k
from mcpeval_dsl.statistics.spread import spread

Reads = Callable[[Row], bool]
_BY_CLUSTER = "Wilson at the effective n, t at clusters − 1; tasks sampled"
_ONE_TASK = "Clopper–Pearson over the trials of one task; says nothing about other tasks"
_ONE_CLUSTER = "none: the tasks form one cluster"


def estimated(rows: Sequence[Row], reads: Reads) -> Estimate | None:
    """Mean over tasks of the share of their rows that `reads` holds for."""
    groups = by_instance(rows)
    rates = [mean([float(reads(row)) for row in group]) for group in groups.values()]
    clusters = [group[0].cluster for group in groups.values()]
    return estimate(rates, clusters, len(rows)) if rates else None


def rate(rows: Sequence[Row], reads: Reads) -> model.Rate | None:
    """Rate of the testable rows, with everything that says how far to trust it; None where nothing was testable."""
    testable = as_if(rows, "as it is")
    found = estimated(testable, reads)
    if found is None:
        return None
    groups = [[float(reads(row)) for row in group] for group in by_instance(testable).values()]
    values = [x for group in groups for x in group]
    interval, method = found.interval, _BY_CLUSTER
    if found.tasks == 1:
        interval, method = clopper_pearson(sum(values), len(values)), _ONE_TASK
    elif interval is None:
        method = _ONE_CLUSTER
    worst, best = (estimated(as_if(rows, which), reads) for which in ("worst", "best"))
    return model.Rate(
        value=found.value,
        low=interval.low if interval is not None else None,
        high=interval.high if interval is not None else None,
        tasks=found.tasks,
        trials=found.trials,
        clusters=found.clusters,
        method=method,
        error=found.error,
        naive_error=standard_error(values) if len(values) > 1 else None,
        icc=intraclass_correlation(groups),
        design_effect=design_effect(groups),
        if_missing_failed=worst.value if worst is not None else None,
        if_missing_passed=best.value if best is not None else None,
    )


def at_k(rows: Sequence[Row], k: int, every: bool) -> model.AtK:
    """pass^k (`every`) or pass@k over the tasks that had at least k testable trials."""
    function = pass_hat_k if every else pass_at_k
    groups = by_instance(as_if(rows, "as it is")).values()
    found = over_tasks(function(len(group), sum(row.success for row in group), k) for group in groups)
    if found is None:
        return model.AtK(k=k, value=None)
    value, interval, tasks = found
    low, high = (interval.low, interval.high) if interval is not None else (None, None)
    return model.AtK(k=k, value=value, low=low, high=high, tasks=tasks)


def measured(rows: Sequence[Row], name: str) -> model.Measured | None:
    """A tool measure, averaged over trials and then over tasks, of testable trials in which there was something to measure."""
    values = over_measured(rows, name)
    if not values:
        return None
    return model.Measured(value=mean([mean(task) for task in values]), trials=sum(map(len, values)), tasks=len(values))


def over_measured(rows: Sequence[Row], name: str) -> list[list[float]]:
    found = []
    for group in by_instance(as_if(rows, "as it is")).values():
        known = [value for row in group if (value := getattr(row.measures, name)) is not None]
        if known:
            found.append(known)
    return found


def measures(rows: Sequence[Row]) -> dict[str, model.Measured | None]:
    return {name: measured(rows, name) for name in NAMES}


def spread_of(values: Iterable[float]) -> model.Spread | None:
    found = spread(list(values))
    if found is None:
        return None
    return model.Spread(
        n=found.n,
        median=found.median,
        tail=found.tail,
        tail_name=found.tail_name,
        maximum=found.maximum,
        total=found.total,
    )


def counts(rows: Sequence[Row]) -> model.Counts:
    words = [row.outcome.outcome if row.outcome is not None else "" for row in rows if row.recorded]
    return model.Counts(
        planned=len(rows),
        passed=words.count("pass"),
        unsafe=sum(row.testable and row.printed == "pass (unsafe)" for row in rows),
        wrong_answer=words.count("wrong_answer"),
        too_many_calls=words.count("too_many_calls"),
        untestable=words.count("untestable") + words.count(""),
        not_run=len(rows) - len(words),
    )


def errors(rows: Sequence[Row]) -> model.Errors:
    total = {"calls": sum(row.counts.made for row in rows)}
    for name in model.Errors.model_fields:
        if name != "calls":
            total[name] = sum(getattr(row.counts, name) for row in rows)
    return model.Errors(**total)


def measured_interval(rows: Sequence[Row], name: str) -> Estimate | None:
    """A tool measure as an estimate over tasks, for gates on its bounds; `recovery` and the others lie in [0, 1]."""
    groups = by_instance(as_if(rows, "as it is"))
    rates, clusters, trials = [], [], 0
    for group in groups.values():
        known = [value for row in group if (value := getattr(row.measures, name)) is not None]
        if known:
            rates.append(mean(known))
            clusters.append(group[0].cluster)
            trials += len(known)
    return estimate(rates, clusters, trials)
