"""`steelyard tune`: the library's own file of algorithms, measured before it is recommended."""

from __future__ import annotations

import fnmatch
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.plural import counted, joined
from steelyard.cli.console import paper, print_laid_out, print_table, say_aside, tell
from steelyard.cli.options import JsonFlag, JunitFile, MpiNames, StrictFlag, launches_option, listed
from steelyard.cli.verdict_output import exit_judged, say_judgement, write_junit
from steelyard.records.command_line import retyped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.judges.tuning.verdicts import Tuned
    from steelyard.plan.plan import Plan
    from steelyard.session.results import Results

EXAMPLES = {
    "tune": (
        "steelyard tune --mpi openmpi,mpich",
        "steelyard tune mpi.bcast mpi.allreduce -n 4 --launches 20",
        "steelyard tune results/algorithms",
        "steelyard tune sweep.toml -n 8 --out results/tuned",
    )
}
_PLAN = "algorithms"  # the shipped one
_SWEEP = "sweep"  # the folder of the sweep in that of all


@dataclass(frozen=True)
class TuneOptions:
    """The options of `steelyard tune`."""

    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR | PLAN.toml | OP ...",
            help=(
                "a results folder of a sweep over algorithms; or a plan of one; or ops, such as mpi.bcast, "
                "of the shipped plan 'algorithms'; default: all of that"
            ),
        ),
    ] = None
    mpi: MpiNames = None
    ranks: Annotated[
        str | None,
        typer.Option("-n", "--ranks", metavar="N,...", help="numbers of ranks; default: all cores"),
    ] = None
    launches: Annotated[
        int,
        launches_option("number of launches with the file, and as many without", least=2),
    ] = 12
    time_budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="for the sweep, and for each file: 90s, 10m; default: the plan's, and none",
        ),
    ] = None
    oversubscribe: Annotated[bool, typer.Option("--oversubscribe", help="allow more ranks than cores")] = (
        False
    )
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="folder of files and results, resumed if it is there; default: results/tune-DATE-TIME",
        ),
    ] = None
    strict: StrictFlag = False
    junit: JunitFile = None
    json: JsonFlag = False


def tune(options: TuneOptions) -> None:
    """Write the file by which an MPI chooses faster algorithms, and measure it before it is recommended.

    The exit code is 1 if a file is not recommended, 4 with --strict if that is undecided.
    """
    from steelyard.campaign.folder import free_folder
    from steelyard.cli.measure import measured
    from steelyard.judges.tuning.verdicts import TUNED, judged_mpis
    from steelyard.session.tune import Checking, tune

    folder = options.out or free_folder("tune")
    sweep = _swept(options, folder)
    checks: list[Results] = []

    def check(plan: Plan, into: Path) -> Results:
        checks.append(measured(plan, into))
        return checks[-1]

    result = tune(sweep, folder, Checking(options.launches, options.time_budget, check))
    write_junit(options.junit, "steelyard tune", TUNED, judged_mpis(result), options.strict)
    if options.json:
        say_judgement(result)
    else:
        _print(result)
    for sentence in _left_words(sweep, checks, folder):
        tell(sentence)
    exit_judged(TUNED, (mpi.verdict for mpi in result.mpis), options.strict)


def _left_words(sweep: Results, checks: Sequence[Results], folder: Path) -> Iterator[str]:
    """Say what a time budget left out of the sweep and of the files' launches, and how to go on with both."""
    counts = {"of the sweep": (sweep,), "with the files and without": checks}
    left = {what: sum(one.read.measured.unfinished for one in some) for what, some in counts.items()}
    named = [f"{counted(count, 'measurement')} {what}" for what, count in left.items() if count]
    if named:
        goes_on = retyped(sys.argv[1:], out=folder)
        yield f"the time budget left out {joined(named)}; to go on: {goes_on}"


def _swept(options: TuneOptions, folder: Path) -> Results:
    """Read the sweep of an existing folder, or measure it now. Raises InputError."""
    from steelyard.cli.measure import measured
    from steelyard.session.results import read_results

    what = listed(options.what)
    folder_given = next((word for word in what if os.path.isdir(word)), None)  # noqa: PTH112 (any word)
    if folder_given is not None:
        given = [f"--{name}" for name in ("mpi", "ranks") if getattr(options, name) is not None]
        given += ["--oversubscribe"] * options.oversubscribe
        given += [word for word in what if word != folder_given]
        if given:
            raise InputError(f"'{folder_given}' is measured already; leave {joined(given)} out")
        return read_results(Path(folder_given))
    plan = _planned(what, options.ranks)
    plan = replace(
        plan,
        mpi=listed(options.mpi) or plan.mpi,
        time_budget=options.time_budget or plan.time_budget,
        oversubscribe=options.oversubscribe or plan.oversubscribe,
    )
    tell(f"sweep:   {folder / _SWEEP}")
    return measured(plan, folder / _SWEEP)


def _planned(what: tuple[str, ...], ranks: str | None) -> Plan:
    """Choose the plan of a sweep, or the part of the shipped one about some ops. Raises InputError."""
    from steelyard.plan.arguments import asked_plan
    from steelyard.plan.shipped import shipped_plans

    is_plan = len(what) == 1 and (what[0].endswith(".toml") or what[0] in shipped_plans())
    plan = asked_plan(what if is_plan else (_PLAN,), (), {"ranks": ranks}, None, ())
    if is_plan or not what:
        return plan
    known = [op for measure in plan.measure for op in measure.ops]
    for word in what:
        if not fnmatch.filter(known, word):
            names = ", ".join(known)
            raise InputError(
                f"the plan {_PLAN} has no '{word}', and there is no results folder of that name; give {names}"
            )
    kept = (
        measure for measure in plan.measure if any(fnmatch.fnmatch(measure.ops[0], word) for word in what)
    )
    return replace(plan, measure=tuple(kept))


def _print(result: Tuned) -> None:
    from steelyard.judges.tuning.verdicts import tuned_sentences, tuned_tables
    from steelyard.render.terminal import prose_text

    for table in tuned_tables(result):
        print_table(table)
        say_aside("")
    for sentence in tuned_sentences(result):
        print_laid_out(prose_text(sentence, paper()))
