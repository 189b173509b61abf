"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.halo_exchange.model import exchanges_of
from steelyard.analyses.halo_exchange.pictures import exchange_charts
from steelyard.analyses.halo_exchange.tables import exchange_tables

EXCHANGES = Analysis(
    key="exchanges",  # ways to move the halos of applications
    make=exchanges_of,
    tables=exchange_tables,
    pictures=exchange_charts,
)
