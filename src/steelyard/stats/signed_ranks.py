"""One-sided tests of paired differences by signed ranks, and their bounds.

If a coin chose the order in each pair and the two are the same, a difference has either sign with equal
probability. W, the sum of the ranks of the positive ones, then has a known distribution, whatever that of the
differences (Wilcoxon, Biometrics Bulletin 1, 1945). Among the n (n + 1) / 2 means of two differences (Walsh
averages) W counts those above 0 (Tukey 1949), so bounds come from their order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.stats.arrays import FloatArray

MOST_PAIRS = 1000  # beyond, computing the distribution of W takes longer than the measurement


@dataclass(frozen=True, slots=True)
class SignedRanks:
    """The centre of n differences: the Hodges-Lehmann estimate, one-sided bounds and p.

    Each bound holds with probability 1 - tail, and is infinite if n differences cannot bound it so surely.
    `p_above`: the p of the hypothesis that the centre is at most `at`; `p_below`: that it is at least `at`.
    """

    estimate: float
    low: float
    high: float
    p_above: float
    p_below: float


def signed_ranks(differences: Sequence[float], at: float, tail: float) -> SignedRanks:
    """Estimate the centre of n differences (in any order), and compare it with `at`.

    Averages equal to `at` count against either claim, which is exact without ties and conservative with them.
    Only the last `MOST_PAIRS` are used. Raises ValueError without differences.
    """
    data = np.asarray(differences, dtype=np.float64)[-MOST_PAIRS:]
    if data.size == 0:
        raise ValueError("there is no difference")
    walsh, below = walsh_averages(data), chance_of_rank_sums(data.size)
    left_out = int(np.searchsorted(below, tail, side="right")) - 1  # the most k with P(W <= k) <= tail
    return SignedRanks(
        estimate=float(np.median(walsh)),
        low=float(walsh[left_out]) if left_out >= 0 else -math.inf,
        high=float(walsh[-1 - left_out]) if left_out >= 0 else math.inf,
        p_above=float(below[np.count_nonzero(walsh <= at)]),
        p_below=float(below[np.count_nonzero(walsh >= at)]),
    )


def least_pairs(tail: float) -> int:
    """Find the fewest differences that can have a p of `tail` or less: 2^-n is the least of n."""
    return math.ceil(-math.log2(tail))


def walsh_averages(differences: FloatArray) -> FloatArray:
    """Sort the means of all pairs of n differences, each with itself, too: shape (n (n + 1) / 2,)."""
    first, second = np.triu_indices(differences.size)
    return np.sort((differences[first] + differences[second]) / 2)


@functools.lru_cache
def chance_of_rank_sums(count: int) -> FloatArray:
    """Compute P(W <= k) of `count` differences, k from 0 to count (count + 1) / 2."""
    chance = np.ones(1)  # of each sum of ranks
    for rank in range(1, count + 1):
        chance = (np.pad(chance, (0, rank)) + np.pad(chance, (rank, 0))) / 2
    return np.asarray(np.minimum(np.cumsum(chance), 1.0), dtype=np.float64)
