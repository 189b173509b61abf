"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.thread_costs.model import thread_curves
from steelyard.analyses.thread_costs.pictures import all_threads, thread_charts
from steelyard.analyses.thread_costs.tables import thread_tables

THREADS = Analysis(
    key="threads",  # rates over threads
    make=thread_curves,
    tables=thread_tables,
    pictures=thread_charts,
    folded=all_threads,
)
