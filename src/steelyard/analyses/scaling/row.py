"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.scaling.model import scaling_curves
from steelyard.analyses.scaling.pictures import scaling_charts
from steelyard.analyses.scaling.tables import scaling_tables

SCALING = Analysis(
    key="scaling",  # whole programs over ranks and threads
    make=scaling_curves,
    tables=scaling_tables,
    pictures=scaling_charts,
)
