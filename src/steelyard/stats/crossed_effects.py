"""The mean of values that vary by two things at once, such as draws and launches, with its interval."""

from __future__ import annotations

import math

from steelyard.stats.arrays import FloatArray
from steelyard.stats.fast_stats import mean
from steelyard.stats.interval import Estimate, mean_half

LEAST_ROWS, LEAST_COLUMNS = 3, 2


def crossed_interval(values: FloatArray, level: float = 0.95) -> Estimate:
    """Estimate the mean of `values` (rows, columns), both drawn at random and crossed, with its interval.

    The variance of the mean is that of row means over rows plus that of column means over columns, which
    counts what rows and columns do together twice, so it is not too small (Searle, Casella and McCulloch,
    Variance Components, 1992, chapter 4). Each part has its own degrees of freedom: the half-width is the
    root of the sum of the squares of both Student half-widths, which is wider than Satterthwaite's. Raises
    ValueError for fewer than three rows or two columns.
    """
    rows, columns = values.shape
    if rows < LEAST_ROWS or columns < LEAST_COLUMNS:
        raise ValueError(f"an interval needs {LEAST_ROWS} rows and {LEAST_COLUMNS} columns at least")
    halves = (mean_half(values.mean(axis=1), level), mean_half(values.mean(axis=0), level))
    half = math.hypot(*halves)
    centre = mean(values.ravel())
    return Estimate(centre, centre - half, centre + half, level, columns, "crossed")
