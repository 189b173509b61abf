"""From records to values: what each point took in each launch, in ns per operation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from steelyard.errors import InputError
from steelyard.records import (
    SCHEMA,
    Job,
    JobFile,
    Launch,
    Number,
    Point,
    PointRun,
    Sync,
    part_number,
    read_folder,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class PlannedPoint(Struct, frozen=True, kw_only=True):
    """A point as campaign.json plans it."""

    point: int
    op: str
    bytes: int = 0
    ranks: int = 1
    threads: int = 1
    method: str = ""
    rule: str = ""
    params: dict[str, Number] = {}
    method_params: dict[str, Number] = {}
    rule_params: dict[str, Number] = {}
    mpi: str | None = None


class CampaignFile(Struct, frozen=True, kw_only=True):
    """campaign.json: what was planned, on which machine."""

    schema: int = SCHEMA
    name: str = ""
    seed: int = 0
    created: str = ""
    plan: dict[str, Any] = {}
    points: tuple[PlannedPoint, ...] = ()
    machine: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Cell:
    """One point in one launch. `status` is ok, failed, skipped or unfinished (no `end` record).

    `values` are ns per operation in the order taken, shape (count,), the cost of reading the clock subtracted
    (`overhead` ns per value); `tick` is the clock's tick per value. `slowest[r]` counts the observations in
    which rank r took longest, shape (ranks,). Of a synchronised method, `skew` is the median spread of the
    starts, `clock_error` the error that its clocks state and `clock_bound` the certain one, all in ns;
    `by_closure`: several clocks were synchronised, and the closure found the error that they state. `yields`
    counts sched_yield of all ranks over `operations` operations.
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
    values: FloatArray
    tick: float
    overhead: float
    slowest: IntArray
    skew: float | None
    clock_error: float | None
    clock_bound: float | None
    by_closure: bool
    yields: int | None
    operations: int


@dataclass(frozen=True, slots=True)
class PointCells:
    """One point over all launches, in the order of the launches."""

    plan: PlannedPoint
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """A results folder, read: what was planned, the files, and every point with its values."""

    folder: Path
    campaign: CampaignFile
    files: tuple[JobFile, ...]  # without their observations
    points: tuple[PointCells, ...]


def load(folder: Path) -> Measured:
    """Reads campaign.json (if there is one) and all records of a folder; stamps become values on the way.

    Of several measurements of a point in a launch (a job that was resumed) the last one that has ended
    counts. Raises InputError.
    """
    campaign = read_campaign(folder)
    plans = {plan.point: plan for plan in campaign.points}
    best: dict[tuple[int, int], tuple[tuple[bool, int], Cell]] = {}

    def visit(file: JobFile, run: PointRun) -> None:
        key, rank = (run.index, file.job.launch), (run.end is not None, part_number(file))
        if key not in best or rank > best[key][0]:
            best[key] = rank, cell_of(file, run)
        if run.index not in plans:
            plans[run.index] = _plan_of(file.job, run)

    files = read_folder(folder, visit)
    cells: dict[int, list[Cell]] = {index: [] for index in plans}
    for index, launch in sorted(best):
        cells[index].append(best[index, launch][1])
    points = tuple(PointCells(plan, tuple(cells[index])) for index, plan in plans.items())
    return Measured(folder, campaign, files, points)


def read_campaign(folder: Path) -> CampaignFile:
    """campaign.json of a results folder, an empty one where it is missing. Raises InputError."""
    path = folder / "campaign.json"
    if not path.exists():
        return CampaignFile(name=folder.name)
    try:
        campaign = msgspec.json.decode(path.read_bytes(), type=CampaignFile)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(
            f"{path} is not a campaign ({error}); restore it or measure into another folder"
        ) from error
    if campaign.schema != SCHEMA:
        raise InputError(
            f"{path} is of format {campaign.schema}, not {SCHEMA}; use the steelyard that wrote it"
        )
    return campaign


def _plan_of(job: Job, run: PointRun) -> PlannedPoint:
    """The axes of a point that no campaign.json names, from its records."""
    mpi = job.mpi.name if job.mpi else None
    if run.point is None:
        return PlannedPoint(point=run.index, op="?", ranks=job.ranks, threads=job.threads, mpi=mpi)
    p = run.point
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
    )


