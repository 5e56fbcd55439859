"""Reference values, each agreed on by at least two implementations (`vectors.json`; per-trial data of a public run)."""

from __future__ import annotations

import csv
import functools
import json
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.statistics import (
    agreement,
    bootstrap,
    clusters,
    distributions,
    intervals,
    multiplicity,
    paired,
    power,
    proportions,
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
    found = clusters.clustered_error(i["x"], i["clusters"])
    if i["finite_cluster_correction"] or found is None:
        return found
    count = len(set(i["clusters"]))
    return found * math.sqrt((count - 1) / count)


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


def _unpaired(i: dict[str, Any]) -> float:
    return proportions.unpaired_error(clusters.standard_error(i["a"]), clusters.standard_error(i["b"]))


def _resampled(i: dict[str, Any]) -> dict[str, float]:
    between, within = float(Fraction(i["var_x"])), float(Fraction(i["mean_sigma2"]))
    total, once = (power.resampled_variance(between, within, k) for k in (i["K"], 1))
    return {"total": total, "reduction": 1 - total / once}


def _corrected(i: dict[str, Any]) -> dict[str, float]:
    statistic, p = proportions.mcnemar_corrected(i["b"], i["c"])
    return {"chi2": statistic, "p": p}


def _effective_exact(i: dict[str, Any]) -> dict[str, float]:
    means = rates(i["csv"])
    found = intervals.estimate(means, range(len(means)), sum(map(len, by_task(i["csv"]))), i["conf"])
    assert found is not None
    interval = proportions.effective_clopper_pearson(found, i["conf"])
    assert interval is not None
    return {"lo": interval.low, "hi": interval.high}


def _judged(i: dict[str, Any]) -> dict[str, float | None]:
    table = agreement.agreement([int(said) for said in i["rater"]], [int(said) for said in i["human"]])
    return {
        "agreement": table.share,
        "judge_rate": table.rate,
        "kappa": table.kappa,
        "sensitivity": table.sensitivity,
        "specificity": table.specificity,
    }


def _bootstrap(i: dict[str, Any]) -> float:
    values = [reliability.pass_hat_k(len(t), int(sum(t)), i["k"]) for t in by_task(i["csv"])]
    return bootstrap.ideal_error([v for v in values if v is not None])


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
    "se_bernoulli": lambda i: proportions.bernoulli_error(i["c"], i["n"]),
    "se_clustered_miller_literal": lambda i: clusters.pairwise_clustered_error(i["x"], i["clusters"]),
    "se_over_runs": lambda i: clusters.runs_error(by_task(i["csv"])),
    "unpaired_difference": _unpaired,
    "resampling_variance": _resampled,
    "newcombe_wilson_difference_interval": lambda i: _pair(
        proportions.newcombe((i["x1"], i["n1"]), (i["x2"], i["n2"]), i["conf"])
    ),
    "mcnemar_exact_p": lambda i: proportions.mcnemar_exact(i["b"], i["c"]),
    "mcnemar_midp": lambda i: proportions.mcnemar_mid(i["b"], i["c"]),
    "mcnemar_chi2_continuity": _corrected,
    "p_adjust_fdr_by": lambda i: multiplicity.benjamini_yekutieli(i["p"]),
    "cluster_bootstrap_se_exact": _bootstrap,
    "clopper_pearson_effective_n": _effective_exact,
    "cohen_kappa": lambda i: agreement.agreement(i["a"], i["b"]).kappa,
    "judge_vs_human": _judged,
    "norm_ppf": lambda i: distributions.normal_quantile(i["p"]),
    "t_ppf": lambda i: distributions.t_quantile(i["p"], i["df"]),
}
CONTRAST = {"pass_hat_k_plugin"}
CASES = [v for v in VECTORS if v["function"] not in CONTRAST]


def test_every_vector_has_its_function() -> None:
    assert {v["function"] for v in VECTORS} == set(COVERED) | CONTRAST


@pytest.mark.parametrize("vector", CASES, ids=[v["id"] for v in CASES])
def test_vector(vector: dict[str, Any]) -> None:
    assert COVERED[vector["function"]](vector["inputs"]) == pytest.approx(vector["expected"], rel=1e-8, abs=1e-12)


def test_pass_hat_k_is_not_the_plug_in_which_is_too_high() -> None:
    (biased,) = (v for v in VECTORS if v["function"] == "pass_hat_k_plugin")
    tasks, k = by_task(biased["inputs"]["csv"]), biased["inputs"]["k"]
    assert sum((sum(t) / len(t)) ** k for t in tasks) / len(tasks) == pytest.approx(biased["expected"])
    found = reliability.over_tasks(reliability.pass_hat_k(len(t), int(sum(t)), k) for t in tasks)
    assert found is not None
    assert found[0] == pytest.approx(0.20)
    assert found[0] < biased["expected"]
