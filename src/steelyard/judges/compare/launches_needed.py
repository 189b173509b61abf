"""How many launches would decide a comparison that cannot tell yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.interim_looks import SURE, share_of, that_count
from steelyard.stats.moderated_variance import degrees_of
from steelyard.stats.paired_permutation import least_pairs
from steelyard.stats.probability_distributions import chi_square_quantile, normal_cdf, student_quantile

DECIDES = 0.88  # asked of the prediction: then 80 % of what is named decides, for any true difference
MOST_NEEDED = 10_000  # launches: more is no advice
_FACTORS = 1.05 ** np.arange(200)  # times the launches: up to 16,000 times
_CHANCES = (np.arange(15) + 0.5) / 15  # of the scatter: few pairs do not know it
_TRUTHS = np.linspace(-1.28, 1.28, 9)[:, None, None]  # true differences, in errors of the estimate: 80 %
_LEAST_ERROR = 1e-12  # a coarse clock gives each launch the same number; nothing is divided by 0 then
MAY_BE_EQUAL = 3.0  # errors of the estimate: nearer to 0, no difference at all is a truth to reckon with, too


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate of a logarithm with its standard error, and half of its interval."""

    estimate: float
    error: float
    half: float


@dataclass(frozen=True, slots=True)
class Prospect:
    """What is known: `told` is the estimate that may differ from 0, `same` the one that may lie within the
    margin, None where launches have modes: few pairs do not show how often each comes.

    `pairs` were measured and looked at, after earlier `looks`; `family` columns are compared, and all looks
    share the `false_alarm`.
    """

    told: Estimated
    same: Estimated | None
    pairs: int
    looks: Sequence[int]
    family: int
    false_alarm: float

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the scatter."""
        return int(degrees_of(np.array(self.pairs), self.family))


def launches_needed(known: Prospect, margin: float) -> int | None:
    """Find how many launches decide with 80 %, in this campaign or in a new one; None if none are known to.

    `margin` is the logarithm of what may be ignored. A difference is told if its interval excludes 0, "the
    same" if the other interval lies within the margin. The true difference scatters about the estimate,
    or is 0, and the true scatter about what few pairs show (chi-squared); launches to come scatter about
    both. What is measured already counts in this campaign, where this look was paid for, and not in a new
    one.
    """
    counts = _counts(known)
    looks = that_count((*known.looks, known.pairs), known.false_alarm)
    kept = _decided(known, counts, np.array([share_of(looks, n) for n in counts]), margin, kept=True)
    fresh = _decided(known, counts, np.array([share_of((), n) for n in counts]), margin, kept=False)
    enough = np.flatnonzero(np.minimum(kept, fresh) >= DECIDES)
    return int(counts[enough[0]]) if enough.size else None


def launches_precise(known: Prospect, half: float) -> int | None:
    """Find how many launches of this campaign make half of the interval as narrow, in 80 % of cases."""
    counts, looks = _counts(known), that_count((*known.looks, known.pairs), known.false_alarm)
    shares = np.array([share_of(looks, n) for n in counts])
    wider = _bounds(known, counts, shares) / _bounds(known, np.array([known.pairs]), _now(known))
    enough = np.flatnonzero(SURE * wider * known.told.half * np.sqrt(known.pairs / counts) <= half)
    return int(counts[enough[0]]) if enough.size else None


def _counts(known: Prospect) -> NDArray[np.int64]:
    """List the numbers of launches to try."""
    counts = np.unique(np.ceil(known.pairs * _FACTORS - 1e-9).astype(np.int64))
    return np.asarray(counts[(counts > known.pairs) & (counts <= MOST_NEEDED)])


def _decided(
    known: Prospect, counts: NDArray[np.int64], shares: FloatArray, margin: float, *, kept: bool
) -> FloatArray:
    """Compute with which probability each number of launches decides, shape as `counts`."""
    now, n = known.pairs, counts[:, None]
    spread = np.sqrt(  # true scatter over the one that was measured
        known.degrees / np.array([chi_square_quantile(known.degrees, chance) for chance in _CHANCES.tolist()])
    )
    later = np.sqrt((now + (n - now) * spread**2) / n) if kept else np.broadcast_to(spread, (n.size, 15))
    wider = _bounds(known, counts, shares) / _bounds(known, np.array([now]), _now(known))
    is_equal = abs(known.told.estimate) <= MAY_BE_EQUAL * known.told.error
    can_tell = counts >= [least_pairs(known.false_alarm * share) for share in shares]

    def side(estimated: Estimated) -> tuple[FloatArray, FloatArray, FloatArray]:
        truth = estimated.estimate + _TRUTHS * estimated.error
        truth = np.concatenate((truth, np.zeros((1, 1, 1)))) if is_equal else truth
        centre = (now * estimated.estimate + (n - now) * truth) / n if kept else truth
        error = max(estimated.error, _LEAST_ERROR)
        sd = error * spread * np.sqrt(now) * (np.sqrt(n - now) / n if kept else np.sqrt(1 / n))
        return centre, sd, wider[:, None] * estimated.half * later * np.sqrt(now / n)

    room = same = np.zeros(1)
    if known.same:
        centre, sd, half = side(known.same)
        room = np.maximum(margin - half, 0.0)
        same = normal_cdf((room - centre) / sd) - normal_cdf((-room - centre) / sd)
    centre, sd, half = side(known.told)
    beyond = np.maximum(half, room)
    told = normal_cdf((centre - beyond) / sd) + normal_cdf((-beyond - centre) / sd)
    decided = (same + np.where(can_tell[:, None], told, 0.0)).mean(axis=2)
    return np.asarray(decided.min(axis=0))


def _now(known: Prospect) -> FloatArray:
    return np.array([share_of(that_count(known.looks, known.false_alarm), known.pairs)])


def _bounds(known: Prospect, counts: NDArray[np.int64], shares: FloatArray) -> FloatArray:
    """Compute Student's t, corrected for the family, at each number of launches."""
    degrees = np.maximum(counts + (known.degrees - known.pairs), 1)
    tails = known.false_alarm * shares / 2 / max(known.family, 1)
    pairs = zip(degrees.tolist(), tails.tolist(), strict=True)
    return np.array([-student_quantile(degree, tail) for degree, tail in pairs])
