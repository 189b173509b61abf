"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis, PagePlace
from steelyard.analyses.overlap.model import curves
from steelyard.analyses.overlap.pictures import overlap_charts
from steelyard.analyses.overlap.tables import overlap_tables

OVERLAP = Analysis(
    key="overlap",  # over work
    make=curves,
    tables=overlap_tables,
    pictures=overlap_charts,
    title="overlap",
    explained="Work and communication one after the other is 0; 1 where the shorter costs nothing.",
    place=PagePlace.BEFORE_ROWS,
)
