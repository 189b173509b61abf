"""The timestamps of a point in a launch as values, in ns per operation."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.kinds import NOISE
from steelyard.records.reduced import Reduced
from steelyard.records.schema import Obs, Point
from steelyard.results.durations import Stamps, durations, pairs_of, read_stamps
from steelyard.results.reduced import quantiles_among, quantiles_of, read_reduced
from steelyard.stats.arrays import FloatArray
from steelyard.stats.fast_stats import mean, middle, row_middles

IntArray = NDArray[np.int64]


class Look(Struct, frozen=True):
    """The state of the machine after a chunk whose median was `value` ns per operation.

    `canary` is the time of a cache line between two ranks without MPI, in ns (None: no pair could measure
    it). `noise` is the largest share of time that a rank lost to others.
    """

    value: float
    canary: float | None
    noise: float


class Spun(Struct, frozen=True):
    """The waits of `ranks` on their cores, shape (any,): ns spent reading the clock, ns lost, longest gap."""

    ranks: IntArray
    ns: IntArray
    lost_ns: IntArray
    longest_ns: IntArray


class OpSamples(Struct, frozen=True):
    """For a noise op: the begin of each sample, its duration, and its counts.

    Shapes (ranks, count), in ns on each rank's own clock, less the cost of the clock.
    """

    start: FloatArray
    took: FloatArray
    counts: dict[str, IntArray]


class Values(Struct, frozen=True):
    """The timestamps of one point in one launch as values, in ns per operation, less the cost of the clock.

    `values` are in the order of measurement, shape (count,); `overhead` ns of clock per value were
    subtracted; `tick` is the clock's tick per value. `low` is a lower bound, if the method has one, shape
    (any,). `slowest[r]` counts the samples in which rank r was last, shape (ranks,). `rank_medians` and
    `mean_extent` are of several ranks' own durations: medians, shape (ranks,), (0,) for messages, or of the
    ranks `kept` only; the least, the mean and the greatest of all ranks' means. `rank_quantiles` are
    `reduced.QUANTILES` of all ranks' medians.

    For a synchronised method, `skews` are the spreads of starts in ns, shape (count,), `skew` and `imbalance`
    the medians of the spreads of starts and stops. `finishes` are the medians of each rank's stops after the
    first start, shape (ranks,), if every rank's timestamps are kept. `windows` are the widths of its windows,
    chunk by chunk. If pairs of ranks exchange messages at once, each sample is one value of each of `pairs`,
    side by side. `came_rate` is how many come at a receiver in a second, the median over chunks; None unless
    messages are timed one by one.

    `operations` counts those of all samples, rejected ones and those of the lower bound, too: `yields` of
    sched_yield, over all ranks, and `used` are of all of them. `looks` are those at the machine, in the order
    of measurement, and `cpus` the CPU of each rank then; `spun` is the record of waits for windows. `counted`
    are the sums of the op's counts, over ranks and samples, by name, `later_counts` the means over the second
    half of the samples, of the rank that has most. `used` are the sums over chunks of what each rank used
    while samples were taken, by name, shape (ranks,), where each rank's system tells.
    """

    ranks: int
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    low: FloatArray | None = None
    tick: float = 0.0
    overhead: float = 0.0
    slowest: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rank_medians: FloatArray = field(default_factory=lambda: np.empty(0))
    mean_extent: tuple[float, float, float] | None = None
    rank_quantiles: tuple[float, ...] = ()
    kept: tuple[int, ...] | None = None
    skews: FloatArray | None = None
    imbalance: float | None = None
    finishes: FloatArray | None = None
    windows: tuple[int, ...] = ()
    yields: int | None = None
    operations: int = 0
    pairs: int = 1
    came_rate: float | None = None
    looks: tuple[Look, ...] = ()
    cpus: tuple[frozenset[int], ...] = ()
    spun: Spun | None = None
    series: OpSamples | None = None
    counted: dict[str, int] = field(default_factory=dict)
    later_counts: dict[str, float] = field(default_factory=dict)
    used: dict[str, IntArray] = field(default_factory=dict)

    @property
    def skew(self) -> float | None:
        """The median spread of starts, in ns."""
        return None if self.skews is None else middle(self.skews)


def values_of(file: JobFile, run: PointRun) -> Values:
    """Convert the timestamps of a point to ns per operation."""
    if run.point is None or not run.chunks:
        return Values(ranks=file.job.ranks)
    if run.reduced:
        return _taken_of_reduced(file, run, run.point)
    stamps = read_stamps(file, run, run.point)
    if stamps.start.size == 0:
        return Values(ranks=file.job.ranks, windows=stamps.windows)
    found = durations(stamps)
    scale = run.point.reps * run.point.parts
    ranks = stamps.start.shape[0]
    has_own = (
        ranks > 1 and run.point.report != "message"
    )  # of a message, a rank has an instant and no duration
    own = stamps.local / scale if has_own else np.empty((0, 1))
    medians = row_middles(own)
    many = found.values.size // max(1, stamps.start.shape[1])  # values of a sample: of simultaneous pairs
    yields = [sum(chunk.yields) for chunk in run.obs if chunk.yields is not None]
    values = found.values
    values /= scale  # in place: there may be millions
    return Values(
        ranks=ranks,
        values=values,
        low=None if found.low is None else found.low / scale,
        tick=stamps.tick / scale,
        overhead=mean(found.paid) / scale,
        slowest=np.bincount(found.slowest, minlength=ranks).astype(np.int64),
        rank_medians=medians,
        mean_extent=_extent(own.mean(axis=1)) if has_own else None,
        rank_quantiles=quantiles_among(medians) if has_own else (),
        skews=found.skew,
        imbalance=None if found.imbalance is None else middle(found.imbalance),
        finishes=None if found.finishes is None else np.median(found.finishes, axis=1) / scale,
        windows=stamps.windows,
        yields=sum(yields) if len(yields) == len(run.obs) else None,
        operations=_operations(run, run.point, many),
        pairs=many,
        came_rate=_came_rate(stamps),
        looks=_looks(run, tuple(many * count for count in stamps.counts), values),
        cpus=tuple(map(frozenset, zip(*(chunk.cpu for chunk in run.obs if chunk.cpu), strict=True))),
        spun=_spun(run),
        series=_series(run, stamps) if run.point.role == NOISE else None,
        counted=_counted(run),
        later_counts=later_counts(run),
        used=used_in(run),
    )


def _operations(run: PointRun, point: Point, many: int = 1) -> int:
    """Count the operations of all samples that were taken, whatever became of them."""
    lows = sum(len(chunk.low) for chunk in run.chunks)
    samples = sum(chunk.count for chunk in run.chunks) - lows
    return many * (samples * point.reps * point.parts + lows * point.low_reps)


def _came_rate(stamps: Stamps) -> float | None:
    """Count the messages that come at a receiver in a second, chunk by chunk."""
    if stamps.point.report != "message":
        return None
    rates = []
    came = np.maximum(*(stamps.stop[list(ends)] for ends in zip(*pairs_of(stamps.point), strict=True)))
    for count, end in zip(stamps.counts, accumulate(stamps.counts), strict=True):
        took = np.ptp(came[:, end - count : end], axis=1) if count > 1 else np.zeros(1)
        rates += ((count - 1) / took[took > 0] * 1e9).tolist()
    return middle(rates) if rates else None


def _extent(means: FloatArray) -> tuple[float, float, float]:
    return float(means.min()), mean(means), float(means.max())


def _taken_of_reduced(file: JobFile, run: PointRun, point: Point) -> Values:
    """Convert chunks that were reduced over ranks to ns per operation."""
    ranks, scale, told = point.ranks, point.reps * point.parts, run.told
    windows = tuple(chunk.window_ns for chunk in run.reduced if chunk.window_ns is not None)
    samples = read_reduced(file, run, point)
    if samples is None:
        return Values(ranks=ranks, windows=windows)
    found = samples.found
    worst = told.worst_spun if told else None
    yields = [chunk.yields for chunk in run.reduced if chunk.yields is not None]
    means = (told.least_mean_ns, told.mean_ns, told.most_mean_ns) if told else None
    return Values(
        ranks=ranks,
        values=found.values / scale,
        low=None if found.low is None else found.low / scale,
        tick=samples.tick / scale,
        overhead=mean(found.paid) / scale,
        slowest=np.bincount(found.slowest, minlength=ranks).astype(np.int64),
        rank_medians=np.asarray(told.medians_ns if told else ()) / scale,
        mean_extent=(means[0] / scale, means[1] / scale, means[2] / scale) if means else None,
        rank_quantiles=tuple(quantile / scale for quantile in quantiles_of(told)) if told else (),
        kept=told.kept if told else (),
        skews=found.skew,
        imbalance=None if found.imbalance is None else middle(found.imbalance),
        windows=windows,
        yields=sum(yields) if len(yields) == len(run.reduced) else None,
        operations=_operations(run, point),
        looks=_looks(run, samples.counts, found.values / scale),
        spun=Spun(*(np.array([one]) for one in (worst.rank, worst.ns, worst.lost_ns, worst.longest_ns)))
        if worst
        else None,
    )


def _counted(run: PointRun) -> dict[str, int]:
    names = run.obs[0].counts
    return {name: sum(sum(map(sum, chunk.counts[name])) for chunk in run.obs) for name in names}


def later_counts(run: PointRun) -> dict[str, float]:
    """What a sample counts once the op has run for a while: pools have grown by then."""
    found = {}
    for name in run.obs[0].counts:
        counts = np.concatenate([np.array(chunk.counts[name], dtype=np.float64) for chunk in run.obs], axis=1)
        found[name] = float(counts[:, counts.shape[1] // 2 :].mean(axis=1).max())
    return found


def used_in(run: PointRun) -> dict[str, IntArray]:
    """Add up what each rank used over the chunks, by name; without what a rank does not tell in each."""
    found = {}
    for name in run.obs[0].used:
        amounts = [chunk.used.get(name, ()) for chunk in run.obs]
        if all(amount and min(amount) >= 0 for amount in amounts):
            found[name] = np.asarray(np.sum(amounts, axis=0, dtype=np.int64))
    return found


def _spun(run: PointRun) -> Spun | None:
    chunks = [chunk for chunk in run.obs if chunk.spun_ns]
    if not chunks:
        return None
    return Spun(
        np.arange(len(chunks[0].spun_ns)),
        np.sum([chunk.spun_ns for chunk in chunks], axis=0),
        np.sum([chunk.spun_lost_ns for chunk in chunks], axis=0),
        np.max([chunk.spun_longest_ns for chunk in chunks], axis=0),
    )


def _series(run: PointRun, stamps: Stamps) -> OpSamples:
    names = run.obs[0].counts
    counts = {
        name: np.concatenate([np.array(chunk.counts[name], dtype=np.int64) for chunk in run.obs], axis=1)
        for name in names
    }
    return OpSamples(stamps.start, stamps.local, counts)


def _most_lost(chunk: Obs | Reduced) -> float | None:
    """Find the share of time lost by the rank that lost most; None if it was not recorded."""
    return chunk.noise if isinstance(chunk, Reduced) else max(chunk.noise, default=None)


def _looks(run: PointRun, counts: tuple[int, ...], values: FloatArray) -> tuple[Look, ...]:
    """List the looks after chunks that have samples left."""
    return tuple(
        Look(middle(values[end - count : end]), chunk.canary_ns, lost)
        for chunk, count, end in zip(run.chunks, counts, accumulate(counts), strict=True)
        if count and (lost := _most_lost(chunk)) is not None
    )
