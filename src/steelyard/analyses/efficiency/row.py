"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis, PagePlace
from steelyard.analyses.efficiency.model import efficiencies
from steelyard.analyses.efficiency.tables import floor_tables

FLOOR = Analysis(
    key="floor",  # MPI's efficiency against the layers below it
    make=efficiencies,
    tables=floor_tables,
    place=PagePlace.WITH_ROWS,
)
