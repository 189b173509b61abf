"""From timestamps to durations: the clocks of the ranks in one point of one launch.

Shapes are (ranks, count) for timestamps and (count,) for durations. All are in ns of the timed region, not
per operation.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from steelyard.base.errors import InputError
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.schema import Obs, Point, Sync
from steelyard.stats.arrays import FloatArray


class Stamps(Struct, frozen=True):
    """The samples of a point without those that started late.

    `start` and `stop` are on the reference clock if the method is synchronised, else on each rank's own.
    `low_start` and `low_stop` are those of the lower bound of the method bounds. `cost` is the cost of a
    clock reading on each rank, shape (ranks,). `windows` is the width of the windows of each chunk, `counts`
    the remaining samples of it.
    """

    point: Point
    start: FloatArray
    stop: FloatArray
    low_start: FloatArray
    low_stop: FloatArray
    synchronised: bool
    cost: FloatArray
    tick: float
    windows: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def local(self) -> FloatArray:
        """The duration of each sample on each rank, shape (ranks, count)."""
        return np.asarray(self.stop - self.start - self.cost[:, None])


class Durations(Struct, frozen=True):
    """The duration of the operation in each sample, and the subtracted cost.

    `low` is a lower bound of it, shape (count,): for a synchronised method the time from the last start to
    the last stop; for bounds, that of calls back to back; empty for others. `paid` is the cost of the clock
    that was subtracted, shape (count,) or (1,). `slowest` is the rank that was last, shape (count,).
    `finishes` are the stops of ranks after the first start, for synchronised methods, shape (ranks, count).
    """

    values: FloatArray
    low: FloatArray | None
    paid: FloatArray
    slowest: NDArray[np.int64]
    skew: FloatArray | None
    imbalance: FloatArray | None
    finishes: FloatArray | None = None


def read_stamps(file: JobFile, run: PointRun, point: Point) -> Stamps:
    """Read the timestamps of a point with at least one chunk. Raises InputError for inconsistent records."""
    ranks = len(run.obs[0].start_ns)
    if any(len(chunk.start_ns) != ranks for chunk in run.obs):
        raise InputError(f"point {run.index} of {file.path.name} changes its number of ranks")
    cost, tick = clocks(file, ranks)
    syncs = {sync.index: sync for sync in run.syncs}
    most = sum(chunk.count for chunk in run.obs)
    all_starts, all_stops = (
        np.empty((ranks, most)),
        np.empty((ranks, most)),
    )  # filled, so that no copy is made
    counts: list[int] = []
    whole = 0
    lows: list[tuple[FloatArray, FloatArray]] = []
    for chunk in run.obs:
        start, stop = _on_one_clock(chunk, syncs)
        if chunk.low or chunk.late:
            low = np.zeros(chunk.count, dtype=bool)
            low[list(chunk.low)] = True
            late = np.zeros(chunk.count, dtype=bool)
            late[list(chunk.late)] = True
            lows.append((start[:, low], stop[:, low]))
            start, stop = start[:, ~low & ~late], stop[:, ~low & ~late]
        counts.append(start.shape[1])
        at = slice(whole, whole + counts[-1])
        all_starts[:, at], all_stops[:, at] = start, stop
        whole = at.stop
    none = np.empty((ranks, 0))
    low_start, low_stop = (
        np.concatenate([pair[i] for pair in lows], axis=1) if lows else none for i in (0, 1)
    )
    return Stamps(
        point=point,
        start=all_starts[:, :whole],
        stop=all_stops[:, :whole],
        low_start=low_start,
        low_stop=low_stop,
        synchronised=bool(syncs),
        cost=cost,
        tick=tick,
        windows=tuple(chunk.window_ns for chunk in run.obs if chunk.window_ns is not None),
        counts=tuple(counts),
    )


def durations(stamps: Stamps) -> Durations:
    """Compute one duration for each sample, as the point's `report` and its method define it."""
    point = stamps.point
    if point.report == "message":
        return _messages(stamps)
    local = stamps.local
    if stamps.synchronised:
        slowest = np.argmax(stamps.stop - stamps.cost[:, None], axis=0)
        paid = stamps.cost[slowest]
        stop = np.take_along_axis(stamps.stop, slowest[None], axis=0)[0]
        last, first = stop - paid, stamps.start.min(axis=0)
        return Durations(
            values=last - first,
            low=last - stamps.start.max(axis=0),
            paid=paid,
            slowest=slowest,
            skew=np.ptp(stamps.start, axis=0),
            imbalance=stop - stamps.stop.min(axis=0),
            finishes=stamps.stop - stamps.cost[:, None] - first,
        )
    slowest = np.argmax(local, axis=0)
    if point.report == "root":
        away = point.path.late_ns + point.path.observer_ns if point.path else 0.0
        return Durations(local[0] - away, None, stamps.cost[:1], slowest, None, None)
    low = (stamps.low_stop - stamps.low_start - stamps.cost[:, None]).max(axis=0) / point.low_reps
    return Durations(
        values=local.max(axis=0),
        low=low if low.size else None,
        paid=stamps.cost[slowest],
        slowest=slowest,
        skew=None,
        imbalance=None,
    )


