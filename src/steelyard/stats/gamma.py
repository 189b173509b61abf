"""The gamma function's relatives, as functions of single numbers above 0.

scipy has them, too; `probability_distributions.py` says why it is not used. They agree with it to ten figures
(`tests/unit/test_stats_probability_distributions.py`). Formulas: Abramowitz and Stegun, Handbook of
Mathematical Functions, 1964, chapter 6.
"""

from __future__ import annotations

import math

_FAR = 12.0  # from here on the series below have ten figures and more
_PRECISION = 1e-15  # relative, of a sum
_MOST_TERMS = 20_000  # of a sum: some hundreds at a million degrees of freedom
_TINY = 1e-300  # in place of a divisor of 0


def digamma(x: float) -> float:
    """Compute the derivative of the logarithm of the gamma function (6.3.5, 6.3.18)."""
    below = 0.0
    while x < _FAR:
        below += 1 / x
        x += 1
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return math.log(x) - 0.5 / x - series - below


def trigamma(x: float) -> float:
    """Compute the second derivative of that logarithm (6.4.6, 6.4.12)."""
    below = 0.0
    while x < _FAR:
        below += 1 / (x * x)
        x += 1
    y = 1 / (x * x)
    series = (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66)))) * y / x
    return 1 / x + y / 2 + series + below


def gamma_below(a: float, x: float) -> float:
    """Compute the share of the gamma function's integral below x, which is 0 or more (6.5.29, 6.5.31)."""
    if x <= 0:
        return 0.0
    factor = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x >= a + 1:
        return 1.0 - factor * _fraction_above(a, x)
    term = total = 1 / a
    for n in range(1, _MOST_TERMS):
        term *= x / (a + n)
        total += term
        if term <= total * _PRECISION:
            break
    return factor * total


def _fraction_above(a: float, x: float) -> float:
    """Compute the continued fraction of the share above x, in Lentz's way (Numerical Recipes, 2007, 6.2)."""
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    total = d
    for n in range(1, _MOST_TERMS):
        b += 2
        term = -n * (n - a)
        d, c = term * d + b, b + term / c
        d = 1 / (d if abs(d) > _TINY else _TINY)
        c = c if abs(c) > _TINY else _TINY
        total *= c * d
        if abs(c * d - 1.0) <= _PRECISION:
            break
    return total
