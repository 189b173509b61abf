"""Quantiles of data that a clock has rounded to its tick."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.stats.arrays import FloatArray

_FEW = 4096  # values, up to which sorting is faster than the overhead of numpy's quantile


def median(values: ArrayLike, tick: float = 0.0) -> float:
    """Compute the grouped median of `values` (any unit) that are multiples of `tick` (same unit), plus any
    constant.

    With tick 0 the plain median. See `quantile`. Raises ValueError without values.
    """
    return quantile(values, (0.5,), tick)[0]


def quantile(values: ArrayLike, probabilities: Sequence[float], tick: float = 0.0) -> tuple[float, ...]:
    """Compute quantiles of `values`, interpolated inside the tick that holds them, in the order of
    `probabilities`.

    A duration between two readings of a clock with tick q is a multiple of q, although the true one is not:
    one of k + f ticks reads k in a share 1 - f of cases and k + 1 in a share f. The grouped-data quantile L +
    (np - F) / f q (cell of width q around the sample quantile, lower edge L, F values below it, f inside)
    undoes the rounding to about a tenth of a tick, where a plain median jumps by whole ticks. Formula: the
    median of grouped data, in any introduction to statistics. With tick 0 the sample quantile, linear between
    order statistics. Never outside the range of the values. Raises ValueError without values, or for a
    probability outside 0..1.
    """
    data = np.asarray(values, dtype=np.float64).ravel()
    if data.size == 0:
        raise ValueError("a quantile needs at least one value")
    if any(not 0.0 <= p <= 1.0 for p in probabilities):
        raise ValueError("a probability lies between 0 and 1")
    if tick <= 0.0:
        return tuple(row_quantiles(data[None], probabilities)[:, 0].tolist())
    ordered = np.sort(data)
    return tuple(_in_tick(ordered, p, tick) for p in probabilities)


def pooled_quantile(
    series: Sequence[ArrayLike], probabilities: Sequence[float], tick: float = 0.0
) -> tuple[float, ...]:
    """Compute quantiles of several series together with equal weights, however many values each has.

    It is the least value up to which the series hold a share p between them, each value of a series of n
    counting 1 / n. With tick 0 as it is; else interpolated inside the tick that holds it, as `quantile` does.
    Raises ValueError without values, or for a probability outside 0..1.
    """
    parts = [np.asarray(one, dtype=np.float64).ravel() for one in series]
    parts = [part for part in parts if part.size]
    if not parts:
        raise ValueError("a quantile needs at least one value")
    if len({part.size for part in parts}) == 1:
        return quantile(np.concatenate(parts), probabilities, tick)
    if any(not 0.0 <= p <= 1.0 for p in probabilities):
        raise ValueError("a probability lies between 0 and 1")
    parts = [np.sort(part) for part in parts]  # merging sorted ones takes less than sorting all
    data = np.concatenate(parts)
    weight = np.concatenate([np.full(part.size, 1.0 / part.size / len(parts)) for part in parts])
    order = np.argsort(data, kind="stable")
    data, share = data[order], np.cumsum(weight[order])
    return tuple(_weighted(data, share, p, tick) for p in probabilities)


def _weighted(data: FloatArray, share: FloatArray, p: float, tick: float) -> float:
    """Compute one quantile of sorted data with cumulated shares."""
    at = min(int(np.searchsorted(share, p * (1 - 1e-12), side="left")), data.size - 1)
    middle = float(data[at])
    if tick <= 0.0:
        return middle
    first = int(np.searchsorted(data, middle - tick / 2, side="left"))
    last = int(np.searchsorted(data, middle + tick / 2, side="right")) - 1
    below = float(share[first - 1]) if first else 0.0
    value = middle - tick / 2 + (p - below) / (float(share[last]) - below) * tick
    return float(min(max(value, data[0]), data[-1]))


def _cell(p: float, size: int) -> tuple[float, int, int]:
    """Count how many of `size` sorted values lie below a quantile, and find the two whose middle it is."""
    target = round(p * size, 9)
    return target, min(max(math.ceil(target) - 1, 0), size - 1), min(math.floor(target), size - 1)


def _in_tick(ordered: FloatArray, p: float, tick: float) -> float:
    """Compute the grouped quantile of sorted values, or the sample quantile if its cell is empty."""
    target, lower, upper = _cell(p, ordered.size)
    middle = (float(ordered[lower]) + float(ordered[upper])) / 2
    below = int(np.searchsorted(ordered, middle - tick / 2, side="left"))
    inside = int(np.searchsorted(ordered, middle + tick / 2, side="right")) - below
    if inside <= 0:
        return middle
    value = middle - tick / 2 + (target - below) / inside * tick
    return min(max(value, float(ordered[0])), float(ordered[-1]))


def row_quantiles(rows: FloatArray, probabilities: Sequence[float], tick: float = 0.0) -> FloatArray:
    """Compute `quantile` of each row of a matrix of shape (count, size), as shape (probabilities, count)."""
    if tick <= 0.0 and rows.size > _FEW:
        return np.asarray(np.quantile(rows, probabilities, axis=1), dtype=np.float64)
    ordered = np.sort(rows, axis=1)  # faster than a partition at several places
    if tick <= 0.0:
        return np.array([_between(ordered, p) for p in probabilities])
    return np.array([_grouped(ordered, p, tick) for p in probabilities])


def _between(ordered: FloatArray, p: float) -> FloatArray:
    """Compute sample quantiles of sorted rows, linear between two values, equal to numpy's to the bit."""
    at = (ordered.shape[1] - 1) * p
    first = math.floor(at)
    share = at - first
    low, high = ordered[:, first], ordered[:, min(first + 1, ordered.shape[1] - 1)]
    rise = high - low
    return np.asarray(high - rise * (1 - share) if share >= 0.5 else low + rise * share)


def _grouped(ordered: FloatArray, p: float, tick: float) -> FloatArray:
    """Compute grouped quantiles of sorted rows, the sample quantiles if their cells are empty."""
    target, lower, upper = _cell(p, ordered.shape[1])
    middle = (ordered[:, lower] + ordered[:, upper]) / 2
    below = np.add.reduce(ordered < (middle - tick / 2)[:, None], axis=1)
    inside = np.add.reduce(ordered <= (middle + tick / 2)[:, None], axis=1) - below
    value = middle - tick / 2 + (target - below) / np.maximum(inside, 1) * tick
    clipped = np.minimum(np.maximum(value, ordered[:, 0]), ordered[:, -1])
    return np.asarray(np.where(inside > 0, clipped, middle), dtype=np.float64)
