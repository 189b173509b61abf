"""From records to values: the time of each point in each launch, in ns per operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.printable import shortened
from steelyard.base.serial_map import Mapper, serially
from steelyard.records.campaign_file import CampaignFile, Placement, PlannedPoint, read_campaign
from steelyard.records.consistency import kind_of_point, plan_contradiction
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.kernel_answer import KernelAnswer
from steelyard.records.parts import FileSystem, Hint, StuckRank, Transport
from steelyard.records.read import part_number, read_points
from steelyard.records.reduced import ReducedSync
from steelyard.records.schema import Job, Lanes, Launch, Phases, Point, Sync
from steelyard.results.row import RowLaunch
from steelyard.results.traffic import NetworkUse, network_of
from steelyard.results.values import Values, values_of
from steelyard.stats.arrays import FloatArray

_LONGEST_WHY = 4000  # letters of a reason that are shown
DAMAGED = "damaged"  # the kind of failure, first in `why`


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
    reordered: int | None = None  # ranks that a library gave another number, where it may
    mapping: tuple[int, ...] = ()  # their old numbers in the order of the new ones
    transport: Transport | None = None  # what carried the messages, if a library chose it
    files: FileSystem | None = None  # what an op's files are on
    where: tuple[StuckRank, ...] = ()  # the places of its ranks when it hung
    finalize_ns: int | None = None  # MPI_Finalize, of the slowest rank that tells
    ending: str | None = None  # what went wrong in the launch after its last test case
    network: NetworkUse = NetworkUse()  # what interfaces of hosts moved meanwhile; ports of ranks

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

    @property
    def planned_launches(self) -> int:
        """The launches that the plan has; 0 if the folder does not say."""
        count = self.campaign.plan.get("launches")
        return count if isinstance(count, int) else 0

    @property
    def unfinished(self) -> int:
        """The measurements of the plan, each a test case in a launch, that have not ended."""
        planned = self.planned_launches
        ended = (
            sum(cell.status != "unfinished" and cell.launch <= planned for cell in point.cells)
            for point in self.points
        )
        return sum(max(0, planned - count) for count in ended)


def load(folder: Path, mapped: Mapper = serially, *, may_be_lost: bool = False) -> Measured:
    """Read campaign.json (if there is one) and all records of a folder; timestamps become values on the way.

    If a point was measured several times in a launch (a job was resumed), the last one that has ended counts.
    A launch with damaged records of a point failed there. `mapped` may read files in parallel. Raises
    InputError, also if nothing of any file can be read, unless `may_be_lost`: whoever says what is damaged.
    """
    campaign = read_campaign(folder)
    planned = {plan.point: plan for plan in campaign.points}
    plans = dict(planned)
    read, found = read_points(folder, _found, mapped)
    if read.lost and not (read.files or may_be_lost):
        raise InputError(read.lost[0])
    endings = {file.path.name: watch.ending for file in read.files for watch in file.watches if watch.ending}
    finalized = {
        file.path.name: max(close.finalize_ns for close in file.closes) for file in read.files if file.closes
    }
    networks = {file.path.name: network_of(file.states) for file in read.files}
    best: dict[tuple[int, int], _Found] = {}
    for one in found:
        kept = best.setdefault((one.point, one.cell.launch), one)
        if one.rank > kept.rank:
            best[one.point, one.cell.launch] = one
        if one.point not in plans:
            plans[one.point] = _plan_of(one)
    cells: dict[int, list[_Found]] = {index: [] for index in plans}
    for index, launch in sorted(best):
        one = best[index, launch]
        ended = {
            "ending": endings.get(one.file),
            "finalize_ns": finalized.get(one.file),
            "network": networks.get(one.file, {}).get(index, NetworkUse()),
        }
        cells[index].append(replace(one, cell=replace(one.cell, **ended)))
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


def _alike(runs: Sequence[_Found], plan: PlannedPoint | None) -> tuple[PointLaunch, ...]:
    """Leave out launches whose records are of another test case than the plan's or than most of them are."""
    kinds = Counter(run.kind for run in runs if run.kind is not None)
    usual = max(kinds, key=lambda kind: kinds[kind], default=None)
    cells: list[PointLaunch] = []
    for run in runs:
        cell, what = run.cell, None
        if run.kind is not None and run.cell.point is not None:
            what = plan_contradiction(run.cell.point, plan) if plan else None
            what = what or ("" if run.kind == usual else "is not the same as in other launches")
        cells.append(damaged_cell(cell, f"point {run.point} of {run.file} {what}") if what else cell)
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
    taken = values_of(file, run)
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
        reordered=end.reordered if end else None,
        mapping=end.mapping if end else (),
        transport=end.transport if end else None,
        files=end.files if end else None,
        where=end.where if end else (),
        by_closure=any(sync.domains > 1 and sync.error_basis == "closure" for sync in syncs),
    )


def damaged_cell(cell: PointLaunch, what: str) -> PointLaunch:
    """Make the same launch without values, failed because its records are damaged."""
    return replace(
        cell, status="failed", why=f"{DAMAGED}: {what}", flag=None, rejected=0, verified=None,
        taken=Values(ranks=cell.taken.ranks), phases=(), lanes=None, answer=None,
    )  # fmt: skip


def is_damaged(launch: PointLaunch | RowLaunch) -> bool:
    """Is this launch left out because its records are damaged?"""
    return launch.status == "failed" and (launch.why or "").startswith(DAMAGED)


def _between_ranks(errors: tuple[float, ...]) -> float:
    """Find the largest error of a stop of one rank less a start of another: both may err, in opposite
    directions.
    """
    return sum(sorted(errors)[-2:])
