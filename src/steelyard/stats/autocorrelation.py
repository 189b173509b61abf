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
_STAYING = 0.2  # rho from which launches with modes stay in them
_FAR, _DEVIATIONS = 1.1, 4.0  # of modes, as `modes.MODE_GAP` and `modes.MODE_NOISE`
_LEAST_MODED, _SHARE_MODED = 2, 0.05  # series with modes, and their share, from which a folder has them
_MOST_MISSED = 0.02  # share of test cases that may have all launches in the rarer of two modes
_MOST_APART = math.log(3.0)  # modes of a machine: further off is an accident, as of a launch without a CPU
_FARTHEST = 0.9  # quantile of how far modes of test cases are apart, which a mode that nobody saw may be
_SLOW_RHO = 0.9  # of what changes slowly beneath launches that scatter
_RHOS = np.linspace(0.0, 0.95, 20)
_WEIGHTS = np.linspace(0.0, 1.0, 21)  # of what changes slowly, in the variance
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

    `rho` is that of an AR(1), 0 to 0.9; `series` is how many independent test cases show it. `slow`: the same
    of an AR(1) whose means are as uncertain as those of what changes slowly beneath scatter. `apart`: they
    stay in modes, and all launches of a test case may be in one; another one may be so far off, as the
    logarithm of a ratio of times. 0 where that is too seldom to matter.
    """

    rho: float = 0.0
    series: float = 0.0
    slow: float = 0.0
    apart: float = 0.0

    @property
    def of_means(self) -> float:
        """The rho by which intervals for means are wider: of what moves all of these launches most."""
        return max(self.rho, self.slow)

    def is_shown(self, launches: int) -> bool:
        """Do the test cases show how alike so few launches are?"""
        return launches >= _LEAST_TOGETHER and self.series >= ENOUGH_SERIES

    def assumes(self, launches: int) -> bool:
        """Does an interval over so few launches assume that they are independent, for nothing shows it?"""
        return 1 < launches < LEAST_IN_TIME and not self.is_shown(launches)


NOT_ALIKE = Likeness()


def common_likeness(series: Iterable[ArrayLike]) -> Likeness:
    """Estimate how alike all of several series in time are at least, such as the test cases of a folder.

    The mean lag-1 autocorrelation r of P series, of their ranks, of their logarithms, or of these with each
    series weighed by its variance, whichever shows most: modes show in the last, for many series may stay in
    one. What a rho makes of it in n values is computed (`_expected`). Series that have something in common
    say less: they are worth m = P / (1 + (P - 1) c), c being their mean squared correlation beyond chance. r
    less its deviation over m is believed, so that a test case alone says little; below `LEAST_IN_TIME` values
    nothing is, unless m is `ENOUGH_SERIES`. So many may also change slowly beneath their scatter, which shows
    little in neighbours and moves all of few launches (`_beneath`), if r less its standard error says so.
    """
    table = _longest(series)
    if table is None:
        return NOT_ALIKE
    ranks = np.stack([ranks_of(column) for column in table.T], axis=1)
    positive = (table > 0.0).all(axis=0)
    logs = np.log(table[:, positive]) if positive.any() else table
    ways = [_shown(ranks), _shown(logs), _shown(logs, weighed=True)]
    rho = min(max(way.rho for way in ways), _MOST_TOGETHER)
    apart = _unseen_mode(logs, rho) if rho >= _STAYING else 0.0
    slow = min(max(_beneath(table) for table in (ranks, logs)), _MOST_TOGETHER)
    alike = Likeness(rho, ways[0].series, slow, apart)
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


def _unseen_mode(logs: FloatArray, rho: float) -> float:
    """Estimate how far off another mode may be than that in which a test case had all its launches.

    Each column of a table, (n, P), is cut at its widest gap, which is one of modes if it is wide for the
    scatter that is left in the parts of all. How far the middles of these are apart tells the others. They
    may have missed a mode if launches stay so long that a share of `_MOST_MISSED` has: where a launch is in
    either of two modes as often and stays with `rho`, all n are in one with a = ((1 + rho) / 2)^(n - 1), and
    a / 2 / (1 - a) test cases have missed theirs for each that shows both. 0 if not.
    """
    n, columns = logs.shape
    ordered = np.sort(logs, axis=0)
    gaps = np.diff(ordered, axis=0)
    cut = gaps.argmax(axis=0)
    slow = np.arange(n)[:, None] > cut
    left, middles = 0.0, []
    for part in (slow, ~slow):
        means = np.where(part, ordered, 0.0).sum(axis=0) / part.sum(axis=0)
        left += float((np.where(part, ordered - means, 0.0) ** 2).sum())
        middles.append(means)
    inside = math.sqrt(left / ((n - 2) * columns))
    distances = middles[0] - middles[1]
    has_both = (gaps.max(axis=0) > max(math.log(_FAR), _DEVIATIONS * inside)) & (distances <= _MOST_APART)
    count, in_one = np.count_nonzero(has_both), ((1 + rho) / 2) ** (n - 1)
    missed = count / columns * in_one / 2 / (1 - in_one)
    if count < max(_LEAST_MODED, _SHARE_MODED * columns) or missed <= _MOST_MISSED:
        return 0.0
    return float(np.quantile(distances[has_both], _FARTHEST))


def _shown(table: FloatArray, *, weighed: bool = False) -> Likeness:
    """Estimate what the columns of a table, (n, P), show together; `weighed`: each by its variance."""
    n = table.shape[0]
    r, series = _mean_lag(table, weighed=weighed)
    lags, _, lags_of_sums = _expected(n)
    believed = r - _error_of_lag(n) / series
    return Likeness(float(np.interp(believed, lags_of_sums if weighed else lags, _RHOS)), series)


def _beneath(table: FloatArray) -> float:
    """Estimate what changes slowly beneath the scatter of columns, (n, P), by what they show together.

    It is the rho of an AR(1) whose means of n values are as uncertain; 0 if columns are too few, or values
    many.
    """
    n = table.shape[0]
    r, series = _mean_lag(table)
    if n > _MOST_EXACT or series < ENOUGH_SERIES:
        return 0.0
    lags, rhos = _of_slow(n)
    return float(np.interp(r - _error_of_lag(n) / math.sqrt(series), lags, rhos))


def _mean_lag(table: FloatArray, *, weighed: bool = False) -> tuple[float, float]:
    """Compute the mean lag-1 autocorrelation of columns, (n, P), and what independent ones they are worth."""
    n, columns = table.shape
    away = table - table.mean(axis=0)
    weights = (away**2).sum(axis=0)
    away /= np.sqrt(weights)
    weights = weights / weights.sum() if weighed else np.full(columns, 1 / columns)
    lags, squares, lags_of_sums = _expected(n)
    r = float((away[:-1] * away[1:]).sum(axis=0) @ weights)
    by_chance = float(np.interp(np.interp(r, lags_of_sums if weighed else lags, _RHOS), _RHOS, squares))
    between = (float(((away @ away.T) ** 2).sum()) - columns) / max(columns * (columns - 1), 1)
    shared = min(max((between - by_chance) / (1 - by_chance), 0.0), 1.0)
    count = 1 / float(weights @ weights)
    return r, count / (1 + (count - 1) * shared)


def _error_of_lag(n: int) -> float:
    """Compute the deviation of r of n values in random order (Moran, Biometrika 35, 1948)."""
    return (n - 2) / (n * math.sqrt(n - 1))


@functools.lru_cache
def _expected(n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute what n values of AR(1) have in the mean for each of `_RHOS`, shape (rhos,) all.

    It is the lag-1 autocorrelation, the squared correlation with another such series, and the mean of
    products of neighbours over that of squares. Beyond `_MOST_EXACT` values by Kendall's and Bartlett's
    formulas.
    """
    if n > _MOST_EXACT:
        lags = _RHOS * (1 - 4 / n) - 1 / n
        return lags, (1 + _RHOS**2) / (1 - _RHOS**2) / n, lags
    means = np.array([_means_of(covariance_of(n, float(rho))) for rho in _RHOS])
    return means[:, 0], means[:, 1], means[:, 2]


