"""Jobs of a batch system: one for each number of hosts, which measures its part of the plan into a folder.

OUT/hosts-N is that folder. OUT/batch/hosts-N.sh is the script. Beside it are what is known of the job
(.json), its output (.log) and its exit code (.exit), which the script writes itself. So the batch system is
only asked whether a job waits, runs or is gone.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.files import make_folder, read_number, read_regular, read_text, write_whole
from steelyard.base.json_text import decode_json
from steelyard.base.plural import counted
from steelyard.base.printable import shortened, visible
from steelyard.base.private_folders import OWNER_ALONE
from steelyard.base.secret import masked_text
from steelyard.base.units import parse_seconds
from steelyard.campaign.budget import expected_seconds
from steelyard.campaign.folder import finished
from steelyard.campaign.jobs import CampaignSetup, plan_jobs
from steelyard.launch.batch_systems import BatchSystem, JobState, Wanted
from steelyard.plan.host_pairs import with_hosts
from steelyard.plan.plan import Plan, budget_seconds
from steelyard.plan.teams import hosts_of
from steelyard.records.campaign_file import CampaignFile, PlannedPoint, holds_campaign, read_campaign
from steelyard.system.process import run

_MOST_JOBS = 4096  # of a command; batch systems let a user have some thousand
_SUBMIT_SECONDS = 120.0
_LOOK_SECONDS = 0.5  # between looks at the files of jobs
_ASK_SECONDS = (5.0, 60.0)  # between questions to the batch system: first, and after long waits
_PATIENCE = 1.5  # by which the time between questions grows
_SETTLE_SECONDS = 5.0  # until the last file of an ended job appears on a shared file system
_LOST_SECONDS = 120.0  # until a job that the batch system does not report is given up: it may be restarting
_ROUGH = 3.0  # an estimate without a time budget may be wrong by this factor
_EXTRA_SECONDS = 300.0  # of a job besides measuring: start, engines to build, report
_KEPT = ("PATH", "LD_LIBRARY_PATH", "STEELYARD_CACHE", "XDG_CACHE_HOME")  # needed to find programs
_OURS = "steelyard: "  # begins a sentence of an error
_QUOTED_LETTERS = 300
_JOB_ID = re.compile(r"[^\W_][\w.]*(?:\.[\w.-]+)?")
_PLAIN = re.compile(r"[\w./+,@=-]+")  # of paths that batch systems pass on unchanged


class BatchOptions(Struct, frozen=True):
    """Options of the user for the batch system."""

    account: str | None = None
    partition: str | None = None
    time: str | None = None  # None: from the estimate
    words: tuple[str, ...] = ()


class BatchJob(Struct, frozen=True):
    """A job to submit, or submitted: its requirements and its script."""

    wanted: Wanted
    script: str
    folder: Path  # of results

    def file(self, suffix: str) -> Path:
        """Name a file of the job beside its script."""
        return Path(self.wanted.script).with_suffix(f".{suffix}")


class _Known(Struct, frozen=True):
    """The saved data of a submitted job."""

    system: str
    id: str


class JobEnded(Struct, frozen=True):
    """The end of a job: the exit code of its script, or None with `words` if it was ended before."""

    job: BatchJob
    code: int | None
    words: str = ""


def read_options(
    system: BatchSystem,
    account: str | None,
    partition: str | None,
    limit: str | None,
    words: Sequence[str],
) -> BatchOptions:
    """Read the options of a command line. Raises InputError for those that the batch system would
    not take.
    """
    for option, value in (("--account", account), ("--partition", partition)):
        if value is not None and not re.fullmatch(r"[A-Za-z0-9_][\w.@+:/-]*", value, re.ASCII):
            raise InputError(f"{option} '{visible(value)}' is no name; give letters, digits and _.@+:/-")
    if limit is not None and parse_seconds(limit) <= 0:
        raise InputError(f"--time {limit} is no time for a job; give 30m or 2h")
    split: list[str] = []
    for text in words:
        if visible(text) != text:
            raise InputError(f"--batch-words '{visible(text)}' has control characters; leave them out")
        try:
            split += shlex.split(text)
        except ValueError:
            raise InputError(f"--batch-words '{text}' has a quote without its end; close it") from None
    valued = {f"-{name}" for name in system.valued.split()}
    is_value = False
    for word in split:
        if not is_value and not re.match(r"--?\w", word, re.ASCII):
            raise InputError(
                f"--batch-words '{word}' is no option of {system.name} and the value of none, and could be "
                "run in place of the job; write --option=value or -o value"
            )
        is_value = not is_value and word in valued
    return BatchOptions(account, partition, limit, tuple(split))


def host_counts(plan: Plan) -> tuple[int, ...]:
    """List the numbers of hosts in a plan; one if it sets none. Raises InputError for more than there may be
    jobs.
    """
    named = {count for measure in plan.measure for count in hosts_of(measure) or ()}
    if len(named) > _MOST_JOBS:
        raise InputError(
            f"--batch makes at most {_MOST_JOBS} jobs, not {len(named)}; give fewer with --hosts"
        )
    return tuple(sorted(named)) or (1,)


def plan_for(plan: Plan, hosts: int) -> Plan:
    """Take the part of a plan that is measured on so many hosts."""
    parts = (with_hosts(measure, (hosts,)) for measure in plan.measure)
    return replace(plan, measure=tuple(part for part in parts if part is not None))


def folder_of(out: Path, hosts: int) -> Path:
    """Name the folder of a job's results."""
    return out.absolute() / f"hosts-{hosts}"


