"""`steelyard check`: is tonight slower than the nights before, and since when? Or than another build?"""

from __future__ import annotations

import datetime
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.base.secret import MASK
from steelyard.cli.compare import exit_code, of_quantile, question, write_junit
from steelyard.cli.console import paper, print_laid_out, print_sheet, say_aside, say_json, tell
from steelyard.cli.options import (
    JsonFlag,
    JunitFile,
    LeastPercent,
    MarginPercent,
    QuantileOf,
    StrictFlag,
    TimeBudget,
    YesFlag,
    launches_option,
)
from steelyard.cli.written import write_asked
from steelyard.records.command_line import retyped
from steelyard.records.results_folder import check_results_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.judges.history.store import Night, Pool
    from steelyard.judges.history.verdicts import Checked
    from steelyard.records.campaign_file import PlannedPoint
    from steelyard.results.row import Row

_LIBRARIES = ("LD_PRELOAD", "LD_LIBRARY_PATH")  # settings of a night by which libraries are replaced
_OF_MPI = ("MPI", "MPI library", "mpiexec")  # settings of a night that identify its MPI
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
    json: JsonFlag = False

    @property
    def nights(self) -> list[Path]:
        """All folders of the history."""
        return [*(self.history or ()), *(self.more or ())]


def check(options: CheckOptions) -> None:
    """Compare tonight with the nights before, and date what changed; or compare it with another build."""
    from steelyard.judges.history.verdicts import check_tonight

    asked = question(options.false_alarm, options.least, options.margin, options.quantile)
    if not options.nights:
        _check_without_history(options)
        return
    pooled = _pool(options)
    found, series = check_tonight(pooled, asked)
    found = _confirm(options, pooled, found) if options.baseline else _with_command(found, pooled)
    if options.report is not None:
        from steelyard.judges.history.page import check_page

        write_asked(options.report, check_page(found, series, asked.margin).encode(), "--report")
    if options.junit:
        write_junit(
            options.junit,
            f"steelyard check {found.tonight}{of_quantile(options.quantile)}",
            found.points,
            options.strict,
        )
    if options.json:
        from steelyard.judges.history.document import check_document

        say_json(check_document(found))
    else:
        _print(found, asked.margin)
    if code := exit_code(found.points, options.strict):
        raise typer.Exit(code)


def _print(found: Checked, margin: float) -> None:
    from steelyard.judges.history.tables import check_sentences, check_sheet

    print_sheet(check_sheet(found, margin))
    for sentence in check_sentences(found):
        _say_laid_out(sentence)
    if found.confirm:
        _say_laid_out("To confirm what is suspected, measure it by turns with what the night before had:")
        say_aside(f"  {found.confirm}")
    elif any(one.suspected for one in found.points):
        _say_laid_out(
            "To confirm what is suspected, add --baseline and the path of the build that was replaced: it is "
            "then measured by turns with that build."
        )


def _say_laid_out(sentence: str) -> None:
    from steelyard.render.terminal import prose_text

    print_laid_out(prose_text(sentence, paper()))


def _pool(options: CheckOptions) -> Pool:
    """Read the nights of the store; unreadable ones are left out, except tonight's."""
    from steelyard.engines.cache import own_key
    from steelyard.judges.history.digest import known_night
    from steelyard.judges.history.store import folders_in, pool

    folders = {path.resolve(): path for path in folders_in(options.nights)}
    nights: dict[Path, Night] = {}
    unread: list[tuple[str, str]] = []
    key = own_key()
    for real, folder in folders.items():
        if options.tonight is not None and real == options.tonight.resolve():
            continue
        try:
            nights[real] = known_night(folder, key, options.quantile)
        except InputError as error:
            unread.append((str(folder), str(error).partition(";")[0].removeprefix(f"{folder} ")))
    if options.tonight is not None:
        tonight = _night(options.tonight, options.quantile)
    elif nights:
        tonight = nights.pop(max(nights, key=lambda real: nights[real].began))
    else:
        raise InputError(f"no night can be read: {unread[0][0]}: {unread[0][1]}")
    others = list(nights.values())
    since = _since(options.since, (*others, tonight))
    return pool(tonight, others, unread, any_host=options.any_host, since=since)


def _night(folder: Path, quantile: float | None = None) -> Night:
    """Find tonight by its name. Raises InputError."""
    from steelyard.engines.cache import own_key
    from steelyard.judges.history.digest import known_night

    check_results_folder(folder)
    return known_night(folder, own_key(), quantile)


def _since(word: str | None, nights: tuple[Night, ...]) -> int:
    """Find the begin of the named night, or of the day, in ns since 1970."""
    if word is None:
        return 0
    for night in nights:
        if word in (night.name, night.folder.name, str(night.folder)):
            return night.began
    try:
        day = datetime.datetime.fromisoformat(word)
    except ValueError:
        raise InputError(
            f"--since '{word}' is neither the name of a night nor a date such as 2026-11-20"
        ) from None
    return int((day if day.tzinfo else day.replace(tzinfo=datetime.UTC)).timestamp() * 1e9)


def _with_command(found: Checked, pooled: Pool) -> Checked:
    """Add the command that would confirm what is suspected, if anything is, and the records tell what the
    night before was measured with and tonight was not.
    """
    from msgspec.structs import replace

    if not any(one.suspected for one in found.points):
        return found
    *_, before, tonight = pooled.nights
    build = _build_of(before, tonight)
    return found if build is None else replace(found, confirm=retyped(sys.argv[1:], baseline=build))


