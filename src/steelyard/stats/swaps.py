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

FloatArray = NDArray[np.float64]

GAPS = (np.inf, 1.5, 1.25)  # ratios above which a gap between sorted values is a change of mode; inf: none is
MOST_EXACT = 10  # pairs up to which all swaps are counted: 2^(n-1), because swapping all pairs changes no |t|
LEAST_BELOW = 20  # swaps that a p at the level has, of those that are drawn beyond: 2000 for 1 %
_BLOCK = 2000  # swaps at a time, for memory
LEAST_IN_MODE = 2  # values of each arm, from which both arms share a mode
_PRIOR = 4  # values that the common variance counts for (moderated t: Smyth, SAGMB 3, 2004)


@dataclass(frozen=True, slots=True)
class Swapped:
    """The result of swaps of n pairs in P columns (test cases, or means of several).

    `p`: (P,), adjusted for the family. `estimate`, `low`, `high`: (P,), the mean difference B - A and its
    simultaneous interval, nan if a column has no pairs. `pairs`: (P,), the pairs that a column has.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    pairs: NDArray[np.int64]


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
        raise ValueError("two arms of the same pairs and columns are needed, and two pairs at least")
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
    """Compare differences B - A, (G, n, P): G ways to subtract modes; `shared`: may estimate."""
    known = np.isfinite(differences).all(axis=0)  # (n, P)
    pairs = known.sum(axis=0)
    tested = np.where(known, differences, 0.0)
    signs = _signs(differences.shape[1], level, seed)  # (S, n), the first is the pairs as they are
    t, scales = (one[:, 0] for one in _statistics(tested, pairs, signs[:1]))  # (G, P) both
    seen = np.abs(t)
    parts = np.array_split(signs, math.ceil(len(signs) / _BLOCK))
    family = np.concatenate([_largest(_statistics(tested, pairs, part)[0]) for part in parts])  # (S,)
    p = np.array([np.mean(family >= one * (1 - 1e-12)) for one in seen.max(axis=0)])
    usable = pairs >= 2
    bound = float(np.quantile(family, level, method="higher"))
    means = tested.sum(axis=1) / np.maximum(pairs, 1)  # (G, P)
    narrowest = np.argmin(np.where(shared, scales, np.inf), axis=0)
    chosen = np.where(p <= 1 - level, np.argmax(seen, axis=0), narrowest)[None, :]
    estimate = np.take_along_axis(means, chosen, axis=0)[0]
    half = bound * np.take_along_axis(scales, chosen, axis=0)[0]
    nan = np.where(usable, 0.0, np.nan)
    return Swapped(
        estimate + nan, estimate - half + nan, estimate + half + nan, np.where(usable, p, 1.0), pairs
    )


def least_pairs(false_alarm: float) -> int:
    """Find how many pairs a p of `false_alarm` needs: the least p is one of 2^(n-1) swaps."""
    return 1 + math.ceil(math.log2(1 / false_alarm) - 1e-9)


def _largest(t: FloatArray) -> FloatArray:
    """Find the largest |t| of each swap over (G, S, P), shape (S,); infinite ones are ignored."""
    size = np.abs(t).max(axis=0)
    return np.asarray(np.where(np.isfinite(size), size, 0.0).max(axis=1))


def _signs(n: int, level: float, seed: int) -> FloatArray:
    """Make all 2^(n-1) different swaps, or some drawn ones and the one seen."""
    if n <= MOST_EXACT:
        rest = np.array(list(itertools.product((1.0, -1.0), repeat=n - 1))).reshape(-1, n - 1)
        return np.hstack((np.ones((rest.shape[0], 1)), rest))
    count = round(LEAST_BELOW / (1 - level)) - 1
    drawn = np.random.default_rng(seed).choice((1.0, -1.0), size=(count, n))
    return np.vstack((np.ones(n), drawn))


def _statistics(
    differences: FloatArray, pairs: NDArray[np.int64], signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute `_statistic` of each of the G ways: (G, S, P) both."""
    found = [_statistic(one, pairs, signs) for one in differences]
    return np.stack([t for t, _ in found]), np.stack([error for _, error in found])


def _statistic(
    differences: FloatArray, pairs: NDArray[np.int64], signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute the moderated t of each column under each swap, and its standard error: (S, P) both.

    t = mean / sqrt(v / n), v = (4 v0 + (n - 1) s^2) / (n + 3), where v0, the median over columns of the mean
    square, stabilises the estimate from few pairs (Smyth 2004).
    """
    n = np.maximum(pairs, 1)
    squares = (differences**2).sum(axis=0)  # no swap changes it
    means = signs @ differences / n
    spread = np.maximum(squares - n * means**2, 0.0)  # (n - 1) s^2
    usable = pairs >= 2
    common = float(np.median((squares / n)[usable])) if usable.any() else 0.0
    error = np.sqrt((_PRIOR * common + spread) / (n + _PRIOR - 1) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, means / error, np.where(means == 0, 0.0, np.sign(means) * np.inf))
    return np.where(usable, t, 0.0), error
