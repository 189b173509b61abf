"""`steelyard run`: measure, show, and keep."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from steelyard.base.errors import MeasurementError, StoppedError
from steelyard.base.plural import counted
from steelyard.campaign.folder import default_folder
from steelyard.cli.batch import is_batch, run_batch
from steelyard.cli.console import say_aside, tell, tell_counted
from steelyard.cli.export import check_prints, write_measured
from steelyard.cli.measure import measured, say_event
from steelyard.cli.options import listed
from steelyard.cli.plan_options import planned
from steelyard.cli.run_options import RunOptions
from steelyard.cli.show import OnScreen, print_closing, print_results, tell_diagnostics, their_tests
from steelyard.engines.build import describe, ready_solo_engine
from steelyard.plan.like import THEIR_OPTIONS
from steelyard.plan.plan import Plan
from steelyard.records.command_line import command, resumed
from steelyard.session.measure import any_test_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analyses.overview import ReadFolder
    from steelyard.results.load import Measured

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
        from steelyard.cli.plan import print_foreseen
        from steelyard.session.foresee import foresee

        print_foreseen(foresee(plan, folder, options.scatter, on_event=say_event), options.json)
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
        check = partial(check_prints, to, like) if to else any_test_cases
        results = measured(plan, folder, retry_failed=retry_failed, scatter=scatter, check=check)
    except KeyboardInterrupt:
        raise StoppedError(_stopped_words(folder)) from None
    answer = _print_answer(plan, results.read, like) if to is None else OnScreen((), 0)
    line = say_aside if to is None else tell_counted
    below = to is None and not like
    lines = tell_diagnostics(results.diagnostics, below_tables=below) + line(f"results: {folder}")
    if to is not None:
        from steelyard.export.export_input import Export

        write_measured(to, Export((results.exported(),), their_tests(like)))
    lines += line(f"report:  {results.report()}")  # the answer comes first
    if plan.arms:
        lines += line(f"verdict: {command('compare', str(folder))}")
    if to is None:
        print_closing(answer.followed_by(lines), left_words(results.read.measured))
    unclosed = any(watch.ending is not None for file in results.read.measured.files for watch in file.watches)
    return {row.status for row in results.rows} | ({UNCLOSED} if unclosed else set())


def left_words(measured: Measured) -> Sequence[str]:
    """Say where the answer is what a time budget left out, and how to go on."""
    left = measured.unfinished
    if not left or not measured.campaign.plan.get("time_budget"):
        return ()
    whole = counted(measured.planned_launches * len(measured.points), "measurement")
    return (f"the time budget left out {left} of {whole}; to go on: {resumed(measured.folder)}",)


def _stopped_words(folder: Path) -> str:
    """Say how to go on, if there is a campaign to go on with."""
    if not (folder / "campaign.json").exists():
        return "stopped before it had begun; nothing was measured"
    return f"stopped; what was finished is kept; to go on: {resumed(folder)}"


def _print_answer(plan: Plan, results: ReadFolder, like: Sequence[str]) -> OnScreen:
    """Print the tables, or the verdicts of the plan `acceptance`."""
    from steelyard.cli.accept import print_acceptance
    from steelyard.judges.accept import PLAN, accept
    from steelyard.session.accept import weighed

    if plan.name != PLAN:
        return print_results([results], like)
    candidate = weighed(results)
    return print_acceptance(candidate, accept(candidate))


NAMES = {"run": known_names}
ELSEWHERE = {"run": THEIR_OPTIONS}
