"""`mcpe compare` on runs whose truth is known: how often it sees a regression that is there, and one that is not.

Run: `python benchmarks/compare_bench.py [SIMULATIONS]`. Agents are simulated with set rates; the level is 5 % over all that is
tested at once. Exit code 1 where regressions are seen that are not there more often than that, simulation error (three
standard errors) aside. The peer is a t test over all trials as if they were independent.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from figures import heading
from numpy.random import Generator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.score.frame import FrameBuilder
from mcpeval_dsl.score.model import Safety
from mcpeval_dsl.score.runs import compare_runs
from mcpeval_dsl.score.safety import SafetyTally
from mcpeval_dsl.score.sides import Side
from tests.score.arms import armed, tasks

LEVEL, TRIALS = 0.05, 5
SAFE: Safety = SafetyTally().result()


def side(name: str, plan: Plan, chances: np.ndarray, calls: float, source: Generator) -> Side:
    """A run in which each task passes with its chance, by cells in order of the plan; calls are Poisson."""
    table = FrameBuilder(plan)
    each = np.repeat(chances, TRIALS)
    passed = source.random(len(each)) < each
    table.fill(success=passed, correct=passed, charged=1 + source.poisson(calls, len(each)), cost=np.zeros(len(each)))
    return Side(name, plan, table.frame(), SAFE, ())


def naive(one: Side, other: Side) -> bool:
    """Whether a test over trials would call the new run worse."""
    a, b = one.frame["success"].astype(float), other.frame["success"].astype(float)
    error = math.sqrt(a.var() / len(a) + b.var() / len(b))
    return error > 0 and (a.mean() - b.mean()) / error < -1.96


def simulated(
    count: int, agents: int, drop: float, more: float, rounds: int, source: Generator
) -> tuple[float, float, float]:
    """Shares of rounds in which the verdict is a regression, in which it is too little data, and the peer's."""
    plan = armed(tasks(count), [f"agent{n}" for n in range(agents)], (), trials=TRIALS, arms=("mcp",))
    seen = unsure = fooled = 0
    for _ in range(rounds):
        base = source.beta(1.2, 0.5, count)
        moved = np.clip(base + source.normal(0, 0.15, count), 0, 1)
        noisy = np.clip(base + source.normal(0, 0.15, count), 0, 1)
        before = np.repeat(noisy, agents)
        now = np.repeat(np.where(source.random(count) < drop / max(1e-9, base.mean()), 0.0, moved), agents)
        new, old = side("new", plan, now, 2 + more, source), side("old", plan, before, 2, source)
        found = compare_runs(new, old)
        seen += found.verdict == "regression"
        unsure += found.verdict == "insufficient data"
        fooled += naive(new, old)
    return seen / rounds, unsure / rounds, fooled / rounds


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    heading(__file__)
    source = np.random.default_rng(20261130)
    allowed = LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / rounds)
    good = True
    print(f"  {'truth':44} {'regression':>10} {'too little':>10}   a test over trials")
    for text, count, agents, drop, more in (
        ("the same, 10 tasks", 10, 1, 0.0, 0.0),
        ("the same, 20 tasks", 20, 1, 0.0, 0.0),
        ("the same, 50 tasks", 50, 1, 0.0, 0.0),
        ("the same, 20 tasks, 4 agents", 20, 4, 0.0, 0.0),
        ("20 points fewer pass, 20 tasks", 20, 1, 0.2, 0.0),
        ("20 points fewer pass, 50 tasks", 50, 1, 0.2, 0.0),
        ("as many pass, 1 more call, 20 tasks", 20, 1, 0.0, 1.0),
    ):
        part = rounds if not drop and not more else max(1, rounds // 5)
        seen, unsure, fooled = simulated(count, agents, drop, more, part, source)
        there = drop > 0 or more > 0
        within = there or seen <= allowed
        good = good and within
        print(
            f"  {text:44} {seen * 100:8.1f} % {unsure * 100:8.1f} %   {fooled * 100:.1f} %"
            f"{'' if within else '  TOO OFTEN'}"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
