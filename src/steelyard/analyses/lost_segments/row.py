"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.lost_segments.model import lost_segments
from steelyard.analyses.lost_segments.tables import lost_tables

LOST_SEGMENTS = Analysis(
    key="lost_segments",  # test cases between hosts in which TCP sent again
    make=lost_segments,
    tables=lost_tables,
)
