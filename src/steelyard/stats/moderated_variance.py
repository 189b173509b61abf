"""Scatter from few values: the variance of each column, drawn towards that which all have in common.

A variance v with n - 1 degrees of freedom and a common one v0 give (4 v0 + (n - 1) v) / (n + 3), as if v0
were seen in 4 values more. The t of a mean over it is moderated (Smyth, SAGMB 3, 2004).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray

_PRIOR = 4  # values that the common variance counts for


def moderated_variance(squares: FloatArray, count: int | NDArray[np.int64], common: FloatArray) -> FloatArray:
    """Draw variances towards `common`; `squares` are the sums of squares around the means of `count` values.

    All shapes that broadcast.
    """
    return np.asarray((_PRIOR * common + squares) / (count + _PRIOR - 1))


def degrees_of(pairs: NDArray[np.int64], columns: int) -> NDArray[np.int64]:
    """Count the degrees of freedom of a column's scatter by its pairs, and by what others lend it."""
    return np.asarray(np.maximum(pairs - 1 if columns == 1 else pairs + _PRIOR - 1, 1))
