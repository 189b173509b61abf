"""Two arms that were measured at two sittings, not by turns: a test of their difference under an assumption.

Launches of one sitting are alike, and another hour is another machine. The effect of an hour on all its
launches is in the difference of two sittings, and in no scatter inside either. One sitting each does not show
it, so it is assumed to be as large as the scatter of launches, and `LEAST_HOUR` at least (on a shared machine
the variance between sittings was 1 to 5 times that of launches within). That is an assumption, no estimate.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from steelyard.stats.swaps import Swapped

LEAST_HOUR = 0.03  # of a time, as a standard deviation


def compare_sittings(
    first: NDArray[np.float64], second: NDArray[np.float64], *, level: float = 0.99
) -> Swapped:
    """Compare arm B with arm A over P columns, n and m launches.

    first: (n, P), second: (m, P), logarithms of launch medians, nan where a launch has none. The interval is
    Student's t on n + m - 2 degrees of freedom with the variance s^2 (1/n + 1/m) + 2 h^2, where s^2 is that
    of launches within a sitting and h = max(s, LEAST_HOUR) the effect of a sitting; simultaneous over P by
    Bonferroni. Raises ValueError if the columns differ in number.
    """
    if first.shape[1] != second.shape[1]:
        raise ValueError("both sittings need the same columns")
    columns = [_column(a, b, level, first.shape[1]) for a, b in zip(first.T, second.T, strict=True)]
    estimate, low, high, p, launches, error = (np.array(one) for one in zip(*columns, strict=True))
    return Swapped(estimate, low, high, p, launches, low, high, error)


def _column(
    a: NDArray[np.float64], b: NDArray[np.float64], level: float, family: int
) -> tuple[float, float, float, float, int, float]:
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    n, m = a.size, b.size
    if min(n, m) < 2:
        return math.nan, math.nan, math.nan, 1.0, min(n, m), math.nan
    freedom = n + m - 2
    variance = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / freedom
    hour = max(variance, LEAST_HOUR**2)
    error = math.sqrt(variance * (1 / n + 1 / m) + 2 * hour)
    estimate = float(b.mean() - a.mean())
    half = float(-stdtrit(freedom, (1 - level) / 2 / family)) * error
    p = min(1.0, family * 2 * float(stdtr(freedom, -abs(estimate) / error)))
    return estimate, estimate - half, estimate + half, p, min(n, m), error
