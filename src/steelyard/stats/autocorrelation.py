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
from msgspec import Struct
from numpy.typing import ArrayLike

from steelyard.stats.arrays import FloatArray
from steelyard.stats.fast_stats import mean

LEAST_IN_TIME = 6  # launches: five do not show how alike they are
MOST_ORDERED = 7  # launches, of which all orders are counted: 5040
DRAWN_ORDERS = 4999
FEW_RHO = 0.4  # of launches too few to show it: the largest of three real series of ten (0.20, -0.02, 0.40)
MOST_RHO = 0.8  # of launches: at that likeness they count for a ninth, and no number of them helps
_MOST_TOGETHER = 0.9  # ... where many test cases show it, which seldom see it too great
_LEAST_TOGETHER = 3  # launches, of which several test cases show something; two have no order
ENOUGH_SERIES = 12  # independent test cases, which tell launches alike by 0.8 from independent ones
_STAYING = 0.3  # rho from which launches with modes stay in them
_LEAST_STAYING = 2.5  # independent launches that these must be worth, lest all are in one
_FAR, _DEVIATIONS = 1.1, 4.0  # of modes, as `modes.MODE_GAP` and `modes.MODE_NOISE`
_LEAST_MODED, _SHARE_MODED = 2, 0.05  # series with modes, and their share, from which a folder has them
_RHOS = np.linspace(0.0, 0.95, 20)
_MOST_EXACT = 32  # values, beyond which the formulas for many are as good
_NODES, _REACH = 200, 20.0  # of an integral over t from e^-20 to e^20, by Gauss and Legendre in log t
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


class Likeness(Struct, frozen=True):
    """How alike launches that follow each other are at least, by all test cases of a folder together.

    `rho` is that of an AR(1), 0 to 0.9; `series` is how many independent test cases show it. `stays`: they
    are alike because they stay in modes, of which several in a row may see one alone.
    """

    rho: float = 0.0
    series: float = 0.0
    stays: bool = False

    def is_shown(self, launches: int) -> bool:
        """Do the test cases show how alike so few launches are?"""
        return launches >= _LEAST_TOGETHER and self.series >= ENOUGH_SERIES

    def assumes(self, launches: int) -> bool:
        """Does an interval over so few launches assume that they are independent, for nothing shows it?"""
        is_few = 1 < launches < LEAST_IN_TIME
        return is_few and (not self.is_shown(launches) or self._may_miss_modes(launches))

    def hides(self, launches: int) -> bool:
        """May these launches all be in one mode? Then no scatter of theirs says how far the others are.

        Fewer than `LEAST_IN_TIME` do not show that they stay in modes: few that scatter widely look alike.
        """
        return launches >= LEAST_IN_TIME and self._may_miss_modes(launches)

    def _may_miss_modes(self, launches: int) -> bool:
        return self.stays and launches * (1 - self.rho) / (1 + self.rho) < _LEAST_STAYING


NOT_ALIKE = Likeness()


def common_likeness(series: Iterable[ArrayLike]) -> Likeness:
    """Estimate how alike all of several series in time are at least, such as the test cases of a folder.

    The mean lag-1 autocorrelation r of P series, of their ranks, of their logarithms, or of these with each
    series weighed by its variance, whichever shows most: modes show in the last, for many series may stay in
    one. What a rho makes of it in n values is computed (`_expected`). Series that have something in common
    say less: they are worth m = P / (1 + (P - 1) c), c being their mean squared correlation beyond chance. r
    less its deviation over m is believed, so that a test case alone says little; below `LEAST_IN_TIME` values
    nothing is, unless m is `ENOUGH_SERIES`.
    """
    table = _longest(series)
    if table is None:
        return NOT_ALIKE
    ranks = np.stack([ranks_of(column) for column in table.T], axis=1)
    positive = (table > 0.0).all(axis=0)
    logs = np.log(table[:, positive]) if positive.any() else table
    ways = [_shown(ranks), _shown(logs), _shown(logs, weighed=True)]
    rho = min(max(way.rho for way in ways), _MOST_TOGETHER)
    alike = Likeness(rho, ways[0].series, rho >= _STAYING and _has_modes(logs))
    is_known = table.shape[0] >= LEAST_IN_TIME or alike.is_shown(table.shape[0])
    return alike if is_known else Likeness(series=alike.series)


