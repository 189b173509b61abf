"""Rank sums, Holm's adjustment and Kendall's tau: against every choice by hand, and against SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from steelyard.stats import holm, kendall, least_rank_sum_p, rank_sum_p
from steelyard.stats.ranks import MOST_EXACT

values = st.lists(st.integers(0, 12).map(float), min_size=1, max_size=7)


@given(values, values)
def test_a_rank_sum_test_counts_all_ways_to_choose(one: list[float], other: list[float]) -> None:
    """Against every choice by hand, ties among them."""
    pooled = np.array(one + other)
    ranks = np.array([np.mean(np.flatnonzero(np.sort(pooled) == value)) + 1 for value in pooled])
    mean = len(one) * (pooled.size + 1) / 2
    far = abs(ranks[: len(one)].sum() - mean) - 1e-9
    chosen = [abs(ranks[list(c)].sum() - mean) for c in itertools.combinations(range(pooled.size), len(one))]
    assert rank_sum_p(one, other) == pytest.approx(np.mean(np.array(chosen) >= far))


def test_a_rank_sum_test_without_ties_is_the_exact_one_of_scipy() -> None:
    rng = np.random.default_rng(7)
    for n, m in ((5, 5), (4, 9), (20, 25), (40, 50)):
        one, other = rng.normal(size=n), rng.normal(0.7, size=m)
        known = reference.mannwhitneyu(
            one, other, method="exact" if n + m <= MOST_EXACT else "asymptotic"
        ).pvalue
        assert rank_sum_p(one.tolist(), other.tolist()) == pytest.approx(known)
    ties = rng.integers(0, 5, 40).tolist(), rng.integers(1, 6, 40).tolist()
    assert rank_sum_p(*ties) == pytest.approx(reference.mannwhitneyu(*ties, method="asymptotic").pvalue)
    assert rank_sum_p([1.0] * 40, [1.0] * 40) == 1.0


def test_what_so_few_launches_can_show() -> None:
    assert least_rank_sum_p(3, 3) == pytest.approx(0.1) == rank_sum_p([1, 2, 3], [4, 5, 6])
    assert least_rank_sum_p(4, 4) == pytest.approx(2 / 70) == rank_sum_p([5, 6, 7, 8], [1, 2, 3, 4])
    assert least_rank_sum_p(1, 1) == 1.0 == rank_sum_p([], [1.0])


@pytest.mark.parametrize(
    ("ps", "adjusted"),
    [
        ([0.01], [0.01]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # Holm 1979: 3 x 0.01, 2 x 0.03, never below the one before
        ([0.5, 0.9, 0.6], [1.0, 1.0, 1.0]),
        ([], []),
    ],
)
def test_holm(ps: list[float], adjusted: list[float]) -> None:
    assert holm(ps) == pytest.approx(adjusted)


@given(st.permutations(range(6)))
def test_kendall_is_that_of_scipy(order: list[int]) -> None:
    tau, p = kendall(list(range(6)), order)
    known = reference.kendalltau(range(6), order, method="exact")
    assert (tau, p) == pytest.approx((known.statistic, known.pvalue))


def test_kendall_of_two_of_ties_and_of_many() -> None:
    assert kendall([1, 2], [5, 9]) == (1.0, 1.0)
    assert kendall([1, 2], [9, 5]) == (-1.0, 1.0)
    assert kendall([1, 1, 1], [1, 2, 3]) == (0.0, 1.0)
    ties = reference.kendalltau([1, 1, 2, 3], [1, 2, 2, 4]).statistic
    assert kendall([1, 1, 2, 3], [1, 2, 2, 4])[0] == pytest.approx(ties)
    known = reference.kendalltau(range(12), [*range(11, 5, -1), *range(6)], method="asymptotic")
    assert kendall(list(range(12)), [*range(11, 5, -1), *range(6)]) == pytest.approx(
        (known.statistic, known.pvalue)
    )
    with pytest.raises(ValueError, match="two things"):
        kendall([1], [1])
