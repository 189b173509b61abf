"""`steelyard compare`: is one arm slower, faster, the same, or can nobody tell?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.base.factors import FACTORS
from steelyard.base.printable import visible
from steelyard.cli.console import paper, print_laid_out, print_sheet, say_json
from steelyard.cli.options import JsonFlag, JunitFile, LeastPercent, MarginPercent, QuantileOf, StrictFlag
from steelyard.cli.written import write_asked
from steelyard.records.results_folder import check_results_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.judges.compare.answer import Question
    from steelyard.judges.compare.arms import Rivals
    from steelyard.judges.compare.verdicts import CaseVerdict

SLOWER_CODE, CANNOT_TELL_CODE = 1, 4
EXAMPLES = {
    "compare": (
        "steelyard compare results/before results/after",
        "steelyard compare results/two --by mpi",
        "steelyard compare results/waits --by omp.wait_policy --json",
        "steelyard compare results/tails --quantile 0.99",
    )
}


@dataclass(frozen=True)
class CompareOptions:
    """The options of `steelyard compare`."""

    folders: Annotated[list[Path], typer.Argument(metavar="DIR", help="one folder with --by, or several")]
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FACTOR",
            help=f"within one folder: {FACTORS}; param=NAME, too",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            metavar="ARM|best",
            help="what all others are compared with; default: the first; best: the fastest of all",
        ),
    ] = None
    despite: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION,...",
            help="compare also what differs in: placement, clock, transport, yields",
        ),
    ] = None
    quantile: QuantileOf = None
    least: LeastPercent = 2.0
    margin: MarginPercent = 5.0
    false_alarm: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="at most so many of 100 comparisons of equals say slower or faster"
        ),
    ] = 1.0
    strict: StrictFlag = False
    junit: JunitFile = None
    json: JsonFlag = False


def compare(options: CompareOptions) -> None:
    """Compare folders, or the MPIs or settings of one folder."""
    from steelyard.judges.compare.arms import against
    from steelyard.judges.compare.verdicts import compare as compare_rivals

    asked = question(options.false_alarm, options.least, options.margin, options.quantile)
    rivals, by_turns, precision = _rivals(options)
    asked = replace(asked, precision=None if options.quantile else precision)
    if options.against is not None:
        rivals = against(rivals, options.against)
    found = compare_rivals(rivals, by_turns, asked)
    if options.junit:
        title = f"steelyard compare {' '.join(found.arms)}{of_quantile(options.quantile)}"
        write_junit(options.junit, title, found.points, options.strict)
    if options.json:
        from steelyard.judges.compare.document import verdicts_document

        say_json(verdicts_document(found))
    else:
        from steelyard.judges.compare.tables import verdict_sentences, verdict_sheet, with_short_names
        from steelyard.render.terminal import prose_text

        shown = with_short_names(found)
        print_sheet(verdict_sheet(shown, asked.margin))
        for sentence in verdict_sentences(shown, asked.margin):
            print_laid_out(prose_text(sentence, paper()))
    if code := exit_code(found.points, options.strict):
        raise typer.Exit(code)


def question(false_alarm: float, least: float, margin: float, quantile: float | None = None) -> Question:
    """Read the parameters of a comparison from options, most in per cent. Raises InputError."""
    from steelyard.judges.compare.answer import Question
    from steelyard.results.quantiles import check_quantile

    if quantile is not None:
        check_quantile(quantile)
    return Question(
        _percentage("--false-alarm", false_alarm, most=0.5),
        _percentage("--least", least),
        _percentage("--margin", margin),
        quantile,
    )


def of_quantile(quantile: float | None) -> str:
    """Write ` --quantile 0.99` in a title; nothing for medians."""
    return "" if quantile is None else f" --quantile {quantile:g}"


def _percentage(option: str, percent: float, most: float = 10.0) -> float:
    """Convert an option's percentage to a fraction. Raises InputError."""
    if not 0 < percent / 100 < most:
        raise InputError(f"{option} is a percentage above 0 and below {100 * most:g}, not {percent:g}")
    return percent / 100


def _rivals(options: CompareOptions) -> tuple[Rivals, bool, float | None]:
    """Find the arms, whether they took turns, and the precision that their plan asks of ratios."""
    from steelyard.judges.compare.arms import folder_factor, rivals_by, rivals_of
    from steelyard.judges.compare.conditions import check_conditions
    from steelyard.records.campaign_file import read_campaign
    from steelyard.results.load import load
    from steelyard.results.precision import asked_of
    from steelyard.results.quantiles import rows_at

    folders, despite = options.folders, options.despite.split(",") if options.despite else []
    check_conditions(despite)
    for folder in folders:
        check_results_folder(folder)
    if len(folders) == 1:
        campaign = read_campaign(folders[0])
        by = options.by.replace("=", ".", 1) if options.by else folder_factor(campaign.plan)
        rows = rows_at(load(folders[0]), options.quantile)
        return rivals_by(rows, by, despite, campaign.looks), True, asked_of(campaign)
    if options.by is not None:
        raise InputError("--by compares within one folder; give one folder, or leave --by out")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise InputError(f"'{folders[0]}' would be compared with itself; give another folder")
    each = {visible(str(folder)): rows_at(load(folder), options.quantile) for folder in folders}
    return rivals_of(each, despite), False, None


def write_junit(path: Path, title: str, points: Sequence[CaseVerdict], strict: bool) -> None:
    """Write verdicts as JUnit XML. Raises InputError."""
    from steelyard.judges.compare.junit import junit_xml

    write_asked(path, junit_xml(title, points, strict), "--junit")


def exit_code(points: Sequence[CaseVerdict], strict: bool) -> int:
    """Compute the exit code of the verdicts: 0 if nothing is slower."""
    said = {one.verdict for one in points}
    if "slower" in said:
        return SLOWER_CODE
    return CANNOT_TELL_CODE if strict and "cannot tell" in said else 0
