"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.overheads.model import overheads_of
from steelyard.analyses.overheads.tables import overhead_tables

OVERHEADS = Analysis(
    key="overheads",  # the parts of that cost
    make=overheads_of,
    tables=overhead_tables,
)
