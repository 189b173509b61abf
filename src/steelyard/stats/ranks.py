"""A rank-sum test for small samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

ONE_SIDED = 1.645  # the 95 % quantile of the normal distribution


def ranks_above(larger: Sequence[float], smaller: Sequence[float]) -> bool:
    """Whether values tend to be larger in the one sample than in the other, one-sided at 5 %.

    The rank-sum test (Mann and Whitney 1947) with the normal approximation and its correction for continuity,
    ties counting half: U is the number of pairs in which the first is larger, with mean n m / 2 and variance
    n m (n + m + 1) / 12. With three and three values all nine pairs must be so. False without values.
    """
    n, m = len(larger), len(smaller)
    if not n or not m:
        return False
    above, below = np.asarray(larger)[:, None], np.asarray(smaller)[None, :]
    u = float(np.count_nonzero(above > below)) + 0.5 * float(np.count_nonzero(above == below))
    return u - 0.5 > n * m / 2 + ONE_SIDED * math.sqrt(n * m * (n + m + 1) / 12)
