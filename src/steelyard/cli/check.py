"""`steelyard check`: is tonight slower than the nights before, and since when? Or than another build?"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.cli.compare import of_quantile, question
from steelyard.cli.console import paper, print_laid_out, print_table, say_aside, tell
from steelyard.cli.options import (
    JsonFlag,
    JunitFile,
    LeastPercent,
    MarginPercent,
    MarkdownFile,
    QuantileOf,
    StrictFlag,
    TimeBudget,
    YesFlag,
    launches_option,
)
from steelyard.cli.output_files import write_asked
from steelyard.cli.verdict_output import exit_judged, say_judgement, write_junit, write_markdown
from steelyard.records.command_line import retyped

if TYPE_CHECKING:
    from steelyard.judges.compare.scale import Question
    from steelyard.judges.history.store import Pool
    from steelyard.judges.history.verdicts import Checked
    from steelyard.plan.plan import Plan
    from steelyard.session.confirm import Turns
    from steelyard.session.results import Results

EXAMPLES = {
    "check": (
        "steelyard check --history nights",
        "steelyard check --history nights/2026-1*",
        "steelyard check --history nights --since 2026-11-20 --report check.html",
        "steelyard check --history nights --baseline /opt/openmpi-before",
        "steelyard check --tonight results/now --baseline results/before",
        "steelyard check --history nights --quantile 0.99",
    )
}


@dataclass(frozen=True)
class CheckOptions:
    """The options of `steelyard check`."""

    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR", help="further folders of --history, as a shell expands a pattern"),
    ] = None
    history: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help=(
                "results folders of nights, or a folder of them; may be repeated; without, all of --tonight "
                "is measured again, by turns with --baseline"
            ),
        ),
    ] = None
    tonight: Annotated[
        Path | None, typer.Option(metavar="DIR", help="the night that is checked; default: the newest one")
    ] = None
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="BUILD|DIR",
            help=(
                "measure what is suspected again, by turns with this: an MPI (name, prefix, mpicc, mpiexec), "
                "a steelyard-mpi, env.NAME=VALUE, or what the results folder DIR was measured with"
            ),
        ),
    ] = None
    launches: Annotated[int, launches_option("with --baseline: pairs of launches, 8 at least", least=8)] = 12
    time_budget: TimeBudget = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="with --baseline: results folder; default: results/confirm-DATE-TIME"
        ),
    ] = None
    yes: YesFlag = False
    since: Annotated[
        str | None,
        typer.Option(
            metavar="NIGHT|DATE",
            help="leave out the nights before: what changed then is accepted; a folder's name, or 2026-11-20",
        ),
    ] = None
    any_host: Annotated[
        bool, typer.Option("--any-host", help="pool nights of hosts of other names, as containers have")
    ] = False
    quantile: QuantileOf = None
    least: LeastPercent = 2.0
    margin: MarginPercent = 5.0
    false_alarm: Annotated[
        float,
        typer.Option(metavar="PERCENT", help="at most so many of 100 equal nights say slower or faster"),
    ] = 1.0
    strict: StrictFlag = False
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="write the history as pictures, one HTML file")
    ] = None
    junit: JunitFile = None
    markdown: MarkdownFile = None
    json: JsonFlag = False

    @property
    def nights(self) -> list[Path]:
        """All folders of the history."""
        return [*(self.history or ()), *(self.more or ())]


def check(options: CheckOptions) -> None:
    """Compare tonight with the nights before, and date what changed; or compare it with another build."""
    from steelyard.judges.compare.scale import COMPARED
    from steelyard.judges.compare.tables import judged_cases
    from steelyard.judges.history.tables import check_sentences, check_table
    from steelyard.judges.history.verdicts import check_tonight
    from steelyard.session.history import pool_nights

    asked = question(options.false_alarm, options.least, options.margin, options.quantile)
    if not options.nights:
        _check_without_history(options)
        return
    pooled, save = pool_nights(
        options.nights,
        options.tonight,
        quantile=options.quantile,
        since=options.since,
        any_host=options.any_host,
    )
    found, series = check_tonight(pooled, asked)
    found = _confirmed(options, pooled, found, asked) if options.baseline else _with_command(found, pooled)
    save()
    if options.report is not None:
        from steelyard.judges.history.page import check_page

        write_asked(options.report, check_page(found, series, asked.margin).encode(), "--report")
    title = f"steelyard check {found.tonight}{of_quantile(options.quantile)}"
    write_junit(options.junit, title, COMPARED, judged_cases(found.points), options.strict)
    write_markdown(options.markdown, title, check_sentences(found), check_table(found, asked.margin))
    if options.json:
        say_judgement(found)
    else:
        _print(found, asked.margin)
    exit_judged(COMPARED, (point.verdict for point in found.points), options.strict)


def _print(checked: Checked, margin: float) -> None:
    from steelyard.judges.history.tables import check_sentences, check_table

    print_table(check_table(checked, margin))
    for sentence in check_sentences(checked):
        _say_laid_out(sentence)
    if checked.confirm:
        _say_laid_out("To confirm what is suspected, measure it by turns with what the night before had:")
        say_aside(f"  {checked.confirm}")
    elif any(point.suspected for point in checked.points):
        _say_laid_out(
            "To confirm what is suspected, add --baseline and the path of the build that was replaced: it is "
            "then measured by turns with that build."
        )


def _say_laid_out(sentence: str) -> None:
    from steelyard.render.terminal import prose_text

    print_laid_out(prose_text(sentence, paper()))


def _with_command(checked: Checked, pooled: Pool) -> Checked:
    """Add the command that would confirm what is suspected, if anything is, and the records tell what the
    night before was measured with and tonight was not.
    """
    from msgspec.structs import replace

    from steelyard.session.history import build_of

    if not any(point.suspected for point in checked.points):
        return checked
    *_, before, tonight = pooled.nights
    build = build_of(before, tonight)
    return checked if build is None else replace(checked, confirm=retyped(sys.argv[1:], baseline=build))


def _check_without_history(options: CheckOptions) -> None:
    """Measure all of tonight again, by turns with the baseline, and compare; nothing is screened."""
    from steelyard.cli.compare import CompareOptions, compare
    from steelyard.results.load import load
    from steelyard.session.confirm import measure_by_turns
    from steelyard.session.history import read_night

    if options.baseline is None or options.tonight is None:
        raise InputError("check needs --history DIR, or --tonight DIR and --baseline; give one of these")
    if options.report is not None or options.since is not None:
        raise InputError("--report and --since need a history; give --history, or leave them out")
    night = read_night(options.tonight)
    folder, _, factor = measure_by_turns(_turns(options), night, load(night.folder).campaign.points)
    compare(
        CompareOptions(
            folders=[folder],
            by=factor,
            quantile=options.quantile,
            least=options.least,
            margin=options.margin,
            false_alarm=options.false_alarm,
            strict=options.strict,
            junit=options.junit,
            markdown=options.markdown,
            json=options.json,
        )
    )


def _confirmed(options: CheckOptions, pooled: Pool, checked: Checked, asked: Question) -> Checked:
    """Measure what is suspected again, if anything is."""
    from steelyard.session.confirm import check_baseline, confirm, suspects_of

    night = pooled.nights[-1]
    check_baseline(options.baseline or "", night)  # told also where nothing is suspected
    points = suspects_of(night, checked)
    if not points:
        tell("nothing is suspected, so nothing is measured again")
        return checked
    return confirm(_turns(options), night, points, checked, asked)


def _turns(options: CheckOptions) -> Turns:
    from steelyard.cli.consent import ask_to_start
    from steelyard.cli.measure import measured
    from steelyard.session.confirm import Turns

    def measure(plan: Plan, folder: Path) -> Results:
        results = measured(plan, folder)
        tell(f"results: {folder}")
        return results

    return Turns(
        options.baseline or "",
        options.launches,
        options.time_budget,
        options.out,
        measure,
        lambda folder, lines: ask_to_start(folder, lines, options.yes),
    )
