"""Two arms that were measured as neighbours, compared over all test cases at once by swapping them.

Pair i holds a launch of arm A and one of arm B that followed each other, in an order chosen by a coin. If the
arms are the same, the value of each slot does not depend on the arm. Swapping A and B of whole pairs then
changes only the signs of the differences: a randomisation test (Fisher, The Design of Experiments, 1935),
exact with any modes, drifts, tails or correlations between test cases. The largest statistic over all test
cases makes the p of each hold for the whole family (Westfall and Young, Resampling-Based Multiple Testing,
1993; Romano and Wolf, JASA 100, 2005).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import LEAST_IN_TIME, MOST_RHO
from steelyard.stats.moderated_variance import degrees_of, moderated_variance
from steelyard.stats.probability_distributions import student_quantile

GAPS = (np.inf, 1.5, 1.25)  # ratios above which a gap between sorted values is a change of mode; inf: none is
MOST_EXACT = 10  # pairs up to which all swaps are counted at any level; swapping all pairs changes no |t|
LEAST_BELOW = 20  # swaps that a p at the level has, of those that are drawn beyond: 2000 for 1 %
MANY_DRAWN = 5000  # ... up to so many; beyond, just as many as a p at the level needs, which is as valid
_BLOCK = 2000  # swaps at a time, for memory
LEAST_IN_MODE = 2  # values of each arm, from which both arms share a mode
ALIKE = 0.01  # p of the order of pairs, up to which they are no replicates
ALIKE_RANGES = 2  # ranges of such pairs: what drifts from pair to pair goes further than they show
_ORDERS = 999  # drawn, to see whether pairs next to each other are alike


@dataclass(frozen=True, slots=True)
class Swapped:
    """The result of swaps of n pairs in P columns (test cases, or means of several).

    `p`: (P,), adjusted for the family. `estimate`, `low`, `high`: (P,), the mean difference B - A and its
    simultaneous interval, nan if a column has no pairs. 0 lies between them, or is one of them, if `p` is
    above 1 - level; else it does not lie between them.
    `plain_low`, `plain_high`: (P,), the interval from which no modes were taken off. `error`: (P,), the
    standard error of the estimate. `pairs`: (P,), the pairs that a column has. `alike`: pairs next to each
    other are alike.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    pairs: NDArray[np.int64]
    plain_low: FloatArray
    plain_high: FloatArray
    error: FloatArray
    alike: bool = False


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The values of P test cases, each column sorted, and the run of each: (n, P) all.

    Runs are separated by gaps above log(gap): they are the modes. `order` is where a value stood, `first` and
    `last` are the places of the run's ends. Values that are not finite are at the end, each a run.
    """

    values: FloatArray
    order: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which are finite, (n, P)."""
        return np.isfinite(self.values)


def _sorted(values: FloatArray, gap: float) -> _Sorted:
    """Sort values: (n, P), logarithms, of both arms together, so that the arm plays no part."""
    values = np.where(np.isfinite(values), values, np.nan)
    order = np.argsort(values, axis=0, kind="stable")
    values = np.take_along_axis(values, order, axis=0)
    begins = np.ones(values.shape, dtype=bool)
    begins[1:] = ~(np.diff(values, axis=0) <= np.log(gap))
    ends = np.vstack((begins[1:], begins[:1]))
    places = np.arange(values.shape[0])[:, None]
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=0)
    last = np.minimum.accumulate(np.where(ends, places, values.shape[0])[::-1], axis=0)[::-1]
    return _Sorted(values, order, first, last)


def level_modes(values: FloatArray, gap: float) -> FloatArray:
    """Subtract from the values of each test case the median of their modes.

    values: (n, P), logarithms, of both arms together; what is not finite stays.
    """
    found = _sorted(values, gap)
    low, high = (
        np.take_along_axis(found.values, (found.first + found.last + odd) // 2, axis=0) for odd in (0, 1)
    )
    left = values.copy()
    np.put_along_axis(
        left, found.order, np.where(found.known, found.values - (low + high) / 2, np.nan), axis=0
    )
    return np.where(np.isfinite(values), left, values)


def modes_of(values: FloatArray, gap: float) -> int:
    """Count the modes of `LEAST_IN_MODE` values or more in both arms together."""
    return sum(part.size >= LEAST_IN_MODE for part in mode_parts(values, gap))


def mode_parts(values: FloatArray, gap: float) -> list[NDArray[np.int64]]:
    """Find the places of the values of each mode; gaps above log(gap) in the sorted values separate modes."""
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(values[known], kind="stable")]
    cuts = np.flatnonzero(np.diff(values[order]) > np.log(gap)) + 1
    return np.split(order, cuts) if order.size else []


def _are_shared(both: FloatArray, gap: float) -> NDArray[np.bool_]:
    """Is each mode in both arms? Otherwise the gap may be the very difference to be found; (P,).

    both: (2, n, P), the arms.
    """
    n = both.shape[1]
    found = _sorted(np.concatenate((both[0], both[1])), gap)
    of_first = np.vstack((np.zeros(both.shape[2], dtype=np.int64), np.cumsum(found.order < n, axis=0)))
    firsts = np.take_along_axis(of_first, found.last + 1, axis=0) - np.take_along_axis(
        of_first, found.first, axis=0
    )
    seconds = found.last - found.first + 1 - firsts
    enough = np.minimum(firsts, seconds) >= LEAST_IN_MODE
    return np.asarray((enough | ~found.known).all(axis=0))


