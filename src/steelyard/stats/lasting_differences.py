"""Places that differ lastingly, as the cores of a sound node do: which one is odd even beyond that.

Means over launches of places that are alike scatter by what they differ lastingly, and by what launches
leave. The peers show both together: a place is odd if it lies beyond what they say of one more of their kind.
Places are taken out one by one, the farthest first, so that several odd ones do not hide each other (B.
Rosner, Percentage points for a generalized ESD many-outlier procedure, Technometrics 25, 1983). The statistic
is the deletion residual of a one-way layout, with Student's t and Bonferroni's correction: exact for normal
scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.probability_distributions import student_quantile

ODD_PART = 3  # one in so many places, or more, are no odd ones but a kind of their own
_MOST_ODD = 1000  # that are taken out: a day of them would not be read
_KIND_SIGMAS = 3.0  # between kinds, of the scatter within them: two halves of one kind are 1.6 apart or less
_LEAST_IN_KIND = 2
_FEW = 25  # degrees of freedom below which the second step raises as many false alarms as the first


@dataclass(frozen=True, slots=True)
class Lasting:
    """What groups of places differ by, in logarithms.

    `slow`: of each group, (places,): is it slower than its group even beyond what peers differ by?
    `spread`: the standard deviation of the others; `least`: of each group, the distance from the mean of its
    peers from which a place is odd.
    """

    slow: tuple[NDArray[np.bool_], ...]
    spread: float
    least: tuple[float, ...]


def odd_places(groups: Sequence[FloatArray], *, level: float = 0.99, finest: float = 0.0) -> Lasting:
    """Find the places that are slower than their group beyond what all places differ by lastingly.

    groups: of each group, such as the cores of a host, the mean over launches of the logarithms of times,
    (places,); each group has a centre of its own, and all have the same scatter. `level`: the probability
    that none is found where all are alike. `finest`: the least standard deviation that is believed.
    Raises ValueError for fewer than four places in a group.
    """
    if not groups or min(one.size for one in groups) <= ODD_PART:
        raise ValueError(f"groups of {ODD_PART + 1} places are needed")
    values = np.concatenate(groups)
    group = np.repeat(np.arange(len(groups)), [one.size for one in groups])
    left = np.ones(values.size, dtype=bool)
    most = min(_MOST_ODD, (values.size - 1) // ODD_PART)
    false_alarm = (1 - level) / (2 if most > 1 and values.size - len(groups) < _FEW else 1)
    taken: list[int] = []
    odd = 0
    for step in range(1, most + 1):
        t, df = _deletion(values, group, left, finest)
        at = int(np.argmax(np.abs(t)))
        taken.append(at)
        if abs(t[at]) > student_quantile(df, 1 - false_alarm / left.sum()):
            odd = step
        left[at] = False
        if np.bincount(group, left, len(groups)).min() <= 1:
            break
    is_odd = np.zeros(values.size, dtype=bool)
    is_odd[taken[:odd]] = True
    counts = np.bincount(group, ~is_odd, len(groups))
    centre = np.bincount(group, np.where(is_odd, 0.0, values), len(groups)) / counts
    rest = np.where(is_odd, 0.0, values - centre[group])
    df = max(1, int(counts.sum()) - len(groups))
    spread = float(np.sqrt((rest**2).sum() / df))
    bound = student_quantile(df, 1 - false_alarm / values.size) * max(spread, finest)
    slow = is_odd & (values > centre[group])
    ends = np.cumsum([one.size for one in groups])[:-1]
    return Lasting(tuple(np.split(slow, ends)), spread, tuple(bound * np.sqrt(1 + 1 / counts)))


def _deletion(
    values: FloatArray, group: NDArray[np.int64], left: NDArray[np.bool_], finest: float
) -> tuple[FloatArray, int]:
    """Compute of each place that is left its distance from its group without it, in standard errors that the
    others show, and the degrees of freedom; 0 for a place that is not left or alone in its group.
    """
    counts = np.bincount(group, left)
    means = np.bincount(group, np.where(left, values, 0.0)) / np.maximum(counts, 1)
    free = 1 - 1 / np.maximum(counts, 1)[group]
    usable = left & (free > 0)
    residual = np.where(usable, values - means[group], 0.0)
    squares = (residual**2).sum()
    df = max(1, int(left.sum()) - int((counts > 0).sum()) - 1)
    free = np.where(usable, free, 1.0)
    variance = np.maximum((squares - residual**2 / free) / df, finest**2)
    errors = np.sqrt(variance * free)
    return np.divide(residual, errors, out=np.zeros_like(residual), where=errors > 0), df


def kinds_of(means: FloatArray, *, least: float) -> NDArray[np.bool_]:
    """Find the places of the slower of two kinds, (places,); none if all are of one kind.

    Two kinds are a third of the places each at least, and two of them, and apart by `least` (a logarithm),
    with nothing between, and by more than three times the scatter within them.
    """
    order = np.argsort(means, kind="stable")
    values = means[order]
    fewest = max(_LEAST_IN_KIND, -(-values.size // ODD_PART))
    slower = np.zeros(values.size, dtype=bool)
    if values.size < 2 * fewest:
        return slower
    gaps = np.diff(values)[fewest - 1 : values.size - fewest]
    cut = int(np.argmax(gaps)) + fewest
    parts = values[:cut], values[cut:]
    within = float(np.sqrt(sum(((part - part.mean()) ** 2).sum() for part in parts) / (values.size - 2)))
    gap = float(values[cut] - values[cut - 1])
    if gap >= least and gap > _KIND_SIGMAS * within:
        slower[order[cut:]] = True
    return slower