def _means_of(covariance: FloatArray) -> tuple[float, float, float]:
    """Compute the means of `_expected` for n normal values with these covariances, (n, n).

    Along the principal axes of values less their mean, with variances l, the k-th square over the sum of all
    is on average the integral over t > 0 of l_k / (1 + 2 t l_k) prod_j (1 + 2 t l_j)^(-1/2) (Magnus, Annales
    d'Economie et de Statistique 4, 1986).
    """
    n = covariance.shape[0]
    nodes, weights = _gauss()
    t = np.exp(_REACH * nodes)
    shift, centring = np.eye(n, k=1), np.eye(n) - 1 / n
    variances, axes = np.linalg.eigh(centring @ covariance @ centring)
    shares, axes = variances[1:] / variances[1:].sum(), axes[:, 1:]
    falls = 1 / (1 + 2 * np.outer(t, shares))
    mean_squares = shares * ((np.sqrt(falls.prod(axis=1)) * t * weights * _REACH) @ falls)
    products = np.einsum("ik,ij,jk->k", axes, shift, axes)
    return float(mean_squares @ products), float(mean_squares @ mean_squares), float(shares @ products)


@functools.lru_cache(1)
def _gauss() -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(_NODES)


@functools.lru_cache
def _of_slow(n: int) -> tuple[FloatArray, FloatArray]:
    """Compute, for each share of the variance that changes slowly beneath scatter (`_WEIGHTS`), two things.

    They are the mean lag-1 autocorrelation of n values, and rho of an AR(1) whose mean is as uncertain beside
    what its values seem to scatter.
    """
    slow, alone = covariance_of(n, _SLOW_RHO), np.eye(n)
    mixed = [weight * slow + (1 - weight) * alone for weight in _WEIGHTS]
    fine = np.linspace(0.0, 0.95, 96)
    of_rhos = [seeming_share(covariance_of(n, float(rho))) for rho in fine]
    rhos = np.interp([seeming_share(covariance) for covariance in mixed], of_rhos, fine)
    return np.array([_means_of(covariance)[0] for covariance in mixed]), rhos


def seeming_share(covariance: FloatArray) -> float:
    """Divide the variance of the mean of n values by that which they seem to have around it.

    `covariance` is theirs, (n, n).
    """
    n = covariance.shape[0]
    centring = np.eye(n) - 1 / n
    return float(covariance.mean() * (n - 1) / np.trace(centring @ covariance @ centring))


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
