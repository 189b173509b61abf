"""Distributions whose quantiles and tails intervals need, as functions of single numbers.

scipy has them, too, but its import takes longer than reading a results folder, and it takes half of the room
of an installation. They agree with it to ten figures (`tests/unit/test_stats_probability_distributions.py`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.gamma import gamma_below

_NORMAL = NormalDist()
_PRECISION = 1e-15  # relative, of a sum
_LAST_STEP = 1e-8  # relative, of a search: Newton's step leaves about its square
_MOST_EXACT = 500  # throws: whole numbers of more figures take longer than logarithms
_TINY = 1e-300  # in place of a divisor of 0
_MOST_TERMS = 20_000  # of a continued fraction: some hundreds at a million degrees of freedom
_MOST_STEPS = 200  # of a search for a quantile: each halves the distance at least
_GRID = np.linspace(-9.0, 9.0, 18 * 64 + 1)  # beyond its ends the normal distribution is 0 or 1 to 18 figures


def normal_quantile(p: float) -> float:
    """Compute the quantile of the standard normal distribution."""
    return _NORMAL.inv_cdf(p)


def normal_cdf(x: FloatArray) -> FloatArray:
    """Compute the probability of a value below each x of the standard normal distribution; shape as `x`.

    By the first five terms of Taylor's series about the nearest place of a grid: right to 12 decimals.
    """
    probability, density = _normal_grid()
    inside = np.clip(x, _GRID[0], _GRID[-1])
    nearest = np.rint((np.nan_to_num(inside) - _GRID[0]) / (_GRID[1] - _GRID[0])).astype(np.intp)
    z = _GRID[nearest]
    d = inside - z
    series = d * (1 - d * (z / 2 - d * ((z * z - 1) / 6 - d * z * (z * z - 3) / 24)))
    return np.asarray(probability[nearest] + density[nearest] * series)


@functools.cache
def _normal_grid() -> tuple[FloatArray, FloatArray]:
    probability = np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in _GRID.tolist()])
    return probability, np.exp(-np.square(_GRID) / 2) / math.sqrt(2 * math.pi)


@functools.lru_cache(maxsize=4096)
def chi_square_quantile(degrees: float, p: float) -> float:
    """Compute the quantile of the chi-squared distribution; p is above 0 and below 1."""
    half = degrees / 2
    high = max(degrees, 1.0)
    while gamma_below(half, high / 2) < p:
        high *= 2

    def excess(x: float) -> tuple[float, float]:
        density = math.exp((half - 1) * math.log(x / 2) - x / 2 - math.lgamma(half)) / 2
        return gamma_below(half, x / 2) - p, density

    part = 2 / (9 * degrees)  # Wilson and Hilferty's cube of a normal number
    return _root(excess, 0.0, high, degrees * (1 - part + _NORMAL.inv_cdf(p) * math.sqrt(part)) ** 3)


def hypergeometric_tail(least: int, drawn: int, marked: int, whole: int) -> float:
    """Compute the probability of `least` or more marked ones among those `drawn` of a `whole`."""
    ways = (
        math.comb(marked, k) * math.comb(whole - marked, drawn - k)
        for k in range(least, min(drawn, marked) + 1)
        if drawn - k <= whole - marked
    )
    return sum(ways) / math.comb(whole, drawn)


@functools.lru_cache(maxsize=4096)
def student_quantile(degrees: float, p: float) -> float:
    """Compute the quantile of Student's t with so many degrees of freedom, which may be no whole number."""
    if p >= 0.5:
        return _student_above(degrees, 1 - p)
    return -_student_above(degrees, p)


def student_tail(degrees: float, t: float) -> float:
    """Compute the probability of a value above `t`, which is 0 or more, of Student's t."""
    squared = t * t / degrees
    return _beta_below(degrees / 2, 0.5, 1 / (1 + squared), squared / (1 + squared)) / 2


def _student_above(degrees: float, tail: float) -> float:
    """Find the value that Student's t exceeds with probability `tail`, 0.5 at most."""
    if tail <= 0 or tail >= 0.5:
        return math.inf if tail <= 0 else 0.0
    high = 1.0
    while student_tail(degrees, high) > tail:
        high *= 2
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2

    def excess(t: float) -> tuple[float, float]:
        found = student_tail(degrees, t)
        density = math.exp(scale - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        return math.log(tail / found), density / found

    z = -_NORMAL.inv_cdf(tail)  # the first terms of Cornish and Fisher's expansion
    return _root(excess, 0.0, high, z + z * (z * z + 1) / (4 * degrees))


@functools.lru_cache(maxsize=4096)
def beta_quantile(a: float, b: float, p: float) -> float:
    """Compute the quantile of the beta distribution."""

    def excess(x: float) -> tuple[float, float]:
        density = math.exp((a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - _log_beta(a, b))
        return beta_cdf(a, b, x) - p, density

    return _root(excess, 0.0, 1.0, a / (a + b))


def _root(excess: Callable[[float], tuple[float, float]], low: float, high: float, guess: float) -> float:
    """Find where a rising function, which gives its value and its slope, is 0: by Newton's steps inside a
    bracket, from a first guess.
    """
    at = guess if low < guess < high else (low + high) / 2
    for _ in range(_MOST_STEPS):
        value, slope = excess(at)
        low, high = (low, at) if value > 0 else (at, high)
        there = at - value / slope if slope > 0 else math.inf
        if not low <= there <= high:
            there = (low + high) / 2
        if abs(there - at) <= _LAST_STEP * there:
            return there
        at = there
    return at


def beta_cdf(a: float, b: float, x: float) -> float:
    """Compute the probability of a value below x, from 0 to 1, of the beta distribution."""
    return _beta_below(a, b, x, 1 - x)


def _beta_below(a: float, b: float, x: float, rest: float) -> float:
    """Compute the same; `rest` is 1 - x, which has figures of its own where x is nearly 1.

    By the continued fraction in Lentz's way (Press and others, Numerical Recipes, 2007, section 6.4).
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta_below(b, a, rest, x)
    factor = math.exp(a * math.log(x) + b * math.log(rest) - _log_beta(a, b)) / a
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d, c = 1.0 / _not_zero(1.0 + term * d), _not_zero(1.0 + term / c)
            step = c * d
            total *= step
        if abs(step - 1.0) <= _PRECISION:
            break
    return factor * total


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def half_binomial_cdf(count: int) -> FloatArray:
    """Compute the probability of at most k heads in `count` throws of a coin, for k from 0 to below half.

    Terms follow from that in the middle, so that none is lost by rounding. Shape: half of `count`, rounded
    up.
    """
    below = (count + 1) // 2
    k = np.arange(below, 0, -1)
    terms = _half_binomial(count, below) * np.cumprod(k / (count - k + 1.0))
    return np.asarray(np.cumsum(terms[::-1]))


def _half_binomial(count: int, heads: int) -> float:
    if count <= _MOST_EXACT:
        return math.comb(count, heads) / (1 << count)
    chosen = math.lgamma(count + 1) - math.lgamma(heads + 1) - math.lgamma(count - heads + 1)
    return math.exp(chosen - count * math.log(2))
