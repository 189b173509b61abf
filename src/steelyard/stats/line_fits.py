"""Straight lines, and sums of a few shapes, through measured values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.fast_stats import row_middles
from steelyard.stats.interval import Estimate
from steelyard.stats.probability_distributions import beta_cdf, normal_quantile

LEAST_SIZES = 3  # of a piece: two make any line exact
MOST_PIECES = 3  # eager, rendezvous, and one more for the caches
BREAK_P = 0.01  # that noise alone makes a change of protocol
LEAST_ERROR = 0.01  # relative: a smaller error of a line is no change of protocol
_APART = 1e-13  # relative: nearer sums are equal, and columns of one direction are not divided by 0


def relative_fit(shapes: FloatArray, times: Sequence[float]) -> FloatArray:
    """Fit the sum of `shapes` (count, terms) to `times`, all positive, in relative least squares.

    Returns the factor of each shape, shape (terms,). Times of us and of s have equal weight, because the
    errors of times are nearly relative.
    """
    values = np.asarray(times, dtype=np.float64)
    factors, *_ = np.linalg.lstsq(shapes / values[:, None], np.ones(values.size), rcond=None)
    return np.asarray(factors, dtype=np.float64)


def slope_interval(x: FloatArray, y: FloatArray, level: float = 0.95) -> Estimate | None:
    """Estimate the slope of y over x: the median of the slopes between all pairs of points, robust against
    outliers.

    `x` and `y` of shape (count,); the interval is that of Kendall's rank correlation (Theil 1950, Sen 1968,
    Journal of the American Statistical Association 63, 1379). None if no two x differ. Time and memory grow
    with the square of `count`.
    """
    if x.size < 2 or np.ptp(x) == 0:
        return None
    along, up = np.subtract.outer(x, x), np.subtract.outer(y, y)
    slopes = np.sort(up[along > 0] / along[along > 0])
    orders = _orders(x.size) - sum(_orders(count) for values in (x, y) for count in _repeats(values))
    inside = -normal_quantile((1 - level) / 2) * math.sqrt(max(orders, 0) / 18)  # equal y and some equal x
    low = max(round((slopes.size - inside) / 2) - 1, 0)
    high = min(round((slopes.size + inside) / 2), slopes.size - 1)
    ends = float(slopes[low]), float(slopes[high])
    return Estimate(float(np.median(slopes)), *ends, level, n=x.size, kind="ranks")


def _repeats(values: FloatArray) -> list[int]:
    """List how often each value comes that comes more than once."""
    counts = np.unique(values, return_counts=True)[1]
    return [count for count in counts.tolist() if count > 1]


def _orders(count: int) -> int:
    """Compute 18 times the variance of Kendall's sum over so many things."""
    return count * (count - 1) * (2 * count + 5)


def nonnegative_fits(designs: FloatArray, values: FloatArray) -> FloatArray:
    """Fit `values` (..., n) as sums of the columns of `designs` (..., n, k), in least squares, by factors
    (..., k) that are not below 0; each of a stack by itself.

    The solution is the plain fit of those columns that have a factor above 0 (Lawson and Hanson, Solving
    least squares problems, 1974, chapter 23). So all sets of columns are tried, and of those whose fit has no
    factor below 0 the nearest is it: 2^k fits, for few columns. Among sets that are
    equally near it is the one of fewer columns.
    """
    lengths = np.linalg.norm(designs, axis=-2)
    scales = np.where(lengths > 0, lengths, 1.0)
    scaled = np.swapaxes(designs / scales[..., None, :], -1, -2)  # (..., k, n)
    products = scaled @ np.swapaxes(scaled, -1, -2)
    moments = (scaled @ values[..., None])[..., 0]
    factors, explained = np.zeros_like(moments), np.zeros(moments.shape[:-1])
    terms = range(moments.shape[-1])
    for chosen in (list(columns) for size in terms for columns in itertools.combinations(terms, size + 1)):
        apart = _APART * np.eye(len(chosen))
        solved = np.linalg.solve(products[..., chosen, :][..., chosen] + apart, moments[..., chosen, None])[
            ..., 0
        ]
        gain = np.sum(solved * moments[..., chosen], axis=-1)
        is_nearer = (solved >= 0).all(axis=-1) & (gain > explained * (1 + _APART) + _APART)
        with_others = np.zeros_like(moments)
        with_others[..., chosen] = solved
        factors = np.where(is_nearer[..., None], with_others, factors)
        explained = np.where(is_nearer, gain, explained)
    return np.asarray(factors / scales)


@dataclass(frozen=True, slots=True)
class Piece:
    """A line over sizes from `least` bytes up to where the next begins: `start` ns + `slope` ns per byte."""

    least: int
    start: float
    slope: float

    def at(self, size: float) -> float:
        """Compute its ns at a size."""
        return self.start + self.slope * size


