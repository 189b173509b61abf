"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.collective_lines.model import collective_lines_of
from steelyard.analyses.collective_lines.tables import collective_tables

COLLECTIVES = Analysis(
    key="collectives",  # lines of collectives over sizes
    make=collective_lines_of,
    tables=collective_tables,
)
