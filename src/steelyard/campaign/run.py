"""A campaign: a plan becomes jobs, each one launch of an engine; finished points are never measured again.

DIR/campaign.json is written once, before the first launch (folder.py). DIR/records holds a file for each job
(jobs.py), to which the engine appends; a job that was cut short continues in another file. A watchdog ends a
launch that hangs, and goes on with the next point: hangs, crashes and wrong answers are results.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from steelyard.base.errors import MeasurementError
from steelyard.base.files import make_folder
from steelyard.base.plural import counted
from steelyard.base.secret import masked_text
from steelyard.campaign.budget import budget_of, estimate, expected_seconds, spared_jobs
from steelyard.campaign.cause_of_death import (
    LaunchPhase,
    cannot_begin,
    cause_of_death,
    hang_words,
    hung_by_itself,
    job_ends,
)
from steelyard.campaign.events import (
    BudgetSpent,
    CampaignBegins,
    JobStarted,
    LaunchEnded,
    Listener,
    PointEnded,
)
from steelyard.campaign.folder import finished
from steelyard.campaign.hang_stacks import ask_ranks, held_words, silent_hosts
from steelyard.campaign.job import (
    CampaignJob,
    Lessons,
    engine_command,
    given_files,
    job_record,
    unanswered_files,
)
from steelyard.campaign.jobs import CampaignSetup, alike, plan_jobs
from steelyard.campaign.launch_conditions import little_shared_memory, room_notes
from steelyard.campaign.lock import Lock
from steelyard.campaign.overdue import Overdue
from steelyard.campaign.slow_files import SlowFiles
from steelyard.campaign.spread import await_launch, spread_of, spread_words
from steelyard.campaign.start_gate import Aside, Hold, NothingAside
from steelyard.campaign.watchdog_limits import longest_repetition, patience_seconds, phase_of, silent_words
from steelyard.engines.known_bad_exits import ends_badly
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.given_variables import complaints
from steelyard.plan.plan import Plan
from steelyard.records.campaign_file import CampaignFile, PlannedPoint
from steelyard.records.command_line import resumed
from steelyard.records.follow import Tail
from steelyard.records.job_file import JobFile, append_records, create_records
from steelyard.records.parts import StuckRank
from steelyard.records.schema import End, Watch
from steelyard.system.kernel_settings import oom_kills
from steelyard.system.leftovers import Leftovers
from steelyard.system.other_processes import Watcher
from steelyard.system.process import Child
from steelyard.system.unreachable_hosts import unreachable

_POLL_SECONDS = 0.2  # between checks of the records; the end of a launch is noticed at once
_HOLD_SECONDS = 0.005  # between checks while ranks wait for this process
_MOST_DEATHS = 2  # of launches alike that never began to measure: the others are skipped
HUNG_BEFORE = "it hung in an earlier launch"
_NEVER_BEGAN = "launches like this one died before they began to measure"
SPARED = (HUNG_BEFORE, _NEVER_BEGAN)  # reasons to skip a point because of another launch


def run_campaign(
    folder: Path,
    plan: Plan,
    campaign: CampaignFile,
    setup: CampaignSetup,
    listener: Listener,
    *,
    rounds: int = 1,
    lock: Lock | None = None,
    retry_failed: bool = False,
    seconds: Mapping[int, float] | None = None,
    aside: Aside | None = None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Measure all that is not finished yet; with `retry_failed`, failures count as not finished.

    A time budget is for so many `rounds` of the same size, of which this is the first. It decides how long a
    test case may take in a launch, or `seconds` do, by point: their rules decide for others. It does not end
    the first launch of a campaign. When `is_stopping` says so, the test case in progress is the last one.
    Launches inherit `lock`, if given. What this process does `aside` begins with the first launch; ranks
    that take all cores begin to measure when it is done. Raises InputError for a missing launcher,
    MeasurementError if the batch system ends our job.
    """
    make_folder(folder / "records")
    done = {key: end for key, end in finished(folder).items() if not (retry_failed and is_failure(end))}
    spared = {index: HUNG_BEFORE for (_, index), end in done.items() if hung_by_itself(end.why)}
    lessons = Lessons(spared, Counter(), set(), set())
    jobs = plan_jobs(campaign, plan.most_launches, done)
    remaining = sum(len(job.points) for job in jobs)
    budget = budget_of(plan, rounds * remaining)
    if jobs:
        spread = spread_of(plan, jobs)
        words = (*estimate(plan, jobs, setup), *spread_words(spread))
        expected = expected_seconds(jobs, setup) if plan.time_budget is None else None
        listener(CampaignBegins(words, remaining, tuple(jobs), expected))
    else:
        words = (f"all was measured before ({counted(len(done), 'measurement')}): nothing is measured again",)
        listener(CampaignBegins(words, 0))
    first = spared_jobs(jobs)
    unfinished = set[int]()  # launches of which a job has left something
    for index, job in enumerate(jobs):
        if index == 0 or job.launch != jobs[index - 1].launch:
            budget = await_launch(spread, job.launch, budget, listener, is_stopping)
        if is_stopping():
            return
        granted = msgspec.structs.replace(budget, ends=index >= first)
        seen = (lessons, listener, lock, aside or NothingAside(), is_stopping, seconds)
        left = _run_job(CampaignJob(folder, plan, campaign, setup, job, granted, remaining, *seen))
        remaining -= len(job.points) - left
        unfinished |= {job.launch} if left else set()
        if budget.is_over and remaining > 0 and index + 1 >= first:
            launches = unfinished | {later.launch for later in jobs[index + 1 :]}
            listener(BudgetSpent(remaining, len(launches), folder))
            return


