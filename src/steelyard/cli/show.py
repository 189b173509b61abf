"""`steelyard show` and `steelyard report`: a results folder, computed anew from its records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.base.errors import InputError
from steelyard.cli.console import err, paper, print_laid_out, print_sheet, say, say_aside, say_bytes, tell
from steelyard.cli.options import JsonFlag, listed
from steelyard.plan.like import find_like
from steelyard.plan.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.base.diagnostic import Diagnostic
    from steelyard.export.exported import Results
    from steelyard.models.theirs import Theirs
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
        typer.Option(metavar="NAME,...", help="also print what tests such as osu_latency would have printed"),
    ] = None
    json: JsonFlag = False
    csv: Annotated[bool, typer.Option("--csv", help="print the rows as CSV")] = False


def show(options: ShowOptions) -> None:
    """Show the results as tables; those of several folders side by side."""
    from steelyard.export.exported import Export
    from steelyard.export.formats import FORMATS

    read = read_all(options.folders)
    if options.json or options.csv:
        say_bytes(FORMATS["json" if options.json else "csv"](Export(tuple(exported(*one) for one in read))))
        return
    print_results([results for results, _ in read])
    for results, _ in read:
        print_like(listed(options.like), results.rows, results.name)
    for results, found in read:
        tell_diagnostics(found, results.name)


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
    from steelyard.system.workers import mapped

    for folder in options.folders:
        _check_folder(folder)
    path = options.output or options.folders[0] / "report.html"
    try:
        write_report(options.folders, path, mapped)
    except OSError as error:
        raise InputError(f"'{path}' cannot be written: {error.strerror}; give -o another place") from None
    say(str(path))


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"there is no results folder '{folder}'; give one that 'steelyard run' wrote")


def read_all(folders: Sequence[Path]) -> list[tuple[ReadFolder, tuple[Diagnostic, ...]]]:
    """Read several folders, each with a name if there are several. Raises InputError."""
    from steelyard.show.overview import folder_names

    for folder in folders:
        _check_folder(folder)
    names = folder_names(folders) if len(folders) > 1 else [""]
    return [read_results(folder, name) for folder, name in zip(folders, names, strict=True)]


def exported(read: ReadFolder, found: Sequence[Diagnostic]) -> Results:
    """Convert a folder that was read to the input of formats."""
    from steelyard.export.exported import Results

    return Results(read.measured.folder, read.made, found, read.name)


def read_results(folder: Path, name: str = "") -> tuple[ReadFolder, tuple[Diagnostic, ...]]:
    """Read a folder's results, and run the checks; `name` distinguishes it from others."""
    from steelyard.checks import diagnostics
    from steelyard.show.overview import read_rows
    from steelyard.show.short_names import named_shortly
    from steelyard.system.workers import mapped

    read = read_rows(folder, name, mapped)
    return read, diagnostics(read.measured, *named_shortly([read.rows]))


def print_results(folders: Sequence[ReadFolder]) -> None:
    """Print the tables of the terminal on stdout."""
    from steelyard.show.overview import overview_text

    text = overview_text(folders, paper())
    print_laid_out(text if paper().is_pipe else f"{text}\n")


def their_tests(names: Sequence[str] = ()) -> tuple[Theirs, ...]:
    """Find the tests of other suites by these names, in any case; all if there are none."""
    from steelyard.models.theirs import Theirs

    wanted = [name.lower() for name in names]
    rows = [(suite, row) for suite, tests in SUITES.items() for row in tests]
    found = [
        Theirs(suite, row.name, row.op, row.params)
        for suite, row in rows
        if not wanted or row.name.lower() in wanted
    ]
    return tuple(sorted(found, key=lambda test: wanted.index(test.name.lower()) if wanted else 0))


def print_like(names: Sequence[str], rows: Sequence[Row], where: str = "") -> None:
    """Print what tests of other suites would have printed for the rows; `where` names the folder of several.

    Raises InputError for an unknown test.
    """
    from steelyard.show.like_sheet import like_sheets

    for name in names:
        find_like(name)
    sheets = list(like_sheets(their_tests(names), rows)) if names else []
    for sheet in sheets:
        about = f"{where}, {sheet.explained}" if where else sheet.explained
        print_sheet(replace(sheet, explained=about))
        say_aside("")
    if names and not sheets:
        tell(f"no row is of {' or '.join(names)}, as far as its columns are known")


def tell_diagnostics(found: Sequence[Diagnostic], where: str = "") -> None:
    """Print the findings of the checks on stderr; `where` names the folder of several. Notes are only in the
    report.
    """
    from steelyard.show.diagnostics import diagnostic_text

    for paragraph in diagnostic_text(found, err().width, where=where):
        tell(paragraph)
