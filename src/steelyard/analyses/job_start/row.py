"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.job_start.model import start_times
from steelyard.analyses.job_start.tables import start_tables

JOB_START = Analysis(
    key="job_starts",  # what the start and the end of a job take
    make=start_times,
    tables=start_tables,
)
