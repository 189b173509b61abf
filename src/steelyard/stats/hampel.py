"""Things that stand out among those that should be alike, such as the hosts of a machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray

LEAST_ALIKE = 4  # fewer do not show which of them is the odd one
LEAST_APART = 0.1  # of a time: a smaller difference does not matter
_SIGMAS = 4.0  # robust standard deviations: one of 16,000 things that are alike
_MAD_SIGMA = 1.4826  # standard deviations in a median absolute deviation, of normal scatter


def hampel_outliers(values: FloatArray) -> NDArray[np.bool_]:
    """Find which of n things that should be alike stand out; shape (n,), of positive values, nan for unknown
    ones.

    One stands out if its logarithm is further from the median of all than four standard deviations, estimated
    by the median absolute deviation (Hampel 1974), and than 10 %. None does among fewer than `LEAST_ALIKE`.
    """
    known = np.isfinite(values)
    if np.count_nonzero(known) < LEAST_ALIKE:
        return np.zeros(values.shape, dtype=bool)
    logs = np.log(np.where(known, values, 1.0))
    away = np.abs(logs - np.median(logs[known]))
    sigma = _MAD_SIGMA * float(np.median(away[known]))
    return np.asarray(known & (away > max(_SIGMAS * sigma, float(np.log1p(LEAST_APART)))))
