"""`steelyard.Results`: a results folder that was read, as Python users, notebooks and commands have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.analyses.overview import ReadFolder, as_shown, overview_text
from steelyard.base.diagnostic import Diagnostic
from steelyard.base.files import real_path
from steelyard.base.plural import counted
from steelyard.base.printable import visible
from steelyard.diagnostics.results import diagnostics_of
from steelyard.diagnostics.text import diagnostic_text
from steelyard.judges.compare.default_comparisons import Comparisons
from steelyard.records.results_folder import check_results_folder
from steelyard.render.terminal import Paper
from steelyard.results.row import Row
from steelyard.session.notebook_html import results_html
from steelyard.session.results_cache import read_once

if TYPE_CHECKING:
    import polars

    from steelyard.export.export_input import ExportedFolder

_WIDTH = 110  # letters of a line of text, where no terminal says another number


@dataclass(frozen=True, eq=False)
class Results:
    """A results folder as it was when it was read: its test cases, and what the diagnostics found.

    `for row in results` goes through its `rows`. `read` has the records behind them. A notebook shows the
    headline, the tables and the warnings; `str()` is the same as text.
    """

    read: ReadFolder
    diagnostics: tuple[Diagnostic, ...]

    @property
    def folder(self) -> Path:
        """The folder, as it was given."""
        return self.read.measured.folder

    @property
    def name(self) -> str:
        """What distinguishes the folder from others that were read with it; empty for one alone."""
        return self.read.name

    @property
    def rows(self) -> tuple[Row, ...]:
        """A row for each test case and MPI, in the order of the plan; times are in ns, sizes in bytes.

        A row has a `status` (ok, failed, skipped); its numbers are None where it has none.
        """
        return self.read.rows

    @property
    def headline(self) -> tuple[str, ...]:
        """The answer, a sentence or two."""
        return Comparisons(as_shown([self.read])).headline

    def table(self, rows: str = "cases") -> polars.DataFrame:
        """Make a table of polars; `rows` and columns are those of `steelyard.load`.

        Raises InputError for other `rows`, and where polars is missing.
        """
        from steelyard.export.table import table_of  # here, as formats below: most who read need none
        from steelyard.session.requested_plan import text_of

        return table_of([(self.read.measured, self.exported())], text_of("rows", rows))

    def report(self) -> Path:
        """Write report.html into the folder, and return its path. Raises InputError if it cannot be."""
        from steelyard.report import report_measured

        return report_measured(self.read, self.diagnostics)

    def exported(self) -> ExportedFolder:
        """Convert it to the input of formats."""
        from steelyard.export.export_input import ExportedFolder

        return ExportedFolder(self.folder, self.read.made, self.diagnostics, self.name)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        measured = sum(row.status == "ok" for row in self.rows)
        where = visible(str(self.folder))
        return f"Results('{where}': {measured} of {counted(len(self.rows), 'test case')} measured)"

    def __str__(self) -> str:
        paper = Paper(_WIDTH, is_pipe=False)
        shown = as_shown([self.read])
        found = Comparisons(shown)
        text = overview_text(shown, paper, found.ratios_by)
        lines = (*found.headline, "", text, *diagnostic_text(self.diagnostics, below_tables=True))
        return "\n".join(lines).rstrip("\n")

    def _repr_html_(self) -> str:
        return results_html(self.read, tuple(diagnostic_text(self.diagnostics)))


def read_results(folder: Path, name: str = "") -> Results:
    """Read a results folder and run the diagnostics; `name` distinguishes it from others.

    Raises InputError.
    """
    check_results_folder(folder)
    read = read_once(folder, name)
    return Results(read, diagnostics_of(read.measured, read.rows))


def read_each(folders: Sequence[Path]) -> list[Results]:
    """Read several folders, each with a name if there are several. Raises InputError."""
    from steelyard.analyses.overview import folder_names

    check_folders(folders)
    names = folder_names(folders) if len(folders) > 1 else [""]
    return [read_results(folder, name) for folder, name in zip(folders, names, strict=True)]


def check_folders(folders: Sequence[Path]) -> None:
    """Raise InputError for what is no results folder, or is given twice."""
    from steelyard.base.errors import InputError

    for number, folder in enumerate(folders):
        check_results_folder(folder)
        if real_path(folder) in [real_path(other) for other in folders[:number]]:
            raise InputError(f"'{visible(str(folder))}' is given twice; give each folder once")
