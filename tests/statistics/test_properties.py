from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.statistics.clusters import clustered_error, design_effect, intraclass_correlation, standard_error
from mcpeval_dsl.statistics.intervals import Interval, clopper_pearson, estimate, missing_bounds, upper_bound, wilson
from mcpeval_dsl.statistics.multiplicity import benjamini_hochberg, holm
from mcpeval_dsl.statistics.paired import mover, sign_flip, smallest_p
from mcpeval_dsl.statistics.reliability import over_tasks, pass_at_k, pass_hat_k
from mcpeval_dsl.statistics.spread import spread

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))
shares = st.floats(0, 1, allow_nan=False)


@given(counts)
def test_pass_at_k_and_pass_hat_k_equal_the_exact_fractions(ncK: tuple[int, int, int]) -> None:
    n, c, k = ncK
    assert pass_at_k(n, c, k) == pytest.approx(float(1 - Fraction(comb(n - c, k), comb(n, k))), rel=1e-10, abs=1e-15)
    assert pass_hat_k(n, c, k) == pytest.approx(float(Fraction(comb(c, k), comb(n, k))), rel=1e-10, abs=1e-15)


@given(counts)
def test_all_of_k_is_never_likelier_than_any_of_k(ncK: tuple[int, int, int]) -> None:
    n, c, k = ncK
    at, hat = pass_at_k(n, c, k), pass_hat_k(n, c, k)
    assert at is not None and hat is not None
    assert 0 <= hat <= c / n + 1e-12
    assert c / n - 1e-12 <= at <= 1


def test_more_trials_asked_than_there_were_is_no_number() -> None:
    assert pass_at_k(3, 2, 4) is None
    assert pass_hat_k(3, 2, 4) is None


@pytest.mark.parametrize("counts", [(3, 4, 1), (3, -1, 1), (3, 2, 0)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError):
        pass_at_k(*counts)


@given(st.lists(shares, min_size=2, max_size=30))
def test_a_task_per_cluster_is_the_naive_error(values: list[float]) -> None:
    assert clustered_error(values, range(len(values))) == pytest.approx(standard_error(values), abs=1e-12)


def test_one_cluster_has_no_error() -> None:
    assert clustered_error([0.1, 0.9], ["a", "a"]) is None


@given(st.lists(shares, min_size=2, max_size=20), st.integers(2, 6))
def test_trials_that_only_repeat_buy_nothing(values: list[float], repeats: int) -> None:
    trials = [[value] * repeats for value in values]
    effect = design_effect(trials)
    if effect is not None and max(values) - min(values) > 1e-6:
        assert effect == pytest.approx(repeats * (repeats * len(values) - 1) / (repeats * (len(values) - 1)), rel=1e-6)
        assert intraclass_correlation(trials) == pytest.approx(1.0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=20))
def test_the_interval_holds_the_estimate_and_stays_in_range(rows: list[tuple[int, int]]) -> None:
    found = estimate([passed / 5 for passed, _ in rows], [cluster for _, cluster in rows], 5 * len(rows))
    assert found is not None
    if found.clusters == 1:
        assert found.interval is None
    else:
        assert found.interval is not None
        assert 0 <= found.interval.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.interval.high <= 1


@given(st.lists(st.integers(0, 5), min_size=2, max_size=20), st.randoms())
def test_order_of_tasks_does_not_matter_to_the_bit(passed: list[int], source: random.Random) -> None:
    rates = [(count / 5, number) for number, count in enumerate(passed)]
    shuffled = source.sample(rates, len(rates))
    results = [estimate([r for r, _ in order], [c for _, c in order], 5 * len(order)) for order in (rates, shuffled)]
    assert results[0] == results[1]


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_all_alike_is_not_certain(rate: float) -> None:
    found = estimate([rate] * 6, range(6), 30)
    assert found is not None and found.interval is not None
    assert found.effective_n == 6
    width = found.interval.high - found.interval.low
    assert 0.3 < width < 0.7


@given(st.integers(1, 400), st.floats(0, 1))
def test_clopper_pearson_is_wider_than_wilson_at_the_ends(n: int, share: float) -> None:
    passed = round(share * n)
    exact = clopper_pearson(passed, n)
    assert 0 <= exact.low <= passed / n <= exact.high <= 1
    assert wilson(1.0, n).high == 1.0
    assert wilson(0.0, n).low == 0.0


