"""`steelyard run`: measure, show, and keep."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer

from steelyard.base.engine_kinds import KINDS, MPI, SHMEM
from steelyard.base.errors import InputError, MeasurementError, StoppedError
from steelyard.base.mpi_variables import readers
from steelyard.base.printable import visible
from steelyard.campaign.folder import default_folder, open_folder, topology_for
from steelyard.campaign.jobs import CampaignSetup, check_launches, setup_for
from steelyard.campaign.lock import locked
from steelyard.campaign.run import run_campaign
from steelyard.campaign.stage import stage_engines
from steelyard.campaign.started import remember
from steelyard.cli.ahead import ImportsAhead
from steelyard.cli.batch import is_batch, run_batch
from steelyard.cli.bug import bugs_kept_in
from steelyard.cli.console import err, say_aside, tell, tell_counted
from steelyard.cli.design import design_of, needed, with_needed
from steelyard.cli.export import check_format, write_measured
from steelyard.cli.options import check_retry, listed, one_of
from steelyard.cli.precise import measure_precisely
from steelyard.cli.refine import measure_rounds
from steelyard.cli.resume import folder_plan, is_resumed
from steelyard.cli.run_options import RunOptions
from steelyard.cli.show import (
    OnScreen,
    exported,
    print_closing,
    print_results,
    read_results,
    tell_diagnostics,
    their_tests,
)
from steelyard.cli.start import stopped_gently
from steelyard.engines.build import describe, ready_solo_engine
from steelyard.engines.hidden import hidden_mpi
from steelyard.engines.mpi import scripts_folder
from steelyard.plan.arguments import asked_plan
from steelyard.plan.arms import read_arms, with_arms
from steelyard.plan.arrivals import read_arrivals
from steelyard.plan.like import THEIR_OPTIONS
from steelyard.plan.plan import MOST_PRECISE, USUAL_LAUNCHES, Plan, budget_seconds
from steelyard.plan.resolve import resolve
from steelyard.plan.settings import read_around, unread
from steelyard.records.campaign_file import AROUND, CampaignFile, PlannedMethod, PlannedOp, PlannedPoint
from steelyard.records.command_line import command, resumed
from steelyard.system.machine import Machine, read_machine
from steelyard.system.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.analyses.overview import ReadFolder
    from steelyard.base.diagnostic import Diagnostic

EXAMPLES = {
    "run": (
        "steelyard run mpi.pingpong --bytes 0,8,1Ki..4Mi",
        "steelyard run mpi.allreduce -n 2,4 --mpi openmpi,mpich --time-budget 5m",
        "steelyard run mpi.allreduce --hosts 1,2,4 --batch slurm --dry-run",
        "steelyard run --like osu_latency",
        "steelyard run quick",
        "steelyard run mpi.pingpong --out results/mine",
        "steelyard run --out results/mine     (goes on there)",
    )
}


UNCLOSED = "unclosed"  # beside the statuses of test cases: a launch ended badly after its last one


def known_names() -> dict[str, tuple[str, ...]]:
    """List the values of --method, --rule, --clock and --sync, if an engine exists that need not be built."""
    engine = ready_solo_engine()
    if engine is None:
        return {}
    said = describe(engine)
    return {
        "method": tuple(row.name for row in said.methods if row.available),
        "rule": tuple(row.name for row in said.stop_rules),
        "clock": tuple(row.name for row in said.clocks),
        "sync": tuple(row.name for row in said.sync_algorithms),
    }


def run(options: RunOptions) -> None:
    """Measure ops or a plan; an existing results folder is resumed."""
    plan = planned(options)
    folder = options.out or default_folder(plan)
    if is_batch(options):
        run_batch(options, plan, folder)
        return
    if options.dry_run:
        from steelyard.cli.plan import show_plan

        show_plan(options)
        return
    to, like = "json" if options.json else options.to, listed(options.like)
    retry, scatter = options.retry is not None, options.scatter
    ended = measure_and_show(plan, folder, retry_failed=retry, to=to, like=like, scatter=scatter)
    finish(ended, folder)


def finish(ended: set[str], folder: Path) -> None:
    """Say what failed. Raises typer.Exit if anything did, or nothing was measured."""
    if "failed" in ended:
        tell(f"some test cases failed; to measure them again: {resumed(folder, retry='failed')}")
    elif "ok" not in ended:
        tell("steelyard: nothing was measured; the lines above say why")
    elif UNCLOSED in ended:
        tell("all test cases were measured, and a launch did not end well; the lines above say how")
    if "failed" in ended or UNCLOSED in ended or "ok" not in ended:
        raise typer.Exit(MeasurementError.exit_code)


def planned(options: RunOptions) -> Plan:
    """Make the plan that the command line names or spells out. Raises InputError."""
    one_of("--engine", options.engine, KINDS)
    one_of("--yield", options.yield_, ("real", "none"))
    one_of("--paths", options.paths, ("symmetric", "asymmetric"))
    one_of("--keep", options.keep, ("ranks", "sampled", "slowest"))
    check_retry(options.retry, options.out)
    if options.json and options.to not in (None, "json"):
        raise InputError(f"--json is --to json; leave it or --to {options.to} out")
    if options.to is not None:
        check_format(options.to, listed(options.like))
    plan = folder_plan(options, options.out) if is_resumed(options) and options.out else _asked(options)
    given = {name: getattr(options, name) for name in ("launches", "launcher", "yield_", "clock", "sync")}
    given |= {
        name: getattr(options, name)
        for name in ("paths", "keep", "precision", "detect", "time_budget", "spread", "hang_after", "seed")
    }
    given |= {kind: listed(getattr(options, kind)) or None for kind in (MPI, SHMEM)}
    given |= {"oversubscribe": options.oversubscribe or None}
    given |= {"refine": options.refine or None}
    given["stage"] = options.stage
    given["arms"] = read_arms(options.arms) if options.arms else None
    given["arrivals"] = read_arrivals(options.arrivals) if options.arrivals else None
    changes = {name: value for name, value in given.items() if value is not None}
    plan = msgspec.structs.replace(plan, **changes)
    if plan.precision and options.launches is None and plan.launches == USUAL_LAUNCHES:
        plan = msgspec.structs.replace(plan, launches=MOST_PRECISE)
    return plan


def _asked(options: RunOptions) -> Plan:
    """Make the plan of what the command line names. Raises InputError."""
    axes = {name: getattr(options, name) for name in ("ranks", "method", "rule", "thread_level")}
    axes |= {name: getattr(options, name) for name in ("hosts", "ranks_per_host")}
    axes |= {"bytes": options.bytes_, "placement": options.placement, "engine": options.engine}
    axes |= read_around({name: getattr(options, name) for name in AROUND})
    params = [*(options.param or ()), *([f"class={options.class_}"] if options.class_ else [])]
    like = listed(options.like)
    settings = (options.omp or (), options.env or ())
    return asked_plan(options.what or (), like, axes, options.threads, params, *settings)


def measure(
    plan: Plan, folder: Path, *, retry_failed: bool = False, scatter: Path | None = None
) -> tuple[ReadFolder, Sequence[Diagnostic]]:
    """Measure a plan into a folder, with a bar on stderr; return its results and findings."""
    from steelyard.cli.progress import listening

    if hidden := hidden_mpi(os.environ.get("PATH", ""), scripts_folder()):
        tell(f"note: {hidden}; steelyard knows both, and 'deactivate' gives yours back")
    machine = read_machine()
    topology = topology_for(folder, plan)
    setup, points = _set_up(plan, machine, topology, builds=False)  # refuses before anything is built
    if not setup.is_built:
        setup, points = _set_up(plan, machine, topology, builds=True)
    if not (folder / "campaign.json").exists() and (takes := needed(plan, points, folder, scatter)):
        tell(f"note: {takes.words}")
        plan = with_needed(plan, takes)
        check_launches(plan, points, setup)
    families = [engine.mpi.family for engine in setup.engines.values() if engine.mpi]
    for name in unread((one.env for one in with_arms(plan).measure), families):
        tell(f"note: {name} is not set: it is a variable of {readers(name)}, which is not measured")
    ops = {
        name: PlannedOp(op.summary, op.sized, op.base, op.form, op.role, op.layer, op.defaults)
        for name, op in setup.ops.all.items()
    }
    methods = {name: PlannedMethod(method.summary) for name, method in setup.ops.methods.items()}
    typed = ("steelyard", *map(visible, sys.argv[1:]))
    campaign = open_folder(
        folder, plan, points, machine, topology, ops, methods, typed, design_of(plan, points)
    )
    remember(plan, setup)
    with bugs_kept_in(folder), locked(folder) as lock:
        setup = stage_engines(plan, points, setup, tell)
        for note in lock.notes:
            tell(f"note: {note}")
        imports = ImportsAhead()  # while the first launch starts

        def launch(
            plan: Plan, campaign: CampaignFile, rounds: int, seconds: Mapping[int, float] | None = None
        ) -> None:
            with listening(err(), plan.launches, budget_seconds(plan)) as listener:
                run_campaign(
                    *(folder, plan, campaign, setup, listener),
                    rounds=rounds,
                    lock=lock,
                    retry_failed=retry_failed,
                    seconds=seconds,
                    is_idle=imports.is_idle,
                    is_stopping=is_stopping,
                )
            if is_stopping():
                raise KeyboardInterrupt

        try:
            with stopped_gently() as is_stopping:
                if plan.precision:
                    measure_precisely(folder, plan, campaign, launch)
                else:
                    measure_rounds(folder, plan, campaign, launch)
        finally:
            from steelyard.export.formats import write_results

            results, found = read_results(folder)
            write_results(exported(results, found))
    return results, found


def _set_up(
    plan: Plan, machine: Machine, topology: Topology, *, builds: bool
) -> tuple[CampaignSetup, tuple[PlannedPoint, ...]]:
    """Make the setup and the test cases of a plan. Raises InputError for what cannot be measured."""
    setup = setup_for(plan, machine, tell, builds=builds)
    mpis = [name for name in setup.engines if name is not None]
    points = resolve(plan, setup.ops, mpis, len(machine.cores), topology)
    check_launches(plan, points, setup)  # before anything is written
    return setup, points


def measure_and_show(
    plan: Plan,
    folder: Path,
    *,
    retry_failed: bool = False,
    to: str | None = None,
    like: Sequence[str] = (),
    scatter: Path | None = None,
) -> set[str]:
    """Measure what is not finished, and show all, or write it in the format `to`; return how points ended."""
    try:
        results, found = measure(plan, folder, retry_failed=retry_failed, scatter=scatter)
    except KeyboardInterrupt:
        raise StoppedError(f"stopped; what was finished is kept; to go on: {resumed(folder)}") from None
    answer = _print_answer(plan, results, like) if to is None else OnScreen((), 0)
    line = say_aside if to is None else tell_counted
    lines = tell_diagnostics(found) + line(f"results: {folder}")
    if to is not None:
        from steelyard.export.exported import Export

        write_measured(to, Export((exported(results, found),), their_tests(like)))
    from steelyard.report import report_measured  # the answer comes first

    lines += line(f"report:  {report_measured(results, found)}")
    if plan.arms:
        lines += line(f"verdict: {command('compare', str(folder))}")
    if to is None:
        print_closing(answer.followed_by(lines))
    unclosed = any(watch.ending is not None for file in results.measured.files for watch in file.watches)
    return {row.status for row in results.rows} | ({UNCLOSED} if unclosed else set())


def _print_answer(plan: Plan, results: ReadFolder, like: Sequence[str]) -> OnScreen:
    """Print the tables, or the verdicts of the plan `acceptance`."""
    from steelyard.cli.accept import print_acceptance
    from steelyard.judges.accept import PLAN, Weighed, accept

    if plan.name != PLAN:
        return print_results([results], like)
    weighed = Weighed(results.measured, results.rows, results.name)
    return print_acceptance(weighed, accept(weighed))


NAMES = {"run": known_names}
ELSEWHERE = {"run": THEIR_OPTIONS}