def _longest(series: Iterable[ArrayLike]) -> FloatArray | None:
    """Table the first n values of the series that have as many, (n, P), n such that these are the most."""
    data = [np.asarray(values, dtype=np.float64) for values in series]
    data = [values for values in data if values.size >= _LEAST_TOGETHER]
    sizes = sorted({values.size for values in data})
    if not sizes:
        return None
    n = max(sizes, key=lambda size: size * sum(values.size >= size for values in data))
    table = np.stack([values[:n] for values in data if values.size >= n], axis=1)
    table = table[:, np.ptp(table, axis=0) > 0.0]
    return table if table.size else None


def _has_modes(logs: FloatArray) -> bool:
    """Have several columns of a table, (n, P), two modes?

    Each is cut at its widest gap, which must be wide for the scatter that is left in the parts of all.
    """
    n, columns = logs.shape
    ordered = np.sort(logs, axis=0)
    gaps = np.diff(ordered, axis=0)
    cut = gaps.argmax(axis=0)
    slow = np.arange(n)[:, None] > cut
    left = 0.0
    for part in (slow, ~slow):
        means = np.where(part, ordered, 0.0).sum(axis=0) / part.sum(axis=0)
        left += float((np.where(part, ordered - means, 0.0) ** 2).sum())
    inside = math.sqrt(left / ((n - 2) * columns))
    count = np.count_nonzero(gaps.max(axis=0) > max(math.log(_FAR), _DEVIATIONS * inside))
    return bool(count >= max(_LEAST_MODED, _SHARE_MODED * columns))


def _shown(table: FloatArray, *, weighed: bool = False) -> Likeness:
    """Estimate what the columns of a table, (n, P), show together; `weighed`: each by its variance."""
    n, columns = table.shape
    away = table - table.mean(axis=0)
    weights = (away**2).sum(axis=0)
    away /= np.sqrt(weights)
    weights = weights / weights.sum() if weighed else np.full(columns, 1 / columns)
    lags, squares, lags_of_sums = _expected(n)
    lags = lags_of_sums if weighed else lags
    r = float((away[:-1] * away[1:]).sum(axis=0) @ weights)
    by_chance = float(np.interp(np.interp(r, lags, _RHOS), _RHOS, squares))
    between = (float(((away @ away.T) ** 2).sum()) - columns) / max(columns * (columns - 1), 1)
    shared = min(max((between - by_chance) / (1 - by_chance), 0.0), 1.0)
    count = 1 / float(weights @ weights)
    series = count / (1 + (count - 1) * shared)
    error = (n - 2) / (n * math.sqrt(n - 1))  # of r, in random order (Moran, Biometrika 35, 1948)
    return Likeness(float(np.interp(r - error / series, lags, _RHOS)), series)


@functools.lru_cache
def _expected(n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute what n values of AR(1) have in the mean for each of `_RHOS`, shape (rhos,) all.

    It is the lag-1 autocorrelation, the squared correlation with another such series, and the mean of
    products of neighbours over that of squares.

    Along the principal axes of values less their mean, with variances l, the k-th square over the sum of all
    is on average the integral over t > 0 of l_k / (1 + 2 t l_k) prod_j (1 + 2 t l_j)^(-1/2) (Magnus, Annales
    d'Economie et de Statistique 4, 1986). Beyond `_MOST_EXACT` values by Kendall's and Bartlett's formulas.
    """
    if n > _MOST_EXACT:
        lags = _RHOS * (1 - 4 / n) - 1 / n
        return lags, (1 + _RHOS**2) / (1 - _RHOS**2) / n, lags
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    t = np.exp(_REACH * nodes)
    shift, centring = np.eye(n, k=1), np.eye(n) - 1 / n
    lags, squares, sums = (np.empty_like(_RHOS) for _ in range(3))
    for k, rho in enumerate(_RHOS):
        variances, axes = np.linalg.eigh(centring @ covariance_of(n, float(rho)) @ centring)
        shares, axes = variances[1:] / variances[1:].sum(), axes[:, 1:]
        falls = 1 / (1 + 2 * np.outer(t, shares))
        mean_squares = shares * ((np.sqrt(falls.prod(axis=1)) * t * weights * _REACH) @ falls)
        products = np.einsum("ik,ij,jk->k", axes, shift, axes)
        lags[k], squares[k], sums[k] = mean_squares @ products, mean_squares @ mean_squares, shares @ products
    return lags, squares, sums


def covariance_of(n: int, rho: float) -> FloatArray:
    """Make the covariances of n values of an AR(1) of unit variance, (n, n)."""
    return np.asarray(rho ** np.abs(np.subtract.outer(np.arange(n), np.arange(n))), dtype=np.float64)


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