def batch_job(
    plan: Plan,
    points: Sequence[PlannedPoint],
    setup: CampaignSetup,
    hosts: int,
    out: Path,
    command: Sequence[str],
    options: BatchOptions,
    environ: Mapping[str, str] = os.environ,
) -> BatchJob:
    """Make the job for these points of a plan on so many hosts, each of which runs `command`, words for a
    shell.

    Raises InputError for a folder whose name batch systems would change.
    """
    out = out.absolute()
    if not _PLAIN.fullmatch(str(out)):
        raise InputError(
            f"--out '{visible(str(out))}' has letters that batch systems replace; give a path of letters, "
            "digits and ._/+,@=-"
        )
    base = out / "batch" / f"hosts-{hosts}"
    each = max(point.ranks // (point.hosts or 1) * point.threads for point in points)
    wanted = Wanted(
        name=f"steelyard-{plan.name}-{hosts}",
        hosts=hosts,
        cpus=min(each, len(setup.machine.cores)) if plan.oversubscribe else each,
        minutes=_minutes(plan, points, setup, out, hosts, options),
        script=f"{base}.sh",
        log=f"{base}.log",
        account=options.account,
        partition=options.partition,
        words=options.words,
    )
    return BatchJob(wanted, _script(command, f"{base}.exit", environ), folder_of(out, hosts))


def _minutes(
    plan: Plan,
    points: Sequence[PlannedPoint],
    setup: CampaignSetup,
    out: Path,
    hosts: int,
    options: BatchOptions,
) -> int:
    """Set the limit of a job's time: the option, else the expected time of its points with a margin."""
    if options.time is not None:
        return max(1, math.ceil(parse_seconds(options.time) / 60))
    budget = budget_seconds(plan)
    folder = folder_of(out, hosts)
    done = finished(folder) if holds_campaign(folder) else {}
    jobs = plan_jobs(CampaignFile(points=tuple(points)), plan.most_launches, done)
    seconds = _ROUGH * expected_seconds(jobs, setup) if budget is None else budget
    return math.ceil((seconds + parse_seconds(plan.spread or "0s") + _EXTRA_SECONDS) / 60)


def _script(command: Sequence[str], exit_file: str, environ: Mapping[str, str]) -> str:
    """Write what the first host of the allocation runs. Every word that is not ours is quoted.

    Raises InputError for words that are not UTF-8, as the script is.
    """
    kept = [f"export {name}={shlex.quote(environ[name])}" for name in _KEPT if environ.get(name)]
    partial = shlex.quote(f"{exit_file}.new")
    lines = [
        "#!/bin/sh",
        f"cd {shlex.quote(str(Path.cwd()))} || exit",
        *kept,
        shlex.join(command),
        "code=$?",
        f'echo "$code" > {partial} && mv {partial} {shlex.quote(exit_file)}',
        'exit "$code"',
    ]
    for line in lines:
        if any("\ud800" <= letter <= "\udfff" for letter in line):
            raise InputError(
                f"the job's script would have a line that is not UTF-8: {visible(line)}; rename what it names"
            )
    return "\n".join(lines) + "\n"


def dry_text(system: BatchSystem, job: BatchJob) -> str:
    """Write the command that would submit a job, as a comment, and its script, with secrets masked."""
    return masked_text(f"# {shlex.join(system.submit(job.wanted))}\n{job.script}")


def is_measured(job: BatchJob, launches: int) -> bool:
    """Has the job measured all of its points?"""
    try:
        if _exit_code(job) == 0 and read_regular(Path(job.wanted.script)).decode() == job.script:
            return True
    except (InputError, UnicodeDecodeError):
        return False
    if not holds_campaign(job.folder):
        return False
    return not plan_jobs(read_campaign(job.folder), launches, finished(job.folder))


def check_submits(system: BatchSystem, job: BatchJob) -> None:
    """Raise InputError if there is no program to which a job can be given."""
    program = system.submit(job.wanted)[0]
    if shutil.which(program) is None:
        raise InputError(
            f"there is no {program} on PATH; load the module of {system.name}, or leave --batch out"
        )


def submit(system: BatchSystem, job: BatchJob) -> str:
    """Give a job to the batch system, and return the system's name for it.

    If the job was submitted before and is still there, take that one. Raises InputError with the batch
    system's message if it takes none.
    """
    known = _known(job)
    if known is not None and known.system == system.name:
        phase = state_of(system, known.id).phase
        if phase in ("pending", "running"):
            return known.id
    argv = system.submit(job.wanted)
    try:
        make_folder(Path(job.wanted.script).parent)
        write_whole(Path(job.wanted.script), job.script.encode())
        Path(job.wanted.script).chmod(OWNER_ALONE)  # its command may have secrets
        job.file("exit").unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"'{job.wanted.script}' cannot be written: {error.strerror}") from None
    done = run(argv, timeout=_SUBMIT_SECONDS)
    match = system.job_id.search(done.out)
    if done.code != 0 or match is None:
        Path(job.wanted.script).unlink(missing_ok=True)  # no job runs it
        said = " / ".join(visible(line) for line in (done.err or done.out).strip().splitlines()[-3:])
        raise InputError(
            f"{argv[0]} took no job for {counted(job.wanted.hosts, 'host')}: {said or 'no reason given'}"
        )
    write_whole(job.file("json"), msgspec.json.encode(_Known(system.name, match[1])))
    return match[1]


