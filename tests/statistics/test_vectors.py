"""Reference values, each agreed on by at least two implementations (`vectors.json`; per-trial data of a public run)."""

from __future__ import annotations

import csv
import functools
import json
import operator
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.statistics import (
    clusters,
    distributions,
    intervals,
    multiplicity,
    paired,
    power,
    reliability,
)

HERE = Path(__file__).parent
VECTORS = json.loads((HERE / "vectors.json").read_text())


def by_task(name: str) -> list[list[float]]:
    tasks: dict[str, list[float]] = {}
    with (HERE / name).open() as file:
        for row in csv.DictReader(file):
            tasks.setdefault(row["task_id"], []).append(float(row["reward"]))
    return list(tasks.values())


def rates(name: str) -> list[float]:
    return [sum(trials) / len(trials) for trials in by_task(name)]


def _clustered(i: dict[str, Any]) -> float | None:
    if "csv" in i:
        means = rates(i["csv"])
        return clusters.clustered_error(means, range(len(means)))
    return clusters.clustered_error(i["x"], i["clusters"])


def _pair(interval: intervals.Interval) -> list[float]:
    return [interval.low, interval.high]


def _difference(i: dict[str, Any]) -> dict[str, float]:
    found = paired.paired_difference(i["a"], i["b"])
    return {"mean": found.value, "se": found.error}


def _t_test(i: dict[str, Any]) -> dict[str, float]:
    found = paired.paired_difference(i["a"], i["b"])
    return {"t": found.t, "p": found.p}


def _sample_size(i: dict[str, Any]) -> float:
    v = {name: float(Fraction(text)) for name, text in i.items()}
    trials = (int(v["Ka"]), int(v["Kb"]))
    return power.tasks_needed(v["de"], v["om"], (v["sa"], v["sb"]), trials, v["alpha"], 1 - v["beta"])


def _detectable(i: dict[str, Any]) -> float:
    def number(name: str) -> float:
        return float(Fraction(str(i[name])))

    within, trials = (number("sigma2_a"), number("sigma2_b")), (i["K"], i["K"])
    return power.detectable_effect(i["n"], number("omega2"), within, trials, i["alpha"], i["power"])


def _aggregate(i: dict[str, Any]) -> dict[str, float]:
    found = {}
    for k in range(1, i["trials"] + 1):
        for name, function in (("pass_at", reliability.pass_at_k), ("pass_hat", reliability.pass_hat_k)):
            over = reliability.over_tasks(function(len(t), int(sum(t)), k) for t in by_task(i["csv"]))
            assert over is not None
            found[f"{name}_{k}"] = over[0]
    return found


def _task_interval(i: dict[str, Any]) -> dict[str, float]:
    values = [reliability.pass_hat_k(len(t), int(sum(t)), i["k"]) for t in by_task(i["csv"])]
    over = reliability.over_tasks(values, i["conf"])
    assert over is not None and over[1] is not None
    error = clusters.standard_error([v for v in values if v is not None])
    return {"mean": over[0], "se": error, "lo": over[1].low, "hi": over[1].high}


def _effective(i: dict[str, Any]) -> dict[str, float | None]:
    means = rates(i["csv"])
    found = intervals.estimate(means, range(len(means)), sum(map(len, by_task(i["csv"]))), i["conf"])
    assert found is not None and found.interval is not None
    return {"n_eff": found.effective_n, "lo": found.interval.low, "hi": found.interval.high}


COVERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pass_at_k": lambda i: reliability.pass_at_k(i["n"], i["c"], i["k"]),
    "pass_hat_k": lambda i: reliability.pass_hat_k(i["n"], i["c"], i["k"]),
    "se_clt": lambda i: clusters.standard_error(
        i["x"] if "x" in i else functools.reduce(operator.iadd, by_task(i["csv"]), [])
    ),
    "se_clustered": _clustered,
    "se_fixed_tasks": lambda i: clusters.fixed_tasks_error(by_task(i["csv"])),
    "icc_oneway": lambda i: clusters.intraclass_correlation(by_task(i["csv"])),
    "design_effect": lambda i: clusters.design_effect(by_task(i["csv"])),
    "paired_difference": _difference,
    "paired_t_test": _t_test,
    "paired_sign_flip_permutation_p": lambda i: paired.sign_flip(i["d"]),
    "sample_size": _sample_size,
    "minimum_detectable_effect": _detectable,
    "wilson_interval": lambda i: _pair(intervals.wilson(i["c"] / i["n"], i["n"], i["conf"])),
    "clopper_pearson_interval": lambda i: _pair(intervals.clopper_pearson(i["c"], i["n"], i["conf"])),
    "jeffreys_interval_equal_tailed": lambda i: _pair(intervals.beta_interval(i["c"], i["n"], i["conf"], (0.5, 0.5))),
    "beta_binomial_credible_interval": lambda i: _pair(
        intervals.beta_interval(i["c"], i["n"], i["conf"], tuple(i["prior"]))
    ),
    "zero_event_upper_bound_one_sided": lambda i: intervals.upper_bound(0, i["n"], i["conf"]),
    "p_adjust_holm": lambda i: multiplicity.holm(i["p"]),
    "p_adjust_fdr_bh": lambda i: multiplicity.benjamini_hochberg(i["p"]),
    "aggregate_pass_at_k_and_pass_hat_k": _aggregate,
    "pass_hat_k_task_ci": _task_interval,
    "wilson_effective_n": _effective,
    "norm_ppf": lambda i: distributions.normal_quantile(i["p"]),
    "t_ppf": lambda i: distributions.t_quantile(i["p"], i["df"]),
}
CASES = [v for v in VECTORS if v["inputs"].get("finite_cluster_correction", True)]


def test_every_vector_has_its_function() -> None:
    assert {v["function"] for v in VECTORS} == set(COVERED)


@pytest.mark.parametrize("vector", CASES, ids=[v["id"] for v in CASES])
def test_vector(vector: dict[str, Any]) -> None:
    assert COVERED[vector["function"]](vector["inputs"]) == pytest.approx(vector["expected"], rel=1e-8, abs=1e-12)
