"""How often the slow one of two modes comes in either arm, and whether that is more often than by chance."""

from __future__ import annotations

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.paired_permutation import GAPS, LEAST_IN_MODE, mode_parts
from steelyard.stats.probability_distributions import half_binomial_cdf


def shares_words(first: FloatArray, second: FloatArray, false_alarm: float) -> str:
    """Write `2 modes, the slow one in 45 and 60 % of launches`; nothing unless there are two modes.

    first, second: (n,), logarithms of pairs of launches, nan for none. If the arms are the same, swapping
    those of a pair that is in both modes moves the slow one to the other arm, so each has it in half of such
    pairs: an exact test (McNemar, Psychometrika 12, 1947). At a p up to `false_alarm` the words say so.
    """
    known = np.isfinite(first) & np.isfinite(second)
    both = np.concatenate((first[known], second[known]))
    parts = [part for part in mode_parts(both, GAPS[-1]) if part.size >= LEAST_IN_MODE]
    if len(parts) != 2:
        return ""
    edge = (both[parts[0]].max() + both[parts[1]].min()) / 2
    slow, slow_too = first[known] > edge, second[known] > edge
    text = f"in {100 * slow.mean():.0f} and {100 * slow_too.mean():.0f} % of launches"
    more, less = int((slow_too & ~slow).sum()), int((slow & ~slow_too).sum())
    if more != less and 2 * half_binomial_cdf(more + less)[min(more, less)] <= false_alarm:
        return f"the slow mode comes {'more' if more > less else 'less'} often: {text}"
    return f"2 modes, the slow one {text}"
