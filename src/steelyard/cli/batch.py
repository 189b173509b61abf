"""`steelyard run --batch`: the same campaign in jobs of a batch system, watched and collected."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import typer

from steelyard.base.errors import InputError, MeasurementError, StoppedError
from steelyard.base.files import make_folder
from steelyard.base.plural import counted
from steelyard.base.product import check_test_cases
from steelyard.campaign.batch import (
    BatchJob,
    JobEnded,
    batch_job,
    check_submits,
    dry_text,
    folder_of,
    host_counts,
    is_measured,
    plan_for,
    read_options,
    reason_of,
    submit,
    watch,
)
from steelyard.campaign.folder import topology_for
from steelyard.campaign.jobs import setup_for
from steelyard.campaign.lock import locked
from steelyard.cli.console import say, say_aside, tell, tell_counted
from steelyard.cli.export import write_measured
from steelyard.cli.options import listed, one_of
from steelyard.cli.resume import is_resumed
from steelyard.cli.run_options import RunOptions
from steelyard.cli.show import (
    OnScreen,
    print_closing,
    print_results,
    tell_diagnostics,
    their_tests,
)
from steelyard.engines.installed import scripts_folder
from steelyard.launch.batch_systems import BATCH_SYSTEMS, BatchSystem
from steelyard.plan.plan import Plan
from steelyard.plan.resolve import resolve
from steelyard.records.command_line import retyped
from steelyard.system.machine import read_machine

# Fields of RunOptions for the batch system or for the command that watches, not for a job.
_BATCH = ("account", "partition", "time", "batch_words")
_OURS = (*_BATCH, "dry_run", "batch", "what", "hosts", "out", "to", "json")


def is_batch(options: RunOptions) -> bool:
    """Is it to be measured in jobs? Raises InputError for options of jobs without --batch."""
    one_of("--batch", options.batch, tuple(BATCH_SYSTEMS))
    if options.batch is None:
        for name in _BATCH:
            if getattr(options, name):
                raise InputError(f"{_flag(name)} is for jobs of a batch system; give --batch slurm with it")
    return options.batch is not None


def run_batch(options: RunOptions, plan: Plan, out: Path) -> None:
    """Submit what is not measured yet, wait for it, and show all. Raises typer.Exit if jobs failed."""
    system = BATCH_SYSTEMS[options.batch or ""]
    if is_resumed(options):
        out = _folder_of_jobs(out, plan)
    jobs = _jobs(system, options, plan, out)
    if options.dry_run:
        say("\n".join(dry_text(system, job) for job in jobs).rstrip("\n"))
        return
    check_submits(system, jobs[0])
    is_new = not out.exists()
    try:
        make_folder(out)
    except OSError as error:
        raise InputError(f"'{out}' cannot be written: {error.strerror}; give --out another place") from None
    try:
        with locked(out):
            todo = [
                job for job in jobs if options.retry is not None or not is_measured(job, plan.most_launches)
            ]
            if not todo:
                tell("all was measured before: no job is submitted")
            ended = list(_wait(system, submitted(system, todo), out))
    except InputError:
        if is_new:
            _remove_empty(out)
        raise
    bad, again = False, retyped(sys.argv[1:], out=out)
    for one in ended:
        log = one.job.file("log")
        where = f"the job for {counted(one.job.wanted.hosts, 'host')}"
        if one.code is None:
            tell(f"{where} ended before it had measured all: {one.words}; to go on: {again}")
        elif one.code != 0 and not is_measured(one.job, plan.most_launches):
            reason = reason_of(one.job)
            tell(
                f"{where} ended with code {one.code} before it had measured all: {log} says why"
                f"{f' ({reason})' if reason else ''}; to go on: {again}"
            )
        elif one.code != 0:
            tell(f"{where} ended with code {one.code}; {log} says why")
        bad = bad or one.code != 0
    _show(options, [job.folder for job in jobs if (job.folder / "campaign.json").is_file()], out)
    if bad:
        raise typer.Exit(MeasurementError.exit_code)


def _folder_of_jobs(folder: Path, plan: Plan) -> Path:
    """Find where the jobs are of which one measured into a folder. Raises InputError if none did."""
    out = folder.absolute().parent
    if [folder_of(out, hosts) for hosts in host_counts(plan)] != [folder.absolute()]:
        raise InputError(
            f"'{folder}' was not measured in a job; leave --batch out, or give --out another name"
        )
    return out


def _remove_empty(out: Path) -> None:
    """Remove a folder of jobs if none was taken: what holds anything else stays."""
    with contextlib.suppress(OSError):
        (out / "batch").rmdir()
        (out / ".lock").unlink()
        out.rmdir()


def _jobs(system: BatchSystem, options: RunOptions, plan: Plan, out: Path) -> list[BatchJob]:
    words = options.batch_words or ()
    asked = read_options(system, options.account, options.partition, options.time, words)
    machine = read_machine()
    setup = setup_for(plan, machine, tell, builds=not options.dry_run)
    mpis = [name for name in setup.engines if name is not None]
    jobs, cases = [], 0
    for hosts in host_counts(plan):
        part, folder = plan_for(plan, hosts), folder_of(out, hosts)
        points = resolve(part, setup.ops, mpis, len(machine.cores), topology_for(folder, part, hosts))
        check_test_cases(cases := cases + len(points))  # of all jobs: they are one plan
        command = job_words(options, hosts, folder)
        jobs.append(batch_job(part, points, setup, hosts, out, command, asked))
    return jobs


def job_words(options: RunOptions, hosts: int, folder: Path) -> list[str]:
    """Write the command of a job: this one, for so many hosts, into a folder of its own."""
    words = [str(scripts_folder() / "steelyard"), "run"]
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if field.name in _OURS or value in (None, False, []):
            continue
        if value is True:
            words.append(_flag(field.name))
        else:
            words += [f"{_flag(field.name)}={one}" for one in (value if isinstance(value, list) else [value])]
    if is_resumed(options):  # its plan says what is measured, and on how many hosts
        return [*words, f"--out={folder}"]
    return [*words, f"--hosts={hosts}", f"--out={folder}", "--", *(options.what or ())]


@functools.cache  # a plan for thousands of hosts asks thousands of times
def _flag(name: str) -> str:
    """Name an option of `run` as it is typed."""
    hint = typing.get_type_hints(RunOptions, include_extras=True)[name]
    (info,) = hint.__metadata__
    declared = (info.default, *(info.param_decls or ()))  # typer takes the first name for a default
    names = (word for word in declared if isinstance(word, str) and word.startswith("--"))
    return next(names, f"--{name.replace('_', '-')}")


def submitted(system: BatchSystem, jobs: Sequence[BatchJob]) -> dict[str, BatchJob]:
    """Submit the jobs; return them by the batch system's names. Raises InputError if it takes one not."""
    named: dict[str, BatchJob] = {}
    for job in jobs:
        try:
            name = submit(system, job)
        except InputError as error:
            if not named:
                raise
            raise InputError(
                f"{error}; {counted(len(named), 'job')} before it will run: '{_cancels(system, named)}' ends "
                "them; name the other numbers of --hosts to wait for them"
            ) from None
        named[name] = job
        tell(
            f"job {name} of {system.name} for {counted(job.wanted.hosts, 'host')}, at most "
            f"{counted(job.wanted.minutes, 'minute')}: {job.file('log')}"
        )
    return named