def cell_of(file: JobFile, run: PointRun) -> Cell:
    """One point of one file as values."""
    status = run.end.status if run.end else "unfinished"
    why = run.end.why if run.end else None
    values: FloatArray = np.empty(0)
    slowest: IntArray = np.zeros(file.job.ranks, dtype=np.int64)
    tick = overhead = 0.0
    operations = 0
    yields: int | None = None
    skew: float | None = None
    if run.point is not None and run.obs:
        costs, tick = _clocks(file, len(run.obs[0].start_ns))
        start, stop = _stamps(run, file.path)
        if run.syncs:  # from when the first rank starts until each has completed it
            skew = float(np.median(np.ptp(start, axis=0))) if start.size else None
            start = start.min(axis=0, keepdims=True)
        durations = stop - start - costs[:, None]
        scale = run.point.reps * run.point.parts
        longest = np.argmax(durations, axis=0)
        slowest = np.bincount(longest, minlength=durations.shape[0]).astype(np.int64)
        chosen = durations[0] if run.point.report == "root" else durations.max(axis=0)
        values = chosen / scale
        paid = costs[:1] if run.point.report == "root" else costs[longest]
        overhead = float(paid.mean()) / scale
        tick /= scale
        operations = values.size * scale
        if all(chunk.yields is not None for chunk in run.obs):
            yields = sum(sum(chunk.yields or ()) for chunk in run.obs)
    if status == "ok" and values.size == 0:
        status, why = "failed", "no observations"
    return Cell(
        launch=file.job.launch,
        job=file.job,
        start=file.launch,
        point=run.point,
        status=status,
        why=why,
        flag=run.end.flag if run.end else None,
        rejected=run.end.rejected if run.end else 0,
        verified=run.end.verified if run.end else None,
        values=values,
        tick=tick,
        overhead=overhead,
        slowest=slowest,
        skew=skew,
        clock_error=max((max(sync.error_ns) for sync in run.syncs), default=None),
        clock_bound=max((max(sync.bound_ns) for sync in run.syncs), default=None),
        by_closure=any(sync.domains > 1 and sync.error_basis == "closure" for sync in run.syncs),
        yields=yields,
        operations=operations,
    )


def _clocks(file: JobFile, ranks: int) -> tuple[FloatArray, float]:
    """What a reading of the clock costs each rank in ns, shape (ranks,), and the largest tick."""
    launch = file.launch
    if launch is None:
        raise InputError(f"{file.path} holds observations but no launch record; measure again")
    cost = np.full(ranks, launch.clock.cost_ns)
    tick = launch.clock.tick_ns
    for place in launch.places:
        if place.rank < ranks:
            cost[place.rank] = place.clock_cost_ns
            tick = max(tick, place.clock_tick_ns)
    return cost, float(tick)


def _stamps(run: PointRun, path: Path) -> tuple[FloatArray, FloatArray]:
    """Starts and stops in ns, shape (ranks, count), each rank's on its own clock.

    Of a synchronised method, all on the reference clock, without the observations that started late.
    """
    ranks = len(run.obs[0].start_ns)
    if any(len(chunk.start_ns) != ranks for chunk in run.obs):
        raise InputError(f"{path}: point {run.index} changes its number of ranks on the way; measure again")
    syncs = {sync.index: sync for sync in run.syncs}
    starts, stops = [], []
    for chunk in run.obs:
        start, stop = (np.asarray(stamps, dtype=np.float64) for stamps in (chunk.start_ns, chunk.stop_ns))
        if chunk.sync_before is not None and chunk.sync_after is not None:
            before, after = syncs[chunk.sync_before], syncs[chunk.sync_after]
            kept = np.setdiff1d(np.arange(chunk.count), chunk.late)
            start = _on_reference(start[:, kept], before, after)
            stop = _on_reference(stop[:, kept], before, after)
        starts.append(start)
        stops.append(stop)
    return np.concatenate(starts, axis=1), np.concatenate(stops, axis=1)


def _on_reference(stamps: FloatArray, before: Sync, after: Sync) -> FloatArray:
    """Stamps of each rank's clock, shape (ranks, count), on rank 0's: the offset is interpolated between two
    synchronisations, on a straight line, so that nothing is extrapolated.
    """
    at, offset = (
        np.array([getattr(sync, name) for sync in (before, after)], dtype=np.float64)[..., None]
        for name in ("at_ns", "offset_ns")
    )
    share = (stamps - at[0]) / (at[1] - at[0])
    return np.asarray(stamps - (offset[0] + share * (offset[1] - offset[0])), dtype=np.float64)