@pytest.mark.parametrize(("n", "bound"), [(30, 0.095), (59, 0.0495), (299, 0.00997)])
def test_none_seen_has_an_upper_bound(n: int, bound: float) -> None:
    assert upper_bound(0, n) == pytest.approx(bound, abs=6e-5)


def test_nothing_looked_at_has_no_bound() -> None:
    assert upper_bound(0, 0) is None


@given(st.integers(0, 30), st.integers(1, 30))
def test_more_seen_means_a_higher_bound(seen: int, more: int) -> None:
    n = seen + more
    low, high = upper_bound(seen, n), upper_bound(seen + 1, n)
    assert low is not None and high is not None
    assert seen / n <= low <= high <= 1


def test_missing_trials_widen_the_rate() -> None:
    assert missing_bounds(6, 2, 10) == Interval(0.6, 0.8)
    assert missing_bounds(0, 0, 0) is None


@given(st.lists(shares, min_size=1, max_size=30))
def test_adjusted_p_values_are_ordered_and_never_smaller(p_values: list[float]) -> None:
    for adjusted in (holm(p_values), benjamini_hochberg(p_values)):
        assert all(a >= p - 1e-12 and a <= 1 for a, p in zip(adjusted, p_values, strict=True))
        order = sorted(range(len(p_values)), key=lambda i: p_values[i])
        assert [adjusted[i] for i in order] == sorted(adjusted)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=10))
def test_sign_flip_equals_the_count_of_all_patterns(differences: list[int]) -> None:
    observed = abs(sum(differences))
    patterns = [
        abs(sum(d if pattern >> i & 1 else -d for i, d in enumerate(differences)))
        for pattern in range(2 ** len(differences))
    ]
    exact = sum(total >= observed for total in patterns) / len(patterns)
    assert sign_flip(differences) == pytest.approx(exact)


def test_five_tasks_cannot_show_less_than_one_in_sixteen() -> None:
    assert smallest_p(5) == sign_flip([1, 1, 1, 1, 1]) == 0.0625


def test_sampled_sign_flip_repeats_with_its_seed() -> None:
    differences = [0.1 * (i % 7 - 2) for i in range(1, 60)]
    assert sign_flip(differences, seed=3) == sign_flip(differences, seed=3)


@given(shares, st.integers(2, 40), st.floats(-1, 1))
def test_mover_holds_the_difference(rate: float, tasks: int, r: float) -> None:
    one = estimate([rate] * tasks, range(tasks), tasks)
    other = estimate([1 - rate] * tasks, range(tasks), tasks)
    assert one is not None and other is not None
    found = mover(one, other, r)
    assert found is not None
    assert found.low - 1e-9 <= one.value - other.value <= found.high + 1e-9


def test_pass_hat_over_tasks_that_agree_falls_back_to_wilson() -> None:
    found = over_tasks([1.0] * 5)
    assert found is not None
    assert found[1] == wilson(1.0, 5)
    assert over_tasks([1.0]) == (1.0, None, 1)
    assert over_tasks([1.0, 1.0, 0.5], clusters=["a", "a", "a"]) == (pytest.approx(2.5 / 3), None, 3)
    two = over_tasks([1.0] * 5, clusters=["a", "a", "a", "b", "b"])
    assert two is not None and two[1] == wilson(1.0, 2)
    assert over_tasks([None]) is None


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_the_tail_is_named_for_what_it_is(values: list[float]) -> None:
    found = spread(values)
    assert found is not None
    assert found.tail_name == ("p95" if len(values) >= 20 else "max")
    assert min(values) <= found.median <= found.tail <= found.maximum == max(values)


@pytest.mark.parametrize(("centre", "tasks"), [(0.5, 10), (0.95, 20), (0.8, 50)])
def test_coverage_of_the_default_interval(centre: float, tasks: int) -> None:
    """A spot check of the simulation behind the choice: tasks drawn from a Beta with ICC .4, five trials each."""
    source = random.Random(20261130)
    concentration = 1 / 0.4 - 1
    covered, runs = 0, 400
    for _ in range(runs):
        chances = [source.betavariate(centre * concentration, (1 - centre) * concentration) for _ in range(tasks)]
        passed = [sum(source.random() < chance for _ in range(5)) / 5 for chance in chances]
        found = estimate(passed, range(tasks), 5 * tasks)
        assert found is not None and found.interval is not None
        covered += found.interval.low <= centre <= found.interval.high
    assert covered / runs >= 0.90
