"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.threads_vs_processes.model import streams_of
from steelyard.analyses.threads_vs_processes.tables import stream_tables

STREAMS = Analysis(
    key="streams",  # threads against processes
    make=streams_of,
    tables=stream_tables,
)
