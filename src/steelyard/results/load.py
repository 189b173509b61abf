"""From records to values: the time of each point in each launch, in ns per operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from steelyard.base.errors import InputError
from steelyard.base.foreign import shortened
from steelyard.base.serially import Mapper, serially
from steelyard.records.answer import KernelAnswer
from steelyard.records.campaign_file import CampaignFile, Placement, PlannedPoint, read_campaign
from steelyard.records.consistency import kind_of_point, plan_contradiction
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.kinds import NOISE
from steelyard.records.read import part_number, read_points
from steelyard.records.reduced import Reduced, ReducedSync
from steelyard.records.schema import Hint, Job, Lanes, Launch, Obs, Phases, Point, StuckRank, Sync, Transport
from steelyard.results.durations import FloatArray, Stamps, durations, read_stamps
from steelyard.results.reduced import quantiles_among, quantiles_of, read_reduced
from steelyard.results.row import RowLaunch
from steelyard.stats.few import mean, middle, row_middles

_LONGEST_WHY = 4000  # letters of a reason that are shown
DAMAGED = "damaged"  # the kind of failure, first in `why`
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
    side by side.

    `yields` counts sched_yield of all ranks over `operations` operations. `looks` are those at the machine,
    in the order of measurement, and `cpus` the CPU of each rank then; `spun` is the record of waits for
    windows. `counted` are the sums of the op's counts, over ranks and samples, by name.
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
    looks: tuple[Look, ...] = ()
    cpus: tuple[frozenset[int], ...] = ()
    spun: Spun | None = None
    series: OpSamples | None = None
    counted: dict[str, int] = field(default_factory=dict)

    @property
    def skew(self) -> float | None:
        """The median spread of starts, in ns."""
        return None if self.skews is None else middle(self.skews)


class PointLaunch(Struct, frozen=True):
    """One point in one launch. `status` is ok, failed, skipped or unfinished (no `end` record).

    `clock_error` is the stated error, in ns, of a stop of one rank less a start of another, by the clocks of
    a synchronised method, and `clock_bound` its guaranteed bound. `by_closure`: several clocks were
    synchronised, and the closure gave the stated error.
    """

    launch: int
    job: Job
    start: Launch | None
    point: Point | None
    status: str
    why: str | None
    flag: str | None
    rejected: int
    verified: bool | None
    taken: Values
    clock_error: float | None
    clock_bound: float | None
    by_closure: bool
    phases: tuple[Phases, ...] = ()  # the time of each phase, chunk by chunk
    lanes: Lanes | None = None  # each thread's own times
    answer: KernelAnswer | None = None  # of a kernel that records its answer
    hint: Hint | None = None  # what was promised to the library
    window_model: str | None = None  # the library's name for a window's memory model
    transport: Transport | None = None  # what carried the messages, if a library chose it
    where: tuple[StuckRank, ...] = ()  # the places of its ranks when it hung

    @property
    def values(self) -> FloatArray:
        """The times of its samples, in ns per operation, shape (count,)."""
        return self.taken.values


class PointLaunches(Struct, frozen=True):
    """One point over all launches, in the order of the launches."""

    plan: PlannedPoint
    cells: tuple[PointLaunch, ...]


class Measured(Struct, frozen=True):
    """A results folder: what was planned, the files, and every point with its values."""

    folder: Path
    campaign: CampaignFile
    files: tuple[JobFile, ...]  # without their samples
    points: tuple[PointLaunches, ...]
    lost: tuple[str, ...] = ()  # sentences about files of which nothing can be read


def load(folder: Path, mapped: Mapper = serially) -> Measured:
    """Read campaign.json (if there is one) and all records of a folder; timestamps become values on the way.

    If a point was measured several times in a launch (a job was resumed), the last one that has ended counts.
    A launch with damaged records of a point failed there. `mapped` may read files in parallel. Raises
    InputError.
    """
    campaign = read_campaign(folder)
    planned = {plan.point: plan for plan in campaign.points}
    plans = dict(planned)
    read, found = read_points(folder, _found, mapped)
    best: dict[tuple[int, int], _Found] = {}
    for one in found:
        kept = best.setdefault((one.point, one.cell.launch), one)
        if one.rank > kept.rank:
            best[one.point, one.cell.launch] = one
        if one.point not in plans:
            plans[one.point] = _plan_of(one)
    cells: dict[int, list[_Found]] = {index: [] for index in plans}
    for index, launch in sorted(best):
        cells[index].append(best[index, launch])
    points = tuple(
        PointLaunches(plan, _alike(cells[index], planned.get(index))) for index, plan in plans.items()
    )
    return Measured(folder, campaign, read.files, points, read.lost)


class _Found(Struct, frozen=True):
    """A point of one file; the highest `rank` counts: whether the point has ended or is damaged, the part of
    its job, whether it is damaged. `kind` is what all its launches have in common.
    """

    point: int
    rank: tuple[bool, int, bool]
    cell: PointLaunch
    file: str
    kind: tuple[object, ...] | None


def _found(file: JobFile, run: PointRun) -> _Found:
    try:
        cell, damaged = cell_of(file, run), run.damage is not None
    except InputError as error:
        cell, damaged = cell_of(file, replace(run, damage=str(error))), True
    kind = kind_of_point(run.point, run.phases) if run.point and cell.status == "ok" else None
    rank = (run.end is not None or damaged, part_number(file), damaged)
    return _Found(run.index, rank, cell, file.path.name, kind)


def _alike(found: Sequence[_Found], plan: PlannedPoint | None) -> tuple[PointLaunch, ...]:
    """Leave out launches whose records are of another test case than the plan's or than most of them are."""
    kinds = Counter(one.kind for one in found if one.kind is not None)
    usual = max(kinds, key=lambda kind: kinds[kind], default=None)
    cells: list[PointLaunch] = []
    for one in found:
        cell, what = one.cell, None
        if one.kind is not None and one.cell.point is not None:
            what = plan_contradiction(one.cell.point, plan) if plan else None
            what = what or ("" if one.kind == usual else "is not the same as in other launches")
        cells.append(damaged_cell(cell, f"point {one.point} of {one.file} {what}") if what else cell)
    return tuple(cells)


