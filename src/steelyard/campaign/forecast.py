"""The size of a plan before anything runs: its jobs, test cases, time, node hours and disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from steelyard.campaign.budget import budget_of, is_crowded, job_seconds
from steelyard.campaign.jobs import CampaignSetup, LaunchGroup, groups_of
from steelyard.plan.plan import Plan, budget_seconds
from steelyard.records.campaign_file import PlannedPoint

_RANK_BYTES = 30_000  # of records of a test case in a launch, for each rank; 7 to 33 kB were seen
_SECONDS_OF_HOUR = 3600.0


class JobForecast(Struct, frozen=True, kw_only=True):
    """A job: test cases that a launch measures together, repeated for each launch.

    `seconds` are the estimate for all its launches, each test case within its share of a time budget, and
    `bytes` what they write. A job whose ranks and threads outnumber cores is `crowded`: it may take much
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
    crowded: bool


class Forecast(Struct, frozen=True, kw_only=True):
    """All jobs of a plan together; a time budget limits `seconds` and `node_hours`."""

    name: str
    test_cases: int
    launches: int  # of the plan, each of which starts all jobs
    starts: int  # of an engine
    seconds: float
    node_hours: float
    bytes: int
    time_budget: str | None
    jobs: tuple[JobForecast, ...]


def forecast(plan: Plan, points: Sequence[PlannedPoint], setup: CampaignSetup) -> Forecast:
    """Estimate the size of these points of a plan. Raises InputError for an invalid time budget."""
    cases = plan.most_launches * len(points)
    most = budget_of(plan, cases).most_seconds(cases)
    jobs = tuple(_job(group, plan.most_launches, setup, most) for group in groups_of(points))
    seconds = sum(job.seconds for job in jobs)
    budget = budget_seconds(plan)
    share = 1.0 if budget is None or seconds <= budget else budget / seconds
    return Forecast(
        name=plan.name,
        test_cases=len(points),
        launches=plan.most_launches,
        starts=len(jobs) * plan.most_launches,
        seconds=share * seconds,
        node_hours=share * sum(job.seconds * job.hosts for job in jobs) / _SECONDS_OF_HOUR,
        bytes=sum(job.bytes for job in jobs),
        time_budget=plan.time_budget,
        jobs=tuple(sorted(jobs, key=lambda job: (-job.seconds, job.ranks))),
    )


def _job(group: LaunchGroup, launches: int, setup: CampaignSetup, most: float | None) -> JobForecast:
    cases = len(group.points)
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
        test_cases=cases,
        launches=launches,
        seconds=launches * job_seconds(group, setup, most),
        bytes=launches * cases * group.ranks * _RANK_BYTES,
        crowded=is_crowded(group, setup),
    )
