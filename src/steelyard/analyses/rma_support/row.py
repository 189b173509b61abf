"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.rma_support.model import functionality_of
from steelyard.analyses.rma_support.tables import all_combinations, functionality_tables

FUNCTIONALITY = Analysis(
    key="functionality",  # which one-sided calls work
    make=functionality_of,
    tables=functionality_tables,
    title="does it work",
    folded=all_combinations,
)