def _plan_of(found: _Found) -> PlannedPoint:
    """Take the axes of a point from its records, if there is no campaign.json."""
    job, p = found.cell.job, found.cell.point
    mpi = job.mpi.name if job.mpi else None
    place = _placement_of(job)
    if p is None:
        return PlannedPoint(
            point=found.point, op="?", ranks=job.ranks, threads=job.threads, mpi=mpi, placement=place
        )
    return PlannedPoint(
        point=p.point,
        op=p.op,
        bytes=p.bytes,
        ranks=p.ranks,
        threads=p.threads,
        method=p.method,
        rule=p.rule,
        params=p.params,
        mpi=mpi,
        placement=place,
    )


def _placement_of(job: Job) -> Placement | None:
    """Rebuild the placement that a job was asked for, without the interrupts, which its record
    does not have.
    """
    kind, _, words = (job.placement or "").partition(" ")
    if not kind:
        return None
    return Placement(kind, job.cpus, hosts=() if job.cpus or not words else tuple(words.split(",")))


def cell_of(file: JobFile, run: PointRun) -> PointLaunch:
    """Convert one point of one file to values. Raises InputError for contradictory records."""
    if run.damage is not None:
        bare = PointRun(run.index, run.point, (), run.end)
        return damaged_cell(cell_of(file, bare), run.damage)
    end = run.end
    status = end.status if end else "unfinished"
    why = shortened(end.why, _LONGEST_WHY) if end and end.why else None
    taken = _taken(file, run)
    syncs: tuple[Sync | ReducedSync, ...] = (*run.syncs, *run.reduced_syncs)
    if status == "ok" and taken.values.size == 0:
        status, why = "failed", "no samples"
    return PointLaunch(
        launch=file.job.launch,
        job=file.job,
        start=file.launch,
        point=run.point,
        status=status,
        why=why,
        flag=end.flag if end else None,
        rejected=end.rejected if end else 0,
        verified=end.verified if end else None,
        taken=taken,
        clock_error=max((_between_ranks(sync.error_ns) for sync in syncs), default=None),
        clock_bound=max((_between_ranks(sync.bound_ns) for sync in syncs), default=None),
        phases=run.phases,
        lanes=run.lanes,
        answer=end.answer if end else None,
        hint=end.hint if end else None,
        window_model=end.window_model if end else None,
        transport=end.transport if end else None,
        where=end.where if end else (),
        by_closure=any(sync.domains > 1 and sync.error_basis == "closure" for sync in syncs),
    )


def damaged_cell(cell: PointLaunch, what: str) -> PointLaunch:
    """Make the same launch without values, failed because its records are damaged."""
    return replace(
        cell, status="failed", why=f"{DAMAGED}: {what}", flag=None, rejected=0, verified=None,
        taken=Values(ranks=cell.taken.ranks), phases=(), lanes=None, answer=None,
    )  # fmt: skip


def is_damaged(one: PointLaunch | RowLaunch) -> bool:
    """Is this launch left out because its records are damaged?"""
    return one.status == "failed" and (one.why or "").startswith(DAMAGED)


def _between_ranks(errors: tuple[float, ...]) -> float:
    """Find the largest error of a stop of one rank less a start of another: both may err, in opposite
    directions.
    """
    return sum(sorted(errors)[-2:])


def _taken(file: JobFile, run: PointRun) -> Values:
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
    return Values(
        ranks=ranks,
        values=found.values / scale,
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
        operations=found.values.size * scale,
        pairs=many,
        looks=_looks(run, tuple(many * count for count in stamps.counts), found.values / scale),
        cpus=tuple(map(frozenset, zip(*(chunk.cpu for chunk in run.obs if chunk.cpu), strict=True))),
        spun=_spun(run),
        series=_series(run, stamps) if run.point.role == NOISE else None,
        counted=_counted(run),
    )


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
        rank_quantiles=tuple(one / scale for one in quantiles_of(told)) if told else (),
        kept=told.kept if told else (),
        skews=found.skew,
        imbalance=None if found.imbalance is None else middle(found.imbalance),
        windows=windows,
        yields=sum(yields) if len(yields) == len(run.reduced) else None,
        operations=found.values.size * scale,
        looks=_looks(run, samples.counts, found.values / scale),
        spun=Spun(*(np.array([one]) for one in (worst.rank, worst.ns, worst.lost_ns, worst.longest_ns)))
        if worst
        else None,
    )


def _counted(run: PointRun) -> dict[str, int]:
    names = run.obs[0].counts
    return {name: sum(sum(map(sum, chunk.counts[name])) for chunk in run.obs) for name in names}


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
