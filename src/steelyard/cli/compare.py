"""`steelyard compare`: is one arm slower, faster, the same, or can nobody tell?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.factors import COMPARED
from steelyard.cli.console import paper, print_laid_out, print_table
from steelyard.cli.options import (
    JsonFlag,
    JunitFile,
    LeastPercent,
    MarginPercent,
    MarkdownFile,
    QuantileOf,
    StrictFlag,
)
from steelyard.cli.verdict_output import exit_judged, say_judgement, write_junit, write_markdown

if TYPE_CHECKING:
    from steelyard.judges.compare.scale import Question

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
            help=f"within one folder: {COMPARED}; param=NAME, too",
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
    markdown: MarkdownFile = None
    json: JsonFlag = False


def compare(options: CompareOptions) -> None:
    """Compare folders, or the MPIs or settings of one folder."""
    from steelyard.judges.compare.scale import COMPARED
    from steelyard.judges.compare.tables import (
        judged_cases,
        verdict_sentences,
        verdict_table,
        with_short_names,
    )
    from steelyard.session.compare import compare_folders

    asked = question(options.false_alarm, options.least, options.margin, options.quantile)
    despite = options.despite.split(",") if options.despite else ()
    found = compare_folders(options.folders, asked, by=options.by, first=options.against, despite=despite)
    title = f"steelyard compare {' '.join(found.arms)}{of_quantile(options.quantile)}"
    write_junit(options.junit, title, COMPARED, judged_cases(found.points), options.strict)
    shown = with_short_names(found)
    table, sentences = verdict_table(shown, asked.margin), verdict_sentences(shown, asked.margin)
    write_markdown(options.markdown, title, sentences, table)
    if options.json:
        say_judgement(found)
    else:
        from steelyard.render.terminal import prose_text

        print_table(table)
        for sentence in sentences:
            print_laid_out(prose_text(sentence, paper()))
    exit_judged(COMPARED, (point.verdict for point in found.points), options.strict)


def question(false_alarm: float, least: float, margin: float, quantile: float | None = None) -> Question:
    """Read the parameters of a comparison from options, most in per cent. Raises InputError."""
    from steelyard.judges.compare.scale import Question
    from steelyard.results.quantiles import check_quantile
    from steelyard.session.compare import fraction_of

    if quantile is not None:
        check_quantile(quantile)
    return Question(
        fraction_of("--false-alarm", false_alarm, most=0.5),
        fraction_of("--least", least),
        fraction_of("--margin", margin),
        quantile,
    )


def of_quantile(quantile: float | None) -> str:
    """Write ` --quantile 0.99` in a title; nothing for medians."""
    return "" if quantile is None else f" --quantile {quantile:g}"
