"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.hangs.tables import hang_tables

HANGS = Analysis(
    key="hangs",  # where ranks were when a launch hung
    make=tuple,
    tables=hang_tables,
    is_written=False,
)
