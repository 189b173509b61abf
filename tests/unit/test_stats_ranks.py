"""Rank sums, Holm's adjustment and Kendall's tau: against every choice by hand, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from steelyard.stats import holm, kendall, shift_interval
from steelyard.stats.ranks import MOST_EXACT

values = st.lists(st.integers(0, 12).map(float), min_size=1, max_size=7)


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


def test_a_shift_is_the_median_of_all_differences() -> None:
    found = shift_interval([4.0, 5.0, 9.0], [1.0, 2.0, 3.0])
    assert found is not None
    assert (found.low, found.value, found.high) == (1.0, 3.0, 8.0)  # all nine: 90 % and no more
    assert shift_interval([4.0, 5.0, 9.0], [1.0, 2.0, 3.0], 0.95) is None
    assert shift_interval([4.0, 5.0], [1.0, 2.0, 3.0]) is None
    assert shift_interval([], [1.0]) is None


def _one_sided(larger: list[float], smaller: list[float]) -> float:
    """The p of the test that the first tends to be larger."""
    if len(larger) + len(smaller) <= MOST_EXACT:
        test = reference.mannwhitneyu(larger, smaller, alternative="greater", method="exact")
    else:
        test = reference.mannwhitneyu(larger, smaller, alternative="greater", method="asymptotic")
    return float(test.pvalue)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 6), (7, 20), (29, 31), (35, 30), (50, 200)])
def test_a_shift_leaves_out_as_many_as_the_rank_sum_test_allows(n: int, m: int) -> None:
    """The interval holds 0 where SciPy's one-sided tests at 5 % find nothing, and nowhere else."""
    rng = np.random.default_rng(n + m)
    for shift in (0.0, 0.5, 1.0, 2.0):
        one, other = rng.normal(shift, size=n).tolist(), rng.normal(size=m).tolist()
        found = shift_interval(one, other)
        above, below = _one_sided(one, other), _one_sided(other, one)
        assert found is not None
        if min(abs(above - 0.05), abs(below - 0.05)) > 0.002:  # the approximation rounds to whole pairs
            assert (found.low > 0, found.high < 0) == (above <= 0.05, below <= 0.05)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (5, 9), (40, 40)])
def test_a_shift_is_covered(n: int, m: int) -> None:
    rng = np.random.default_rng(3)
    runs, covered = 1000, 0
    for _ in range(runs):
        found = shift_interval((np.exp(rng.normal(size=n)) + 2).tolist(), np.exp(rng.normal(size=m)).tolist())
        assert found is not None
        covered += found.low <= 2 <= found.high
    assert 0.88 <= covered / runs <= 0.95
