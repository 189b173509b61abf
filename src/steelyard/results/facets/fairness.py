"""How equally the threads of a rank are served, for ops whose threads note their begin and end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.records.schema import Lanes, Phases
from steelyard.results.combined import Combined
from steelyard.results.row import Facet
from steelyard.stats.arrays import FloatArray

# The phases of an op of several threads: until the first of a rank is done, until half of them are, and until
# all are.
_PHASES = ("first thread", "middle thread", "last thread")


class Fairness(Facet, frozen=True, kw_only=True):
    """`fairness`: the end of the first thread of a rank over that of the last one, with its interval.

    It is 1 if all threads are served alike, 1/T if they are served one after the other. `half_done`: the time
    until half of the threads were done, over the same. Both are those of the rank whose threads differ most.
    """

    fairness: float | None = None
    fairness_low: float | None = None
    fairness_high: float | None = None
    half_done: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Fairness | None:
        """None for one thread, and if threads did not note their end."""
        point = combined.launches[0].point
        if point is None or point.threads < 2:
            return None
        told = [share for launch in combined.launches if (share := _shares(launch.phases)) is not None]
        if not told:
            return None
        first, half = ([share[i] for share in told] for i in (0, 1))
        middle = float(np.median(half))
        found = combined.span(first, logs=False, least=0.0, most=1.0)
        return cls(
            fairness=found.value,
            fairness_low=found.low,
            fairness_high=found.high,
            half_done=middle,
        )


def _shares(chunks: Sequence[Phases]) -> tuple[float, float] | None:
    """Divide the ends of the first thread, and of half of them, by that of the last; None without data."""
    if not chunks or tuple(phase.name for phase in chunks[0].phases) != _PHASES:
        return None
    ns = np.array([[phase.ns for phase in chunk.phases] for chunk in chunks], dtype=np.float64).sum(axis=0)
    whole = ns.sum(axis=0)  # [rank]; one that has only the window took no time
    if not (whole > 0).any():
        return None
    done = np.cumsum(ns[:, whole > 0], axis=0) / whole[whole > 0]
    rank = int(done[0].argmin())
    return float(done[0, rank]), float(done[1, rank])


class ThreadTimes(Facet, frozen=True, kw_only=True):
    """`thread_times`: the time of each thread of a rank for its own calls, ns per operation, in their order.

    They are from its first call to its last, so a thread that began later is not slower; medians over
    launches. For each launch, `thread_ratio` is the longest over the shortest, `thread_scatter` the standard
    deviation of all over their mean, both with intervals over launches. All are of the rank whose threads
    scatter most.
    """

    thread_times: tuple[float, ...] | None = None
    thread_ratio: float | None = None
    thread_ratio_low: float | None = None
    thread_ratio_high: float | None = None
    thread_scatter: float | None = None
    thread_scatter_low: float | None = None
    thread_scatter_high: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> ThreadTimes | None:
        """None for one thread, and if threads noted nothing."""
        point = combined.launches[0].point
        if point is None or point.threads < 2:
            return None
        times = [_own_times(launch.lanes) / point.parts for launch in combined.launches if launch.lanes]
        whole = [rank for rank in range(point.ranks) if times and all(time[rank].min() > 0 for time in times)]
        if not whole:
            return None
        rank = max(whole, key=lambda rank: float(np.median([_scatter(time[rank]) for time in times])))
        ratios = [float(time[rank].max() / time[rank].min()) for time in times]
        scatters = [_scatter(time[rank]) for time in times]
        medians = np.median([time[rank] for time in times], axis=0)
        ratio = combined.span(ratios, logs=False, least=1.0)
        scatter = combined.span(scatters, logs=False, least=0.0)
        return cls(
            thread_times=tuple(medians.tolist()),
            thread_ratio=ratio.value,
            thread_ratio_low=ratio.low,
            thread_ratio_high=ratio.high,
            thread_scatter=scatter.value,
            thread_scatter_low=scatter.low,
            thread_scatter_high=scatter.high,
        )


def _own_times(lanes: Lanes) -> FloatArray:
    """Compute the time of each thread for a repetition, in ns, shape (ranks, threads); 0 if it
    did nothing.
    """
    started, stopped = (np.array(one, dtype=np.float64) for one in (lanes.start_ns, lanes.stop_ns))
    return (stopped - started) / lanes.reps


def _scatter(times: FloatArray) -> float:
    return float(times.std() / times.mean())
