"""The shape of several series of one thing together, with equal weight for each series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.stats.arrays import FloatArray

LEAST_TICK = 1e-3  # of the narrowest bin: a smaller tick moves nothing, and its areas would cancel


def _sorted(series: Sequence[FloatArray], from_top: bool = False) -> tuple[FloatArray, FloatArray]:
    """Sort all values, and compute the share of the whole up to each, or from each on."""
    pooled = np.concatenate(series)
    if len({values.size for values in series}) == 1:  # all values have equal weight
        pooled.sort()
        counts = np.arange(1, pooled.size + 1)
        return pooled, (counts[::-1] if from_top else counts) / pooled.size
    weights = np.concatenate([np.full(values.size, 1.0 / values.size / len(series)) for values in series])
    order = np.argsort(pooled)
    weights = weights[order]
    return pooled[order], np.cumsum(weights[::-1])[::-1] if from_top else np.cumsum(weights)


def cumulated(series: Sequence[FloatArray], count: int) -> FloatArray:
    """Compute quantiles at `count` shares from 0 to 1 of series that each have values; shape (count,)."""
    values, shares = _sorted(series)
    where = np.searchsorted(shares, np.linspace(0.0, 1.0, count) - 1e-9)
    return np.asarray(values[np.minimum(where, values.size - 1)])


def exceeded(series: Sequence[FloatArray], count: int) -> tuple[FloatArray, FloatArray]:
    """Compute the tail of series that each have values: times, and the share of values at or above each.

    Shapes (any,): at most `count` shares that fall from 1 to that of the largest value alone, evenly in their
    logarithms, so that rare values stay visible among the common ones.
    """
    values, above = _sorted(series, from_top=True)
    shares = np.geomspace(1.0, above[-1], count)
    where = values.size - 1 - np.searchsorted(above[::-1], shares * (1 - 1e-9))
    kept = np.unique(np.searchsorted(values, values[np.maximum(where, 0)]))  # the first of equal ones
    return np.asarray(values[kept]), np.asarray(above[kept])


def binned(series: Sequence[FloatArray], ticks: Sequence[float], edges: FloatArray) -> FloatArray:
    """Compute the share of the values in each bin between `edges`, ascending; shape (edges - 1,).

    A value that a clock has rounded to its tick is spread over a tick, because the true one was within half a
    tick of it. Otherwise bins narrower than the tick would be a comb.
    """
    below = np.zeros(edges.size)
    for values, tick in zip(series, ticks, strict=True):
        below += _share_below(np.sort(values), tick, edges)
    return np.asarray(np.diff(below) / len(series))


def _share_below(values: FloatArray, tick: float, edges: FloatArray) -> FloatArray:
    """Compute the share of sorted values below each edge, each spread over a tick: the steps' mean there."""
    if tick <= LEAST_TICK * float(np.diff(edges).min()):
        return np.asarray(np.searchsorted(values, edges) / values.size)
    sums = np.concatenate(([0.0], np.cumsum(values - values[0])))

    def area(x: FloatArray) -> FloatArray:
        count = np.searchsorted(values, x)
        return np.asarray(count * (x - values[0]) - sums[count])

    return np.asarray((area(edges + tick / 2) - area(edges - tick / 2)) / tick / values.size)
