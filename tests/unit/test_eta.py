"""The time that is left of a campaign, on a made-up clock."""

from __future__ import annotations

import random

import pytest

from steelyard.campaign.eta import Eta
from steelyard.campaign.jobs import PlannedJob, plan_jobs
from steelyard.records.campaign_file import CampaignFile, PlannedPoint

_OPS = {"npb.cg": 3.0, "mpi.bcast": 0.05, "mpi.pingpong": 0.2, "mpi.alltoall": 0.6}  # seconds


def _jobs(launches: int, cases: int, seed: int) -> list[PlannedJob]:
    names = list(_OPS)
    points = tuple(
        PlannedPoint(point=i, op=names[i % 4], ranks=2, mpi=("openmpi-4", "mpich-5")[i // 4 % 2])
        for i in range(cases)
    )
    return plan_jobs(CampaignFile(points=points, seed=seed), launches, ())


def _errors(jobs: list[PlannedJob], seed: int) -> dict[float, float]:
    """Fraction of the work that is done -> what the whole is then told to take over what it takes, less 1."""
    rng = random.Random(seed)
    own = {point.point: _OPS[point.op] * rng.uniform(0.3, 3) for job in jobs for point in job.points}
    start = {"openmpi-4": 0.5, "mpich-5": 1.5}
    eta, now, told = Eta(jobs), 100.0, []
    for job in jobs:
        eta.launch_began(job.name, now)
        inside = 0.0
        before = start[job.group.mpi or ""] * rng.uniform(0.8, 1.2)
        now += before
        for point in job.points:
            took = own[point.point] * rng.uniform(0.8, 1.2)
            inside, now = inside + took, now + took
            eta.case_ended(point, inside, now)
            left = eta.seconds_left(now)
            assert left is not None
            told.append((now, left))
        now += 0.1
    eta.launch_ended(now)
    assert eta.seconds_left(now) == 0
    whole = now - 100
    return {(at - 100) / whole: (at - 100 + left) / whole - 1 for at, left in told}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("launches", "cases"), [(10, 24), (20, 8)])
def test_after_a_tenth_of_the_work_it_holds_within_a_fifth(launches: int, cases: int, seed: int) -> None:
    errors = _errors(_jobs(launches, cases, seed), seed)
    assert max(abs(error) for done, error in errors.items() if done >= 0.11) < 0.2


def test_one_launch_of_many_cases_is_told_by_their_ops() -> None:
    """Nothing was seen twice: the first of an op stand for the others."""
    found = sorted(abs(_at(_errors(_jobs(1, 160, seed), seed), 0.25)) for seed in range(8))
    assert found[5] < 0.2


def _at(errors: dict[float, float], done: float) -> float:
    return next(error for at, error in errors.items() if at >= done)


def test_nothing_is_told_before_anything_is_known() -> None:
    jobs = _jobs(2, 4, 1)
    eta = Eta(jobs)
    assert eta.seconds_left(0) is None
    eta.launch_began(jobs[0].name, 0.0)
    assert eta.seconds_left(1) is None
    eta.case_ended(jobs[0].points[0], 1.0, 1.5)
    assert eta.seconds_left(1.5) is not None


def test_a_launch_that_dies_without_a_case_teaches_nothing() -> None:
    jobs = _jobs(2, 8, 1)
    eta = Eta(jobs)
    eta.launch_began(jobs[0].name, 0.0)
    eta.launch_began(jobs[1].name, 500.0)
    eta.case_ended(jobs[1].points[0], 1.0, 501.5)
    left = eta.seconds_left(501.5)
    assert left is not None
    assert left < 60