def _cancels(system: BatchSystem, names: Iterable[str]) -> str:
    """Write the command that ends jobs."""
    return " ".join((*system.cancel, *names))


def _wait(system: BatchSystem, jobs: Mapping[str, BatchJob], out: Path) -> Iterator[JobEnded]:
    try:
        yield from watch(system, jobs, tell)
    except KeyboardInterrupt:
        raise StoppedError(
            f"stopped; jobs go on; to wait for them again: {retyped(sys.argv[1:], out=out)}; "
            f"'{_cancels(system, jobs)}' ends them"
        ) from None


def _show(options: RunOptions, folders: Sequence[Path], out: Path) -> None:
    """Show all jobs' results as `steelyard show` does, and write one report."""
    if not folders:
        return
    from steelyard.session.results import read_each

    each = read_each(folders)
    to = "json" if options.json else options.to
    like = listed(options.like)
    answer = print_results([one.read for one in each], like) if to is None else OnScreen((), 0)
    below = to is None and not like
    lines = sum(tell_diagnostics(one.diagnostics, one.name, below_tables=below) for one in each)
    line = say_aside if to is None else tell_counted
    lines += line(f"results: {' '.join(map(str, folders))}")
    if to is not None:
        from steelyard.export.export_input import Export

        write_measured(to, Export(tuple(one.exported() for one in each), their_tests(like)))
    from steelyard.report import write_report
    from steelyard.system.workers import mapped

    lines += line(f"report:  {write_report(folders, out / 'report.html', mapped)}")
    if to is None:
        print_closing(answer.followed_by(lines))
