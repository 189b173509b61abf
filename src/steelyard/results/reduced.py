"""From chunks that the engine reduced over ranks to values, as `load` makes them from timestamps.

Means of ranks are of all their samples; medians are those of chosen ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.reduced import RanksTold, Reduced
from steelyard.records.schema import Point
from steelyard.results.durations import Durations, clocks
from steelyard.stats.arrays import FloatArray

QUANTILES = (0.05, 0.5, 0.95)  # of the ranks' own medians


@dataclass(frozen=True, slots=True)
class ReducedSamples:
    """The valid samples of a point, each over all ranks: `found` as for timestamps.

    `tick` is the largest tick of a clock, `counts` the remaining samples of each chunk.
    """

    found: Durations
    tick: float
    counts: tuple[int, ...]


def read_reduced(file: JobFile, run: PointRun, point: Point) -> ReducedSamples | None:
    """Read the duration of each sample; None if none is valid. Raises InputError."""
    cost, tick = clocks(file, file.job.ranks)
    counting = [_counting(chunk) for chunk in run.reduced]
    if not any(one.any() for one in counting):
        return None
    counts = tuple(int(one.sum()) for one in counting)
    took, paid = (_joined(run, counting, name) for name in ("took_ns", "cost_ns"))
    slowest = _joined(run, counting, "slowest").astype(np.int64)
    if run.reduced_syncs:
        skew, imbalance = (_joined(run, counting, name) for name in ("skew_ns", "imbalance_ns"))
        found = Durations(took - paid, took - paid - skew, paid, slowest, skew, imbalance)
    elif point.report == "root":
        own = _joined(run, counting, "stop_ns") - _joined(run, counting, "start_ns")
        away = point.path.late_ns + point.path.observer_ns if point.path else 0.0
        found = Durations(own - cost[0] - away, None, cost[:1], slowest, None, None)
    else:
        is_low = [_marked(chunk.count, chunk.low) for chunk in run.reduced]
        low = (_joined(run, is_low, "took_ns") - _joined(run, is_low, "cost_ns")) / point.low_reps
        found = Durations(took - paid, low if low.size else None, paid, slowest, None, None)
    return ReducedSamples(found, tick, counts)


def quantiles_among(medians: FloatArray) -> tuple[float, ...]:
    """Compute `QUANTILES` of the ranks' own medians: the least one that so many of the ranks do
    not exceed.
    """
    ordered = np.sort(medians)
    at = (max(0, math.ceil(medians.size * share - 1)) for share in QUANTILES)
    return tuple(float(ordered[index]) for index in at)


def quantiles_of(ranks_told: RanksTold) -> tuple[float, ...]:
    """Compute `QUANTILES` of the ranks' own medians in ns, from their sketch; each is right to
    half a bucket.
    """
    buckets = np.array([bucket for bucket, _ in ranks_told.sketch])
    up_to = np.cumsum([ranks for _, ranks in ranks_told.sketch])
    at = [buckets[np.searchsorted(up_to, share * up_to[-1])] for share in QUANTILES]
    return tuple(float(ranks_told.sketch_width ** (bucket + 0.5)) for bucket in at)


def _marked(count: int, indices: tuple[int, ...]) -> NDArray[np.bool_]:
    marks = np.zeros(count, dtype=bool)
    marks[list(indices)] = True
    return marks


def _counting(chunk: Reduced) -> NDArray[np.bool_]:
    """Select the samples of a chunk that are neither late nor of a lower bound."""
    return ~_marked(chunk.count, chunk.late) & ~_marked(chunk.count, chunk.low)


def _joined(run: PointRun, which: list[NDArray[np.bool_]], name: str) -> FloatArray:
    """Join a column of those samples of all chunks."""
    parts = [
        np.asarray(getattr(chunk, name), dtype=np.float64)[mask]
        for chunk, mask in zip(run.reduced, which, strict=True)
    ]
    return np.concatenate(parts)
