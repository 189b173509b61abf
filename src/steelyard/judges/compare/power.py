"""How many launches find a difference of arms, before any is made."""

from __future__ import annotations

import math

import numpy as np

from steelyard.stats.interim_looks import FIRST_SHARE, MOST_NAMED
from steelyard.stats.moderated_variance import degrees_of
from steelyard.stats.paired_permutation import least_pairs
from steelyard.stats.probability_distributions import chi_square_quantile, normal_cdf, student_quantile

FOUND = 0.8  # of the test cases with such a difference
_CHANCES = (np.arange(25) + 0.5) / 25  # of the scatter: few launches do not know it


def launches_to_find(
    difference: float, scatter: float, degrees: int, family: int, false_alarm: float
) -> int | None:
    """Compute how many launches of each arm find a difference (0.03: 3 %) with 80 %, at one look.

    `scatter` is the standard deviation of logarithms of launch medians, known with so many `degrees` of
    freedom; `false_alarm` is that of all columns of the `family` together. None for more than `MOST_NAMED`.

    Student's t of the pairs, corrected for the family, as `compare` uses it; its power is the mean over what
    the true scatter may be (chi-squared). Permutations need a least number of pairs besides.
    """
    counts = np.unique(np.ceil(2 * 1.02 ** np.arange(440)).astype(np.int64))
    counts = counts[(counts >= least_pairs(FIRST_SHARE * false_alarm)) & (counts <= MOST_NAMED)]
    known = max(degrees, 1)
    spread = np.array([chi_square_quantile(known, chance) for chance in _CHANCES.tolist()])
    true = math.sqrt(2) * max(scatter, 1e-9) * np.sqrt(known / spread)
    freedom = degrees_of(counts, family)
    tail = FIRST_SHARE * false_alarm / 2 / family
    bound = np.array([-student_quantile(degree, tail) for degree in freedom.tolist()])
    away = np.log1p(difference) * np.sqrt(counts)[:, None] / true
    beyond = (away - bound[:, None]) / np.sqrt(1 + bound[:, None] ** 2 / (2 * freedom[:, None]))
    power = normal_cdf(beyond).mean(axis=1)
    enough = np.flatnonzero(power >= FOUND)
    return int(counts[enough[0]]) if enough.size else None
