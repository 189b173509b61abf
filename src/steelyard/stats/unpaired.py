"""Two arms that were measured at two sittings, not by turns: a test of their difference under an assumption.

Launches of one sitting are alike, and another hour is another machine. The effect of an hour on all its
launches is in the difference of two sittings, and in no scatter inside either. One sitting each does not show
it, so it is assumed to be as large as the scatter of launches, and `LEAST_HOUR` at least (on a shared machine
the variance between sittings was 1 to 5 times that of launches within). That is an assumption, no estimate. A
folder of several sittings shows how they differ, and its interval is no narrower than that says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.paired_permutation import Swapped
from steelyard.stats.probability_distributions import student_quantile, student_tail

LEAST_HOUR = 0.03  # of a time, as a standard deviation


def compare_sittings(
    first: FloatArray,
    second: FloatArray,
    *,
    level: float = 0.99,
    sittings: tuple[Sequence[int], Sequence[int]] | None = None,
) -> Swapped:
    """Compare arm B with arm A over P columns, n and m launches.

    first: (n, P), second: (m, P), logarithms of launch medians, nan where a launch has none. `sittings`
    number the sitting of each launch of either; one each without. The interval is Student's t on n + m - 2
    degrees of freedom with the variance s^2 (1/n + 1/m) + h^2 (1/k + 1/l), where s^2 is that of launches
    within a sitting, k and l are the numbers of sittings, and h = max(s, LEAST_HOUR) is the effect of a
    sitting. Where a folder has several, that effect is seen, too: the interval is at least Student's t on k +
    l - 2 degrees of the means of sittings. Simultaneous over P by Bonferroni. Raises ValueError if the
    columns differ in number.
    """
    if first.shape[1] != second.shape[1]:
        raise ValueError("both sittings need the same columns")
    first_sittings, second_sittings = (
        np.asarray(numbers) for numbers in sittings or ([0] * len(first), [0] * len(second))
    )
    columns = [
        _column(_Folder.of(a, first_sittings), _Folder.of(b, second_sittings), level, first.shape[1])
        for a, b in zip(first.T, second.T, strict=True)
    ]
    estimate, low, high, p, launches, error = (np.array(values) for values in zip(*columns, strict=True))
    return Swapped(estimate, low, high, p, launches, low, high, error)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A column of a folder: its launches, and the mean of each sitting; squares about these means."""

    size: int
    means: FloatArray
    within: float

    @classmethod
    def of(cls, values: FloatArray, labels: NDArray[np.int64]) -> _Folder:
        known = np.isfinite(values)
        groups = [values[known & (labels == label)] for label in np.unique(labels[known])]
        means = np.array([group.mean() for group in groups])
        within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
        return cls(int(known.sum()), means, within)

    @property
    def sittings(self) -> int:
        """Their number."""
        return self.means.size


def _column(
    a: _Folder, b: _Folder, level: float, family: int
) -> tuple[float, float, float, float, int, float]:
    n, m, mine, theirs = a.size, b.size, a.sittings, b.sittings
    freedom = n + m - mine - theirs
    if min(n, m) < 2 or freedom < 1:
        return math.nan, math.nan, math.nan, 1.0, min(n, m), math.nan
    variance = (a.within + b.within) / freedom
    hour = max(variance, LEAST_HOUR**2)
    ways = [(freedom, math.sqrt(variance * (1 / n + 1 / m) + hour * (1 / mine + 1 / theirs)))]
    if mine + theirs > 2:
        squares = sum(float(((one.means - one.means.mean()) ** 2).sum()) for one in (a, b))
        ways.append((mine + theirs - 2, math.sqrt(squares / (mine + theirs - 2) * (1 / mine + 1 / theirs))))
    estimate = float(b.means.mean() - a.means.mean())
    half = max(-student_quantile(degrees, (1 - level) / 2 / family) * error for degrees, error in ways)
    p = max(2 * student_tail(degrees, abs(estimate) / error) if error > 0 else 0.0 for degrees, error in ways)
    error = max(error for _, error in ways)
    return estimate, estimate - half, estimate + half, min(1.0, family * p), min(n, m), error
