"""The size of a plan before anything runs: its jobs, test cases, time, node hours, memory and disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from steelyard.campaign.budget import LEAST_SECONDS, budget_of, is_crowded, job_seconds
from steelyard.campaign.jobs import CampaignSetup, LaunchGroup, groups_of
from steelyard.campaign.repetition import SINGLE_MESSAGES
from steelyard.plan.plan import Plan, budget_seconds
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.kinds import NOISE

_RANK_BYTES = 30_000  # of records of a test case in a launch, for each kept rank; 7 to 33 kB were seen
_SAMPLE_BYTES = 24  # of the record of one sample of a kept rank: two instants
_REDUCED_BYTES = 100_000  # of the records of a test case whose samples are reduced over ranks, however many
_FIXED_BYTES = 1500  # of the records of a test case, for each kept rank, besides samples
_FEW_RANKS = 64  # KEEP_RANKS_MOST of the engine: all of so many are kept
# What rank 0 holds of each rank (docs/internals/scale.md): the instants of a chunk of 1024 samples, where
# ranks are kept; its host, while hosts are found.
_CHUNK_BYTES, _HOST_BYTES = 16_384, 36
_SECONDS_OF_HOUR = 3600.0


class JobForecast(Struct, frozen=True, kw_only=True):
    """A job: test cases that a launch measures together, repeated for each launch.

    `seconds` are the estimate for all its launches, each test case within its share of a time budget,
    `bytes` what they write, and `memory` what rank 0 holds of all ranks, in bytes: without its library and
    the buffers of messages. A job whose ranks and threads outnumber cores is `crowded`: it may take much
    longer.
    """

    mpi: str | None
    ranks: int
    hosts: int
    threads: int
    thread_level: str | None
    placement: str | None
    arm: str | None
    omp: Mapping[str, str]
    env: Mapping[str, str]
    ops: tuple[str, ...]
    test_cases: int
    launches: int
    seconds: float
    bytes: int
    memory: int
    crowded: bool


class Forecast(Struct, frozen=True, kw_only=True):
    """All jobs of a plan together; a time budget limits them, to the first launch at least."""

    name: str
    test_cases: int
    launches: int  # of the plan, each of which starts all jobs
    starts: int  # of an engine
    seconds: float
    node_hours: float
    bytes: int
    memory: int  # of rank 0, in the job that needs most
    time_budget: str | None
    jobs: tuple[JobForecast, ...]


def forecast(plan: Plan, points: Sequence[PlannedPoint], setup: CampaignSetup) -> Forecast:
    """Estimate the size of these points of a plan. Raises InputError for an invalid time budget."""
    cases = plan.most_launches * len(points)
    most = budget_of(plan, cases).most_seconds(cases)
    groups = groups_of(points)
    jobs = tuple(_job(group, plan, setup, most) for group in groups)
    whole = seconds = sum(job.seconds for job in jobs)
    budget = budget_seconds(plan)
    if budget is not None:
        first_launch = sum(job_seconds(group, setup, LEAST_SECONDS) for group in groups)
        seconds = min(whole, max(budget, first_launch))
    share = seconds / whole if whole else 1.0
    return Forecast(
        name=plan.name,
        test_cases=len(points),
        launches=plan.most_launches,
        starts=len(jobs) * plan.most_launches,
        seconds=seconds,
        node_hours=share * sum(job.seconds * job.hosts for job in jobs) / _SECONDS_OF_HOUR,
        bytes=sum(job.bytes for job in jobs),
        memory=max((job.memory for job in jobs), default=0),
        time_budget=plan.time_budget,
        jobs=tuple(sorted(jobs, key=lambda job: (-job.seconds, job.ranks))),
    )


def _kept(point: PlannedPoint, plan: Plan, setup: CampaignSetup) -> int:
    """Count the ranks whose timestamps are kept of every sample."""
    op = setup.ops.all[point.op]
    needs_all = (
        point.method == SINGLE_MESSAGES or op.counters != () or op.role == NOISE or plan.keep == "ranks"
    )
    return point.ranks if needs_all or (point.ranks <= _FEW_RANKS and plan.keep is None) else 0


def _record_bytes(point: PlannedPoint, kept: int) -> int:
    """Estimate the records of a test case in a launch; a fixed number of samples may need less than usual."""
    count = point.rule_params.get("count")
    each = _RANK_BYTES
    if isinstance(count, float | int):
        each = min(each, _FIXED_BYTES + _SAMPLE_BYTES * int(count))
    return kept * each if kept else _REDUCED_BYTES


def _job(group: LaunchGroup, plan: Plan, setup: CampaignSetup, most: float | None) -> JobForecast:
    launches = plan.most_launches
    kept = [_kept(point, plan, setup) for point in group.points]
    return JobForecast(
        mpi=group.mpi,
        ranks=group.ranks,
        hosts=group.hosts or 1,
        threads=group.threads,
        thread_level=group.thread_level,
        placement=group.placement.text if group.placement else None,
        arm=group.arm,
        omp=dict(group.omp),
        env=dict(group.env),
        ops=tuple(dict.fromkeys(point.op for point in group.points)),
        test_cases=len(group.points),
        launches=launches,
        seconds=launches * job_seconds(group, setup, most),
        bytes=launches * sum(map(_record_bytes, group.points, kept)),
        memory=_CHUNK_BYTES * max(kept, default=0) + _HOST_BYTES * group.ranks,
        crowded=is_crowded(group, setup),
    )
