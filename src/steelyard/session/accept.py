"""Judge a results folder of the plan `acceptance`: is the machine well?"""

from __future__ import annotations

from pathlib import Path

from steelyard.analyses.overview import ReadFolder, read_rows
from steelyard.base.errors import InputError
from steelyard.base.files import real_path
from steelyard.base.printable import visible
from steelyard.judges.accept import Acceptance, Weighed, accept, read_limits
from steelyard.records.results_folder import check_results_folder
from steelyard.system.workers import mapped


def accept_folder(folder: Path, reference: Path | None = None, limits: Path | None = None) -> Acceptance:
    """Judge a folder, with a `reference` of the same plan and a site's own `limits`, if given.

    Raises InputError for a folder or a file that cannot be read, and for a folder that is its own reference.
    """
    check_reference(folder, reference)
    known = read_limits(limits) if limits is not None else ()
    before = None if reference is None else weighed(read_folder(reference))
    return accept(weighed(read_folder(folder)), before, known)


def check_reference(folder: Path | None, reference: Path | None) -> None:
    """Raise InputError for a folder that would be its own reference."""
    if folder and reference and real_path(folder) == real_path(reference):
        raise InputError(f"'{folder}' would be its own reference; give another folder")


def read_folder(folder: Path) -> ReadFolder:
    """Read an existing results folder. Raises InputError."""
    check_results_folder(folder)
    return read_rows(folder, mapped=mapped)


def weighed(read: ReadFolder) -> Weighed:
    """Make the input of the criteria."""
    return Weighed(read.measured, read.rows, visible(str(read.measured.folder)))
