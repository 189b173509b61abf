"""Signed ranks: p and bounds against what can be counted, and that they say the same."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from steelyard.stats.signed_ranks import chance_of_rank_sums, least_pairs, signed_ranks


def _counted(data: list[float], at: float) -> float:
    """P(W >= w) by all signs of the ranks, as the test is defined."""
    left = sorted((abs(value - at), value > at) for value in data)
    seen = sum(rank for rank, (_, is_above) in enumerate(left, 1) if is_above)
    ranks = range(1, len(data) + 1)
    sums = [sum(itertools.compress(ranks, signs)) for signs in itertools.product((0, 1), repeat=len(data))]
    return sum(one >= seen for one in sums) / len(sums)


@pytest.mark.parametrize("seed", range(5))
def test_p_is_what_all_signs_of_the_ranks_come_to(seed: int) -> None:
    data = list(np.random.default_rng(seed).standard_normal(9) + 0.3)
    found = signed_ranks(data, 0.1, 0.05)
    assert found.p_above == pytest.approx(_counted(data, 0.1))
    assert found.p_below == pytest.approx(_counted([-one for one in data], -0.1))


def test_bounds_are_where_p_crosses_the_tail() -> None:
    coin = np.random.default_rng(3)
    for _ in range(50):
        data = list(coin.standard_normal(12))
        found = signed_ranks(data, 0.0, 0.02)
        assert (found.low > 0) == (found.p_above <= 0.02)
        assert (found.high < 0) == (found.p_below <= 0.02)
        assert found.low <= found.estimate <= found.high


def test_few_differences_bound_nothing() -> None:
    found = signed_ranks([1.0, 1.1, 1.2], 0.0, 0.01)
    assert (found.low, found.high, found.p_above) == (-math.inf, math.inf, 0.125)
    assert least_pairs(0.01) == 7
    assert least_pairs(0.125) == 3


@pytest.mark.parametrize(
    ("tail", "low", "high"), [(1 / 33, -math.inf, math.inf), (1 / 32, 1, 5), (2 / 32, 1.5, 4.5)]
)
def test_bounds_of_five_differences_leave_out_as_many_means_as_the_tail_has(
    tail: float, low: float, high: float
) -> None:
    """Of 32 signs one has a sum of 0, and one a sum of 1."""
    found = signed_ranks([3, 1, 5, 2, 4], 0.0, tail)
    assert (found.estimate, found.low, found.high) == (3, low, high)


@pytest.mark.parametrize("count", [58, 60, 65, 96])
def test_no_chance_is_above_one(count: int) -> None:
    """For these its sums, rounded, were."""
    assert chance_of_rank_sums(count).max() == 1


def test_equal_differences_do_not_count_for_either_claim() -> None:
    found = signed_ranks([0.5] * 10, 0.5, 0.01)
    assert (found.p_above, found.p_below) == (1.0, 1.0)


def test_nothing_is_no_difference() -> None:
    with pytest.raises(ValueError, match="no difference"):
        signed_ranks([], 0.0, 0.01)
