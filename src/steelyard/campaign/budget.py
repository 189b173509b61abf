"""A time budget: how much of a campaign fits, the time of each point, and the deadline."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steelyard.base.plural import counted
from steelyard.base.units import format_duration
from steelyard.campaign.jobs import CampaignSetup, LaunchGroup, PlannedJob
from steelyard.campaign.repetition import check_seconds, repetition_seconds
from steelyard.plan.plan import MOST_SECONDS, Plan, budget_seconds
from steelyard.records.campaign_file import PlannedPoint

LEAST_SECONDS = 0.02  # the least time of a point, however little is left of the budget: less measures nothing
_OVERHEAD_SHARE = 0.3  # of a time budget: starting launches, warming up, checking answers
_USUAL_SECONDS = 0.02  # of a point that converges soon: most_seconds of the default rule
_USED_SHARE = 0.5  # of the time that a point may take, if that is more: some converge soon, others never
# A point's warm-up and checks if ranks or threads meet; a single one ends so much before its limit.
# Beyond it mem.copy took none, pingpong 7 to 18 ms, allreduce 17 to 27, OpenMP 23, puts 39, Pthreads 90.
_POINT_SECONDS = 0.03
# Where a repetition lasts (rules/median_quantile.c, core/warm_up.c, core/run.c of the engine): samples of a
# median, or the fewest, after so many times most_seconds; checks of the answer before the first sample and
# after the last; repetitions that warm up, with a check each, and those that do so without.
_MEDIAN_SAMPLES, _FEWEST_SAMPLES, _PATIENCE = 16, 3, 100
_CHECKS, _PROOFS, _WARM_UP = 2, 2, 2
# Methods that start calls at instants: how far apart these are, in repetitions, and those that find it out.
_APART, _PILOTS = {"epoch": 4.0, "window": 2.0}, 3
# Seconds to start a launch: without an MPI, with one (MPICH 0.15, Open MPI 0.45), over hosts (srun 0.6).
_SOLO_START, _MPI_START, _HOSTS_START = 0.1, 0.4, 1.0
# How long to wait for a point in flight: a share of the budget, and at least so many seconds.
_GRACE_SHARE, _LEAST_GRACE = 0.05, 0.5


class Budget(Struct, frozen=True):
    """A budget of seconds that began at an instant of the monotonic clock; None: without end.

    `cases` are the measurements to be made when it began. It is not over where it does not end what runs.
    """

    seconds: float | None
    began: float
    cases: int = 1
    ends: bool = True

    @property
    def left(self) -> float:
        """Seconds until the deadline; below 0 after it."""
        return math.inf if self.seconds is None else self.began + self.seconds - time.monotonic()

    @property
    def is_over(self) -> bool:
        """Is the deadline over?"""
        return self.ends and self.left <= 0

    @property
    def patience_is_over(self) -> bool:
        """Is the deadline so long over that a point in flight is given up?"""
        return self.ends and self.left <= -max(_LEAST_GRACE, _GRACE_SHARE * (self.seconds or 0))

    def most_seconds(self, points: int) -> float | None:
        """Divide the rest among the remaining points; None: what their rules say.

        Time that earlier launches saved is not used: all launches measure alike.
        """
        if self.seconds is None:
            return None
        share = (1 - _OVERHEAD_SHARE) * min(self.left / points, self.seconds / self.cases)
        return min(MOST_SECONDS, max(LEAST_SECONDS, share))


def budget_of(plan: Plan, cases: int) -> Budget:
    """Make the budget of a plan for so many measurements, which begins now. Raises InputError."""
    return Budget(budget_seconds(plan), time.monotonic(), max(1, cases))


def estimate(plan: Plan, jobs: Sequence[PlannedJob], setup: CampaignSetup) -> tuple[str, ...]:
    """Describe what will be measured, about how long it takes, and what does not fit into the budget."""
    if not jobs:
        return ()
    budget = budget_seconds(plan)
    costs = _launch_seconds(jobs, setup, None if budget is None else LEAST_SECONDS)
    points = {point.point for job in jobs for point in job.points}
    work = f"{counted(len(points), 'test case')} in {counted(len(costs), 'launch')}"
    if budget is None:
        crowded = any(is_crowded(job.group, setup) for job in jobs)
        return (f"{work}: {roughly_words(sum(costs.values()), crowded=crowded)}",)
    given, cost = format_duration(budget), format_duration(max(costs.values()))
    fitting = sum(cost <= budget for cost in itertools.accumulate(costs.values()))
    if fitting == len(costs):
        return (f"{work}: at most {given}",)
    if not fitting and spared_jobs(jobs):
        left = "is less than one launch takes: the first is finished, no other begins"
        return (f"{work}: {format_duration(costs[1])} or more", f"the time budget of {given} {left}")
    room = f"about {fitting} of the {len(costs)} launches" if fitting else "part of one launch"
    left = f"has room for {room}: each takes {cost} or more; what is not measured by then is left out"
    return (f"{work}: at most {given}", f"the time budget of {given} {left}")


def spared_jobs(jobs: Sequence[PlannedJob]) -> int:
    """Count the jobs that a time budget does not end: of the first launch, without which there is no answer.

    It has been where what is left was asked for by its results.
    """
    first = list(itertools.takewhile(lambda job: job.launch == 1, jobs))
    is_wanted = any(point.refines is None for job in first for point in job.points)
    return len(first) if is_wanted else 0


def roughly_words(seconds: float, *, crowded: bool) -> str:
    """Estimate the time before anything is known; a lower bound if cores are shared."""
    if crowded:
        return f"{format_duration(seconds)} or much more, for ranks and threads outnumber cores"
    return f"about {format_duration(seconds)}"


def is_crowded(group: LaunchGroup, setup: CampaignSetup) -> bool:
    """Do ranks and threads wait for cores, so that the scheduler and the library determine the time?"""
    placed = group.placement.cpus if group.placement else ()
    return not placed and group.ranks // (group.hosts or 1) * group.threads > len(setup.machine.cores)


def expected_seconds(jobs: Sequence[PlannedJob], setup: CampaignSetup) -> float:
    """Estimate the time of these jobs without a time budget."""
    return sum(_launch_seconds(jobs, setup, None).values())


def _launch_seconds(jobs: Sequence[PlannedJob], setup: CampaignSetup, most: float | None) -> dict[int, float]:
    """Estimate the time of each launch, by its number."""
    costs: dict[int, float] = {}
    for job in jobs:
        costs[job.launch] = costs.get(job.launch, 0) + job_seconds(job, setup, most)
    return costs


def job_seconds(job: PlannedJob | LaunchGroup, setup: CampaignSetup, most: float | None) -> float:
    """Estimate the time of a launch in which each point may take `most` seconds; None: what its rule says."""
    group = job if isinstance(job, LaunchGroup) else job.group
    start = _HOSTS_START if (group.hosts or 1) > 1 else _MPI_START
    usual, meet = _usual_params(setup), _meeting(group)
    points = sum(_point_seconds(point, setup, usual[point.rule], most, meet) for point in job.points)
    return (_SOLO_START if group.mpi is None else start) + points


def case_seconds(point: PlannedPoint, group: LaunchGroup, setup: CampaignSetup, most: float | None) -> float:
    """Estimate the time of one point of a launch; `most` as of job_seconds."""
    return _point_seconds(point, setup, _usual_params(setup)[point.rule], most, _meeting(group))


def _usual_params(setup: CampaignSetup) -> dict[str, dict[str, float | str]]:
    """Find the default parameters of each rule."""
    return {rule.name: {row.name: row.default for row in rule.params} for rule in setup.ops.rules.values()}


def _meeting(group: LaunchGroup) -> float:
    """Estimate what a point takes because its ranks or threads meet."""
    return _POINT_SECONDS if group.ranks * group.threads > 1 else 0.0


def _point_seconds(
    point: PlannedPoint,
    setup: CampaignSetup,
    params: Mapping[str, float | str],
    most: float | None,
    meet: float,
) -> float:
    """Estimate the time of a point; a rule without a tolerance ends at its number of samples.

    `params` are the defaults of the rule.
    """
    usual = float(params.get("most_seconds", 0.0)) if most is None else most
    may_take = float(point.rule_params.get("most_seconds", usual)) if "tolerance" in params else 0.0
    least = float(point.rule_params.get("least_seconds", 0.0))  # a budget does not shorten it
    short = max(_USUAL_SECONDS, _USED_SHARE * may_take, least) + meet
    op = setup.ops.all[point.op]
    each = repetition_seconds(point, op, len(setup.machine.cores))
    apart = each * _APART.get(point.method, 1.0)
    if "tolerance" in params:
        patience = _PATIENCE * max(may_take, _USUAL_SECONDS)
        samples = max(_FEWEST_SAMPLES, min(_MEDIAN_SAMPLES, patience / apart))
    else:
        samples = float(point.rule_params.get("count", params.get("count", 1)))
    if op.lasts:
        return max(short, (samples + 1) * each)
    check = check_seconds(point, op, each)
    between = min(samples, samples * apart / check)  # checks, which take no longer than the samples
    warm_up = _WARM_UP + (_PILOTS if point.method in _APART else 0)
    return max(short, samples * apart + warm_up * each + (_CHECKS + _PROOFS + between) * check)