def pairs_of(point: Point) -> tuple[tuple[int, int], ...]:
    """List the pairs of ranks that exchange messages in a point that times each message; the lower rank is
    first.
    """
    partners = point.partners or (1, 0)
    return tuple((rank, other) for rank, other in enumerate(partners) if other > rank)


def _messages(stamps: Stamps) -> Durations:
    """Compute a duration for each message of each pair, shape (count * pairs,), the k-th of all pairs side by
    side.

    A message has one instant on either side, the sender's and the receiver's, which is the later one.
    """
    pairs = pairs_of(stamps.point)
    low, high = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    paid = (stamps.cost[low] + stamps.cost[high]) / 2
    apart = stamps.stop[high] - stamps.stop[low]
    values = np.abs(apart) - paid[:, None]
    slowest = np.argmax(values, axis=0)
    there = np.take_along_axis(apart, slowest[None], axis=0)[0] > 0
    last = np.where(there, high[slowest], low[slowest])
    return Durations(values.T.ravel(), None, np.full(1, paid.mean()), last, None, None)


def clocks(file: JobFile, ranks: int) -> tuple[FloatArray, float]:
    """Find the cost of a clock reading on each rank in ns, shape (ranks,), and the largest tick."""
    launch = file.launch
    if launch is None:
        raise InputError(f"{file.path.name} holds samples but no launch record")
    cost = np.full(ranks, launch.clock.cost_ns)
    tick = max(launch.clock.tick_ns, launch.tick_most_ns or 0.0)
    for place in launch.places:
        if place.rank < ranks:
            cost[place.rank] = place.clock_cost_ns
            tick = max(tick, place.clock_tick_ns)
    return cost, float(tick)


def _on_one_clock(chunk: Obs, syncs: dict[int, Sync]) -> tuple[FloatArray, FloatArray]:
    """Read starts and stops of a chunk, shape (ranks, count), on the reference clock if they are
    synchronised.
    """
    # from whole numbers to whole numbers first: that takes 60 % of the time
    start = np.asarray(chunk.start_ns, dtype=np.int64).astype(np.float64)
    is_instant = chunk.stop_ns is chunk.start_ns
    stop = start if is_instant else np.asarray(chunk.stop_ns, dtype=np.int64).astype(np.float64)
    if chunk.sync_before is None or chunk.sync_after is None:
        return start, stop
    before, after = syncs[chunk.sync_before], syncs[chunk.sync_after]
    return on_reference(start, before, after), on_reference(stop, before, after)


def on_reference(stamps: FloatArray, before: Sync, after: Sync) -> FloatArray:
    """Convert stamps of each rank's clock, shape (ranks, count), to rank 0's.

    The offset is interpolated on a straight line between two synchronisations, so nothing is extrapolated. If
    there is only one, its drift is used.
    """
    at = _column(before.at_ns)
    offset = _column(before.offset_ns)
    if before is after:
        drift = _column(before.drift_ppm) * 1e-6
        return np.asarray(stamps - (offset + drift * (stamps - at)))
    share = (stamps - at) / (_column(after.at_ns) - at)
    return np.asarray(stamps - (offset + share * (_column(after.offset_ns) - offset)))


def _column(values: tuple[int, ...] | tuple[float, ...]) -> FloatArray:
    return np.asarray(values, dtype=np.float64)[:, None]
