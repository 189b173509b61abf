"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.max_rate.model import max_rates_of
from steelyard.analyses.max_rate.tables import max_rate_tables, unmodelled_rate_tables

RATES = Analysis(
    key="rates",  # the bandwidth that pairs of ranks share
    make=max_rates_of,
    tables=max_rate_tables,
    unanswered=unmodelled_rate_tables,
)
