"""One job of a campaign: what its functions share, its command, the files that it reads, its first record."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from steelyard.base.files import write_whole
from steelyard.base.secret import masked_settings, masked_words
from steelyard.campaign.budget import Budget
from steelyard.campaign.events import Listener
from steelyard.campaign.jobs import CampaignSetup, LaunchGroup, PlannedJob
from steelyard.campaign.launch_conditions import settings_now
from steelyard.campaign.lock import Lock
from steelyard.campaign.scratch_folders import AGAIN_SECONDS, TIDY_SECONDS, own_folder, unanswered
from steelyard.campaign.start_gate import Aside, Hold, NothingAside
from steelyard.engines.build import Engine
from steelyard.launch.command import LaunchCommand
from steelyard.launch.given_variables import given_variables
from steelyard.plan.arrivals import arrival_lines
from steelyard.plan.plan import Plan
from steelyard.plan.point_line import point_line
from steelyard.records.campaign_file import FILES, CampaignFile, PlannedPoint
from steelyard.records.parts import JobMpi
from steelyard.records.schema import SCHEMA, Job


class Lessons(Struct, frozen=True):
    """What earlier launches teach: the points to skip in others, with the reason; how many launches alike
    never began; those that hung after their last test case; the folders whose file system did not answer.
    """

    spared: dict[int, str]
    deaths: Counter[LaunchGroup]
    unclosed: set[LaunchGroup]
    silent: set[str]


class CampaignJob(Struct, frozen=True):
    """The arguments of a job."""

    folder: Path
    plan: Plan
    campaign: CampaignFile
    setup: CampaignSetup
    planned: PlannedJob
    budget: Budget
    remaining: int  # points, of this job and of later ones
    lessons: Lessons
    listener: Listener
    lock: Lock | None
    aside: Aside
    is_stopping: Callable[[], bool]
    seconds: Mapping[int, float] | None  # that points may take; None: the budget decides

    def most_seconds(self, point: PlannedPoint) -> float | None:
        """How long a point may take in this launch; None: what its rule says."""
        if self.seconds is None:
            return self.budget.most_seconds(self.remaining)
        return self.seconds.get(point.point)


def _points_file(folder: Path) -> Path:
    return folder.absolute() / ".points"


def _arrivals_file(folder: Path) -> Path:
    return folder.absolute() / ".arrivals"


@contextmanager
def given_files(job: CampaignJob, points: list[PlannedPoint]) -> Iterator[Hold]:
    """Keep the files that tell a launch what to measure, while it runs; ranks are held back at the points."""
    words, arrivals = _points_file(job.folder), _arrivals_file(job.folder)
    group = job.planned.group
    all_cores = group.ranks // (group.hosts or 1) * group.threads >= len(job.setup.machine.cores)
    try:
        ops = job.setup.ops
        lines = "".join(point_line(point, ops, job.most_seconds(point)) + "\n" for point in points)
        write_whole(words, lines.encode())
        if isinstance(job.plan.arrivals, tuple):
            write_whole(arrivals, arrival_lines(job.plan.arrivals).encode())
        with Hold(words, job.aside if all_cores else NothingAside()) as hold:
            yield hold
    finally:
        words.unlink(missing_ok=True)
        arrivals.unlink(missing_ok=True)


def _own_folder(job: CampaignJob) -> str | None:
    """Name the folder for the files of a launch; None if it has none."""
    place = dict(job.planned.group.env).get(FILES)
    return None if place is None else own_folder(place, job.folder, job.campaign)


def unanswered_files(job: CampaignJob, engine: Engine) -> str | None:
    """Say why the files of a launch cannot be reached; None if they can, or if it has none."""
    own, silent = _own_folder(job), job.lessons.silent
    if own is None:
        return None
    words = unanswered(
        job.setup.engines.get(None, engine), own, AGAIN_SECONDS if own in silent else TIDY_SECONDS
    )
    (silent.discard if words is None else silent.add)(own)
    return words


def engine_command(job: CampaignJob, engine: Engine, launch: LaunchCommand, path: Path) -> list[str]:
    """Make the command that starts the engine: `path` is that of its records."""
    loads = job.planned.group.loads(job.setup.ops)
    command = [*launch.argv_prefix, engine.path, "run", *launch.engine_args, *loads]
    command += [
        "--points",
        str(_points_file(job.folder)),
        "--out",
        str(path.absolute()),
        "--seed",
        str(job.campaign.seed + job.planned.launch),
    ]
    group = job.planned.group
    if engine.mpi is not None and (group.threads > 1 or group.thread_level):
        command += ["--thread-level", group.thread_level or "funneled"]
    if group.opens is not None:
        (point,) = group.points
        command += ["--first", point_line(point, job.setup.ops, None), "--started", str(time.time_ns())]
    plan = job.plan
    if plan.arrivals is not None:
        command += ["--arrivals", str(_arrivals_file(job.folder))]
    if (own := _own_folder(job)) is not None:
        command += ["--files", own]
    asked = {"--clock": plan.clock, "--sync": plan.sync, "--paths": plan.paths, "--keep": plan.keep}
    command += [word for option, value in asked.items() if value is not None for word in (option, value)]
    return command


def job_record(
    job: CampaignJob,
    engine: Engine,
    launch: LaunchCommand,
    command: list[str],
    points: Sequence[PlannedPoint],
) -> Job:
    """Make the first record of a job: what starts it, where, and with which settings."""
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
        command=masked_words(command),
        environment=masked_settings(launch.environment),
        preset=launch.preset,
        ranks=job.planned.group.ranks,
        threads=job.planned.group.threads,
        cores=len(job.setup.machine.cores),
        placement=placement.text if placement else None,
        cpus=placement.cpus if placement else (),
        launcher=launch.launcher,
        hosts=launch.hosts,
        notes=launch.notes,
        points=tuple(point.point for point in points),
        settings=settings_now(),
        given=given_variables(os.environ, dict(job.planned.group.env), unset=launch.unset),
    )
