"""The rows of these analyses."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.phases.model import phase_roofs_of
from steelyard.analyses.phases.pictures import roofline_charts
from steelyard.analyses.phases.rooflines import rooflines_of
from steelyard.analyses.phases.tables import phase_tables

PHASES = Analysis(
    key="phases",  # where kernels spend their time
    make=tuple,
    tables=phase_tables,
    pictures=lambda rows: roofline_charts(rooflines_of(rows)),
    is_written=False,
)
PHASE_ROOFS = Analysis(
    key="phase_roofs",  # bytes that phases move, against STREAM: a column of the table of phases
    make=phase_roofs_of,
)