def _known(job: BatchJob) -> _Known | None:
    """Read how the batch system called the job; None if the file says nothing that could be a job's name."""
    try:
        known = decode_json(read_regular(job.file("json")), msgspec.json.Decoder(_Known))
    except (InputError, msgspec.DecodeError):
        return None
    return known if _JOB_ID.fullmatch(known.id) else None  # an option of its commands is none


def state_of(system: BatchSystem, job_id: str) -> JobState:
    """Ask the batch system for the state of a job; `unknown` if it does not report it."""
    for argv in system.ask:
        if shutil.which(argv[0]) is None:
            continue
        try:
            done = run([*argv, job_id], timeout=_SUBMIT_SECONDS)
        except (InputError, MeasurementError):
            continue
        if done.code == 0 and (state := system.read(done.out)) is not None:
            return state
    return JobState("unknown")


def _exit_code(job: BatchJob) -> int | None:
    return read_number(job.file("exit"))


def reason_of(job: BatchJob) -> str:
    """Quote the last sentence of ours in what a job said; "" if there is none."""
    lines = read_text(job.file("log")).splitlines()
    last = next((line for line in reversed(lines) if line.startswith(_OURS)), "")
    return shortened(last.removeprefix(_OURS), _QUOTED_LETTERS)


def watch(
    system: BatchSystem,
    jobs: Mapping[str, BatchJob],
    tell: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[JobEnded]:
    """Wait for jobs, by the batch system's names, and yield each as it ends; `tell` hears of changes."""
    left = dict(jobs)
    said: dict[str, JobState] = {}
    pause, ask_at = _ASK_SECONDS[0], clock()
    given_up: dict[str, float] = {}  # when, by job
    while left:
        for job_id, job in list(left.items()):
            code = _exit_code(job)
            if code is None and clock() < given_up.get(job_id, math.inf):
                continue
            state = said.get(job_id, JobState("unknown"))
            yield JobEnded(
                left.pop(job_id), code, state.words or "the batch system does not know it any more"
            )
        if not left:
            return
        if clock() >= ask_at:
            for job_id, job in left.items():
                state = state_of(system, job_id)
                if said.get(job_id) != state and state.words:
                    tell(f"job {job_id} for {counted(job.wanted.hosts, 'host')}: {visible(state.words)}")
                    pause = _ASK_SECONDS[0]
                said[job_id] = state
                if state.phase == "over":
                    given_up[job_id] = min(given_up.get(job_id, math.inf), clock() + _SETTLE_SECONDS)
                elif state.phase == "unknown":
                    given_up.setdefault(job_id, clock() + _LOST_SECONDS)
                else:
                    given_up.pop(job_id, None)
            ask_at = clock() + pause
            pause = min(pause * _PATIENCE, _ASK_SECONDS[1])
        sleep(_LOOK_SECONDS)