def is_failure(end: End) -> bool:
    """Must the point be measured again with failures: did it fail, or was it skipped because of one?"""
    return end.status == "failed" or (end.status == "skipped" and end.why in SPARED)


def _run_job(job: CampaignJob) -> int:
    """Run one job: start the engine, again without the point at which it died, until all points have an end.

    Returns how many have none, because the time budget was over.
    """
    planned = job.planned
    group, points = planned.group, list(planned.points)
    engine = job.setup.engines[group.mpi]
    setup = job.setup
    launch = plan_launch(engine, setup.machine, group.request(job.plan, setup), allocation=setup.allocation)
    notes = (*launch.notes, *room_notes(group))
    job.listener(JobStarted(planned.launch, planned.name, planned.points, notes))
    spared = [point for point in points if point.point in job.lessons.spared]
    points = [point for point in points if point.point not in job.lessons.spared]
    while points or spared:
        silent = unanswered_files(job, engine) if points else None
        path = create_records(job.folder / "records", planned.name)
        if job.lock is not None:
            job.lock.keep(path)
        command = engine_command(job, engine, launch, path)
        append_records(path, [job_record(job, engine, launch, command, [*spared, *points])])
        tail = Tail(path)
        for point in spared:
            _conclude(job, tail, point, "skipped", job.lessons.spared[point.point])
        spared = []
        if silent is not None:
            for point in points:
                _conclude(job, tail, point, "failed", silent)
            return 0
        if points:
            with given_files(job, points) as hold:
                points = _watch(job, tail, points, command, launch, hold)
        if job.budget.left <= 0 or job.is_stopping():  # where ranks died or hung, the rest waits
            return len(points)
    return 0


