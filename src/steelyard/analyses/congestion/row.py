"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.congestion.answers import congestion_answers, is_victim
from steelyard.analyses.congestion.model import congestions
from steelyard.analyses.congestion.pictures import congestion_charts
from steelyard.analyses.congestion.tables import congestion_tables

CONGESTION = Analysis(
    key="congestion",  # how much slower a victim is while others load the network
    make=congestions,
    tables=congestion_tables,
    pictures=congestion_charts,
    answers=congestion_answers,
    is_answered=is_victim,
)
