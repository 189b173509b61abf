"""Starts and stops of given times, as a clock that ticks shows them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COST_NS, TICK_NS = 27.4, 10


def stamps(
    rng: np.random.Generator,
    durations: NDArray[np.float64],
    ranks: int,
    pace: tuple[float, ...] = (),
    skew: float = 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and stops as a clock of 10 ns shows them, shape (ranks, count).

    Rank r takes `pace[r]` of `durations`; without it the last rank takes them, the others a tenth less.
    """
    start = np.empty((ranks, durations.size), dtype=np.int64)
    stop = np.empty_like(start)
    gaps = durations + 1000 + rng.uniform(0, 1000, durations.size)
    true = np.concatenate(([0.0], np.cumsum(gaps)[:-1])) + rng.uniform(0, 1e6)
    for rank in range(ranks):
        own = pace[rank] if pace else 1.0 if rank == ranks - 1 else 0.9
        start[rank] = np.floor((true + skew * rank) / TICK_NS) * TICK_NS
        stop[rank] = np.floor((true + skew * rank + own * durations + COST_NS) / TICK_NS) * TICK_NS
    return start, stop