def fit_pieces(sizes: Sequence[int], times: Sequence[float], breaks: Sequence[int]) -> tuple[Piece, ...]:
    """Fit a line through each piece of ascending `sizes`; one begins at each of `breaks`, which are sizes.

    Neither factor is below 0: no message takes less than no time, and longer ones do not take less. Raises
    ValueError for a piece without sizes.
    """
    x, y = np.asarray(sizes, dtype=np.float64), np.asarray(times, dtype=np.float64)
    edges = [int(sizes[0]), *breaks]
    pieces = []
    for least, end in itertools.zip_longest(edges, edges[1:], fillvalue=math.inf):
        inside = (x >= least) & (x < end)
        if not inside.any():
            raise ValueError(f"no size between {least} and {end}")
        pieces.append(Piece(int(least), *_line(x[inside], y[inside])))
    return tuple(pieces)


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Fit start and slope, neither below 0."""
    ones = np.ones(x.size)
    start, slope = relative_fit(np.stack((ones, x), axis=1), y.tolist()) if x.size > 1 else (y[0], 0.0)
    if slope < 0:
        return float(relative_fit(ones[:, None], y.tolist())[0]), 0.0
    if start < 0:
        return 0.0, float(relative_fit(x[:, None], y.tolist())[0])
    return float(start), float(slope)


def find_breaks(sizes: Sequence[int], launches: Sequence[Sequence[float]]) -> tuple[int, ...]:
    """Find where times over ascending sizes change their line: pieces that explain more than the noise would.

    `launches[i]` are the times of launch i, one for each size. At most 3 pieces of at least 3 sizes each,
    fitted to the medians over launches. More pieces are taken if an F test finds a smaller error (p <
    `BREAK_P`, times the number of ways to cut), the fewest first. Its noise is that of the medians, from the
    scatter of launches about what they share (`median_noise`), and never below 1 %. With one launch it is the
    error of the larger number of pieces.
    """
    x, table = np.asarray(sizes, dtype=np.float64), np.asarray(launches, dtype=np.float64)
    times = row_middles(table.T)
    noise, freedom = median_noise(table)

    def missed(breaks: tuple[int, ...]) -> float:
        lines = fit_pieces(sizes, times.tolist(), breaks)
        return float(np.sum((pieces_at(lines, x) / times - 1.0) ** 2))

    best: tuple[int, ...] = ()
    divisions = _divisions(sizes)
    for count in range(1, MOST_PIECES):
        ways = [cut for cut in divisions if len(cut) == count]
        if not ways:
            break
        found = min(ways, key=missed)
        left = x.size - 2 * (count + 1)
        error = max(noise, LEAST_ERROR) ** 2 if freedom else max(missed(found) / max(1, left), LEAST_ERROR**2)
        added = 2 * (count - len(best))
        ratio = (missed(best) - missed(found)) / added / error
        if len(ways) * f_tail(added, freedom or max(1, left), ratio) < BREAK_P:
            best = found
    return best


def f_tail(more: int, freedom: int, ratio: float) -> float:
    """Compute the chance that an F ratio of `more` and `freedom` degrees is above one."""
    return beta_cdf(freedom / 2, more / 2, freedom / (freedom + more * max(ratio, 0.0)))


def median_noise(launches: FloatArray) -> tuple[float, int]:
    """Estimate the relative standard error of a median over launches, and its degrees of freedom; (0, 0) for
    one.

    `launches` of shape (launches, sizes). The effects of each launch on all its sizes, and of each size, are
    subtracted from the logarithms; pi / 2 is the variance of a median over that of a mean.
    """
    rows, columns = launches.shape
    if rows < 2 or columns < 2:
        return 0.0, 0
    logs = np.log(launches)
    left = logs - logs.mean(axis=0) - logs.mean(axis=1)[:, None] + logs.mean()
    freedom = (rows - 1) * (columns - 1)
    return math.sqrt(float(np.sum(left**2)) / freedom / rows * math.pi / 2), freedom


def _divisions(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """List every way to cut sizes into pieces of enough of them, the one piece first."""
    places = range(LEAST_SIZES, len(sizes) - LEAST_SIZES + 1)
    cuts = [
        cut
        for count in range(MOST_PIECES)
        for cut in itertools.combinations(places, count)
        if all(b - a >= LEAST_SIZES for a, b in itertools.pairwise(cut))
    ]
    return [tuple(sizes[i] for i in cut) for cut in cuts]


def pieces_at(pieces: Sequence[Piece], sizes: FloatArray | float) -> FloatArray:
    """Compute the ns at each size; shape as `sizes`. Below the first piece it is the first that counts."""
    x = np.asarray(sizes, dtype=np.float64)
    which = np.searchsorted([piece.least for piece in pieces], x, side="right") - 1
    which = np.maximum(which, 0)
    start, slope = (np.array([getattr(piece, name) for piece in pieces]) for name in ("start", "slope"))
    return np.asarray(start[which] + slope[which] * x)
