"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.growth.model import growths_of
from steelyard.analyses.growth.pictures import growth_charts
from steelyard.analyses.growth.tables import growth_tables, unmodelled_growth_tables

GROWTH = Analysis(
    key="growth",  # collectives over ranks
    make=growths_of,
    tables=growth_tables,
    unanswered=unmodelled_growth_tables,
    pictures=growth_charts,
)
