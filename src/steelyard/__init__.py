"""Benchmarks for MPI, Pthreads and OpenMP. `load` is what programs want; all else is behind the command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars

__version__ = "0.1.0"


def load(folders: str | Path | Sequence[str | Path], rows: str = "cases") -> polars.DataFrame:
    """Results folders as a tidy table of polars; the unit of a column is in its name.

    `rows`: "cases", a row for each test case and MPI, over all launches; "launches", one for each launch of
    them; "samples", one for each sample, in ns per operation, in the order taken.

    Raises `steelyard.base.errors.InputError` for a folder that is none or damaged, for other rows, and where
    polars is missing (`pip install 'steelyard[table]'`).
    """
    from steelyard.export.table import load_table

    return load_table([folders] if isinstance(folders, str | os.PathLike) else folders, rows)
