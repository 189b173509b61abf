"""`steelyard check guidelines`: is an MPI consistent with itself?"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.cli.compare import question
from steelyard.cli.console import paper, print_laid_out, print_table, say_aside, tell
from steelyard.cli.options import JsonFlag, JunitFile, MpiNames, StrictFlag, launches_option, listed
from steelyard.cli.verdict_output import exit_judged, say_judgement, write_junit

if TYPE_CHECKING:
    from steelyard.judges.guidelines.verdicts import CheckedGuidelines
    from steelyard.plan.plan import Measure, Plan
    from steelyard.results.row import Row

EXAMPLES = {
    "guidelines": (
        "steelyard check guidelines --mpi openmpi,mpich",
        "steelyard check guidelines mpi.gather -n 4 --bytes 8,1Ki --launches 12",
        "steelyard check guidelines results/guidelines --strict",
    )
}
_PLAN = "guidelines"  # the shipped one


@dataclass(frozen=True)
class GuidelineOptions:
    """The options of `steelyard check guidelines`."""

    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR | PLAN.toml | OP ...",
            help=(
                "a results folder that was measured before; or a plan; or ops and patterns, such as "
                "mpi.gather, of the shipped plan 'guidelines'; default: all of that"
            ),
        ),
    ] = None
    mpi: MpiNames = None
    ranks: Annotated[
        str | None,
        typer.Option(
            "-n", "--ranks", metavar="N,...", help="numbers of ranks of the collectives; default: all cores"
        ),
    ] = None
    bytes_: Annotated[
        str | None, typer.Option("--bytes", metavar="SIZES", help="sizes; default: the plan's")
    ] = None
    launches: Annotated[
        int | None,
        launches_option("number of launches; default: the plan's", least=2),
    ] = None
    time_budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="for all launches: 90s, 10m; default: the plan's")
    ] = None
    oversubscribe: Annotated[bool, typer.Option("--oversubscribe", help="allow more ranks than cores")] = (
        False
    )
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="seed of the order of test cases and launches; default: drawn"),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="results folder, resumed if it is there; default: results/guidelines-DATE-TIME",
        ),
    ] = None
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="how much longer than the right side the left one may take, in per cent"
        ),
    ] = 5.0
    false_alarm: Annotated[
        float,
        typer.Option(
            metavar="PERCENT",
            help="at most so many of 100 checks of an MPI that keeps all guidelines call one violated",
        ),
    ] = 1.0
    strict: StrictFlag = False
    junit: JunitFile = None
    json: JsonFlag = False


def guidelines(options: GuidelineOptions) -> None:
    """Compare the calls of an MPI with compositions of other calls, and name those that are too slow."""
    from steelyard.judges.guidelines.tables import judged_guidelines
    from steelyard.judges.guidelines.verdicts import GUIDELINES_HELD, Asked, check_guidelines

    wanted = question(options.false_alarm, options.tolerance, options.tolerance)
    asked = Asked(wanted.false_alarm, wanted.margin)
    folder, rows = _rows(options)
    found = check_guidelines(rows, asked)
    judged = judged_guidelines(found)
    write_junit(options.junit, "steelyard check guidelines", GUIDELINES_HELD, judged, options.strict)
    if options.json:
        say_judgement(found)
    else:
        _print(found, folder)
    exit_judged(GUIDELINES_HELD, (point.verdict for point in found.points), options.strict)


def _print(found: CheckedGuidelines, folder: Path) -> None:
    from steelyard.judges.guidelines.tables import guideline_sentences, guideline_tables
    from steelyard.render.terminal import prose_text

    for number, table in enumerate(guideline_tables(found, folder)):
        if number > 0:
            say_aside("")
        print_table(table)
    for sentence in guideline_sentences(found):
        print_laid_out(prose_text(sentence, paper()))


def _rows(options: GuidelineOptions) -> tuple[Path, Sequence[Row]]:
    """Read the rows of an existing folder, or measure them now; and the folder. Raises InputError."""
    what = options.what or []
    if any(Path(word).is_dir() for word in what):
        if len(what) > 1:
            raise InputError(f"give one results folder, or ops; leave {what[1]} out")
        from steelyard.results.rows import results

        given = [
            name
            for name in ("mpi", "ranks", "launches", "time_budget", "seed", "out", "bytes_")
            if getattr(options, name) is not None
        ]
        if given or options.oversubscribe:
            raise InputError(
                f"'{what[0]}' is measured already; leave the options out that say how, or give another --out"
            )
        return Path(what[0]), results(Path(what[0]))
    from steelyard.campaign.folder import default_folder
    from steelyard.cli.measure import measured
    from steelyard.cli.show import tell_diagnostics

    plan = planned_guidelines(options)
    folder = options.out or default_folder(plan)
    done = measured(plan, folder)
    tell_diagnostics(done.diagnostics)
    tell(f"results: {folder}")
    tell(f"report:  {done.report()}")
    return folder, done.rows


def planned_guidelines(options: GuidelineOptions) -> Plan:
    """Choose the plan: the shipped one or another, or the part of it about some ops.

    Raises InputError.
    """
    from steelyard.plan.plan import read_plan
    from steelyard.plan.shipped import shipped_plans

    what = listed(options.what)
    is_plan = len(what) == 1 and (what[0].endswith(".toml") or what[0] in shipped_plans())
    path = Path(what[0]) if is_plan and what[0].endswith(".toml") else shipped_plans()[_PLAN]
    if is_plan and not what[0].endswith(".toml"):
        path = shipped_plans()[what[0]]
    plan = read_plan(path)
    if what and not is_plan:
        plan = replace(plan, measure=_about(what, plan))
    _check_sides(plan, path)
    given = {
        "mpi": listed(options.mpi) or None,
        "launches": options.launches,
        "time_budget": options.time_budget,
        "seed": options.seed,
        "oversubscribe": options.oversubscribe or None,
    }
    measures = tuple(
        replace(
            measure,
            ranks=options.ranks if options.ranks is not None and measure.ranks is None else measure.ranks,
            bytes=options.bytes_
            if options.bytes_ is not None and measure.bytes is not None
            else measure.bytes,
        )
        for measure in plan.measure
    )
    return replace(
        plan, measure=measures, **{name: value for name, value in given.items() if value is not None}
    )


def _check_sides(plan: Plan, path: Path) -> None:
    """Raise InputError for a plan that measures both sides of no guideline."""
    from steelyard.judges.guidelines.table import GUIDELINES

    there = [pattern for measure in plan.measure for pattern in measure.ops]

    def is_measured(op: str) -> bool:
        return any(fnmatch.fnmatchcase(op, pattern) for pattern in there)

    if not any(is_measured(row.left.op) and is_measured(row.right.op) for row in GUIDELINES):
        raise InputError(f"the plan {path} measures both sides of no guideline; give one that does, or none")


def _about(words: Sequence[str], plan: Plan) -> tuple[Measure, ...]:
    """Select the measures of these ops, and of those that they are compared with."""
    from steelyard.judges.guidelines.table import GUIDELINES

    first = [measure.ops[0] for measure in plan.measure]
    for word in words:
        if not fnmatch.filter(first, word):
            names = ", ".join(dict.fromkeys(first))
            raise InputError(
                f"there are no guidelines of '{word}', and no results folder of that name; give {names}"
            )
    mine = {op for word in words for op in fnmatch.filter(first, word)}
    kept = [measure for measure in plan.measure if measure.ops[0] in mine]
    there = [pattern for one in kept for pattern in one.ops]
    against = {row.right.op for row in GUIDELINES if row.left.op in mine and not row.unless}
    lacking = {op for op in against if not any(fnmatch.fnmatch(op, pattern) for pattern in there)}
    return tuple(measure for measure in plan.measure if measure.ops[0] in mine | lacking)