def _watch(
    job: CampaignJob,
    tail: Tail,
    points: list[PlannedPoint],
    command: list[str],
    launch: LaunchCommand,
    hold: Hold,
) -> list[PlannedPoint]:
    """Run a launch to its end, however it ends; return the points that are still to be measured."""
    engine = job.setup.engines[job.planned.group.mpi]
    plans = {point.point: point for point in points}
    kills, watcher = oom_kills(), Watcher()
    watcher.look()
    end = _attend(job, tail, plans, command, launch, hold, watcher)
    _hear(job, tail, plans)  # what it wrote while it was being stopped
    watcher.look()
    phase = phase_of(tail.launch, plans)
    host, places = job.setup.machine.host, tail.launch.places if tail.launch else ()
    is_late = end.is_late or (
        end.hang is not None and not plans and not end.is_closing
    )  # it went on meanwhile
    why = None if is_late else end.hang
    is_bad = end.code != 0 and not job.planned.group.loses(job.setup)  # a launcher tells of the dead
    if why is None and not is_late and (plans or is_bad) and not job_ends(end.said):
        little = little_shared_memory(job.planned.group, tail.job and tail.job.settings.get("shm_bytes"))
        starved, spans = oom_kills() > kills, len(launch.hosts) > 1
        died = (end.code or 0, end.said, command, places)
        why = cause_of_death(*died, phase=phase, starved=starved, spans=spans, little_shm=little)
    ending = why if phase is LaunchPhase.CLOSING else None
    remark = ending if end.hang is None and ends_badly(engine.mpi) else None
    seen = watcher.record(host, {place.pid for place in places if place.host == host})
    seen = msgspec.structs.replace(seen, complaints=end.complaints, stopped=is_late, remark=remark)
    _conclude_launch(job, tail, seen, None if remark else ending)
    left = [point for point in points if point.point in plans]
    if is_late or phase is LaunchPhase.CLOSING:
        if end.hang and phase is LaunchPhase.CLOSING:
            job.lessons.unclosed.add(alike(job.planned.group))
        return left
    if why is None:
        raise MeasurementError(
            f"the batch system ends this job; what was finished is kept; to go on: {resumed(job.folder)}"
        )
    culprits = left if phase is LaunchPhase.STARTING else left[:1]  # before it measures, no point is to blame
    job.lessons.deaths[alike(job.planned.group)] += phase is LaunchPhase.STARTING
    for point in culprits:
        _conclude(job, tail, point, "failed", why, end.where)
    _spare(job, culprits, why)
    return left[len(culprits) :]


class _End(msgspec.Struct, frozen=True):
    """How a launch ended: its exit code (None: it was ended), what it said, and its `complaints`.

    `is_late`: it was ended because the time was over. `hang` says why it was ended as hung, `where` its ranks
    were then; `is_closing`: all was measured before.
    """

    code: int | None
    said: str
    complaints: dict[str, str]
    is_late: bool
    hang: str | None
    where: tuple[StuckRank, ...]
    is_closing: bool


def _attend(
    job: CampaignJob,
    tail: Tail,
    plans: dict[int, PlannedPoint],
    command: list[str],
    launch: LaunchCommand,
    hold: Hold,
    watcher: Watcher,
) -> _End:
    """Start a launch, hear what it records, and end it if it hangs or the time is over."""
    held = () if job.lock is None else (job.lock.descriptor,)
    mark = job.lock.mark if job.lock else None
    environment = {**os.environ, **launch.environment}
    for name in launch.unset:
        environment.pop(name, None)
    lasting = any(job.setup.ops.all[point.op].lasts for point in plans.values())
    hung = alike(job.planned.group) in job.lessons.unclosed
    longest = longest_repetition(plans.values(), job.setup.ops.all, len(job.setup.machine.cores))
    slow = SlowFiles(plans.values(), job.setup.ops.all)
    hang, where, phase, overdue = None, tuple[StuckRank, ...](), LaunchPhase.STARTING, Overdue(job)
    with (
        Leftovers(job.lock.note if job.lock else lambda _: None) as leftovers,
        Child(command, env=environment, mark=mark, held=held, before_stop=leftovers.look) as child,
    ):
        job.aside.begin()
        watcher.parent, quiet_since = child.pid, time.monotonic()
        leftovers.began(child.pid)
        while True:
            watcher.look_if_due()
            code = child.poll()
            unmeasured = len(plans)
            quiet_since = time.monotonic() if _hear(job, tail, plans) else quiet_since
            if tail.launch is not None and unmeasured:
                watcher.note_own_time()
            ends = job.budget.is_over or job.is_stopping()
            # A launch that has measured all ends by itself: its last records are those of ranks that end.
            is_late = bool(plans) and (job.budget.patience_is_over or (ends and len(plans) < unmeasured))
            if code is not None or is_late or (tail.launch is None and cannot_begin(child.err)):
                break
            phase = phase_of(tail.launch, plans)
            patience = patience_seconds(
                job.plan.hang_after, phase, lasting=lasting, hung=hung, longest=longest
            )
            silent = time.monotonic() - quiet_since
            patience = slow.patience(silent, patience, tail.launch)
            if silent > patience:
                hang, where = _hang(job, tail, child, command, launch, phase, patience)
                break
            leftovers.look_if_due(child.pids, began=tail.launch is not None)
            if phase is LaunchPhase.MEASURING:
                overdue.look(plans.values())
            hold.release_if_idle()
            child.pause(_POLL_SECONDS if hold.is_released else _HOLD_SECONDS)
        child.stop()
        said = child.err + child.out
        complained = complaints(tail.job.given if tail.job else (), said)
    is_closing = hang is not None and phase is LaunchPhase.CLOSING
    return _End(code, said, complained, is_late, hang, where, is_closing)


