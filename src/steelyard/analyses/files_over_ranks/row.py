"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.files_over_ranks.model import files_over_ranks
from steelyard.analyses.files_over_ranks.pictures import files_over_ranks_charts
from steelyard.analyses.files_over_ranks.tables import files_over_ranks_tables

FILES_OVER_RANKS = Analysis(
    key="files_over_ranks",  # bytes and names a second of all ranks together
    make=files_over_ranks,
    tables=files_over_ranks_tables,
    pictures=files_over_ranks_charts,
)
