"""How alike the threads of a rank are served, of ops that note when each thread is done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.records.schema import Phases
from steelyard.results.combined import Combined
from steelyard.results.row import Facet
from steelyard.stats import launch_interval

# The phases of an op of several threads: until the first of a rank is done, until half of them are, and until
# all are.
_PHASES = ("first thread", "middle thread", "last thread")


class Fairness(Facet, frozen=True, kw_only=True):
    """`fairness`: when the first thread of a rank was done over when the last one was, with its interval.

    1 where all threads are served alike, 1/T where they are served one after the other. `half_done`: when
    half of the threads were done, over the same. Both are those of the rank whose threads are least alike.
    """

    fairness: float | None = None
    fairness_low: float | None = None
    fairness_high: float | None = None
    half_done: float | None = None

    @classmethod
    def of(cls, one: Combined) -> Fairness | None:
        """None of one thread, and where nobody has noted when threads were done."""
        point = one.launches[0].point
        if point is None or point.threads < 2:
            return None
        told = [share for launch in one.launches if (share := _shares(launch.phases)) is not None]
        if not told:
            return None
        first, half = ([share[i] for share in told] for i in (0, 1))
        middle = float(np.median(half))
        if len(told) < 2:
            return cls(fairness=first[0], half_done=middle)
        found = launch_interval(first, one.level, logs=False)
        return cls(
            fairness=found.value,
            fairness_low=max(0.0, found.low),
            fairness_high=min(1.0, found.high),
            half_done=middle,
        )


def _shares(chunks: Sequence[Phases]) -> tuple[float, float] | None:
    """When the first thread, and half of them, were done over when the last was, in a launch; None untold."""
    if not chunks or tuple(phase.name for phase in chunks[0].phases) != _PHASES:
        return None
    ns = np.array([[phase.ns for phase in chunk.phases] for chunk in chunks], dtype=np.float64).sum(axis=0)
    whole = ns.sum(axis=0)  # [rank]; one that has only the window took no time
    if not (whole > 0).any():
        return None
    done = np.cumsum(ns[:, whole > 0], axis=0) / whole[whole > 0]
    rank = int(done[0].argmin())
    return float(done[0, rank]), float(done[1, rank])