def compare_arms(first: FloatArray, second: FloatArray, *, level: float = 0.99, seed: int = 0) -> Swapped:
    """Compare arm B with arm A over P columns and n pairs.

    first, second: (n, P), logarithms of the launch medians of A and B, nan where a launch has none. The
    interval is simultaneous: all P hold together with probability `level`. Raises ValueError for other shapes
    or fewer than two pairs.

    If the test finds that a column differs, estimate and interval are those of the way of subtracting modes
    that shows it best; else of the narrowest in which both arms share each mode.
    """
    if first.shape != second.shape or first.ndim != 2 or first.shape[0] < 2:
        raise ValueError("two samples of the same pairs and columns are needed, and two pairs at least")
    both = np.stack((first, second))
    leveled = [_leveled(both, gap) for gap in GAPS]
    differences = np.stack([one[1] - one[0] for one in leveled])  # (G, n, P)
    shared = np.stack([_are_shared(both, gap) for gap in GAPS])
    shared[0] = True  # none taken off
    return _compare(differences, shared, level, seed)


def _leveled(both: FloatArray, gap: float) -> FloatArray:
    if np.isinf(gap):
        return both
    return level_modes(both.reshape(-1, both.shape[2]), gap).reshape(both.shape)


def _compare(differences: FloatArray, shared: NDArray[np.bool_], level: float, seed: int) -> Swapped:
    """Compare differences B - A, (G, n, P): G ways to subtract modes; `shared`: may estimate.

    The p comes from swaps of the differences, the interval from swaps of what is left of them without their
    mean, so that a difference in most columns does not widen the intervals of all. It is as wide as Student's
    t with Bonferroni's correction at least: few pairs have few swaps.
    """
    known: NDArray[np.bool_] = np.asarray(np.isfinite(differences).all(axis=0))  # (n, P)
    pairs = known.sum(axis=0)
    n = np.maximum(pairs, 1)
    tested = np.where(known, differences, 0.0)
    signs = _signs(differences.shape[1], level, seed)  # (S, n), the first is the pairs as they are
    t, errors = (statistic[:, 0] for statistic in _statistics(tested, pairs, signs[:1]))  # (G, P) both
    seen = np.abs(t)
    family = _family(tested, pairs, signs)
    p = np.array([(1 + (family[1:] >= one * (1 - 1e-12)).sum()) / family.size for one in seen.max(axis=0)])
    means = tested.sum(axis=1) / n  # (G, P)
    centred = (tested - means[:, None, :]) * np.sqrt(n / np.maximum(n - 1, 1))
    wide = np.quantile(_family(np.where(known, centred, 0.0), pairs, signs), level, method="higher")
    bound = np.maximum(wide, _student(pairs, level))
    narrowest = np.argmin(np.where(shared, errors, np.inf), axis=0)
    chosen = np.where(p <= 1 - level, np.argmax(seen, axis=0), narrowest)[None, :]
    estimate, error = (np.take_along_axis(one, chosen, axis=0)[0] for one in (means, errors))
    alike = _are_alike(np.where(known, differences[0], np.nan), seed)
    drift = ALIKE_RANGES * _drift(differences[0], known) if alike else np.zeros(len(pairs))
    half, plain_half = np.maximum(bound * error, drift), np.maximum(bound * errors[0], drift)
    p = np.where((pairs < 2) | (np.abs(estimate) <= drift), 1.0, p)
    is_told, nan = p <= 1 - level, np.where(pairs >= 2, 0.0, np.nan)
    low, high = estimate - half, estimate + half
    low = np.where(
        is_told & (estimate > 0), np.maximum(low, 0.0), np.where(is_told, low, np.minimum(low, 0.0))
    )
    high = np.where(
        is_told & (estimate < 0), np.minimum(high, 0.0), np.where(is_told, high, np.maximum(high, 0.0))
    )
    plain_low, plain_high = means[0] - plain_half, means[0] + plain_half
    return Swapped(
        estimate + nan, low + nan, high + nan, p, pairs, plain_low + nan, plain_high + nan, error + nan, alike
    )


def _family(tested: FloatArray, pairs: NDArray[np.int64], signs: FloatArray) -> FloatArray:
    """Find the largest |t| of each swap over all ways and columns, shape (S,); infinite ones are ignored."""
    parts = np.array_split(signs, math.ceil(len(signs) / _BLOCK))
    return np.concatenate([_largest(_statistics(tested, pairs, part)[0]) for part in parts])


def _student(pairs: NDArray[np.int64], level: float) -> FloatArray:
    """Compute Student's t of each column, corrected for all; one column has no other to lend it values."""
    columns = max(int((pairs >= 2).sum()), 1)
    tail = (1 - level) / 2 / columns
    return np.array([-student_quantile(int(degrees), tail) for degrees in degrees_of(pairs, columns)])


