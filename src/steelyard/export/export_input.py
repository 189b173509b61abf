"""The input of formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from steelyard.analyses.analysis import Made
from steelyard.export.suite_tests import Theirs
from steelyard.results.row import Row


@dataclass(frozen=True, slots=True)
class ExportedFolder:
    """A results folder: its rows and models, the findings of checks; a name if there are several."""

    folder: Path
    made: Made
    found: Sequence[msgspec.Struct] = ()
    name: str = ""

    @property
    def rows(self) -> tuple[Row, ...]:
        """A row for each test case."""
        return self.made.rows


@dataclass(frozen=True, slots=True)
class Export:
    """The input of an export: results folders, and the tests of other suites that their rows may be."""

    folders: tuple[ExportedFolder, ...]
    tests: tuple[Theirs, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all folders."""
        return tuple(row for folder in self.folders for row in folder.rows)
