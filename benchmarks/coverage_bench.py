"""How often the default intervals hold the truth, by simulation: at nominal 95 %, at least 90 % in every cell.

Run: `python benchmarks/coverage_bench.py [ROUNDS]`. One sample, a paired difference, the overhead of medians, and kappa; rates up
to 1, few tasks and many. Exit code 1 when a cell covers less than 90 %, simulation error (two standard errors) aside.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np
from figures import heading
from numpy.random import Generator

from mcpeval_dsl.score.differences import correlation_of
from mcpeval_dsl.statistics.agreement import Agreement, kappa_interval
from mcpeval_dsl.statistics.bootstrap import median_overhead
from mcpeval_dsl.statistics.clusters import clustered_error
from mcpeval_dsl.statistics.intervals import Estimate, Interval, estimate
from mcpeval_dsl.statistics.paired import mover

LEAST = 0.90
Draw = Callable[[], tuple[Interval | None, float]]


def chances(source: Generator, centre: float, icc: float, tasks: int) -> np.ndarray:
    """Chances of success of so many tasks; Beta with this mean, and this correlation of two trials of a task."""
    if centre in (0.0, 1.0):
        return np.full(tasks, centre)
    concentration = 1 / icc - 1
    return source.beta(centre * concentration, (1 - centre) * concentration, tasks)


def rates(source: Generator, p: np.ndarray, trials: int) -> list[float]:
    return (source.binomial(trials, p) / trials).tolist()


def estimated(values: list[float], trials: int) -> Estimate:
    found = estimate(values, range(len(values)), trials * len(values))
    assert found is not None
    return found


def one_sample(source: Generator) -> Iterator[tuple[str, Draw]]:
    for centre, icc, tasks, trials in itertools.product((0.5, 0.8, 0.95, 1.0), (0.4, 0.75), (10, 20, 50, 100), (1, 5)):

        def draw(centre: float = centre, icc: float = icc, tasks: int = tasks, trials: int = trials):  # type: ignore[no-untyped-def]
            return estimated(rates(source, chances(source, centre, icc, tasks), trials), trials).interval, centre

        yield f"p {centre}, ICC {icc}, {tasks} × {trials}", draw


def difference(source: Generator) -> Iterator[tuple[str, Draw]]:
    for (p, q), icc, tasks, trials in itertools.product(
        ((0.5, 0.5), (0.7, 0.5), (0.95, 0.85), (0.95, 0.95), (1.0, 1.0), (1.0, 0.8)), (0.4, 0.75), (8, 20, 50), (1, 5)
    ):

        def draw(p: float = p, q: float = q, icc: float = icc, tasks: int = tasks, trials: int = trials):  # type: ignore[no-untyped-def]
            ranks = source.random(tasks)
            sides = [_by_rank(ranks, centre, icc, tasks, source) for centre in (p, q)]
            a, b = (rates(source, side, trials) for side in sides)
            one, other = estimated(a, trials), estimated(b, trials)
            error = clustered_error([x - y for x, y in zip(a, b, strict=True)], range(tasks))
            return mover(one, other, correlation_of(one, other, error)), p - q

        yield f"p {p} and {q}, ICC {icc}, {tasks} × {trials}", draw


def _by_rank(ranks: np.ndarray, centre: float, icc: float, tasks: int, source: Generator) -> np.ndarray:
    """Tasks that are hard for one side are hard for the other in four of five cases; the rest is drawn anew."""
    if centre in (0.0, 1.0):
        return np.full(tasks, centre)
    from scipy.stats import beta

    concentration = 1 / icc - 1
    mixed = np.where(source.random(tasks) < 0.8, ranks, source.random(tasks))
    return np.asarray(beta.ppf(mixed, centre * concentration, (1 - centre) * concentration))


def overhead(source: Generator) -> Iterator[tuple[str, Draw]]:
    for (between, within, effect), tasks, trials in itertools.product(
        ((0.8, 0.4, 0.0), (0.8, 0.4, 0.3), (0.2, 1.0, 0.5), (0.0, 0.0, 0.2)), (6, 10, 20, 50), (1, 5)
    ):
        many = _medians(source, 200_000, trials, between, within, effect)
        truth = float(np.median(many[0]) - np.median(many[1]))

        def draw(  # type: ignore[no-untyped-def]
            truth: float = truth,
            between: float = between,
            within: float = within,
            effect: float = effect,
            tasks: int = tasks,
            trials: int = trials,
        ):
            one, other = _medians(source, tasks, trials, between, within, effect)
            found = median_overhead(one.tolist(), other.tolist(), seed=int(source.integers(1 << 30)))[1]
            return None if found is None else Interval(found.low - 1e-9, found.high + 1e-9), truth

        yield f"spread {between} and {within}, ×e^{effect}, {tasks} × {trials}", draw


def _medians(
    source: Generator, tasks: int, trials: int, between: float, within: float, effect: float
) -> list[np.ndarray]:
    """Each task's median of log-normal times, with the treatment e^effect longer."""
    level = source.normal(0, between, tasks)[:, None] if between else np.zeros((tasks, 1))
    own = source.normal(0, between / 3, tasks)[:, None] if between else np.zeros((tasks, 1))
    noise = [source.normal(0, within, (tasks, trials)) if within else np.zeros((tasks, trials)) for _ in range(2)]
    return [np.median(np.exp(level + own + effect + noise[0]), axis=1), np.median(np.exp(level + noise[1]), axis=1)]


def kappa(source: Generator) -> Iterator[tuple[str, Draw]]:
    for items, yes, (sensitivity, specificity) in itertools.product(
        (20, 50, 100), (0.5, 0.7, 0.9), ((1.0, 1.0), (0.97, 0.97), (0.9, 0.9), (0.95, 0.6), (0.7, 0.8))
    ):
        shares = np.array(
            [yes * sensitivity, (1 - yes) * (1 - specificity), yes * (1 - sensitivity), (1 - yes) * specificity]
        )
        agreed, expected = shares[0] + shares[3], (shares[0] + shares[1]) * yes + (shares[2] + shares[3]) * (1 - yes)
        truth = float((agreed - expected) / (1 - expected))

        def draw(items: int = items, shares: np.ndarray = shares, truth: float = truth):  # type: ignore[no-untyped-def]
            table = Agreement(*(int(count) for count in source.multinomial(items, shares)))
            found = kappa_interval(table, seed=int(source.integers(1 << 30)))
            return None if found is None else Interval(found.low - 1e-9, found.high + 1e-9), truth

        yield f"κ {truth:.2f}, yes {yes}, {items} items", draw


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    heading(__file__)
    source = np.random.default_rng(20261130)
    slack = 2 * math.sqrt(LEAST * (1 - LEAST) / rounds)
    good = True
    for name, cells, times in (
        ("one sample (Wilson at n_eff, t)", one_sample, rounds),
        ("paired difference (MOVER)", difference, rounds),
        ("overhead of medians (bootstrap)", overhead, max(1, rounds // 2)),
        ("kappa (Dirichlet)", kappa, max(1, rounds // 2)),
    ):
        covered = []
        for label, draw in cells(source):
            hits = sum(
                found is not None and found.low <= truth <= found.high
                for found, truth in (draw() for _ in range(times))
            )
            covered.append((hits / times, label))
        worst = min(covered)
        within = worst[0] >= LEAST - slack
        good = good and within
        print(
            f"  {name:34} {len(covered):3} cells, {worst[0] * 100:5.1f} to {max(covered)[0] * 100:5.1f} %  "
            f"worst: {worst[1]}{'' if within else '  BELOW 90 %'}"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
