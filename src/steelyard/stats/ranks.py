"""Tests on ranks for small samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

ONE_SIDED = 1.645  # the 95 % quantile of the normal distribution
MOST_EXACT = 60  # values of two samples: beyond, the normal approximation is right to the third figure
MOST_ORDERS = 8  # up to so many things all orders of them are counted: 40320


def ranks_above(larger: Sequence[float], smaller: Sequence[float]) -> bool:
    """Whether values tend to be larger in the one sample than in the other, one-sided at 5 %.

    The rank-sum test (Mann and Whitney 1947) with the normal approximation and its correction for continuity,
    ties counting half: U is the number of pairs in which the first is larger, with mean n m / 2 and variance
    n m (n + m + 1) / 12. With three and three values all nine pairs must be so. False without values.
    """
    n, m = len(larger), len(smaller)
    if not n or not m:
        return False
    above, below = np.asarray(larger)[:, None], np.asarray(smaller)[None, :]
    u = float(np.count_nonzero(above > below)) + 0.5 * float(np.count_nonzero(above == below))
    return u - 0.5 > n * m / 2 + ONE_SIDED * math.sqrt(n * m * (n + m + 1) / 12)


def rank_sum_p(one: Sequence[float], other: Sequence[float]) -> float:
    """The exact two-sided p of the rank-sum test that two samples are of one distribution.

    The share of all ways to choose len(one) of the pooled values whose rank sum is as far from its mean as
    the one seen; values that are equal share their mean rank, and are counted as they are (Lehmann,
    Nonparametrics, 1975, section 1.4). Sums are of doubled ranks, so that all are whole. Beyond 60 values it
    is that of the normal approximation, with the corrections for continuity and ties. 1 without values.
    """
    n = len(one)
    pooled = np.concatenate((np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)))
    if n in (0, pooled.size):
        return 1.0
    ordered = np.sort(pooled)
    doubled = np.searchsorted(ordered, pooled, "left") + np.searchsorted(ordered, pooled, "right") + 1
    mean = n * (pooled.size + 1)
    far = abs(int(doubled[:n].sum()) - mean)
    if pooled.size > MOST_EXACT:
        spread = math.sqrt(n * (pooled.size - n) * float(np.var(doubled, ddof=1)) / pooled.size)
        return math.erfc(max(0.0, far - 1) / spread / math.sqrt(2)) if spread > 0 else 1.0
    ways = np.zeros((n + 1, int(doubled.sum()) + 1))  # [how many are chosen][their sum]
    ways[0, 0] = 1.0
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank]
    sums = np.arange(ways.shape[1])
    return float(ways[n, np.abs(sums - mean) >= far].sum() / ways[n].sum())


def least_rank_sum_p(n: int, m: int) -> float:
    """The least p that `rank_sum_p` can give to samples of n and m values: what so few can ever show."""
    return min(1.0, 2.0 / math.comb(n + m, n))


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """p values of several tests, adjusted so that any false alarm has the level of one (Holm 1979)."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, worst = [0.0] * len(ps), 0.0
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, (len(ps) - place) * ps[i]))
        adjusted[i] = worst
    return tuple(adjusted)


def kendall(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Kendall's tau-b of two orders of the same things, and its two-sided p if all orders were as likely.

    The p counts all orders up to 8 things, beyond it is that of the normal approximation (Kendall 1938,
    1970). Two things can only agree or not: their p is 1. (0, 1) where all of one are equal. Raises
    ValueError for fewer than two things.
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
    """Which of each two is larger, shape (n, n)."""
    data = np.asarray(values, dtype=np.float64)
    return np.asarray(np.sign(data[:, None] - data[None, :]))