def _drift(values: FloatArray, known: NDArray[np.bool_]) -> FloatArray:
    """Compute the range of each column, (P,), at least the median one: a column may have stayed by chance."""
    most = np.where(known, values, -np.inf).max(axis=0)
    least = np.where(known, values, np.inf).min(axis=0)
    ranges = np.where(known.any(axis=0), most - least, 0.0)
    return np.asarray(np.maximum(ranges, np.median(ranges)))


def _are_alike(differences: FloatArray, seed: int) -> bool:
    """Are pairs that follow each other more alike than others, as where each arm drifts by itself?

    A permutation test (Wald and Wolfowitz, Annals of Mathematical Statistics 14, 1943) of the lag-1
    autocorrelation of the ranks, added up over the columns that have all pairs, (n, P). Orders of pairs are
    the same for all columns, so it is exact whatever the columns have in common.
    """
    whole = differences[:, np.isfinite(differences).all(axis=0) & (np.ptp(differences, axis=0) > 0)]
    n = whole.shape[0]
    if n < LEAST_IN_TIME or not whole.shape[1]:
        return False
    ranks = np.argsort(np.argsort(whole, axis=0), axis=0) - (n - 1) / 2
    products = ranks @ ranks.T  # of each two pairs, over all columns
    draw = np.random.default_rng(seed)
    orders = np.array([np.arange(n), *(draw.permutation(n) for _ in range(_ORDERS))])
    sums = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return bool(np.mean(sums >= sums[0] - 1e-9) <= ALIKE)


def least_pairs(false_alarm: float) -> int:
    """Find how many pairs a p of `false_alarm` needs: the least p is one of 2^(n-1) swaps."""
    return 1 + math.ceil(math.log2(1 / false_alarm) - 1e-9)


def _largest(t: FloatArray) -> FloatArray:
    """Find the largest |t| of each swap over (G, S, P), shape (S,); infinite ones are ignored."""
    size = np.abs(t).max(axis=0)
    return np.asarray(np.where(np.isfinite(size), size, 0.0).max(axis=1))


def _signs(n: int, level: float, seed: int) -> FloatArray:
    """Make all 2^(n-1) different swaps, or some drawn ones and the one seen, if these are fewer."""
    count = math.ceil(max(min(LEAST_BELOW / (1 - level), MANY_DRAWN), 1 / (1 - level)) - 1e-6) - 1
    if n <= MOST_EXACT or 2 ** (n - 1) <= count + 1:
        rest = np.array(list(itertools.product((1.0, -1.0), repeat=n - 1))).reshape(-1, n - 1)
        return np.hstack((np.ones((rest.shape[0], 1)), rest))
    drawn = np.random.default_rng(seed).choice((1.0, -1.0), size=(count, n))
    return np.vstack((np.ones(n), drawn))


def _statistics(
    differences: FloatArray, pairs: NDArray[np.int64], signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute `_statistic` of each of the G ways: (G, S, P) both."""
    found = [_statistic(difference, pairs, signs) for difference in differences]
    return np.stack([t for t, _ in found]), np.stack([error for _, error in found])


def _statistic(
    differences: FloatArray, pairs: NDArray[np.int64], signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute the moderated t of each column under each swap, and its standard error: (S, P) both.

    t = mean / sqrt(w v / n). v is the moderated variance; the common one is the median over the columns of
    this swap. w = (1 + r) / (1 - r) allows for pairs that are alike in time: r is the median over columns of
    the lag-1 autocorrelation of this swap less its bias (Kendall, Biometrika 41, 1954), between 0 and
    `MOST_RHO`. Each is computed anew for each swap, so the test stays exact.
    """
    n = np.maximum(pairs, 1)
    usable = pairs >= 2
    squares = (differences**2).sum(axis=0)  # no swap changes it
    means = signs @ differences / n
    spread = np.maximum(squares - n * means**2, 0.0)  # (n - 1) s^2
    common = _median_of_columns(spread / np.maximum(n - 1, 1), usable)
    variance = moderated_variance(spread, n, common)
    products = (signs[:, :-1] * signs[:, 1:]) @ (differences[:-1] * differences[1:])
    ends = signs[:, :1] * differences[:1] + signs[:, -1:] * differences[-1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        lag1 = np.where(spread > 0, (products + means * ends - (n + 1) * means**2) / spread, 0.0)
        alike = np.clip(_median_of_columns(lag1 + (1 + 4 * lag1) / n, usable), 0.0, MOST_RHO)
        error = np.sqrt((1 + alike) / (1 - alike) * variance / n)
        t = np.where(error > 0, means / error, np.where(means == 0, 0.0, np.sign(means) * np.inf))
    return np.where(usable, t, 0.0), error


def _median_of_columns(values: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """Compute the median of each line over the usable columns, (S, 1); 0 without any."""
    if not usable.any():
        return np.zeros((values.shape[0], 1))
    return np.asarray(np.median(values[:, usable], axis=1, keepdims=True))
