"""`steelyard show` and `steelyard report`: a results folder, computed anew from its records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.cli.console import (
    height,
    paper,
    print_laid_out,
    print_table,
    say,
    say_aside,
    say_bytes,
    tell,
    tell_counted,
)
from steelyard.cli.options import JsonFlag, listed
from steelyard.render.terminal import BOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analyses.overview import ReadFolder
    from steelyard.base.diagnostic import Diagnostic
    from steelyard.export.suite_tests import Theirs
    from steelyard.plan.suites.like import Like
    from steelyard.render.table import Table

INDENT = "  "  # of a sentence of the headline, from its second line on


@dataclass(frozen=True)
class OnScreen:
    """A headline that was printed, and the number of lines from it on."""

    sentences: tuple[str, ...]
    lines: int

    def followed_by(self, lines: int) -> OnScreen:
        """Count further lines."""
        return replace(self, lines=self.lines + lines)


@dataclass(frozen=True)
class ShowOptions:
    """The options of `steelyard show`."""

    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="results folders; all are compared with the first")
    ]
    like: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="print what tests such as osu_latency would have printed"),
    ] = None
    json: JsonFlag = False
    csv: Annotated[bool, typer.Option("--csv", help="print the rows as CSV")] = False
    all_: Annotated[
        bool, typer.Option("--all", help="show all rows on a terminal, which shows some of more than 150")
    ] = False


def show(options: ShowOptions) -> None:
    """Show the results as tables; those of several folders side by side."""
    from steelyard.session.results import read_each

    if options.json and options.csv:
        raise InputError("--json and --csv are two formats; leave one of them out")
    like = listed(options.like)
    _likes(like)
    each = read_each(options.folders)
    if options.json or options.csv:
        from steelyard.export.export_input import Export
        from steelyard.export.formats import FORMATS

        export = Export(tuple(one.exported() for one in each))
        say_bytes(FORMATS["json" if options.json else "csv"](export))
        return
    answer = print_results([one.read for one in each], like, has_all=options.all_)
    told = sum(tell_diagnostics(one.diagnostics, one.name, below_tables=not like) for one in each)
    print_closing(answer.followed_by(told))


@dataclass(frozen=True)
class ReportOptions:
    """The options of `steelyard report`."""

    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="results folders; all are compared with the first")
    ]
    output: Annotated[
        Path | None,
        typer.Option("-o", metavar="FILE", help="the HTML file; default: report.html in the first folder"),
    ] = None


def report(options: ReportOptions) -> None:
    """Write the results as one HTML file that opens offline."""
    from steelyard.report import write_report
    from steelyard.session.results import check_folders
    from steelyard.system.workers import mapped

    check_folders(options.folders)
    path = options.output or options.folders[0] / "report.html"
    try:
        write_report(options.folders, path, mapped)
    except OSError as error:
        raise InputError(f"'{path}' cannot be written: {error.strerror}; give -o another place") from None
    say(str(path))


def print_results(
    folders: Sequence[ReadFolder], like: Sequence[str] = (), *, has_all: bool = False
) -> OnScreen:
    """Print the headline and the tables on stdout; those of other suites, if asked for, in place of ours.

    A terminal has some of many rows, unless it `has_all`. Raises InputError for an unknown test.
    """
    from steelyard.analyses.overview import MOST_CASES, as_shown, overview_text
    from steelyard.judges.compare.default_comparisons import Comparisons

    folders = as_shown(folders)
    found = Comparisons(folders)
    answer = OnScreen(found.headline, 0)
    lines = _print_sentences(answer.sentences) + say_aside("")
    theirs = [table for folder in folders for table in like_tables_of(like, folder)]
    for table in theirs:
        lines += print_table(table) + say_aside("")
    if not theirs:
        text = overview_text(
            folders, paper(), found.ratios_by, None if has_all or paper().is_pipe else MOST_CASES
        )
        lines += print_laid_out(text if paper().is_pipe else f"{text}\n")
    return answer.followed_by(lines)


def print_closing(answer: OnScreen, left: Sequence[str] = ()) -> None:
    """Print the headline again, as the last lines, unless all fits on a screen with it and the prompt; `left`
    is what was left out, and was said before it.
    """
    if answer.lines >= height():
        from steelyard.render.terminal import folded

        say_aside("")
        _print_sentences(answer.sentences)
        for sentence in left:
            say_aside(folded(sentence, None if paper().is_pipe else paper().width))


def _print_sentences(sentences: Sequence[str]) -> int:
    """Print each in lines of its own; return their number."""
    from steelyard.render.terminal import prose_text

    return sum(print_laid_out(prose_text(sentence, paper(), BOLD, INDENT)) for sentence in sentences)


def their_tests(names: Sequence[str] = ()) -> tuple[Theirs, ...]:
    """Find the tests of other suites by these names, in any case; all if there are none."""
    from steelyard.export.suite_tests import Theirs
    from steelyard.plan.suites import SUITES

    wanted = [name.lower() for name in names]
    rows = [(suite, row) for suite, tests in SUITES.items() for row in tests]
    found = [
        Theirs(suite, row.name, row.op, row.params)
        for suite, row in rows
        if not wanted or row.name.lower() in wanted
    ]
    return tuple(sorted(found, key=lambda test: wanted.index(test.name.lower()) if wanted else 0))


def like_tables_of(names: Sequence[str], read: ReadFolder) -> list[Table]:
    """Make the tables that tests of other suites would have printed; none if columns of one are not known.

    Raises InputError for an unknown test.
    """
    if not names:
        return []
    from steelyard.export.like_table import like_tables

    likes = _likes(names)
    tests = their_tests(names)
    each = [list(like_tables([test], read.rows)) for test in tests]
    if without := [test.name for test, tables in zip(tests, each, strict=True) if not tables]:
        measured = {row.op for row in read.rows if row.count}
        for name in without:
            is_unknown = likes[name.lower()].op in measured
            what = f"how {name} prints is not known here" if is_unknown else f"no row is of {name}"
            if measured:
                tell(f"note: {what}; the tables are ours")
        return []
    where = f"{read.name}, " if read.name else ""
    return [replace(table, explained=f"{where}{table.explained}") for tables in each for table in tables]


def _likes(names: Sequence[str]) -> dict[str, Like]:
    """Find tests of other suites by their names, in small letters. Raises InputError for an unknown one."""
    if not names:
        return {}
    from steelyard.plan.like import find_like  # here: who names none needs no table of tests

    return {name.lower(): find_like(name) for name in names}


def tell_diagnostics(
    diagnostics: Sequence[Diagnostic], where: str = "", *, below_tables: bool = False
) -> int:
    """Print the findings of the checks on stderr; `where` names the folder of several. Notes are only in the
    report. Return the number of lines.
    """
    from steelyard.diagnostics.text import diagnostic_text

    return sum(
        tell_counted(line) for line in diagnostic_text(diagnostics, where=where, below_tables=below_tables)
    )
