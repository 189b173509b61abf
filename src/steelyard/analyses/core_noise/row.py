"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis, PagePlace
from steelyard.analyses.core_noise.tables import core_tables

CORES = Analysis(
    key="cores",  # the noise of each core
    make=tuple,
    tables=core_tables,
    place=PagePlace.WITH_ROWS,
    is_written=False,
)
