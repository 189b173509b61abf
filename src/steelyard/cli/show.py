"""`steelyard show` and `steelyard report`: what a results folder says, computed anew from its records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.cli.console import err, paper, print_laid_out, print_sheet, say, say_aside, say_json, tell
from steelyard.cli.options import JsonFlag, listed
from steelyard.plan.other_suites import SUITES, find_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.base.diagnostic import Diagnostic
    from steelyard.results.row import Row
    from steelyard.show.overview import ReadFolder


@dataclass(frozen=True)
class ShowOptions:
    """The options of `steelyard show`."""

    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="results folders; all are compared with the first")
    ]
    like: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="below, what tests such as osu_latency would have printed"),
    ] = None
    json: JsonFlag = False
    csv: Annotated[bool, typer.Option("--csv", help="print the rows as CSV")] = False


def show(options: ShowOptions) -> None:
    """Show the results as tables; those of several folders side by side."""
    from steelyard.export.formats import FORMATS, Export, results_document
    from steelyard.show.overview import folder_names

    if len(options.folders) > 1 and (options.json or options.csv):
        raise InputError("--json and --csv take one folder; give the folders one after the other")
    read = [
        read_results(_results_folder(folder), name)
        for folder, name in zip(options.folders, folder_names(options.folders), strict=True)
    ]
    folder, (results, found) = options.folders[0], read[0]
    if options.json:
        say_json(results_document(Export(folder, results.rows, found)))
    elif options.csv:
        print(FORMATS["csv"](Export(folder, results.rows, found)).decode(), end="")  # noqa: T201
    else:
        print_results([results for results, _ in read])
        for results, _ in read:
            print_like(listed(options.like), results.rows, results.name if len(read) > 1 else "")
        for results, found in read:
            tell_diagnostics(found, results.name if len(read) > 1 else "")


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

    for folder in options.folders:
        _results_folder(folder)
    path = options.output or options.folders[0] / "report.html"
    try:
        write_report(options.folders, path)
    except OSError as error:
        raise InputError(f"'{path}' cannot be written: {error.strerror}; give -o another place") from None
    say(str(path))


def _results_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"there is no results folder '{folder}'; give one that 'steelyard run' wrote")
    return folder


def read_results(folder: Path, name: str = "") -> tuple[ReadFolder, tuple[Diagnostic, ...]]:
    """What a folder's records come to, and what the checks find; `name` tells it from others."""
    from steelyard.checks import diagnostics
    from steelyard.results.load import load
    from steelyard.results.rows import rows_of
    from steelyard.show.overview import ReadFolder

    measured = load(folder)
    rows = rows_of(measured)
    return ReadFolder(name, measured, rows), diagnostics(measured, rows)


def print_results(folders: Sequence[ReadFolder]) -> None:
    """The tables of the terminal, on stdout."""
    from steelyard.show.overview import overview_text

    text = overview_text(folders, paper())
    print_laid_out(text if paper().is_pipe else f"{text}\n")


def print_like(names: Sequence[str], rows: Sequence[Row], where: str = "") -> None:
    """What tests of other suites would have printed, on stdout, of the rows in folder `where` of several.

    Raises InputError for a test that nobody knows.
    """
    from steelyard.show.like_sheet import Theirs, like_sheets

    theirs = [
        Theirs(suite, row.name, row.op, row.params)
        for name in names
        for suite, tests in SUITES.items()
        for row in tests
        if row.name.lower() == name.lower()
    ]
    for name in names:
        find_like(name)
    sheets = list(like_sheets(theirs, rows))
    for sheet in sheets:
        about = f"{where}, {sheet.explained}" if where else sheet.explained
        print_sheet(replace(sheet, explained=about))
        say_aside("")
    if names and not sheets:
        tell(f"no row is of {' or '.join(names)}, as far as its columns are known")


def tell_diagnostics(found: Sequence[Diagnostic], where: str = "") -> None:
    """What the checks have found, on stderr, in folder `where` of several; notes are in the report alone."""
    from steelyard.show.diagnostics import diagnostic_text

    for paragraph in diagnostic_text(found, err().width, where=where):
        tell(paragraph)
