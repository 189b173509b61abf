"""How alike values are that follow each other in time, such as the medians of launches: they count for fewer.

A machine that stays in a state for longer than a launch makes neighbours alike. Few launches of one test case
show it badly, but the launches of a folder have all its test cases, and these together show it well.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from steelyard.stats.arrays import FloatArray
from steelyard.stats.fast_stats import mean

LEAST_IN_TIME = 6  # launches: five do not show how alike they are
MOST_ORDERED = 7  # launches, of which all orders are counted: 5040
DRAWN_ORDERS = 4999
FEW_RHO = 0.4  # of launches too few to show it: the largest of three real series of ten (0.20, -0.02, 0.40)
MOST_RHO = 0.8  # of launches: at that likeness they count for a ninth, and no number of them helps
DOUBT = 0.2  # standard errors of rho that are added: more would make quiet intervals wider by above 15 %


def lag1(series: ArrayLike) -> float:
    """Compute the lag-1 autocorrelation of a series, 0 if all values are equal."""
    data = np.asarray(series, dtype=np.float64)
    away = data - mean(data)
    total = float(away @ away)
    return float(away[:-1] @ away[1:]) / total if total > 0.0 else 0.0


def likeness(values: ArrayLike) -> float:
    """Estimate how alike values in time are: rho of an AR(1), from 0 to `MOST_RHO`, with some doubt added.

    The lag-1 autocorrelation r of the ranks less its bias, r + (1 + 4 r) / n (Kendall, Biometrika 41, 1954),
    and `DOUBT` of its standard errors, sqrt((1 - rho^2) / n). Fewer than `LEAST_IN_TIME` cannot show theirs:
    it is then taken to be `FEW_RHO`.
    """
    data = np.asarray(values, dtype=np.float64)
    n = data.size
    if n < LEAST_IN_TIME:
        return FEW_RHO
    if float(np.ptp(data)) == 0.0:
        return 0.0
    r = lag1(ranks_of(data))
    rho = r + (1 + 4 * r) / n
    return min(max(rho + DOUBT * math.sqrt(max(1 - rho**2, 0.0) / n), 0.0), MOST_RHO)


def common_likeness(series: Iterable[ArrayLike]) -> float:
    """Estimate how alike all of several series in time are at least, such as the test cases of a folder.

    r less its bias is (r + 1 / n) / (1 - 4 / n), solved for rho, with a standard error of 1 / sqrt(n) over
    the same: the mean of all series, weighted by these, less its own standard error, from 0 to `MOST_RHO`.
    Series that have something in common say less than that, and no more than each says of itself.
    """
    total = weights = 0.0
    for values in series:
        data = np.asarray(values, dtype=np.float64)
        n = data.size
        if n < LEAST_IN_TIME or float(np.ptp(data)) == 0.0:
            continue
        part = 1 - 4 / n
        total += (lag1(ranks_of(data)) + 1 / n) * part * n
        weights += part**2 * n
    if weights == 0.0:
        return 0.0
    return min(max(total / weights - 1 / math.sqrt(weights), 0.0), MOST_RHO)


def alike_p(values: ArrayLike) -> float:
    """Compute the p of the hypothesis that values in time are in random order, against similar neighbours.

    One-sided permutation test of the lag-1 autocorrelation of ranks (Wald and Wolfowitz, Annals of
    Mathematical Statistics 14, 1943), over all orders up to 7 values, else over 4999 drawn ones. 1 for fewer
    than `LEAST_IN_TIME`, which show nothing, and if all are equal.
    """
    data = np.asarray(values, dtype=np.float64)
    if data.size < LEAST_IN_TIME or float(np.ptp(data)) == 0.0:
        return 1.0
    seen = lag1(ranks_of(data))
    orders = _orders(data.size)
    return float((np.count_nonzero(orders >= seen - 1e-12) + 1) / (orders.size + 1))


def ranks_of(values: FloatArray) -> FloatArray:
    """Rank each value, equal ones by their mean rank; shape as `values`."""
    ordered = np.sort(values)
    below, up_to = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray((below + up_to - 1) / 2, dtype=np.float64)


@functools.lru_cache
def _orders(count: int) -> FloatArray:
    """Compute the lag-1 autocorrelations of `count` ranks in all orders but one, or in drawn ones."""
    ranks = np.arange(count, dtype=np.float64)
    if count <= MOST_ORDERED:
        orders = np.array(list(itertools.permutations(ranks)))[1:]
    else:
        orders = np.random.default_rng(count).permuted(np.tile(ranks, (DRAWN_ORDERS, 1)), axis=1)
    deviations = orders - ranks.mean()
    products = (deviations[:, :-1] * deviations[:, 1:]).sum(axis=1)
    return np.asarray(products / (deviations**2).sum(axis=1))
