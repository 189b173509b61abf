"""Tests on ranks for small samples."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.interval import Estimate
from steelyard.stats.probability_distributions import normal_quantile

IntArray = NDArray[np.int64]

MOST_EXACT = 60  # values of two samples: beyond, the normal approximation is right to the third figure
MOST_ORDERS = 8  # up to so many things all orders of them are counted: 40320


def shift_interval(one: Sequence[float], other: Sequence[float], level: float = 0.90) -> Estimate | None:
    """Estimate the shift from one sample to the other, with an interval.

    It is the median of the differences between all values of `one` and all of `other` (Hodges and Lehmann
    1963), with the narrowest symmetric pair of them that covers `level` under the exact distribution of the
    rank sum (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 2014, section 4.3). Beyond 60
    values it is that of the normal approximation. The one-sided rank-sum test at (1 - level) / 2 finds `one`
    larger if `low` is above 0. None if values are so few that no pair covers `level`.
    """
    n, m = len(one), len(other)
    left_out = _rank_sum_left_out(n, m, level) if n and m else None
    if left_out is None:
        return None
    differences = np.sort(np.subtract.outer(np.asarray(one), np.asarray(other)), axis=None)
    low, high = float(differences[left_out]), float(differences[-1 - left_out])
    return Estimate(float(np.median(differences)), low, high, level, n + m, "rank sum")


@functools.lru_cache
def _rank_sum_left_out(n: int, m: int, level: float) -> int | None:
    """Find how many differences to leave out at either end, the most for that level; None if there is no such
    number.
    """
    tail = (1.0 - level) / 2 + 1e-12
    if n + m > MOST_EXACT:
        deviation = math.sqrt(n * m * (n + m + 1) / 12)
        return int(n * m / 2 - 0.5 + normal_quantile(tail) * deviation)
    ways = _ways_to_choose(np.arange(1, n + m + 1), n)
    reached = np.cumsum(ways / ways.sum())[n * (n + 1) // 2 :]  # P(U <= 0), P(U <= 1), ...
    few = int(np.searchsorted(reached, tail, side="right"))
    return few - 1 if few else None


def _ways_to_choose(ranks: FloatArray | IntArray, n: int) -> FloatArray:
    """Count the ways in which n of the ranks, whole numbers, have each sum: shape (sum of all + 1,)."""
    ways = np.zeros((n + 1, int(ranks.sum()) + 1))  # [how many are chosen][their sum]
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank]
    return np.asarray(ways[n])


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p values of several tests so that any false alarm has the level of one (Holm 1979)."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, worst = [0.0] * len(ps), 0.0
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, (len(ps) - place) * ps[i]))
        adjusted[i] = worst
    return tuple(adjusted)


def kendall(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Compute Kendall's tau-b of two orders of the same things, and its two-sided p if all orders are equally
    likely.

    The p counts all orders up to 8 things, beyond it is that of the normal approximation (Kendall 1938,
    1970). Two things can only agree or not: their p is 1. (0, 1) if all of one are equal. Raises ValueError
    for fewer than two things.
    """
    n = len(one)
    if n != len(other) or n < 2:
        raise ValueError("an agreement of orders needs two orders of at least two things")
    first, second = _signs(one), _signs(other)
    weight = math.sqrt(float(np.abs(first).sum()) * float(np.abs(second).sum()))
    if weight == 0.0:
        return 0.0, 1.0
    score = float((first * second).sum())
    if n > MOST_ORDERS:
        deviation = abs(score) / 2 / math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
        return score / weight, math.erfc(deviation / math.sqrt(2))
    values = np.asarray(other, dtype=np.float64)
    orders = np.array(list(itertools.permutations(range(n))))
    scores = np.array([float((first * _signs(values[order])).sum()) for order in orders])
    return score / weight, float(np.mean(np.abs(scores) >= abs(score) - 1e-9))


def _signs(
    values: Sequence[float] | np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Compare each two: which is larger, shape (n, n)."""
    data = np.asarray(values, dtype=np.float64)
    return np.asarray(np.sign(data[:, None] - data[None, :]))