def _hang(
    job: CampaignJob,
    tail: Tail,
    child: Child,
    command: list[str],
    launch: LaunchCommand,
    phase: LaunchPhase,
    patience: float,
) -> tuple[str, tuple[StuckRank, ...]]:
    """Say how a launch hangs, and where its ranks are."""
    closing = phase is LaunchPhase.CLOSING
    stopped = held_words(child.pids(), tail.launch, closing=closing) + unreachable(launch.hosts)
    silent = silent_words(job.plan.hang_after, patience)
    said, spans = child.err + child.out, len(launch.hosts) > 1
    hang = hang_words(silent, command, phase, stopped, said, spans=spans)
    where = ask_ranks(child, tail.launch, job.setup.engines[job.planned.group.mpi])
    places = () if closing or tail.launch is None else tail.launch.places
    return hang + silent_hosts(places, where), where


def _conclude_launch(job: CampaignJob, tail: Tail, watch: Watch, ending: str | None) -> None:
    """Write what was seen from outside while a launch ran, and how it ended after its last test case."""
    watch = msgspec.structs.replace(watch, ending=ending)
    append_records(tail.path, [watch])
    if tail.job is not None:
        job.listener(LaunchEnded(JobFile(tail.path, tail.job, tail.launch, (), False, watches=(watch,))))


def _spare(job: CampaignJob, culprits: list[PlannedPoint], why: str) -> None:
    """Skip points in later launches, because they would cost too much time."""
    if hung_by_itself(why):
        job.lessons.spared.update((point.point, HUNG_BEFORE) for point in culprits)
    elif job.lessons.deaths[alike(job.planned.group)] >= _MOST_DEATHS:
        job.lessons.spared.update((point.point, _NEVER_BEGAN) for point in job.planned.group.points)


def _hear(job: CampaignJob, tail: Tail, plans: dict[int, PlannedPoint]) -> bool:
    """Report the points that have ended since, and remove them from `plans`; was anything recorded?"""
    ended, grew = tail.advance()
    for file, span in ended:
        job.listener(PointEnded(plans.pop(file.points[0].index), file, span))
    return grew


def _conclude(
    job: CampaignJob,
    tail: Tail,
    point: PlannedPoint,
    status: Any,
    why: str,
    where: tuple[StuckRank, ...] = (),
) -> None:
    """Write the end of a point that the engine could not end itself."""
    end = End(point=point.point, status=status, why=masked_text(why), verified=False, where=where)
    append_records(tail.path, [end])
    for file, span in tail.advance()[0]:
        job.listener(PointEnded(point, file, span))
