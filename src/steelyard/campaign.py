"""A campaign: a plan becomes jobs, each one launch of an engine; what is finished is never measured again.

DIR/campaign.json is written once, before the first launch (folder.py). DIR/records holds a file for each job
(jobs.py), to which the engine appends; a job that was cut short goes on in another file. A watchdog ends a
launch that hangs and carries on with the next point: hangs, crashes and wrong answers are results.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from steelyard.arrivals import arrival_lines
from steelyard.engine import Engine
from steelyard.folder import finished
from steelyard.jobs import PlannedJob, Setup, plan_jobs
from steelyard.launch import Launch as LaunchPlan
from steelyard.launch import plan_launch
from steelyard.machine import read_machine
from steelyard.observations import CampaignFile, PlannedPoint
from steelyard.plan import MOST_SECONDS, Plan, budget_seconds
from steelyard.postmortem import cause_of_death, held_ranks, never_began
from steelyard.process import Child
from steelyard.records import SCHEMA, End, Job, JobFile, JobMpi, append_records
from steelyard.resolve import point_line
from steelyard.settings import read_settings
from steelyard.tail import Tail
from steelyard.units import parse_seconds
from steelyard.watch import Watcher

_POLL_SECONDS = 0.05
_LASTING = (
    60  # times the patience with ops whose every repetition may last minutes, as kernels of large classes
)
_LEAST_SECONDS = 0.05  # what a point gets however little of the budget is left: less measures nothing
_OVERHEAD_SHARE = 0.3  # of a time budget: starting launches, warming up, checking answers


class PointEnded(Struct, frozen=True):
    """An event: a point came to its end in a launch. `file` holds what was recorded of it, no more."""

    plan: PlannedPoint
    file: JobFile


class JobStarted(Struct, frozen=True):
    """An event: a launch begins, with so many points to measure."""

    launch: int
    name: str
    points: int
    notes: tuple[str, ...]


Event = PointEnded | JobStarted
Listener = Callable[[Event], None]


def run_campaign(folder: Path, plan: Plan, campaign: CampaignFile, setup: Setup, listener: Listener) -> None:
    """Measure all that is not finished yet.

    Raises MeasurementError when launches cannot even be started; what was finished is kept.
    """
    (folder / "records").mkdir(exist_ok=True)
    done = finished(folder)
    hung = {index for (_, index), end in done.items() if end.why and end.why.startswith("hang")}
    jobs = plan_jobs(campaign, plan.launches, done)
    remaining = sum(len(job.points) for job in jobs)
    budget = budget_seconds(plan)
    deadline = None if budget is None else time.monotonic() + budget
    for job in jobs:
        most_seconds = None
        if deadline is not None:
            share = (1 - _OVERHEAD_SHARE) * (deadline - time.monotonic()) / remaining
            most_seconds = min(MOST_SECONDS, max(_LEAST_SECONDS, share))
        remaining -= len(job.points)
        _run_job(_Job(folder, plan, campaign.seed, setup, job, most_seconds, hung, listener))


class _Job(Struct, frozen=True):
    """What a job is given; `hung` collects the points that hung in any launch."""

    folder: Path
    plan: Plan
    seed: int
    setup: Setup
    planned: PlannedJob
    most_seconds: float | None
    hung: set[int]
    listener: Listener


def _run_job(job: _Job) -> None:
    """One job: start the engine, again without the point at which it died, until all points have an end."""
    planned = job.planned
    group, points = planned.group, list(planned.points)
    engine = job.setup.engines[group.mpi]
    launch = plan_launch(
        engine,
        group.ranks,
        group.threads,
        job.setup.machine,
        oversubscribe=job.plan.oversubscribe,
        yield_mode=job.plan.yield_,
        omp=dict(group.omp),
        placement=group.placement,
    )
    job.listener(JobStarted(planned.launch, planned.name, len(points), launch.notes))
    spared = [point for point in points if point.point in job.hung]
    points = [point for point in points if point.point not in job.hung]
    while points or spared:
        path = _free_path(job.folder / "records", planned.name)
        with tempfile.TemporaryDirectory(prefix="steelyard-") as temporary:
            words = Path(temporary) / "points"
            if isinstance(job.plan.arrivals, tuple):
                (words.parent / "arrivals").write_text(arrival_lines(job.plan.arrivals))
            command = _command(job, engine, launch, words, path)
            append_records(path, [_job_record(job, engine, launch, command)])
            tail = Tail(path)
            for point in spared:
                _conclude(job, tail, point, "skipped", "it hung in an earlier launch")
            spared = []
            if points:
                lines = [point_line(point, job.setup.ops, job.most_seconds) + "\n" for point in points]
                words.write_text("".join(lines))
                points = _watch(job, tail, points, command, launch)


def _free_path(records: Path, name: str) -> Path:
    """JOB.jsonl, or JOB.2.jsonl and so on when the job goes on."""
    path = records / f"{name}.jsonl"
    part = 2
    while path.exists():
        path = records / f"{name}.{part}.jsonl"
        part += 1
    return path


def _command(job: _Job, engine: Engine, launch: LaunchPlan, words: Path, path: Path) -> list[str]:
    command = [*launch.argv_prefix, engine.path, "run", *launch.engine_args]
    command += [
        "--points",
        str(words),
        "--out",
        str(path.absolute()),
        "--seed",
        str(job.seed + job.planned.launch),
    ]
    group = job.planned.group
    if engine.kind == "mpi" and (group.threads > 1 or group.thread_level):
        command += ["--thread-level", group.thread_level or "funneled"]
    plan = job.plan
    if plan.arrivals is not None:
        command += ["--arrivals", str(words.parent / "arrivals")]
    for option, value in (("--clock", plan.clock), ("--sync", plan.sync), ("--paths", plan.paths)):
        command += [option, value] if value is not None else []
    return command


def _job_record(job: _Job, engine: Engine, launch: LaunchPlan, command: list[str]) -> Job:
    mpi = engine.mpi
    placement = job.planned.group.placement
    return Job(
        schema=SCHEMA,
        job=job.planned.name,
        launch=job.planned.launch,
        mpi=JobMpi(
            name=mpi.name, family=mpi.family, version=mpi.version, mpiexec=mpi.mpiexec, prefix=mpi.prefix
        )
        if mpi
        else None,
        engine=engine.path,
        command=tuple(command),
        environment=launch.environment,
        preset=launch.preset,
        ranks=job.planned.group.ranks,
        threads=job.planned.group.threads,
        cores=len(job.setup.machine.cores),
        placement=placement.text if placement else None,
        cpus=placement.cpus if placement else (),
        notes=launch.notes,
        settings=_settings(),
    )


def _settings() -> dict[str, Any]:
    """How this system is set up as the job begins, as far as it tells."""
    machine = msgspec.to_builtins(read_machine())
    told = {name: machine[name] for name in ("governor", "smt", "thp", "cpu_quota", "load")}
    told |= msgspec.to_builtins(read_settings())
    return {name: value for name, value in told.items() if value is not None}


def _watch(
    job: _Job, tail: Tail, points: list[PlannedPoint], command: list[str], launch: LaunchPlan
) -> list[PlannedPoint]:
    """Run a launch to its end, however it ends; the points that are still to be measured afterwards."""
    lasting = any(job.setup.ops.all[point.op].get("lasts", False) for point in points)
    patience = parse_seconds(job.plan.hang_after) * (_LASTING if lasting else 1)
    silent = f"{patience:g}s" if lasting else job.plan.hang_after
    plans = {point.point: point for point in points}
    hangs, stopped = False, ""
    watcher = Watcher()
    watcher.look()
    with Child(command, env={**os.environ, **launch.environment}) as child:
        quiet_since = time.monotonic()
        watcher.parent = child.pid
        while True:
            watcher.look_if_due()
            code = child.poll()
            quiet_since = time.monotonic() if _hear(job, tail, plans) else quiet_since
            if code is not None:
                break
            if time.monotonic() - quiet_since > patience:
                hangs = True
                stopped = held_ranks(tail.launch.places if tail.launch else ())
                break
            time.sleep(_POLL_SECONDS)
        child.stop()
        said = child.err + child.out
    _hear(job, tail, plans)  # what it wrote while it was being stopped
    watcher.look()
    host, places = job.setup.machine.host, tail.launch.places if tail.launch else ()
    ours = {place.pid for place in places if place.host == host}
    append_records(tail.path, [watcher.record(host, ours)])
    left = [point for point in points if point.point in plans]
    if tail.launch is None:  # it never began to measure: no point is to blame
        ended = f"was silent for {silent} and ended" if hangs else f"ended with code {code}"
        raise never_began(command, ended, said)
    if not left:
        return []  # all is measured, even if it ended badly, in MPI_Finalize
    culprit = left[0]
    if hangs:
        job.hung.add(culprit.point)
        why = f"hang: no record for {silent}, ended by the watchdog{stopped}"
        _conclude(job, tail, culprit, "failed", why)
    else:
        _conclude(job, tail, culprit, "failed", cause_of_death(code, said))
    return left[1:]


def _hear(job: _Job, tail: Tail, plans: dict[int, PlannedPoint]) -> bool:
    """Tell of the points that have ended since, and take them out of `plans`; was anything recorded?"""
    ended, grew = tail.advance()
    for file in ended:
        job.listener(PointEnded(plans.pop(file.points[0].index), file))
    return grew


def _conclude(job: _Job, tail: Tail, point: PlannedPoint, status: Any, why: str) -> None:
    """Write down the end of a point that the engine could not end itself."""
    append_records(tail.path, [End(point=point.point, status=status, why=why, verified=False)])
    for file in tail.advance()[0]:
        job.listener(PointEnded(point, file))
