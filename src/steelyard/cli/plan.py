"""`steelyard plan show`, and `run --dry-run`: the size of a plan before anything runs."""

from __future__ import annotations

from steelyard.base.plural import counted
from steelyard.base.units import format_duration, parse_seconds
from steelyard.campaign.budget import roughly_words
from steelyard.campaign.folder import default_folder
from steelyard.campaign.forecast import Forecast, JobForecast
from steelyard.cli.batch import is_batch, run_batch
from steelyard.cli.console import print_table, say_aside, say_json, tell
from steelyard.cli.measure import say_event
from steelyard.cli.plan_options import planned
from steelyard.cli.run_options import RunOptions
from steelyard.render.table import Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, set_facts
from steelyard.session.foresee import Foreseen, foresee

EXAMPLES = {
    "show_plan": (
        "steelyard plan show survey",
        "steelyard plan show my.toml --mpi openmpi,mpich --launches 20",
        "steelyard plan show mpi.allreduce --hosts 1,2,4 --json",
    )
}
_SECONDS_OF_HOUR = 3600
_FEW = 3  # ops of a job that are named


def show_plan(options: RunOptions) -> None:
    """Print the jobs of a plan, its test cases, time, node hours, memory and disk; measure nothing."""
    plan = planned(options)
    folder = options.out or default_folder(plan)
    if is_batch(options):
        run_batch(options, plan, folder)
        return
    print_foreseen(foresee(plan, folder, options.scatter, on_event=say_event), options.json)


def print_foreseen(foreseen: Foreseen, as_json: bool) -> None:
    """Print the size of a plan as a table, or as JSON."""
    takes = foreseen.takes
    if as_json:
        launches = None if takes is None else takes.launches
        say_json({"plan": foreseen.plan, "cannot_run_here": foreseen.why_not, "needed_launches": launches})
        return
    print_table(plan_table(foreseen.plan))
    for line in total_lines(foreseen.plan):
        say_aside(line)
    if takes is not None:
        say_aside(f"{takes.words[0].upper()}{takes.words[1:]}.")
    if foreseen.why_not:
        tell(f"it cannot be run here: {foreseen.why_not}")


def plan_table(forecast: Forecast) -> Table:
    """Make a line for each job, those that take longest first."""
    settings = labels_of(
        [{**set_facts("omp", job.omp), **set_facts("env", job.env)} for job in forecast.jobs]
    )
    labels = labels_of([_facts(job, settings.label(i)) for i, job in enumerate(forecast.jobs)])
    common = ", ".join((*labels.common.values(), *settings.common.values()))
    explained = (
        "a job is measured once in each launch, by one start of the engine; memory: on rank 0, for the "
        "samples of all ranks; buffers come on top"
    )
    return Table(
        title=f"jobs of the plan {forecast.name}",
        explained=f"{explained}; {common}" if common else explained,
        columns=(
            *(axis.column for axis in labels.varying),
            words("ops"),
            *map(number, ("test cases", "launches", "time", "memory", "disk")),
        ),
        lines=plain_lines(
            (
                *labels.cells(i),
                _named(job.ops),
                str(job.test_cases),
                str(job.launches),
                format_duration(job.seconds),
                roughly(job.memory),
                roughly(job.bytes),
            )
            for i, job in enumerate(forecast.jobs)
        ),
    )


def total_lines(forecast: Forecast) -> tuple[str, ...]:
    """Describe all jobs together, in sentences."""
    hours = forecast.node_hours
    nodes = f"{hours:.2g} node hours" if hours >= 1 / _SECONDS_OF_HOUR else "no node hours to speak of"
    cases = f"{counted(forecast.test_cases, 'test case')} in {counted(forecast.launches, 'launch')}"
    disk = f"about {roughly(forecast.bytes)} of records"
    return (
        f"{cases}: {counted(forecast.starts, 'start')} of an engine",
        f"{_time(forecast)}; {nodes}; {disk}",
    )


def _time(forecast: Forecast) -> str:
    """Write `about 12 s, at most 45 s`; one of them if it is reached, or the first launch is longer."""
    about = roughly_words(forecast.seconds, crowded=any(job.crowded for job in forecast.jobs))
    if forecast.time_budget is None:
        return about
    budget = parse_seconds(forecast.time_budget)
    if forecast.seconds > budget:
        return (
            f"{format_duration(forecast.seconds)} or more, for the time budget does not end the first launch"
        )
    most = f"at most {format_duration(budget)}"
    return most if forecast.seconds >= budget else f"{about}, {most}"


def roughly(count: int) -> str:
    """Write an amount of bytes with two digits, `3.2 MB`, because it is a guess."""
    about = float(f"{count:.2g}")
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if about >= scale:
            return f"{about / scale:g} {unit}"
    return f"{about:g} B"


def _named(ops: tuple[str, ...]) -> str:
    more = f", and {len(ops) - _FEW} more" if len(ops) > _FEW else ""
    return ", ".join(ops[:_FEW]) + more


def _facts(job: JobForecast, settings: str) -> Facts:
    """List the facts of a job; `settings` are those in which jobs differ."""
    level, place, arm = job.thread_level or "", job.placement or "default", job.arm or ""
    return {
        "mpi": Fact("MPI", job.mpi or "none", job.mpi or "no MPI"),
        "ranks": count_fact("rank", job.ranks),
        "hosts": count_fact("host", job.hosts),
        "threads": count_fact("thread", job.threads),
        "level": Fact("thread level", level, f"thread level {level}" if level else ""),
        "placement": Fact("placement", place, f"placement {place}", is_usual=job.placement is None),
        "arm": Fact("arm", arm, f"arm {arm}" if arm else ""),
        "settings": Fact("settings", settings, settings),
    }
