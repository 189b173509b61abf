"""Mean, median and deviation of few values, equal to numpy's to the bit.

A report has a thousand test cases, and a launch a thousand values of each. The overhead of numpy's functions
would take longer than the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.stats.arrays import FloatArray

_FEW = 4096  # values, up to which sorting is faster than searching the middle


def mean(values: FloatArray | Sequence[float]) -> float:
    """Compute the mean of at least one value."""
    data = np.asarray(values, dtype=np.float64)
    return float(np.add.reduce(data)) / data.size


def variance(values: FloatArray) -> float:
    """Compute the sample variance of at least two values."""
    away = values - mean(values)
    return float(np.add.reduce(away * away)) / (values.size - 1)


def deviation(values: FloatArray) -> float:
    """Compute the root of `variance`."""
    return math.sqrt(variance(values))


def middle(values: FloatArray | Sequence[float]) -> float:
    """Compute the plain median of at least one value."""
    data = np.asarray(values, dtype=np.float64)
    if data.size > _FEW:
        return float(np.median(data))
    ordered, half = np.sort(data), data.size // 2
    return float(ordered[half]) if data.size % 2 else float(ordered[half - 1] + ordered[half]) / 2


def row_middles(rows: FloatArray) -> FloatArray:
    """Compute the plain median of each row of a matrix with at least one column, shape (rows,)."""
    if rows.size > _FEW:
        return np.asarray(np.median(rows, axis=1), dtype=np.float64)
    ordered, half = np.sort(rows, axis=1), rows.shape[1] // 2
    return ordered[:, half] if rows.shape[1] % 2 else (ordered[:, half - 1] + ordered[:, half]) / 2