def _build_of(before: Night, tonight: Night) -> str | None:
    """Find what a night had and tonight has not, as --baseline takes it: a variable, an MPI; None for
    neither.
    """
    from steelyard.judges.history.settings import is_variable

    others = sorted(
        name
        for name in {*before.settings, *tonight.settings}
        if is_variable(name) and MASK not in before.settings.get(name, "")
    )
    for name in (*_LIBRARIES, *others):
        if before.settings.get(name) != tonight.settings.get(name):
            return f"env.{name}={before.settings.get(name, '-')}"
    launcher = before.settings.get("mpiexec", "")
    if launcher != tonight.settings.get("mpiexec") and Path(launcher).is_file():
        return launcher
    return None


def _check_without_history(options: CheckOptions) -> None:
    """Measure all of tonight again, by turns with the baseline, and compare; nothing is screened."""
    from steelyard.cli.compare import CompareOptions, compare
    from steelyard.results.load import load

    if options.baseline is None or options.tonight is None:
        raise InputError("check needs --history DIR, or --tonight DIR and --baseline; give one of these")
    if options.report is not None or options.since is not None:
        raise InputError("--report and --since need a history; give --history, or leave them out")
    night = _night(options.tonight)
    folder, _, factor = _measure_by_turns(options, night, load(night.folder).campaign.points)
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
            json=options.json,
        )
    )


def _measure_by_turns(
    options: CheckOptions, night: Night, points: Sequence[PlannedPoint]
) -> tuple[Path, Sequence[Row], str]:
    """Measure test cases of a night again, by turns with the baseline: the folder, its rows, the factor."""
    from msgspec.structs import replace

    from steelyard.campaign.folder import default_folder
    from steelyard.campaign.started import arm_line, started_by
    from steelyard.cli.consent import ask_to_start
    from steelyard.cli.measured import measured
    from steelyard.judges.history.store import is_results
    from steelyard.plan.again import plan_again
    from steelyard.results.load import load

    arms = _arms(options.baseline or "", night)
    ((factor, _),) = arms.items()
    plan = replace(
        plan_again(load(night.folder).campaign, points, arms, options.launches),
        time_budget=options.time_budget,
    )
    given = None if is_results(Path(options.baseline or "")) else arm_line(factor, arms[factor][0])
    ask_to_start(night.folder, (line for line in started_by(plan) if line != given), options.yes)
    folder = options.out or default_folder(plan)
    results = measured(plan, folder)
    tell(f"results: {folder}")
    return folder, results.rows, factor


def _confirm(options: CheckOptions, pooled: Pool, found: Checked) -> Checked:
    """Measure what is suspected again, by turns with the baseline; this alone decides slower or faster."""
    from steelyard.judges.compare.arms import rivals_by
    from steelyard.judges.compare.verdicts import compare
    from steelyard.judges.history.verdicts import with_confirmed
    from steelyard.records.campaign_file import read_campaign
    from steelyard.results.key import RowKey, key_of
    from steelyard.results.load import load
    from steelyard.results.quantiles import rows_at

    night = pooled.nights[-1]
    suspects = {one.point_b for one in found.points if one.suspected}
    points = [point for point in load(night.folder).campaign.points if point.point in suspects]
    if not points:
        tell("nothing is suspected, so nothing is measured again")
        return found
    folder, rows, factor = _measure_by_turns(options, night, points)
    if options.quantile is not None:
        rows = rows_at(load(folder), options.quantile)
    asked = question(options.false_alarm, options.least, options.margin, options.quantile)
    said = compare(rivals_by(rows, factor, looks=read_campaign(folder).looks), True, asked)
    keys: dict[int | None, RowKey | None] = {row.point: key_of(row, ("mpi", factor)) for row in rows}
    tonight: dict[RowKey | None, int] = {
        key_of(row, ("mpi", factor)): row.point for row in night.rows if row.point in suspects
    }
    known = {tonight[keys[one.point_a]]: one for one in said.points if keys.get(one.point_a) in tonight}
    return with_confirmed(found, said.promise, known)


def _arms(baseline: str, night: Night) -> dict[str, tuple[str, ...]]:
    """Make arms of the baseline and of tonight's build. Raises InputError."""
    from steelyard.judges.history.store import is_results
    from steelyard.plan.arms import USUAL
    from steelyard.results.load import load

    if is_results(Path(baseline)):
        before = _night(Path(baseline))
        build = _build_of(before, night)
        if build is None:
            mpi = before.settings.get("MPI", "no MPI")
            why = (
                f"was measured with {mpi}, which is no longer there"
                if any(before.settings.get(name) != night.settings.get(name) for name in _OF_MPI)
                else "was measured with tonight's MPI, LD_PRELOAD and LD_LIBRARY_PATH, as its records say"
            )
            raise InputError(f"--baseline {baseline} {why}; give the path of the build that was replaced")
        baseline = build
    if Path(baseline).name.startswith("steelyard-"):
        files = load(night.folder).files
        engines = {file.job.engine for file in files if file.job.mpi}
        theirs = engines.pop() if len(engines) == 1 else ""
        return {"engine": (baseline, theirs if Path(theirs).is_file() else USUAL)}
    if baseline.startswith("env."):
        name, equals, value = baseline.removeprefix("env.").partition("=")
        if not equals or not name or not value:
            raise InputError(
                f"--baseline {baseline} is not of the form env.NAME=VALUE; '-' is for a variable unset"
            )
        return {f"env.{name}": (value, night.settings.get(name, "-"))}
    launcher = night.settings.get("mpiexec")
    if launcher is None or " and " in launcher:
        raise InputError(
            "--baseline needs a night of one MPI; compare others as in steelyard run --arms mpi=openmpi,mpich"
        )
    return {"mpi": (baseline, launcher)}
