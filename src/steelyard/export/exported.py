"""What a format makes a file of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from steelyard.models.theirs import Theirs
from steelyard.results.row import Row


@dataclass(frozen=True, slots=True)
class Results:
    """A results folder: its rows, and what the checks have found in them; `name` tells it from others."""

    folder: Path
    rows: tuple[Row, ...]
    found: Sequence[msgspec.Struct] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Export:
    """What is exported: results folders, and the tests of other suites that their rows may be of."""

    folders: tuple[Results, ...]
    tests: tuple[Theirs, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all folders."""
        return tuple(row for one in self.folders for row in one.rows)
